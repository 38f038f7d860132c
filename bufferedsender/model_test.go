package bufferedsender_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"pgregory.net/rapid"
)

// TestModel runs random programs (callers, keys, actions, options, faults of
// the service, deadlines) against the emulator and compares with a naive model:
// accepted = completed + failed + unsent, one terminal event for each action,
// actions of a key in order, no request over the limits of its time, one action of
// a key in flight, each failure reported to every Flush that waited for it, or else
// once, and with one dead letter, one call of OnOutcome for each action, nothing
// sent that was withdrawn, events
// that agree with each other, a breaker that is not stuck, and a final state of
// the index that the outcomes allow, although hooks panic, end their goroutine,
// and call the sender. synctest fails it if a goroutine is left, or if everything
// hangs.
//
// CI runs 10,000 schedules on each of two cores; for a soak use, for example,
//
//	go test ./bufferedsender -run TestModel -rapid.checks=500000 -timeout 0
func TestModel(t *testing.T) {
	for _, half := range []string{"one", "two"} { // a core each
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				intn := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "n") }
				s := newSchedule(intn) // rapid's draws may end its goroutine, so not in the bubble
				synctest.Test(t, func(*testing.T) {
					s.start()
					s.run()
					s.check()
				})
				if len(s.errors) > 0 {
					rt.Fatalf("%s\n%s", s, strings.Join(s.errors, "\n"))
				}
			})
		})
	}
}

// modelDoc is sent by every schedule. Merges leave out a field.
type modelDoc struct {
	ID string  `json:"id" search:"key"`
	A  *string `json:"a,omitempty"`
	B  *int64  `json:"b,omitempty"`
}

const modelIndex = `{"name":"model","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"a","type":"Edm.String"},
	{"name":"b","type":"Edm.Int64"}]}`

// step is one thing that a caller does.
type step struct {
	kind    string // add, try, seq, wait, deleteKeys, flush, sleep, pause, limits, breaker, reset, withdraw
	limits  bufferedsender.Limits
	actions []models.IndexDocumentsAction[modelDoc]
	wait    time.Duration // of sleep; deadline of the others, 0: none
}

// record is all that is known of one action.
type record struct {
	id        int
	caller    int
	key       string
	action    models.IndexDocumentsAction[modelDoc]
	added     int
	sent      int
	accepted  bool
	ended     []string // terminal events
	unknown   bool
	folded    bool
	dropped   bool // superseded
	waited    bool // by IndexDocumentsAndWait
	givenUp   bool // its waiter was given that it is withdrawn, …
	certain   bool // … and certainly not applied
	called    int  // calls of OnOutcome
	takenBack bool // it ended so
	withdrawn bool // by Withdraw, when it had been sent so often:
	banned    int
}

// byKey reports whether the action was added by DeleteDocumentsByKey.
func (r *record) byKey() bool { return r.added == 2 }

// schedule is one random program, and what is known of its run.
type schedule struct {
	failSoon bool
	policy   string          // of policies
	intn     func(n int) int // draws while the schedule is made
	rnd      *rand.Rand      // draws while it runs; guarded by mu
	options  bufferedsender.Options[modelDoc]
	breaker  breaker.Options
	server   *searchtest.Server
	sender   *bufferedsender.BufferedSender[modelDoc]
	other    *bufferedsender.BufferedSender[modelDoc] // shares the breaker; mostly nil
	callers  [][]step
	closeAt  time.Duration
	closeIn  time.Duration // Close's deadline, 0: none
	hidden   int64         // size limit of the service
	shared   bool          // there is another sender
	naughty  int           // how many of 1000 hooks misbehave

	mu          sync.Mutex
	records     []*record
	settleOrder map[string][]*record  // by key, in the order settled
	inFlight    map[string]int        // keys in requests, to find two at once
	largest     bufferedsender.Limits // that were ever in force
	rules       []rules               // one after the other, the last is in force
	faults      []string              // of the requests to come
	requests    int
	reported    int // failures that Flush and Close reported, or waiters were given
	unsentSeen  int // of these, unsent ones in FlushErrors
	closeErr    error
	closing     bool // Close was called
	heard       heard
	errors      []string
}

func (s *schedule) String() string {
	o := &s.options
	return fmt.Sprintf("%d callers, another sender %t, naughty %d, breaker %t %+v, overload %q, fold %t versions %t, merge missing %d, tuning %T, dead letters %t, batch %d/%d, buffer %d/%d, in flight %d, auto flush %t %v, timeout %v, retry %+v, close at %v in %v, faults %q",
		len(s.callers), s.shared, s.naughty, !s.failSoon, s.breaker, s.policy, o.Folding != nil, o.Folding != nil && o.Folding.Version != nil, o.OnMergeMissing, o.Tuning, o.DeadLetters != nil, o.Limits.MaxBatchActions, o.Limits.MaxBatchBytes, o.Limits.MaxBufferedActions, o.Limits.MaxBufferedBytes, o.Limits.MaxInFlight, !o.DisableAutoFlush,
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

func must(err error) {
	if err != nil {
		panic(err)
	}
}
