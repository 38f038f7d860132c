package sendertest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// CheckModel runs the model with programs drawn by rapid, as many as its flag -rapid.checks.
func CheckModel(t *testing.T) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		_, err := RunModel(t, func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "n") }, nil)
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// RunModel runs one random program (callers, keys, actions, options, faults of the service, deadlines) against the
// emulator and compares it with a naive model. It checks that
//
//   - accepted = completed + failed + unsent
//   - each action has one terminal event and one call of OnOutcome
//   - actions of a key are in order, one at a time in flight
//   - no request exceeds the limits of its time
//   - each failure is reported to every Flush that waited for it, or else once, and has one dead letter
//   - no withdrawn action is sent
//   - events agree with each other
//   - the breaker is not stuck
//   - the outcomes allow the final state of the index
//
// although hooks panic, end their goroutine, and call the sender. It returns the features of [ModelHolds] that the
// program had, and an error with all violations and the program. synctest ends the process if goroutines are left or
// all are blocked.
//
// intn draws the program: it returns a number from 0 to n-1. The same numbers give the same program. (If goroutines run
// at the same moment, the scheduler still chooses their order.)
func RunModel(t *testing.T, intn func(n int) int, opts *ModelOptions) (held []string, err error) {
	t.Helper()
	s := newSchedule(intn) // rapid's draws may end its goroutine, so not in the bubble
	if opts != nil {
		s.wrap = opts.Wrap
	}
	synctest.Test(t, func(*testing.T) {
		s.start()
		s.run()
		s.check()
		held = s.held()
	})
	if len(s.errors) > 0 {
		return held, fmt.Errorf("%s\n%s", s, strings.Join(s.errors, "\n"))
	}
	return held, nil
}

// ModelOptions configures [RunModel].
type ModelOptions struct {
	// Wrap, if not nil, wraps the client of the senders, for example with faults that the model must detect.
	Wrap func(*search.Client) bufferedsender.Indexer
}

// modelDoc is the document of all programs. Merges leave out a field.
type modelDoc struct {
	ID string  `json:"id" search:"key"`
	A  *string `json:"a,omitempty"`
	B  *int64  `json:"b,omitempty"`
}

const modelIndex = `{"name":"model","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"a","type":"Edm.String"},
	{"name":"b","type":"Edm.Int64"}]}`

// step is one step of a caller.
type step struct {
	kind    string // add, try, seq, wait, deleteKeys, flush, sleep, pause, limits, breaker, reset, withdraw, hold, control
	limits  bufferedsender.Limits
	control modelControl
	actions []models.IndexDocumentsAction[modelDoc]
	class   models.Class
	wait    time.Duration // of sleep; deadline of the others, 0: none
}

// record is everything known about one action.
type record struct {
	id        int
	caller    int
	key       string
	action    models.IndexDocumentsAction[modelDoc]
	added     int
	class     models.Class
	sent      int
	accepted  bool
	ended     []string // terminal events
	unknown   bool
	folded    bool
	dropped   bool // superseded
	waited    bool // by IndexDocumentsAndWait
	givenUp   bool // its waiter got ErrWithdrawn …
	certain   bool // … and a certain answer that it is not applied
	called    int  // calls of OnOutcome
	takenBack bool // it ended as withdrawn
	behind    bool // it was behind a hold
	withdrawn bool // by Withdraw, when sent was banned:
	banned    int
}

// byKey reports whether the action was added by DeleteDocumentsByKey.
func (r *record) byKey() bool { return r.added == 2 }

// schedule is one random program and the record of its run.
//
//archtest:long owed: what is drawn and what is counted are two parts
type schedule struct {
	failSoon    bool
	policy      string          // initial policy
	control     modelControl    // in force; guarded by mu
	rejects     bool            // rejects was in force at some time; guarded by mu
	intn        func(n int) int // draws while the schedule is made
	rnd         *rand.Rand      // draws while it runs; guarded by mu
	options     bufferedsender.Options[modelDoc]
	breaker     breaker.Options
	whole       *breaker.Breaker // Hold.Service; nil with one breaker
	twoBreakers bool
	wrap        func(*search.Client) bufferedsender.Indexer
	server      *searchtest.Server
	sender      *bufferedsender.BufferedSender[modelDoc]
	other       *bufferedsender.BufferedSender[modelDoc] // shares the breaker; usually nil
	callers     [][]step
	closeAt     time.Duration
	closeIn     time.Duration // Close's deadline, 0: none
	hidden      int64         // size limit of the service
	shared      bool          // there is another sender
	misbehaving int           // how many of 1000 hooks misbehave

	mu          sync.Mutex
	records     []*record
	settleOrder map[string][]*record  // by key, in the order settled
	inFlight    map[string]int        // keys in requests, to detect two at once
	largest     bufferedsender.Limits // maxima of all limits in force so far
	rules       []rules               // in order; the last is in force
	faults      []string              // of the coming requests
	lacksFrom   int                   // from this request on the index lacks a property,
	lacksTo     int                   // until this one
	requests    int
	reported    int // failures reported by Flush and Close, or to waiters
	unsentSeen  int // of these, unsent ones in FlushErrors
	closeErr    error
	closing     bool // Close was called
	observed    observed
	errors      []string
}

func (s *schedule) String() string {
	o := &s.options
	return fmt.Sprintf("%d callers, another sender %t, misbehaving %d, breaker %t %+v, of the service as well %t, overload %q, fold %t versions %t, merge missing %d, tuning %T, dead letters %t, batch %d/%d, buffer %d/%d, in flight %d, auto flush %t %v, timeout %v, retry %+v, close at %v in %v, faults %q",
		len(s.callers), s.shared, s.misbehaving, !s.failSoon, s.breaker, s.twoBreakers, s.policy, o.Folding != nil, o.Folding != nil && o.Folding.Version != nil, o.OnMergeMissing, o.Tuning, o.DeadLetters != nil, o.Limits.MaxBatchActions, o.Limits.MaxBatchBytes, o.Limits.MaxBufferedActions, o.Limits.MaxBufferedBytes, o.Limits.MaxInFlight, !o.DisableAutoFlush,
		o.AutoFlushInterval, o.RequestTimeout, o.Retry, s.closeAt, s.closeIn, s.faults[:min(len(s.faults), s.requests)])
}

// errorf notes a failure. It is called with mu held, or when nothing runs.
func (s *schedule) errorf(format string, args ...any) {
	if len(s.errors) < 20 {
		s.errors = append(s.errors, fmt.Sprintf(format, args...))
	}
}

// fail is errorf for callers that do not hold mu.
func (s *schedule) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errorf(format, args...)
}

func orPanic(err error) {
	if err != nil {
		panic(err)
	}
}
