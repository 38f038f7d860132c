package simulate

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/events"
)

// document is minimal: its content does not matter here.
type document struct {
	ID string `json:"id" search:"key"`
}

// ledger records the documents of one sender. Its nth document has the key "<sender>-<n>".
type ledger struct {
	prefix string

	mu    sync.Mutex
	marks []mark
	// Counts while the process is not killed:
	completed, failed int64
	reasons           map[string]int // of failures
	twice             int64          // applications of a document after its first
	wrong             []string       // the first broken promises
}

// mark is the state of a document.
type mark uint8

const (
	ended   mark = 1 << iota // has an outcome
	applied                  // applied by the service
)

// next returns n new documents.
func (l *ledger) next(n int) []document {
	l.mu.Lock()
	defer l.mu.Unlock()
	docs := make([]document, n)
	for i := range docs {
		docs[i].ID = l.prefix + strconv.Itoa(len(l.marks))
		l.marks = append(l.marks, 0)
	}
	return docs
}

// apply records that the service applied documents, and returns the number of first applications.
func (l *ledger) apply(keys []string) (first int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		m := l.find(key)
		if m == nil {
			continue
		}
		if *m&applied != 0 {
			l.twice++
			continue
		}
		*m |= applied
		first++
	}
	return first
}

func (l *ledger) complete(_ context.Context, e *events.ActionCompleted[document]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.completed++
	if m := l.end(e.Key); m != nil && *m&applied == 0 {
		l.complain("%s is said to be completed, and was not applied", e.Key)
	}
}

func (l *ledger) fail(_ context.Context, e *events.ActionFailed[document]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed++
	if l.reasons == nil {
		l.reasons = map[string]int{}
	}
	reason := e.Err.Error()
	l.reasons[strings.ReplaceAll(reason, e.Key, "…")]++
	if m := l.end(e.Key); m != nil && *m&applied != 0 && !e.Unknown {
		l.complain("%s is said to have failed, and was applied", e.Key)
	}
}

// end records an outcome. The caller holds mu.
func (l *ledger) end(key string) *mark {
	m := l.find(key)
	if m == nil {
		return nil
	}
	if *m&ended != 0 {
		l.complain("%s has two outcomes", key)
	}
	*m |= ended
	return m
}

// find returns nil for a key that no producer has made. The caller holds mu.
func (l *ledger) find(key string) *mark {
	number, ok := strings.CutPrefix(key, l.prefix)
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 || n >= len(l.marks) {
		l.complain("no producer has added %q", key)
		return nil
	}
	return &l.marks[n]
}

const mostComplaints = 3

func (l *ledger) complain(format string, args ...any) {
	if len(l.wrong) < mostComplaints {
		l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
	}
}

// settled returns the number of documents with an outcome.
func (l *ledger) settled() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.completed + l.failed
}
