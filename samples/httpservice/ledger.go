package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
)

// ledger is what was reported to callers. The zero value is ready.
type ledger struct {
	mu       sync.Mutex // guards the fields below
	outcomes map[string]string
	texts    map[string]string
	statuses map[int]int
	silent   int // notes about which nothing was said: the connection broke
	problems []error
}

func (l *ledger) add(status int, notes []Note, a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outcomes == nil {
		l.outcomes, l.texts, l.statuses = map[string]string{}, map[string]string{}, map[int]int{}
	}
	l.statuses[status]++
	if len(a.Notes) != len(notes) {
		l.problems = append(l.problems, fmt.Errorf("status %d says something about %d of %d notes", status, len(a.Notes), len(notes)))
		return
	}
	for i, n := range notes {
		o := a.Notes[i]
		if o.ID != n.ID {
			l.problems = append(l.problems, fmt.Errorf("%q was sent, %q answered", n.ID, o.ID))
		}
		if status == 200 && o.Outcome != indexed {
			l.problems = append(l.problems, fmt.Errorf("%s: status 200, and the note is %s", n.ID, o.Outcome))
		}
		l.outcomes[n.ID], l.texts[n.ID] = o.Outcome, n.Text
	}
}

// nothing notes that a call had no answer.
func (l *ledger) nothing(notes []Note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent += len(notes)
}

func (l *ledger) print(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, status := range slices.Sorted(maps.Keys(l.statuses)) {
		fmt.Fprintf(w, "  %6d answers with status %d\n", l.statuses[status], status)
	}
	count := map[string]int{}
	for _, o := range l.outcomes {
		count[o]++
	}
	fmt.Fprintf(w, "  notes: %d indexed, %d rejected, %d not applied, %d unknown; %d without an answer\n",
		count[indexed], count[rejected], count[notApplied], count[unknown], l.silent)
}

// compare reads the index, again and again while it shows too little, and says
// where it differs from what was reported to callers.
func (l *ledger) compare(ctx context.Context, s *stage.Service, client *search.Client, w io.Writer) error {
	var missing, wrong int
	err := stage.UntilShown(ctx, s, client, func(n Note) string { return n.ID }, func(has map[string]Note) bool {
		missing, wrong = l.differences(has)
		return missing == 0
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Told \"indexed\" and missing: %d. Told \"rejected\" or \"not applied\" and there: %d.\n", missing, wrong)
	if missing+wrong > 0 {
		return errors.Join(append(l.problems, errors.New("what was reported to callers is not true"))...)
	}
	return errors.Join(l.problems...)
}

// differences counts the notes that an index with these should have
// and has not, and those that it should not have.
func (l *ledger) differences(has map[string]Note) (missing, wrong int) {
	l.mu.Lock()
	defer l.mu.Unlock()
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

// complete reports what the demonstration should have shown and has not.
func (l *ledger) complete(emulated bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	want := []int{200, 400, 422}
	if emulated {
		want = append(want, 429, 503)
	}
	var errs []error
	for _, status := range want {
		if l.statuses[status] == 0 {
			errs = append(errs, fmt.Errorf("nobody was answered %d", status))
		}
	}
	return errors.Join(errs...)
}
