package publisher

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// entry is an accepted item that the loop has not seen yet.
type entry[V any] struct {
	item     Item[V]
	seq      uint64
	accepted instant
}

// admission decides what is accepted. Accepting and closing happen under its
// one lock, which is never held while anything blocks: that is what makes "nil
// means accepted" and "closed means never" true at once.
//
//archtest:long owed: room and producers are parts under one lock
type admission[V any] struct {
	mu sync.Mutex
	// Everything below is guarded by mu. Producers append, the loop takes away.
	settings   settings
	room       Room // that is shared with others, or nil
	autoFlush  bool
	inbox      []entry[V]
	inboxBytes int64
	spare      []entry[V] // the previous inbox, to be filled again
	usual      int        // about how long the longest inbox was of late
	inboxes    sync.Pool  // of *[]entry[V], while idle
	waiters    []*waiter[V]
	flushes    []*flush // calls of Flush the loop has not seen, and those abandoned

	// A call was rejected since there was room last; rejectedOutside, not in a hook, and
	// rejectedClass the most urgent class of those.
	rejected, rejectedOutside bool
	rejectedClass             uint8

	waitingBytes int64       // of the items of waiters
	outside      int         // calls that wait elsewhere, see Outside
	outsideBytes int64       // of what they hold
	encoding     int         // calls that have the turn to encode
	encoders     []encoder   // calls that wait for it, by class and in order
	later        *time.Timer // until one more has its turn, or nil
	roomTurns    turns       // of the classes: for room
	encodeTurns  turns       // and to encode
	largeBytes   int64       // size of bodies accepted of late, the largest for longest

	slab   *slab // accepted bodies go there; nil: to a new one
	stored int   // bytes that were stored; no more than a large slab's

	// The loop sleeps until the inbox holds this much.
	wakeItems int
	wakeBytes int64
	wakeSeen  uint64 // or something of a class that is none of these, as bits
	urgent    bool   // which it does
	// When it went to sleep, this was the oldest item that could be sent.
	oldest instant
	waits  bool // there was one

	changedAt time.Time // when settings.paused changed
	// When a condition of Throttled ends by itself; written by the loop.
	throttledUntil time.Time
	condition      Condition // but for a pause; written by the loop
	silent         time.Time // see Condition.Silent; zero if it is not
	emptied        time.Time // when the last item went, for roomless
	guests         guests
	flushLater     flushLater

	commands []func()       // for the loop to run
	adding   map[string]int // items of holds, by key, that a command is to add

	stats    Stats
	reported uint64     // failures that calls of Flush, or waiters for items, have been given
	given    CloseError // what Close has given up so far: Unsent and Unknown
	closing  bool
	result   *CloseError
	ended    bool // result is final
}

// Stats is a consistent snapshot: Accepted = Completed + Failed + Unsent +
// Returned + Items, always.
//
//archtest:long figures for the sender, each by itself
type Stats struct {
	Accepted, Completed, Failed, Unsent uint64
	Returned                            uint64 // see Config.Return

	Items int   // accepted and not settled
	Bytes int64 // of their bodies

	InFlight int // requests under way
	Carried  int // items that may have been applied: in them, or cut off in an earlier one
	Waiting  int // calls that wait for room, encoded or not
	Apart    int // items that are held apart, see IndexError

	WaitingBytes int64 // of the items of calls that wait for room

	OldestAge time.Duration // of the oldest item that could be sent and was not

	Requests, Retries, Splits, Pauses uint64
	Flushes                           uint64 // calls of Flush, and firings of the timer
	Waits                             uint64 // times that a call began to wait for room, encoded or not
	BytesSent                         uint64
	Purged, Withdrawn                 uint64 // of Failed
	Folded, Superseded                uint64 // items that did not travel by themselves
	Throttled                         uint64 // items refused because the service is busy

	// How large a batch may be now, and how many may be under way.
	BatchItems, BatchBytes, Slots int
	Interval                      time.Duration // between the starts of two requests

	Limits Limits // as configured, or set since
}

// Stats returns a snapshot.
func (p *Publisher[V, R]) Stats() Stats {
	a := &p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.stats
	s.Waiting, s.WaitingBytes, s.Limits = len(a.waiters)+len(a.encoders)+a.outside, a.waitingBytes+a.outsideBytes, a.settings.limits
	if a.waits && s.Items > 0 { // Close leaves it as it was
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

// Add accepts items in order and returns how many; the error says why not all.
// With wait it blocks while the buffer is full, until ctx ends; the rest is
// then certainly not accepted. Without, or in a hook, it returns ErrFull.
//
// turn says that the caller has the turn to encode, which ends.
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
	if a.closing { // then nobody waits for a turn
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
		return accepted, p.full(ctx, items[accepted].Class) // which unlocks
	}
	a.mu.Unlock()
	// A context that has ended already must not cost anybody's items: the queue
	// may be what makes the loop purge.
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
		a.admit() // room may have come in between, or there is some for this class
	}
	a.nextTurns()
	a.mu.Unlock()
	p.signal() // what waits is sent now, however small: somebody needs the room

	p.await(ctx, call)
	return call.accepted, call.err
}

// accept takes as many of the items as there is room for. They have the room of the class, too,
// in which the most urgent of those asks that wait here: whose turn it is among them the
// others who share the room do not see, or two publishers that asked for another class each
// time would wake each other without an end.
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
			return i // an empty buffer takes anything: SetControl can make it smaller than an item that waits
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

// backlog returns how many items the loop has not seen, and how many calls wait
// with more: with a small buffer that is all the demand there is to see.
func (a *admission[V]) backlog() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.inbox) + len(a.waiters)
}

// enough reports whether the inbox holds what the loop waits for.
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

// shut refuses everything from now on, and rejects the waiters.
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

// publish makes end the result of Close, unless a Close that could not wait has
// made its own.
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

// keep notes that an item that Close has given up was kept by the Ending hook.
func (a *admission[V]) keep() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given.Kept++
}

// closeStuck settles everything for a Close that cannot wait for the loop, and
// makes its result. When its hook returns the loop reports what is
// left, and counts no more.
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
		s.InFlight, s.Carried = 0, 0
		a.condition = Condition{State: Closed, Since: time.Now()}
	}
}

// report counts failures that somebody has been given.
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
