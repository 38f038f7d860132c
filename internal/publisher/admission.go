package publisher

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// entry is an accepted item that the loop has not taken over yet.
type entry[V any] struct {
	item     Item[V]
	seq      uint64
	accepted instant
}

// admission decides which items are accepted. Accepting and closing happen under one lock, which is never held while
// anything blocks. So both promises hold: nil means accepted, and nothing is accepted after closing.
//
//archtest:long owed: room and producers are parts under one lock
type admission[V any] struct {
	mu sync.Mutex
	// The following fields are guarded by mu. Producers append, the loop removes.
	settings   settings
	room       Room // shared with other publishers, or nil
	autoFlush  bool
	inbox      []entry[V]
	inboxBytes int64
	spare      []entry[V] // the previous inbox, for reuse
	usual      int        // approximate length of the longest recent inbox
	inboxes    sync.Pool  // of *[]entry[V], while idle
	waiters    []*waiter[V]
	flushes    []*flush // calls of Flush that the loop has not seen, and abandoned ones

	// A call was rejected since there was last room. rejectedOutside is set if it was not in a hook; rejectedClass is then
	// the most urgent class.
	rejected, rejectedOutside bool
	rejectedClass             uint8

	waitingBytes int64       // of the items of waiters
	outside      int         // calls that wait elsewhere, see Outside
	outsideBytes int64       // bytes held by these calls
	encoding     int         // calls with a turn to encode
	encoders     []encoder   // calls that wait for a turn, ordered by class, then by arrival
	later        *time.Timer // until one more call gets a turn, or nil
	roomTurns    turns       // of the classes, for room
	encodeTurns  turns       // of the classes, for encoding
	largeBytes   int64       // size of recently accepted bodies; the largest one counts longest

	slab   *slab // memory for accepted bodies; nil: start a new one
	stored int   // bytes stored so far, at most a large slab's

	// The loop sleeps until the inbox holds this much.
	wakeItems int
	wakeBytes int64
	wakeSeen  uint64 // or until an item arrives of a class not in this bit set
	urgent    bool   // such an item has arrived
	// The oldest sendable item when the loop went to sleep.
	oldest instant
	waits  bool // oldest is set

	changedAt time.Time // when settings.paused changed
	// When the condition Throttled ends; written by the loop.
	throttledUntil time.Time
	condition      Condition // without a pause; written by the loop
	silent         time.Time // see Condition.Silent; zero if not silent
	emptied        time.Time // when the last item left, for roomless
	guests         guests
	flushLater     flushLater

	commands []func()       // to be run by the loop
	adding   map[string]int // by key, items of holds that a waiting command will add

	stats    Stats
	reported uint64     // failures already passed to calls of Flush or to waiting callers
	given    CloseError // what Close has given up so far: Unsent and Unknown
	closing  bool
	result   *CloseError
	ended    bool // result is final
}

// Stats is a consistent snapshot: Accepted = Completed + Failed + Unsent + Returned + Items.
//
//archtest:long independent figures for the sender
type Stats struct {
	Accepted, Completed, Failed, Unsent uint64
	Returned                            uint64 // see Config.Return

	Items int   // accepted and not settled
	Bytes int64 // of their bodies

	InFlight int // requests in flight
	Carried  int // items that may have been applied: in flight, or cut off in an earlier request
	Waiting  int // calls that wait for room, encoded or not
	Apart    int // items that are set apart, see IndexError

	WaitingBytes int64 // of the items of calls that wait for room

	OldestAge time.Duration // of the oldest item that could be sent but was not

	Requests, Retries, Splits, Pauses uint64
	Flushes                           uint64 // calls of Flush, and firings of the timer
	Waits                             uint64 // how often a call began to wait for room, encoded or not
	BytesSent                         uint64
	Purged, Withdrawn                 uint64 // of Failed
	Folded, Superseded                uint64 // items that were not sent themselves
	Throttled                         uint64 // items refused because the service is busy

	// Current limits of a batch and of requests in flight.
	BatchItems, BatchBytes, Slots int
	Interval                      time.Duration // between the starts of two requests

	Limits Limits // as configured, or as set since
}

// Stats returns a snapshot.
func (p *Publisher[V, R]) Stats() Stats {
	a := &p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.stats
	s.Waiting, s.WaitingBytes, s.Limits = len(a.waiters)+len(a.encoders)+a.outside, a.waitingBytes+a.outsideBytes, a.settings.limits
	if a.waits && s.Items > 0 { // Close leaves oldest as it was
		s.OldestAge = p.now() - a.oldest
	}
	return s
}

// Closing reports whether Close was called.
func (p *Publisher[V, R]) Closing() bool {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	return p.admission.closing
}

// Add accepts items in order and returns how many. If not all, the error is the reason. With wait it blocks while the
// buffer is full, until ctx ends; the remaining items are then not accepted. Without wait, or in a hook, it returns
// ErrFull.
//
// turn reports that the caller has a turn to encode. Add ends it.
func (p *Publisher[V, R]) Add(ctx context.Context, items []Item[V], wait, turn bool) (int, error) {
	for i := range items {
		items[i].hashKey()
	}
	a := &p.admission
	now := p.now()
	a.mu.Lock()
	if turn {
		a.encoding--
	}
	if a.closing { // then no call waits for a turn
		a.mu.Unlock()
		return 0, ErrClosed
	}
	accepted := 0
	if len(a.waiters) == 0 || !wait && a.waiters[0].class > items[0].Class { // first come, first served
		accepted = a.accept(items, now, math.MaxUint8)
	}
	if accepted == len(items) {
		a.nextTurns()
		wake := a.enough()
		a.mu.Unlock()
		if wake {
			p.signal()
		}
		return accepted, nil
	}
	if !wait {
		return accepted, p.full(ctx, items[accepted].Class) // it unlocks
	}
	a.mu.Unlock()
	// An ended context must not cost other callers items: the waiting call below may make the loop purge.
	ended := ctx.Err() != nil
	call := &waiter[V]{items: items[accepted:], accepted: accepted, class: items[accepted].Class, now: now, ended: make(chan struct{})}
	a.mu.Lock()
	switch {
	case a.closing:
		a.mu.Unlock()
		return accepted, ErrClosed
	case ended:
		a.rejected = p.config.AutoFlush
		a.quitRoom()
		a.nextTurns()
		a.mu.Unlock()
		p.signal()
		return accepted, p.WaitError(ctx)
	}
	behind := placeOf(call.class, a.waiters, func(w *waiter[V]) uint8 { return w.class })
	a.waiters = slices.Insert(a.waiters, behind, call)
	a.waitingBytes += call.size()
	if behind == 0 || a.waiters[behind-1].class != call.class {
		a.admit() // room may have become free meanwhile, or be available for this class
	}
	a.nextTurns()
	a.mu.Unlock()
	p.signal() // waiting items are sent now, in batches of any size, because this call needs the room

	p.await(ctx, call)
	return call.accepted, call.err
}

// accept accepts as many items as there is room for. For the room, each item counts as the most urgent class that waits
// here, because a shared room does not see whose turn it is. Otherwise two publishers that asked for another class each
// time would wake each other endlessly.
func (a *admission[V]) accept(items []Item[V], now instant, class uint8) int {
	if a.inbox == nil {
		a.inbox = a.newInbox(len(items))
	}
	lend := a.flows()
	for i := range items {
		size := int64(len(items[i].Body))
		class := min(class, items[i].Class)
		limits := a.limitsOf(class)
		if a.stats.Items >= limits.Items || a.stats.Items > 0 && a.stats.Bytes+size > limits.Bytes {
			return i // an empty buffer accepts anything: SetControl may have made it smaller than a waiting item
		}
		if !a.take(Want{Class: class, Bytes: size, Lend: lend}) {
			return i
		}
		a.inboxBytes += size
		a.urgent = a.urgent || a.wakeSeen&(1<<items[i].Class) == 0
		a.largeBytes = max(size, a.largeBytes-a.largeBytes/8)
		a.inbox = append(a.inbox, entry[V]{item: items[i], seq: a.stats.Accepted, accepted: now})
		a.store(&a.inbox[len(a.inbox)-1].item)
	}
	return len(items)
}

// backlog returns the number of items that the loop has not taken over, plus the number of waiting calls: with a small
// buffer these are all the visible demand.
func (a *admission[V]) backlog() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.inbox) + len(a.waiters)
}

// enough reports whether the inbox holds as much as the loop waits for.
func (a *admission[V]) enough() bool {
	return len(a.inbox) > 0 && (len(a.inbox) >= a.wakeItems || a.inboxBytes >= a.wakeBytes || a.urgent)
}

// flush registers a call of Flush, or returns nil if the publisher is closing.
func (a *admission[V]) flush() *flush {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closing {
		return nil
	}
	a.stats.Flushes++
	f := &flush{watermark: a.stats.Accepted, released: make(chan struct{})}
	a.flushes = append(a.flushes, f)
	return f
}

// abandon reports whether the caller of f gave up before the loop released it.
func (a *admission[V]) abandon(f *flush) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.done {
		return false
	}
	f.abandoned = true
	a.flushes = append(a.flushes, f)
	return true
}

// shut refuses further items and rejects the waiting calls.
func (a *admission[V]) shut() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closing {
		return
	}
	a.closing = true
	for _, call := range a.waiters {
		call.err = ErrClosed
		close(call.ended)
	}
	a.waiters, a.waitingBytes = nil, 0
	a.quitRoom()
	a.nextTurns()
}

func (a *admission[V]) closeResult() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.result == nil {
		return nil
	}
	return a.result
}

// publish makes end the result of Close, unless a Close that stopped waiting has already set one.
func (a *admission[V]) publish(end *CloseError, closed chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.ended = true
	end.Unsent, end.Unknown = a.given.Unsent, a.given.Unknown
	end.Kept += a.given.Kept
	if end.Failed+end.Unsent+end.Unknown > 0 || end.Hook != nil {
		a.result = end
	}
	close(closed)
}

// keep counts an item that Close gave up and the Ending hook kept.
func (a *admission[V]) keep() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given.Kept++
}

// closeStuck settles everything for a Close that stops waiting for the loop, and sets its result. After its hook
// returns the loop still reports the remaining items, but no longer counts them.
func (a *admission[V]) closeStuck(closed chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		defer close(closed)
		a.ended = true
		s := &a.stats
		a.result = &CloseError{
			Unknown: a.given.Unknown + uint64(s.Carried),
			Unsent:  a.given.Unsent + uint64(s.Items-s.Carried),
			Failed:  s.Failed - a.reported,
			Kept:    a.given.Kept,
			Stuck:   true,
			Held:    a.current().Held(),
		}
		s.Unsent += uint64(s.Items)
		a.free(s.Items, s.Bytes)
		s.InFlight, s.Carried, s.Apart = 0, 0, 0
		a.condition = Condition{State: Closed, Since: time.Now()}
	}
}

// report counts failures that were passed to a caller.
func (a *admission[V]) report(n uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reported += n
}

// over reports whether a Close has settled everything without the loop.
func (a *admission[V]) over() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended
}
