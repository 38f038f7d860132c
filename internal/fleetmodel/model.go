package fleetmodel

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Run runs one random program against a fleet over a service in memory, whose indexes fail and recover. The program
// adds, flushes and purges documents of all classes, pauses and drops senders, changes slots and budget, and closes the
// fleet, sometimes early.
//
// It checks these promises:
//
//   - accepted = completed + failed + unsent + pending in every snapshot, of a sender and of the fleet;
//   - each accepted action has one outcome, no other has any, and outcomes of a key come in order; the index holds a
//     state that the outcomes allow, the newest completed version;
//   - there are never more requests in flight than the pool has slots, nor two with the same key;
//   - what all senders buffer was granted, and what was granted is within the budget, except for one action;
//   - no sender buffers more than its own limits allow;
//   - a purged key is in the hints, and was not in flight; without a call of Purge some adding call waits that is as
//     urgent as it, or more;
//   - when Flush of all or some keys returns success, everything has been sent;
//   - once all indexes work, everything accepted is applied, and calls that wait for room get it, within settled plus
//     the time of a request for each action; while one index keeps failing this holds for the others, if the budget has
//     a floor for each and the service breaker was not open;
//   - after Close no slot is in use, no room is granted and, as synctest checks, no goroutine is left.
//
// It returns the [Holds] that the program has reached, and an error that lists the violations. intn determines the
// program; it returns a number from 0 to n-1.
func Run(t *testing.T, intn func(n int) int) (held []string, err error) {
	t.Helper()
	m := draw(intn)
	synctest.Test(t, func(*testing.T) { m.run() })
	held = slices.Sorted(maps.Keys(m.holds))
	if len(m.errors) > 0 {
		return held, fmt.Errorf("%v\n%s", m, strings.Join(m.errors, "\n"))
	}
	return held, nil
}

// Holds returns the names of situations that programs of Run may reach.
func Holds() []string {
	return []string{
		"close in the middle", "completed", "drop", "flush of keys", "limit of one", "outage of one index", "outage of the service",
		"purged by a sender", "purged by the fleet", "refused", "fails forever", "unsent", "waited for room",
	}
}

// settled is the maximum time from the recovery of all indexes until each breaker has allowed a probe and each failed
// action was retried, excluding the time of the requests.
const settled = 2 * time.Minute

// The kinds of steps; most steps add documents.
const (
	stepFault = iota
	stepHeal
	stepNowhere
	stepPause
	stepResume
	stepFlush
	stepDrop
	stepPurge
	stepPurgeAll
	stepSlots
	stepLimit
	stepBudget
	stepSleep
	stepAdd
	stepKinds = stepAdd + 14
)

type step struct{ what, index, n, class, lane, keys int }

// lanes is the number of goroutines that add to an index, each with its own keys.
const lanes = 2

// record is one action.
type record struct {
	at       docKey
	version  int
	class    models.Class
	accepted bool
	outcomes []string // completed, failed, unsent, purged
	unknown  bool     // not completed, but it may have been applied
	settled  int      // position in the order of outcomes
}

// model is a program and the state of its run.
//
//archtest:long owed: what is drawn and what is counted are two parts
type model struct {
	seed     uint64
	steps    []step
	indexes  int
	pool     pool.Options
	whenFull fleet.WhenFull
	adapts   bool
	sender   []int // by index: the overload policy, and whether there is a handler
	limits   bufferedsender.Limits
	closeIn  time.Duration // time limit of the last Close
	early    bool          // close without repairing anything before
	chronic  bool          // index 0 fails while the others settle

	service *service
	fleet   *fleet.Fleet
	hints   *hints.Set
	lanes   []chan func()
	jobs    sync.WaitGroup

	// Owned by the goroutine of the steps.
	budget, ceiling granted // most that may be granted
	limit           int     // of the pool

	mu       sync.Mutex
	errors   []string
	holds    map[string]bool
	versions int
	outcomes int
	records  map[docKey][]*record // in the order of adding
	senders  map[*bufferedsender.BufferedSender[hotel]]bool
	closing  bool
	callers
}

// callers are the calls that may cause a purge, and the times of the last ones that have ended.
type callers struct {
	adding [int(models.ClassBestEffort) + 1]int // by class
	added  [int(models.ClassBestEffort) + 1]time.Time
	purges int
	purged time.Time
}

// mayPurge reports whether an action of a class may be purged now.
func (c *callers) mayPurge(class models.Class) bool {
	lately := func(n int, last time.Time) bool { return n > 0 || time.Since(last) < purgeLag }
	for urgent := range class + 1 {
		if lately(c.adding[urgent], c.added[urgent]) {
			return true
		}
	}
	return lately(c.purges, c.purged)
}

// purgeLag exceeds the time from the end of a call to the purge that it caused: handlers may delay it.
const purgeLag = 2 * time.Second

// granted is an amount of room.
type granted struct{ actions, bytes int64 }

// largest is more than the encoded size of any document.
const largest = 2500

func draw(intn func(n int) int) *model {
	m := &model{
		seed: uint64(intn(1 << 30)), indexes: 1 + intn(10), adapts: intn(6) == 0, early: intn(3) == 0, chronic: intn(2) == 0,
		holds: map[string]bool{}, records: map[docKey][]*record{}, senders: map[*bufferedsender.BufferedSender[hotel]]bool{},
	}
	m.pool = pool.Options{
		Expedited: 1 + intn(3), Shared: 1 + intn(3), FloorActions: 1 + intn(12),
	}
	if intn(4) > 0 {
		m.pool.BufferedActions = m.pool.FloorActions * (1 + intn(2*m.indexes+3))
	}
	if m.pool.BufferedActions == 0 || intn(3) == 0 {
		m.pool.FloorBytes = int64(100 + intn(1000))
		m.pool.BufferedBytes = m.pool.FloorBytes * int64(1+intn(2*m.indexes+3))
	}
	if intn(2) == 0 {
		m.whenFull = fleet.PurgeSick
	}
	m.limits = bufferedsender.Limits{MaxBatchActions: 1 + intn(10), MaxInFlight: 1 + intn(3), MaxBufferedActions: 3 + intn(60)}
	for range m.indexes {
		m.sender = append(m.sender, intn(12))
	}
	m.closeIn = time.Duration(intn(4)*intn(4000)) * time.Millisecond
	for range 30 + intn(60) {
		m.steps = append(m.steps, step{intn(stepKinds), intn(m.indexes), intn(1000), intn(8), intn(lanes), intn(5)})
	}
	if intn(3) == 0 {
		m.urgentFirst()
	}
	return m
}

// urgentFirst lets what is urgent be added first, by calls that do not wait for ever, and everything else afterwards:
// so that what a purge could give up is mostly more urgent than what waits.
func (m *model) urgentFirst() {
	for i := range m.steps {
		s := &m.steps[i]
		if s.class = int(models.ClassBestEffort); i < len(m.steps)/2 {
			s.class, s.n = int(models.ClassExpedited), s.n|1
		}
	}
}

func (m *model) String() string {
	return fmt.Sprintf("%d indexes, pool %+v, when full %d, adapts %t, senders %v %+v, close in %v, early %t, chronic %t, steps %v",
		m.indexes, m.pool, m.whenFull, m.adapts, m.sender, m.limits, m.closeIn, m.early, m.chronic, m.steps)
}

func (m *model) wrong(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.errors) < 20 {
		m.errors = append(m.errors, fmt.Sprintf(format, args...))
	}
}

func (m *model) hold(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds[what] = true
}

func (m *model) start() {
	m.service = &service{
		wrong: m.wrong, rnd: rand.New(rand.NewPCG(m.seed, 1)), faults: map[string]fault{}, indexes: map[string]bool{}, doubts: map[string]int{}, changed: make(chan struct{}),
		applied: map[docKey]int{}, inFlight: map[docKey]int{}, requests: map[*request]bool{},
	}
	m.hints = new(hints.Set)
	var err error
	o := &fleet.Options{
		Pool: &m.pool, WhenFull: m.whenFull, Hints: m.hints, Logger: sendertest.NoLog,
		Breaker: &breaker.Options{Failures: 1 + int(m.seed%3)},
	}
	if m.adapts {
		o.Tuning = tuning.Adaptive(nil)
	}
	if m.fleet, err = fleet.New(m.service, o); err != nil {
		panic(err)
	}
	m.budget = granted{int64(m.pool.BufferedActions), m.pool.BufferedBytes}
	m.ceiling = m.budget
	m.slots(m.fleet.Pool().Options())
	for range m.indexes * lanes {
		lane := make(chan func(), len(m.steps)+m.indexes) // its capacity is enough for all functions
		m.lanes = append(m.lanes, lane)
		m.jobs.Go(func() {
			for do := range lane {
				do()
			}
		})
	}
}

// slots passes the number of allowed requests to the service, for settings of the pool that apply now or shortly.
func (m *model) slots(s pool.Options) {
	n := s.Expedited + s.Shared
	if m.limit > 0 && !m.adapts {
		n = min(n, m.limit)
	}
	if n == 1 {
		m.hold("limit of one")
	}
	m.service.allow(s.Expedited, s.Shared, n)
}

func indexName(i int) string { return fmt.Sprintf("index-%d", i) }

// of returns the sender of an index.
func (m *model) of(i int) (*bufferedsender.BufferedSender[hotel], error) {
	how := m.sender[i]
	o := &bufferedsender.Options[hotel]{
		Limits: m.limits, AutoFlushInterval: time.Second, RequestTimeout: 5 * time.Second, UnknownWait: time.Second,
	}
	switch how % 4 {
	case 0:
		o.Outage = bufferedsender.Hold{WhenFull: bufferedsender.Reject()}
	case 1:
		o.Outage = bufferedsender.Hold{WhenFull: bufferedsender.PurgeOldest(bufferedsender.AllowLoss)}
	}
	if how >= 8 {
		var mu sync.Mutex
		rnd := rand.New(rand.NewPCG(m.seed, uint64(i)))
		o.Handlers.ActionSent = func(context.Context, *events.ActionSent[hotel]) {
			mu.Lock()
			n := rnd.IntN(40)
			mu.Unlock()
			time.Sleep(time.Duration(max(n-30, 0)) * time.Millisecond)
		}
	}
	s, err := fleet.Sender(m.fleet, indexName(i), o)
	if err == nil {
		m.mu.Lock()
		m.senders[s] = true
		m.mu.Unlock()
	}
	return s, err
}
