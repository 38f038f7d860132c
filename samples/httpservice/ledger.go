package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

// ledger records the replies to callers.
type ledger struct {
	mu       sync.Mutex // guards the fields below
	outcomes map[string]string
	texts    map[string]string
	statuses map[int]int
	problems []error
}

func newLedger() *ledger {
	return &ledger{outcomes: map[string]string{}, texts: map[string]string{}, statuses: map[int]int{}}
}

func (l *ledger) add(status int, notes []Note, a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statuses[status]++
	if len(a.Notes) != len(notes) {
		l.problems = append(l.problems, fmt.Errorf("status %d says something about %d of %d notes", status, len(a.Notes), len(notes)))
		return
	}
	for i, n := range notes {
		o := a.Notes[i]
		if o.ID != n.ID || status == 200 && o.Outcome != indexed {
			l.problems = append(l.problems, fmt.Errorf("%s was sent; status %d says that %s is %s", n.ID, status, o.ID, o.Outcome))
		}
		l.outcomes[n.ID], l.texts[n.ID] = o.Outcome, n.Text
	}
}

// compare prints the replies and returns the differences between them and the index. Each kind of reply must have
// occurred.
func (l *ledger) compare(s *stage.Service, w io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(w, "The service has stopped. What was reported to callers:")
	for _, status := range slices.Sorted(maps.Keys(l.statuses)) {
		fmt.Fprintf(w, "  %6d answers with status %d\n", l.statuses[status], status)
	}
	count := map[string]int{}
	for _, o := range l.outcomes {
		count[o]++
	}
	fmt.Fprintf(w, "  notes: %d indexed, %d rejected, %d not applied, %d unknown\n", count[indexed], count[rejected], count[notApplied], count[unknown])
	has, err := stage.Documents[Note](s, indexName)
	missing, wrong := l.differences(has)
	fmt.Fprintf(w, "Reported \"indexed\" and missing: %d. Reported \"rejected\" or \"not applied\" and present: %d.\n", missing, wrong)
	if missing+wrong > 0 {
		err = errors.Join(err, errors.New("what was reported to callers is not true"))
	}
	for _, status := range []int{200, 400, 422, 429, 503} {
		if l.statuses[status] == 0 {
			err = errors.Join(err, fmt.Errorf("no caller was answered %d", status))
		}
	}
	return errors.Join(append(l.problems, err)...)
}

// differences counts the indexed notes that are missing from the index, and the rejected or unapplied ones that it
// has.
func (l *ledger) differences(has map[string]Note) (missing, wrong int) {
	for id, reported := range l.outcomes {
		note, there := has[id]
		switch {
		case reported == indexed && (!there || note.Text != l.texts[id]):
			missing++
		case there && (reported == rejected || reported == notApplied):
			wrong++
		}
	}
	return missing, wrong
}
