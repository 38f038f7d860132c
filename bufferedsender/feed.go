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

// feed stands between a sender and its queue: it keeps the buffer filled with what it
// reserves, makes the leases last as long as their records are in the buffer, and settles
// them when the handlers have run. What it holds is what the publisher has accepted.
//
// Its goroutine runs while there is something to settle or to reserve, and ends when the
// queue has nothing: an idle sender has none. Whoever may have changed that calls wake.
type feed struct {
	s        *sender
	queue    queue.Queue
	appender appender
	locals   locals
	sends    bool       // it reserves; false: there is no client
	wanted   queue.Want // what all reservations have in common; For is the lease
	terms    relay.Terms

	ctx    context.Context // of all calls of the queue; ends when Close gives up
	cancel context.CancelFunc

	mu      sync.Mutex
	held    holdings
	ends    []queue.End
	aside   []aside
	running bool
	again   bool // somebody has called wake
	flushes flushes
	timers  feedTimers
	unwatch func()
	adding  context.CancelFunc // ends the wait for room in the buffer, nil if nobody waits

	// Of the goroutine.
	repeat  *reservation // whose answer was lost
	loading loading

	end feedEnd

	stopped atomic.Bool // nothing is reserved any more
	changed signal      // sent when ends were settled, or the goroutine ends
	tally   tally
}

// flushes are the calls of Flush, and what they have reported.
type flushes struct {
	waiting int                     // calls
	through uint64                  // the last call of the appender of which one has reported everything
	parked  map[string]queue.Origin // the refused record of keys that this process has parked since, mostParked of them
}

// feedTimers are nil while they do not run.
type feedTimers struct {
	extend, watch *time.Timer
	said          time.Time // of watch: since when the queue has not answered, as the log has it
}

// feedEnd is how a feed ends.
type feedEnd struct {
	unobserve func() // ends the metrics of the queue
	once      sync.Once
	done      chan struct{} // closed when close has ended
	sent      bool          // all that was added here had been settled then
	lost      error         // the queue has lost what it had acknowledged
}

// tally is what Stats, Health and metrics say of the queue.
type tally struct {
	stale    atomic.Int64                // leases, of this process
	queue    atomic.Pointer[queue.Stats] // when it was asked last
	silent   silence                     // rounds fail
	unseen   silence                     // looks fail
	unloaded silence                     // the Loader fails
	requests underWay
	calls    underWay // of rounds
	loads    underWay
}

// silence is since when something fails, and how.
type silence struct{ now atomic.Pointer[failing] }

type failing struct {
	since time.Time
	err   error
}

// note notes how a call has ended.
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

// lasting returns what has failed for so long, or nil.
func (s *silence) lasting(long time.Duration) *failing {
	if now := s.now.Load(); now != nil && time.Since(now.since) >= long {
		return now
	}
	return nil
}

// fault is what is wrong with the queue, by its own account or because it does not answer, or with the Loader.
func (f *feed) fault() error {
	if q, ok := f.queue.(queue.Faulty); ok {
		if err := q.Fault(); err != nil {
			return err
		}
	}
	t := &f.tally
	if now := cmp.Or(t.silent.lasting(0), t.unseen.lasting(unheard)); now != nil { // a look is cut after a second
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

// unanswered says since when the queue does not answer, and how its last call has ended if one has: those of a queue
// that waits for its server do not end.
func unanswered(since time.Time, last *failing) error {
	if last == nil {
		return fmt.Errorf("the queue has not answered since %s", since.Format(time.RFC3339))
	}
	return fmt.Errorf("the queue has not answered since %s: %w", since.Format(time.RFC3339), last.err)
}

// lookEvery is how often the feed looks at the queue, for Health: of an idle one nothing else is asked.
const lookEvery = 5 * time.Second

// watch looks, now and then, until the feed ends. It runs on the goroutine of a timer.
func (f *feed) watch() {
	_, err := f.look()
	if last := f.tally.unseen.lasting(unheard); err != nil && last != nil && !f.stopped.Load() && !last.since.Equal(f.timers.said) {
		f.timers.said = last.since
		f.warn("azsearch: queue does not answer", err) // a round may wait for its server, and says nothing until then
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unwatch != nil { // it is not closed
		f.timers.watch.Reset(lookEvery)
	}
}

// reservation is one that was asked for, and when.
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

// wake has the feed look what there is to do. It never blocks.
func (f *feed) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again = true
	if !f.running && f.unwatch != nil {
		f.running = true
		go f.run()
	}
}

// run settles and reserves until there is nothing to do.
func (f *feed) run() {
	var retry relay.Retry
	for {
		f.mu.Lock()
		ends := f.ends
		if len(ends) > queue.MaxCall {
			ends = ends[:queue.MaxCall:queue.MaxCall]
		}
		if f.ends = f.ends[len(ends):]; len(f.ends) == 0 {
			f.ends = nil // not to grow step by step what is left of its capacity
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
			f.stopped.Store(true) // what is held goes back when its leases end
			f.warn("azsearch: queue ended; nothing more is sent from it", err)
			f.mu.Lock()
			f.ends, f.aside, f.repeat, f.again = nil, nil, nil, false
			f.mu.Unlock()
		default:
			f.warn("azsearch: queue does not answer", err)
			retry.Failed(time.Now(), 2*time.Second)
			_ = sleep.For(f.ctx, time.Until(retry.At)) // the loop looks
			f.mu.Lock()
			f.again = true
			f.mu.Unlock()
		}
	}
}

// round settles ends, and reserves what is wanted. A reservation whose answer is lost is
// repeated under its token before another is made: what it has leased would wait for the end
// of the leases otherwise.
func (f *feed) round(want queue.Want, ends []queue.End) (err error) {
	var leases, stale, failed []queue.Lease
	began := time.Now()
	if f.repeat != nil {
		want, began = f.repeat.want, f.repeat.began
	}
	answered := f.tally.calls.begin()
	if both, ok := f.queue.(queue.Exchanger); ok && want.Keys > 0 && len(ends) > 0 {
		leases, stale, failed, err = both.Exchange(f.ctx, want, ends...)
	} else {
		if len(ends) > 0 {
			stale, failed, err = f.queue.Settle(f.ctx, ends...)
		}
		if want.Keys > 0 && err == nil {
			leases, err = f.queue.Reserve(f.ctx, want)
		}
	}
	answered()
	f.repeat = nil
	if err != nil {
		f.unsettled(ends, failed, want.Keys > 0)
		if want.Keys > 0 && len(leases) == 0 && time.Since(began) < want.For { // later there is nothing left of it
			f.repeat = &reservation{want, began}
		}
	}
	f.settledEnds(ends, stale, err == nil)
	if len(leases) > 0 {
		f.take(leases, began, want.Keys == 1)
	} else if want.Keys > 0 && err == nil { // no other key
		f.mu.Lock()
		f.takeBack(len(f.aside))
		f.mu.Unlock()
	}
	return err
}

// settledEnds counts what has reached the queue, or has come too late. Ends that are repeated
// because their answer was lost count as stale if they had reached it the first time: nobody
// can tell.
func (f *feed) settledEnds(ends []queue.End, stale []queue.Lease, all bool) {
	if len(stale) > 0 {
		f.tally.stale.Add(int64(len(stale)))
		f.warn("azsearch: leases expired before settlement; keys may be sent again", nil, slog.Int("keys", len(stale)))
	}
	if all && len(ends) > 0 {
		f.appender.makeRoom()
	}
}

// unsettled puts back the ends of which it is not known whether they have reached the
// queue: settled again they are stale at the worst, of which nobody is to be told. If the
// keys that were reserved with them are not known either, their leases run out.
func (f *feed) unsettled(ends []queue.End, failed []queue.Lease, reserving bool) {
	if failed != nil && !reserving {
		ends = slices.DeleteFunc(slices.Clone(ends), func(e queue.End) bool {
			return !slices.ContainsFunc(failed, func(l queue.Lease) bool { return l.Key == e.Lease.Key && l.Token == e.Lease.Token })
		})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ends = append(slices.Clone(ends), f.ends...)
}

// want says how much there is room for. While the breaker is not closed that is one key, for
// the probe. Otherwise as much as two requests for each that may be in flight: what stays
// in the queue can still be folded, and others can have it. Called with the lock.
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
		// The next probe is to be another key, if there is one: what fails alone again and
		// again looks like a bad document.
		if !f.held.untried() {
			w.Keys, w.Bytes = 1, bytes
		}
		return w
	}
	// What is held apart lets the others pass.
	apart := f.s.publisher.Stats().Apart
	if apart > 0 {
		records, bytes = min(limits.Items, records+apart), int(limits.Bytes)
	}
	// In pieces that are worth a round trip.
	if room := records - f.held.records; room > 0 && f.held.records-apart <= (records-apart)/2 && f.held.bytes <= bytes/2 {
		w.Keys, w.Bytes = min(room, queue.MaxCall), bytes-f.held.bytes
	}
	return w
}

// hangs reports whether requests hang, so that others had better have what waits here.
func (f *feed) hangs() bool {
	_, hangs := f.tally.requests.hang(2 * f.wanted.For)
	return hangs
}

// isHeld reports whether a condition keeps everything from being sent, and not only what is
// held apart from the others.
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
		f.s.observer.logger.LogAttrs(f.ctx, slog.LevelWarn, message, append(f.s.observer.where(), more...)...)
	})
}
