package deadletter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// entry is a line of a journal: what has become of letters of its file.
type entry struct {
	stamp
	// Done are the numbers of letters that were delivered or discarded.
	Done []int64 `json:"done,omitempty"`
	// Again are letters that were refused again.
	Again []refusal `json:"again,omitempty"`
}

// refusal is a newer reason for letter N, as it is after it: nothing is added
// to what was, so that it does no harm to read an entry twice.
type refusal struct {
	N         int64     `json:"n"`
	Status    int       `json:"status,omitempty"`
	Message   string    `json:"message,omitempty"`
	RequestID string    `json:"requestId,omitempty"`
	Attempts  int       `json:"attempts,omitempty"`
	Unknown   bool      `json:"unknown,omitempty"`
	Unsent    bool      `json:"unsent,omitempty"`
	Error     string    `json:"error,omitempty"`
	Last      time.Time `json:"last"`
}

// refusalOf says in an entry that letter n, which was old, was given up again
// with l. If l gives no reason, because the sender was closed or there was no
// answer, the older one stays.
func refusalOf(n int64, old, l Letter) refusal {
	attempts, unknown := old.Attempts+l.Attempts, old.Unknown || l.Unknown
	if l.Unsent || l.Status == 0 && l.Error == "" {
		l = old
	}
	return refusal{
		N: n, Status: l.Status, Message: l.Message, RequestID: l.RequestID, Attempts: attempts,
		Unknown: unknown, Unsent: l.Unsent, Error: l.Error, Last: l.Last,
	}
}

func (v *refusal) apply(l Letter) Letter {
	l.Status, l.Message, l.RequestID, l.Attempts = v.Status, v.Message, v.RequestID, v.Attempts
	l.Unknown, l.Unsent, l.Error, l.Last = v.Unknown, v.Unsent, v.Error, v.Last
	return l
}

// journal is what has become of the letters of a file.
type journal struct {
	done  map[int64]struct{}
	again map[int64]refusal
}

func (j *journal) add(e entry) {
	if j.done == nil {
		j.done, j.again = make(map[int64]struct{}), make(map[int64]refusal)
	}
	for _, n := range e.Done {
		j.done[n] = struct{}{}
	}
	for _, v := range e.Again {
		j.again[v.N] = v
	}
}

// entry returns all of it.
func (j *journal) entry() entry {
	return entry{Done: slices.Sorted(maps.Keys(j.done)), Again: slices.Collect(maps.Values(j.again))}
}

// empty reports whether nothing has become of any letter.
func (j *journal) empty() bool { return len(j.done)+len(j.again) == 0 }

// now returns r as it is by now. there is false if it is gone.
func (j *journal) now(r record) (current record, there bool) {
	if _, gone := j.done[r.N]; gone {
		return record{}, false
	}
	if v, ok := j.again[r.N]; ok {
		r.Letter = v.apply(r.Letter)
	}
	return r, true
}

// readJournal reads the journal of a file. There need not be one. An entry that
// is torn or damaged is left out: its letters are then there once more, which is
// better than losing those behind it.
func readJournal(dir fs.FS, stem string) (journal, error) {
	var j journal
	f, err := dir.Open(stem + journalExt)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return j, err
	}
	defer f.Close()
	for l, err := range linesOf(f, maxLine) {
		if err != nil {
			return j, err
		}
		var e entry
		if l.long || json.Unmarshal(l.raw, &e) != nil {
			continue
		}
		newer := (*formatError)(nil)
		switch err := e.check(l.raw, "{"); {
		case errors.As(err, &newer):
			return j, fmt.Errorf("%s%s: line %d: %w", stem, journalExt, l.number, err)
		case err == nil:
			j.add(e)
		}
	}
	return j, nil
}

// appendEntry appends an entry to a journal, which it makes if there is none, and
// syncs it, but not its name.
func appendEntry(dir disk.Folder, stem string, e entry) error {
	encoded, err := json.Marshal(e)
	if err != nil {
		return err
	}
	encoded = stamped(nil, "{", encoded[1:])
	name := stem + journalExt
	size, last, err := endOf(dir, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if size > 0 && last != '\n' { // torn: this entry must not become a part of it
		encoded = append([]byte("\n"), encoded...)
	}
	return disk.Append(dir, name, append(encoded, '\n'))
}
