package listing

import (
	"encoding/json"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// lines prints one line of JSON per result.
type lines struct{ enc *json.Encoder }

type statsJSON struct {
	Queue        string     `json:"queue"`
	Waiting      int64      `json:"waiting"`
	Leased       int64      `json:"leased"`
	Parked       int64      `json:"parked"`
	Bytes        int64      `json:"bytes"`
	Oldest       *time.Time `json:"oldest,omitempty"`
	Appended     int64      `json:"appended"`
	Replaced     int64      `json:"replaced"`
	Folded       int64      `json:"folded"`
	Stale        int64      `json:"stale"`
	Expired      int64      `json:"expired"`
	Paused       bool       `json:"paused"`
	PauseReason  string     `json:"pauseReason,omitempty"`
	LastReserved *time.Time `json:"lastReserved,omitempty"`
	Estimated    bool       `json:"estimated,omitempty"`
	Survives     string     `json:"survives,omitempty"`
}

func (l lines) Stats(name string, s *queue.Stats, survives string) error {
	return l.enc.Encode(statsJSON{
		Queue: name, Waiting: s.Waiting, Leased: s.Leased, Parked: s.Parked, Bytes: s.Bytes, Oldest: moment(s.Oldest),
		Appended: s.Appended, Replaced: s.Replaced, Folded: s.Folded, Stale: s.Stale, Expired: s.Expired,
		Paused: s.Paused, PauseReason: s.PauseReason, LastReserved: moment(s.LastReserved), Estimated: s.Estimated, Survives: survives,
	})
}

type entryJSON struct {
	Key            string       `json:"key"`
	States         []string     `json:"states"`
	Since          *time.Time   `json:"since,omitempty"`
	Class          uint8        `json:"class"`
	Leased         []recordJSON `json:"leased,omitempty"`
	Parked         []recordJSON `json:"parked,omitempty"`
	Waiting        []recordJSON `json:"waiting,omitempty"`
	Holder         string       `json:"holder,omitempty"`
	Until          *time.Time   `json:"until,omitempty"`
	Due            *time.Time   `json:"due,omitempty"`
	Reason         string       `json:"reason,omitempty"`
	ParkedAt       *time.Time   `json:"parkedAt,omitempty"`
	Replaced       *recordJSON  `json:"replaced,omitempty"`
	ReplacedReason string       `json:"replacedReason,omitempty"`
	Expired        int          `json:"expired"`
	Deaths         int          `json:"deaths"`
	Tries          int          `json:"tries"`
}

// recordJSON is a record. If its body is not JSON, BodyBytes has it in base64.
type recordJSON struct {
	Op        string          `json:"op"`
	Seq       uint64          `json:"seq"`
	Since     *time.Time      `json:"since,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"`
	BodyBytes []byte          `json:"bodyBytes,omitempty"`
}

func (l lines) Entry(e *queue.Entry, _ bool) error {
	out := entryJSON{
		Key: e.Key, States: []string{}, Since: moment(e.Since), Class: e.Class,
		Leased: recordsJSON(e.Leased), Parked: recordsJSON(e.Parked), Waiting: recordsJSON(e.Waiting),
		Holder: e.Holder, Until: moment(e.Until), Due: moment(e.Due), Reason: e.Reason, ParkedAt: moment(e.ParkedAt),
		ReplacedReason: e.ReplacedReason, Expired: e.Expired, Deaths: e.Deaths, Tries: e.Tries,
	}
	for _, s := range []struct {
		state queue.State
		name  string
	}{{queue.Leased, "leased"}, {queue.Parked, "parked"}, {queue.Waiting, "waiting"}} {
		if e.State&s.state != 0 {
			out.States = append(out.States, s.name)
		}
	}
	if e.Replaced != nil {
		out.Replaced = &recordsJSON([]queue.Record{*e.Replaced})[0]
	}
	return l.enc.Encode(out)
}

func recordsJSON(all []queue.Record) (out []recordJSON) {
	for i := range all {
		r := recordJSON{Op: string(all[i].Op), Seq: all[i].Seq, Since: moment(all[i].Since)}
		if json.Valid(all[i].Body) {
			r.Body = all[i].Body
		} else {
			r.BodyBytes = all[i].Body
		}
		out = append(out, r)
	}
	return out
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func (l lines) Done(v any, _ string) error { return l.enc.Encode(v) }

func (lines) More(string) error { return nil }
