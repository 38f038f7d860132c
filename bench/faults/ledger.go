package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// outcome is the reported outcome of an action.
type outcome uint8

const (
	open outcome = iota
	completed
	failed
	unsent
)

func (o outcome) String() string {
	return [...]string{"not settled", "completed", "failed", "unsent"}[o]
}

// account has the sender's reports about one action.
type account struct {
	accepted bool // by the adding call
	outcome  outcome
	unknown  bool
	ended    uint8  // number of terminal events
	status   int16  // status of a failure, 0 without a reply
	sent     uint16 // ActionSent events
}

// ledger records the sender's reports. Its memory is allocated before the row begins, so that it does not count as
// the sender's.
type ledger struct {
	plan *plan

	// accounts is indexed by the number of the action, minus one. The action's producer writes accepted; the sender's
	// handlers, which run one at a time, write the rest. It is read after Close.
	accounts []account

	mu          sync.Mutex // guards the fields below: other goroutines read while handlers run
	lastSettled []int64    // by key: number of the action that settled last
	deletes     []sentDelete
	met         map[string]int // faults of requests, by kind
	failures    map[string]int // failed actions, by reason
	examples    []string       // of failures
	problems    []string       // broken promises about events

	broken chan struct{} // closed when a connection breaks
}

// sentDelete records the request of a delete, which has only a key on the wire.
type sentDelete struct {
	batch string
	rev   int64
}

const (
	maxExamples = 5
	maxProblems = 20
)

func newLedger(p *plan) *ledger {
	return &ledger{
		plan:        p,
		accounts:    make([]account, len(p.actions)),
		lastSettled: make([]int64, p.keys),
		deletes:     make([]sentDelete, 0, len(p.actions)/2),
		met:         map[string]int{},
		failures:    map[string]int{},
		broken:      make(chan struct{}),
	}
}

func (l *ledger) handlers() events.Handlers[document] {
	return events.Handlers[document]{
		ActionSent:      l.actionSent,
		ActionCompleted: l.actionCompleted,
		ActionFailed:    l.actionFailed,
		BatchCompleted:  l.batchCompleted,
	}
}

// problem records a broken promise. The caller holds mu.
func (l *ledger) problem(format string, args ...any) {
	if len(l.problems) < maxProblems {
		l.problems = append(l.problems, fmt.Sprintf(format, args...))
	}
}

// account returns the account of an event, nil if no producer added its action. The caller holds mu.
func (l *ledger) account(a models.IndexDocumentsAction[document], key, what string) (*account, int64) {
	rev := a.Document.Rev
	planned, ok := l.plan.action(rev)
	if !ok || l.plan.key(planned.key) != key || planned.typ != a.Type {
		l.problem("%s event for a %s with number %d of document %s, which no producer added", what, a.Type, rev, key)
		return nil, 0
	}
	return &l.accounts[rev-1], rev
}

func (l *ledger) actionSent(_ context.Context, e *events.ActionSent[document]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, rev := l.account(e.Action, e.Key, "an ActionSent")
	if a == nil {
		return
	}
	a.sent++
	if a.ended > 0 {
		l.problem("action %d of document %s is sent after its end", rev, e.Key)
	}
	if e.Action.Type == models.ActionTypeDelete {
		l.deletes = append(l.deletes, sentDelete{e.BatchID, rev})
	}
}

func (l *ledger) actionCompleted(_ context.Context, e *events.ActionCompleted[document]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a, rev := l.account(e.Action, e.Key, "a Completed"); a != nil {
		l.end(a, rev, completed)
	}
}

func (l *ledger) actionFailed(_ context.Context, e *events.ActionFailed[document]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, rev := l.account(e.Action, e.Key, "a Failed")
	if a == nil {
		return
	}
	how, why := failed, "no error"
	var err *bufferedsender.ActionError
	if errors.As(e.Err, &err) {
		a.status = int16(err.Status)
		why = failureKind(err)
	}
	if errors.Is(e.Err, bufferedsender.ErrClosed) {
		how = unsent
	} else {
		l.failures[why]++
		if len(l.examples) < maxExamples {
			l.examples = append(l.examples, e.Err.Error())
		}
	}
	a.unknown = e.Unknown
	l.end(a, rev, how)
}

// failureKind returns the reason of a failure, for counting.
func failureKind(err *bufferedsender.ActionError) string {
	kind := fmt.Sprintf("status %d", err.Status)
	switch {
	case errors.Is(err, bufferedsender.ErrNoResult):
		kind = "no result"
	case err.Status == 0 && errors.Is(err, context.DeadlineExceeded):
		kind = "no reply in time"
	case err.Status == 0:
		kind = "connection broken"
	}
	if err.Exhausted {
		kind += fmt.Sprintf(", %d attempts", err.Attempts)
	}
	return kind
}

// end records a terminal event. The caller holds mu.
func (l *ledger) end(a *account, rev int64, how outcome) {
	if a.ended++; a.ended > 1 {
		l.problem("action %d ended %d times: %v, now %v", rev, a.ended, a.outcome, how)
	}
	a.outcome = how
	last := &l.lastSettled[l.plan.actions[rev-1].key]
	if *last > rev {
		l.problem("action %d of document %s was settled after action %d, which was accepted later", rev, l.plan.key(l.plan.actions[rev-1].key), *last)
	}
	*last = rev
}

func (l *ledger) batchCompleted(_ context.Context, b *events.Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.Succeeded+b.Failed+b.Retried != b.Actions && !b.Split {
		l.problem("a request of %d actions completed %d, failed %d and retries %d", b.Actions, b.Succeeded, b.Failed, b.Retried)
	}
	if b.Err == nil {
		return
	}
	kind := fmt.Sprintf("request %d", b.StatusCode)
	switch {
	case errors.Is(b.Err, models.ErrMalformedReply):
		kind = "malformed reply"
	case errors.Is(b.Err, context.DeadlineExceeded):
		kind = "no reply in time"
	case b.StatusCode == 0:
		kind = "connection broken"
		if l.met[kind] == 0 {
			close(l.broken)
		}
	}
	l.met[kind]++
}
