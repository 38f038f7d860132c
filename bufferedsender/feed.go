package bufferedsender

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/internal/sleep"
)

// feed connects a sender to its queue. It keeps the buffer filled with reserved records, extends their leases while the
// records are in the buffer, and settles the leases after the handlers have run. All that it holds has been accepted by
// the publisher.
//
// Its goroutine runs while there is something to settle or reserve, and ends when the queue is empty: an idle sender
// has no such goroutine. Every change that may create work must call wake.
type feed struct {
	s        *sender
	queue    queue.Queue
	appender appender
	locals   locals
	sends    bool       // it reserves; false without a client
	wanted   queue.Want // the common part of all reservations; For is the lease
	terms    relay.Terms

	ctx    context.Context // of all queue calls; ends when Close gives up
	cancel context.CancelFunc

	mu      sync.Mutex
	held    holdings
	ends    []queue.End
	aside   []aside
	running bool
	again   bool // wake was called
	flushes flushes
	timers  feedTimers
	unwatch func()
	adding  context.CancelFunc // cancels the wait for room in the buffer; nil if there is none

	// Owned by the goroutine.
	repeat  *reservation // the answer to it was lost
	loading loading

	end feedEnd

	stopped atomic.Bool // stop reserving
	changed signal      // sent after ends were settled and when the goroutine ends
	tally   tally
}

// flushes is the state that calls of Flush share.
type flushes struct {
	waiting int                     // calls
	through uint64                  // number of the last appender call whose outcomes were reported completely
	parked  map[string]queue.Origin // refused record by key, for keys parked by this process since then; at most mostParked
}

// feedTimers are nil while they are stopped.
type feedTimers struct {
	extend, watch *time.Timer
	said          time.Time // of watch: start of the silence logged last
	idle          time.Time // of watch: since when nothing is held though others have leases; zero if it is not so
}

// feedEnd is the state of closing a feed.
type feedEnd struct {
	unobserve func() // ends the queue's metrics
	once      sync.Once
	done      chan struct{} // closed when close has returned
	sent      bool          // everything added here had been settled
	lost      error         // set if the queue has lost acknowledged records
}

// tally is the queue's part of Stats, Health and metrics.
type tally struct {
	stale    atomic.Int64                // stale leases of this process
	queue    atomic.Pointer[queue.Stats] // of the last look
	others   atomic.Pointer[string]      // the lease that this process waits for, see leasedElsewhere
	silent   silence                     // rounds fail
	unseen   silence                     // looks fail
	unloaded silence                     // the Loader fails
	requests underWay
	calls    underWay // of rounds
	loads    underWay
}

// silence is the current failure of something, with its start.
type silence struct{ now atomic.Pointer[failing] }

type failing struct {
	since time.Time
	err   error
}

// note records the result of a call.
func (s *silence) note(err error) {
	switch was := s.now.Load(); {
	case err == nil && was != nil:
		s.now.Store(nil)
	case err != nil && was == nil:
		s.now.Store(&failing{time.Now(), err})
	case err != nil:
		s.now.Store(&failing{was.since, err})
	}
}

// lasting returns the failure if it has lasted at least long, otherwise nil.
func (s *silence) lasting(long time.Duration) *failing {
	if now := s.now.Load(); now != nil && time.Since(now.since) >= long {
		return now
	}
	return nil
}

// fault returns the fault of the queue, as the queue reports it or because it does not answer, or that of the Loader.
func (f *feed) fault() error {
	if q, ok := f.queue.(queue.Faulty); ok {
		if err := q.Fault(); err != nil {
			return err
		}
	}
	t := &f.tally
	if now := cmp.Or(t.silent.lasting(0), t.unseen.lasting(unheard)); now != nil { // a look times out after a second
		return unanswered(now.since, now)
	}
	if now := t.unloaded.lasting(0); now != nil {
		return fmt.Errorf("Options.Loader has failed since %s: %w", now.since.Format(time.RFC3339), now.err)
	}
	if since, hangs := t.loads.hang(unheard); hangs {
		return fmt.Errorf("Options.Loader has not returned since %s", since.Format(time.RFC3339))
	}
	if since, hangs := t.calls.hang(unheard); hangs {
		return unanswered(since, t.unseen.lasting(0))
	}
	if last := t.queue.Load(); last != nil && last.Paused {
		return pausedQueue(last)
	}
	return nil
}

// unanswered returns an error with the start of the silence. It has the error of the last look if that has ended; calls
// of a queue that waits for its server do not end.
func unanswered(since time.Time, last *failing) error {
	if last == nil {
		return fmt.Errorf("the queue has not answered since %s", since.Format(time.RFC3339))
	}
	return fmt.Errorf("the queue has not answered since %s: %w", since.Format(time.RFC3339), last.err)
}

// lookEvery is the interval at which the feed asks the queue for Stats. Without it Health would not detect that an idle
// queue is unreachable.
const lookEvery = 5 * time.Second

// watch looks at the queue periodically until the feed ends. It runs on the goroutine of a timer.
func (f *feed) watch() {
	s, err := f.look()
	if err == nil {
		f.lookElsewhere(&s)
	}
	if last := f.tally.unseen.lasting(unheard); err != nil && last != nil && !f.stopped.Load() && !last.since.Equal(f.timers.said) {
		f.timers.said = last.since
		f.warn("azsearch: queue does not answer", err) // a round may block on its server without an error
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unwatch != nil { // not closed
		f.timers.watch.Reset(lookEvery)
	}
}

// reservation is a call of Reserve and its start.
type reservation struct {
	want  queue.Want
	began time.Time
}

func newFeed(s *sender, sends bool) *feed {
	o := &s.options
	lease := min(longestLease, 2*o.RequestTimeout)
	host, _ := os.Hostname()
	f := &feed{
		s: s, queue: o.Queue, sends: sends, terms: relay.Terms{Margin: lease / leaseMargin},
		wanted: queue.Want{Holder: queue.NewID(), Name: fmt.Sprintf("process %d on %s", os.Getpid(), host), For: lease, Uncertain: max(o.UnknownWait, 0)},
		held:   holdings{all: make(map[*holding]struct{})},
		end:    feedEnd{done: make(chan struct{})},
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.locals = locals{s: s, adder: queue.NewID(), ctx: f.ctx, most: o.Limits.MaxBufferedActions, mostBytes: o.Limits.MaxBufferedBytes}
	f.appender = appender{
		queue: o.Queue, ctx: f.ctx, adder: f.locals.adder, room: make(chan struct{}, 1),
		keep: f.locals.keep, drop: f.locals.drop, kept: f.locals.appended,
	}
	return f
}

// start begins to reserve.
func (f *feed) start() {
	unwatch := func() {}
	if f.sends {
		unwatch = f.queue.Watch(f.wake)
	}
	f.mu.Lock()
	f.unwatch, f.timers.watch = unwatch, time.AfterFunc(lookEvery, f.watch)
	f.mu.Unlock()
	f.wake()
}

// wake makes the feed check for work. It never blocks.
func (f *feed) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again = true
	if !f.running && f.unwatch != nil {
		f.running = true
		go f.run()
	}
}

// run settles and reserves until there is no work left.
func (f *feed) run() {
	var retry relay.Retry
	for {
		f.mu.Lock()
		ends := f.ends
		if len(ends) > queue.MaxCall {
			ends = ends[:queue.MaxCall:queue.MaxCall]
		}
		if f.ends = f.ends[len(ends):]; len(f.ends) == 0 {
			f.ends = nil // do not grow the rest of the old array step by step
		}
		want := f.want()
		if !f.again && len(ends) == 0 || f.ctx.Err() != nil {
			f.ends = append(ends, f.ends...)
			f.running = false
			f.mu.Unlock()
			f.changed.send()
			return
		}
		f.again = false
		f.mu.Unlock()
		err := f.round(want, ends)
		f.tally.silent.note(err)
		switch ended := errors.Is(err, queue.ErrClosed) || errors.Is(err, queue.ErrFailed); {
		case err == nil:
			retry.Failures = 0
			f.changed.send()
		case ended:
			f.stopped.Store(true) // the leases run out; the records stay in the queue
			f.warn("azsearch: queue ended; nothing more is sent from it", err)
			f.mu.Lock()
			f.ends, f.aside, f.repeat, f.again = nil, nil, nil, false
			f.mu.Unlock()
		default:
			f.warn("azsearch: queue does not answer", err)
			retry.Failed(time.Now(), 2*time.Second)
			_ = sleep.For(f.ctx, time.Until(retry.At)) // the loop checks the context
			f.mu.Lock()
			f.again = true
			f.mu.Unlock()
		}
	}
}

// round settles ends and makes the reservation. If the answer to a reservation was lost, the same one is repeated under
// its token before another is made. Otherwise its records would wait until the leases expire.
func (f *feed) round(want queue.Want, ends []queue.End) (err error) {
	var leases, stale, failed []queue.Lease
	began := time.Now()
	if f.repeat != nil {
		want, began = f.repeat.want, f.repeat.began
	}
	answered := f.tally.calls.begin()
	var unreserved error
	if both, ok := f.queue.(queue.Exchanger); ok && want.Keys > 0 && len(ends) > 0 && f.repeat == nil {
		leases, stale, failed, err = both.Exchange(f.ctx, want, ends...)
		f.unsettled(ends, failed, err)
		unreserved = err
	} else { // apart, so that ends which fail again and again do not repeat the same reservation
		if len(ends) > 0 {
			stale, failed, err = f.queue.Settle(f.ctx, ends...)
			f.unsettled(ends, failed, err)
		}
		if want.Keys > 0 {
			leases, unreserved = f.queue.Reserve(f.ctx, want)
		}
	}
	answered()
	f.repeat = nil
	if unreserved != nil && want.Keys > 0 && len(leases) == 0 && time.Since(began) < want.For { // later its leases have expired
		f.repeat = &reservation{want, began}
	}
	f.settledEnds(ends, stale, err == nil)
	if len(leases) > 0 {
		f.take(leases, began, want.Keys == 1)
	} else if want.Keys > 0 && unreserved == nil { // no other key
		f.mu.Lock()
		f.takeBack(len(f.aside))
		f.mu.Unlock()
	}
	return cmp.Or(err, unreserved)
}

// settledEnds counts settled and stale leases. A repeated end whose first answer was lost counts as stale if the first
// call had succeeded: the two cases are indistinguishable.
func (f *feed) settledEnds(ends []queue.End, stale []queue.Lease, all bool) {
	if len(stale) > 0 {
		f.tally.stale.Add(int64(len(stale)))
		f.warn("azsearch: leases expired before settlement; keys may be sent again", nil, slog.Int("keys", len(stale)))
	}
	if all && len(ends) > 0 {
		f.appender.makeRoom()
	}
}

// unsettled puts back ends that, because of err, may not have reached the queue: those of failed leases, or all if
// there are none. At worst settling them again finds stale leases, see settledEnds.
func (f *feed) unsettled(ends []queue.End, failed []queue.Lease, err error) {
	if err == nil {
		return
	}
	if failed != nil {
		left := leaseSet(failed)
		ends = slices.DeleteFunc(slices.Clone(ends), func(e queue.End) bool { return !left[nameOf(&e.Lease)] })
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ends = append(slices.Clone(ends), f.ends...)
}

// want returns how much to reserve. While the breaker is not closed that is one key, for the probe. Otherwise it is as
// much as two requests for each one allowed in flight: records left in the queue can still be folded or reserved by
// other processes. Called with the lock.
func (f *feed) want() queue.Want { //nolint:cyclop // one decision
	w := f.wanted
	w.Token = queue.NewID()
	if f.stopped.Load() || !f.sends || f.hangs() {
		return w
	}
	limits := f.s.publisher.Limits()
	records := min(limits.Items, 2*limits.InFlight*limits.BatchItems)
	bytes := int(min(limits.Bytes, 2*int64(limits.InFlight)*int64(limits.BatchBytes)))
	switch c := f.s.publisher.Condition(); {
	case c.State == publisher.Paused:
		return w
	case c.State == publisher.Ready || f.isHeld(c):
		// The next probe should be another key, if there is one: repeated failures of one key look like a bad document.
		if !f.held.untried() {
			w.Keys, w.Bytes = 1, bytes
		}
		return w
	}
	// Actions that are set apart do not keep others from being sent.
	apart := f.s.publisher.Stats().Apart
	if apart > 0 {
		records, bytes = min(limits.Items, records+apart), int(limits.Bytes)
	}
	// Reserve only amounts that are worth a round trip.
	if room := records - f.held.records; room > 0 && f.held.records-apart <= (records-apart)/2 && f.held.bytes <= bytes/2 {
		w.Keys, w.Bytes = min(room, queue.MaxCall), bytes-f.held.bytes
	}
	return w
}

// hangs reports whether requests hang, so that other processes should send the waiting records.
func (f *feed) hangs() bool {
	_, hangs := f.tally.requests.hang(2 * f.wanted.For)
	return hangs
}

// isHeld reports whether a condition suspends all sending, not only that of actions set apart.
func (f *feed) isHeld(c publisher.Condition) bool {
	return c.Held() != nil && !c.Apart
}

func (f *feed) warn(message string, err error, more ...slog.Attr) {
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return
		}
		more = append(more, slog.Any("error", err))
	}
	f.s.observer.guardElsewhere(inLogger, func() {
		f.s.observer.logLasting(f.ctx, slog.LevelWarn, message, more...)
	})
}
