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

// entry is a line of a journal: outcomes of dead letters of its file.
type entry struct {
	stamp
	// Done are the numbers of delivered or discarded dead letters.
	Done []int64 `json:"done,omitempty"`
	// Again are dead letters that were refused again.
	Again []refusal `json:"again,omitempty"`
	// Newer are dead letters whose document has a newer version in the index.
	Newer []newer `json:"newer,omitempty"`
	// Stop are the dead letters behind which a Replay ended early; the next one of the index begins there.
	Stop []stop `json:"stop,omitempty"`
}

// stop is the last dead letter that a Replay of an index has tried; 0 if later ones were tried too.
type stop struct {
	N     int64  `json:"n"`
	Index string `json:"index"`
}

// newer is the version of the index that makes dead letter N outdated.
type newer struct {
	N       int64 `json:"n"`
	Version int64 `json:"version"`
}

// after returns the two entries as one.
func (e entry) after(before entry) entry {
	return entry{
		Done:  append(before.Done, e.Done...),
		Again: append(before.Again, e.Again...),
		Newer: append(before.Newer, e.Newer...),
		Stop:  append(before.Stop, e.Stop...),
	}
}

func (e entry) empty() bool { return len(e.Done)+len(e.Again)+len(e.Newer)+len(e.Stop) == 0 }

// refusal is a newer reason of dead letter N. It has totals, so that applying an entry twice has no effect.
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

// refusalOf returns the entry for dead letter n, old before, that was given up again with l. If l has no reason,
// because the sender was closed or there was no answer, the older reason stays.
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

// journal has the outcomes of the dead letters of a file.
type journal struct {
	done  map[int64]struct{}
	again map[int64]refusal
	newer map[int64]int64  // versions
	stop  map[string]int64 // by index
}

func (j *journal) add(e entry) {
	if j.done == nil {
		j.done, j.again, j.newer = make(map[int64]struct{}), make(map[int64]refusal), make(map[int64]int64)
		j.stop = make(map[string]int64)
	}
	for _, n := range e.Done {
		j.done[n] = struct{}{}
	}
	for _, v := range e.Again {
		j.again[v.N] = v
	}
	for _, v := range e.Newer {
		j.newer[v.N] = max(j.newer[v.N], v.Version)
	}
	for _, s := range e.Stop {
		j.stop[s.Index] = s.N
	}
}

// entry returns the journal as one entry.
func (j *journal) entry() entry {
	e := entry{Done: slices.Sorted(maps.Keys(j.done)), Again: slices.Collect(maps.Values(j.again))}
	for n, version := range j.newer {
		e.Newer = append(e.Newer, newer{n, version})
	}
	for index, n := range j.stop {
		e.Stop = append(e.Stop, stop{n, index})
	}
	return e
}

// empty reports whether there are no outcomes; a stop is not one.
func (j *journal) empty() bool { return len(j.done)+len(j.again)+len(j.newer) == 0 }

// now returns the current state of r. there is false if r is done.
func (j *journal) now(r record) (current record, there bool) {
	if _, gone := j.done[r.N]; gone {
		return record{}, false
	}
	if v, ok := j.again[r.N]; ok {
		r.Letter = v.apply(r.Letter)
	}
	r.Newer = max(r.Newer, j.newer[r.N])
	return r, true
}

// readJournal reads the journal of a file, if it exists. A torn or damaged entry is left out: its dead letters
// reappear, which is better than losing later ones.
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

// appendEntry appends an entry to a journal, created if needed, and syncs the file but not its name.
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
	if size > 0 && last != '\n' { // torn: this entry must not become part of it
		encoded = append([]byte("\n"), encoded...)
	}
	return disk.Append(dir, name, append(encoded, '\n'))
}
