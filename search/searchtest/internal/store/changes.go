package store

import (
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Change is one action that reached an index. searchtest.Change documents the fields.
type Change struct {
	Seq                        uint64
	Key                        string
	Action                     models.ActionType
	Status                     int
	Request                    uint64
	RequestID, ClientRequestID string
	Time, Decided              time.Time
	Document                   json.RawMessage // in stored form
}

// Origin is the request of a change.
type Origin struct {
	Seq       uint64
	RequestID string
	ClientID  string
	Time      time.Time
	decided   time.Time // set once, under the lock of the index, before the first change
}

// changeLog keeps the latest actions of an index in a ring. Entries of one key are linked,
// newest first. The lock of the index guards it.
type changeLog struct {
	limit int // number of entries to keep; negative for none
	count uint64
	ring  []changeEntry
	heads map[string]uint64 // seq of the latest entry of each key in the ring

	keepContents bool
	contents     [][]byte // in stored form, by the same index as ring; empty without keepContents
}

type changeEntry struct {
	key      string
	seq      uint64
	previous uint64 // seq of the previous entry of the same key, 0 for none
	origin   *Origin
	typ      models.ActionType
	status   int
}

// add appends an action. data is the document in stored form, nil for a delete. Data of a
// merge is copied.
func (l *changeLog) add(key string, typ models.ActionType, status int, from *Origin, data []byte) {
	l.count++
	if l.limit < 0 {
		return
	}
	if l.heads == nil {
		l.heads = make(map[string]uint64)
	}
	if l.keepContents && typ != models.ActionTypeUpload {
		data = slices.Clone(data)
	}
	e := changeEntry{key: key, seq: l.count, previous: l.heads[key], origin: from, typ: typ, status: status}
	if len(l.ring) < l.limit {
		l.ring = append(l.ring, e)
		if l.keepContents {
			l.contents = append(l.contents, data)
		}
	} else {
		slot := &l.ring[l.slot(l.count)]
		if l.heads[slot.key] == slot.seq {
			delete(l.heads, slot.key)
		}
		*slot = e
		if l.keepContents {
			l.contents[l.slot(l.count)] = data
		}
	}
	l.heads[key] = l.count
}

func (l *changeLog) slot(seq uint64) int { return int((seq - 1) % uint64(l.limit)) }

// oldest returns the seq of the oldest entry in the ring.
func (l *changeLog) oldest() uint64 { return l.count - uint64(len(l.ring)) + 1 }

// at returns an entry of the ring, with the document in stored form.
func (l *changeLog) at(seq uint64) Change {
	e := &l.ring[l.slot(seq)]
	c := Change{
		Seq: e.seq, Key: e.key, Action: e.typ, Status: e.status,
		Request: e.origin.Seq, RequestID: e.origin.RequestID, ClientRequestID: e.origin.ClientID,
		Time: e.origin.Time, Decided: e.origin.decided,
	}
	if l.keepContents {
		c.Document = l.contents[l.slot(seq)]
	}
	return c
}

// of returns the entries of a key, oldest first.
func (l *changeLog) of(key string) []Change {
	var out []Change
	for seq := l.heads[key]; seq >= l.oldest() && seq != 0; {
		out = append(out, l.at(seq))
		seq = l.ring[l.slot(seq)].previous
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// all yields all entries, oldest first.
func (l *changeLog) all() iter.Seq[Change] {
	return func(yield func(Change) bool) {
		if len(l.ring) == 0 {
			return
		}
		for seq := l.oldest(); seq <= l.count; seq++ {
			if !yield(l.at(seq)) {
				return
			}
		}
	}
}
