package redisqueue

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

const (
	// busyPoll is the interval at which a watcher checks for expired leases and ended delays. idlePoll is the interval
	// while the queue is empty, when it relies on notifications.
	busyPoll = time.Second
	idlePoll = 15 * time.Second
	// peekTime is the time-out of a watcher's queries, so that one server without an answer does not stop the others.
	peekTime = 2 * time.Second
)

// watcher is one call of Watch. Its lock ensures that wake is not called after stop has returned.
type watcher struct {
	mu      sync.Mutex
	stopped bool
	wake    func()
}

func (w *watcher) call() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.wake()
	}
}

// Watch implements queue.Queue. All queues of a client share one goroutine and one connection, which receives the
// notifications of all processes. Once a second the goroutine asks each queue for keys that have become due, less often
// while that is empty and the server lets the client subscribe to its channel.
func (q *Queue) Watch(wake func()) (stop func()) {
	if q.ending.Load() {
		return func() {}
	}
	q.calls.RLock()
	defer q.calls.RUnlock()
	if q.closed {
		return func() {}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	id := q.lastWatcher
	q.lastWatcher++
	q.watchers[id] = &watcher{wake: wake}
	if len(q.watchers) == 1 {
		q.hub = hubs.join(q)
	}
	return func() { q.unwatch(id) }
}

func (q *Queue) unwatch(id int) {
	q.mu.Lock()
	w := q.watchers[id]
	delete(q.watchers, id)
	var h *hub
	if w != nil && len(q.watchers) == 0 {
		h, q.hub = q.hub, nil
	}
	q.mu.Unlock()
	if w == nil {
		return
	}
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	if h != nil {
		hubs.leave(h, q)
	}
}

// wake calls the watchers of this object.
func (q *Queue) wake() {
	q.mu.Lock()
	all := make([]*watcher, 0, len(q.watchers))
	for _, w := range q.watchers {
		all = append(all, w)
	}
	q.mu.Unlock()
	for _, w := range all {
		w.call()
	}
}

// peekNext asks for due keys, and returns the time until the next query.
func (q *Queue) peekNext(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, peekTime)
	defer cancel()
	wait, due := idlePoll, false
	for s := range q.shards {
		r, err := q.on(ctx, nextScript, s)
		if err != nil {
			wait, due = busyPoll, due || errors.Is(err, queue.ErrLost) // Reserve returns the error
			continue
		}
		now, ready, soon, keys, fell := r.Int(), r.Int(), r.Int(), r.Int(), r.Int()
		parked, bytes := r.Int(), r.Int()
		if r.Err != nil {
			wait = busyPoll
			continue
		}
		q.parked(s, parked, bytes)
		if fell == 1 { // only a script that writes can end that
			_, _ = q.again3(ctx, statsScript, s) // otherwise the next query repeats it
		}
		due = due || ready > 0 || soon >= 0 && soon <= now
		if keys > 0 {
			wait = min(wait, busyPoll)
		}
		if soon > now {
			wait = min(wait, time.Duration(soon-now)*time.Millisecond)
		}
	}
	if due {
		q.wake()
	}
	if q.o.clock != nil {
		return 5 * time.Millisecond // in tests the time jumps
	}
	if wait >= busyPoll {
		wait -= rand.N(wait / 4) // so that many processes do not ask at the same moment
	}
	return max(wait, time.Millisecond)
}

// hub serves the watchers of the queues of one client.
type hub struct {
	client  redis.UniversalClient
	queues  map[*Queue]time.Time // time of the next query of each; guarded by hubs.mu
	changed chan struct{}        // capacity 1: queues has changed
	cancel  context.CancelFunc
	ended   chan struct{}
}

var hubs = registry{byClient: map[redis.UniversalClient]*hub{}}

type registry struct {
	mu       sync.Mutex
	byClient map[redis.UniversalClient]*hub
}

func (r *registry) join(q *Queue) *hub {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.byClient[q.client]
	if h == nil {
		ctx, cancel := context.WithCancel(context.Background())
		h = &hub{client: q.client, queues: map[*Queue]time.Time{}, changed: make(chan struct{}, 1), cancel: cancel, ended: make(chan struct{})}
		r.byClient[q.client] = h
		go h.run(ctx)
	}
	h.queues[q] = time.Now()
	h.change()
	return h
}

func (h *hub) change() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// leave removes a queue. With the last queue the hub ends; leave waits for that unless the hub called it.
func (r *registry) leave(h *hub, q *Queue) {
	r.mu.Lock()
	delete(h.queues, q)
	last := len(h.queues) == 0
	if last {
		delete(r.byClient, h.client)
		h.cancel()
	} else {
		h.change()
	}
	r.mu.Unlock()
	if last {
		<-h.ended
	}
}

// listening is the subscription to a channel. The client library hides the refusal of a server, for lack of rights, so
// it counts only when it has been confirmed.
type listening struct {
	since       time.Time
	heard, told bool // confirmed; logged that it is not
}

// unheard is how long a subscription may be unconfirmed before that is logged.
const unheard = 5 * time.Second

// run listens and asks until the last watcher has left.
func (h *hub) run(ctx context.Context) {
	defer close(h.ended)
	ps := h.client.Subscribe(ctx)
	defer func() { _ = ps.Close() }() // nothing is read from it any more
	messages := ps.ChannelWithSubscriptions(redis.WithChannelSize(100))
	on := map[string]*listening{}
	for {
		next := h.sync(ctx, ps, on)
		timer := time.NewTimer(time.Until(next))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-h.changed:
		case m, open := <-messages:
			if !open { // the client was closed: polling only
				messages = nil
			}
			switch m := m.(type) {
			case *redis.Message:
				h.tell(m.Channel)
			case *redis.Subscription: // perhaps after a lost connection
				if l := on[m.Channel]; l != nil {
					l.heard = true
				}
				h.tell(m.Channel)
			}
		case <-timer.C:
			h.ask(ctx, on)
		}
		timer.Stop()
	}
}

// sync subscribes to the channels of the queues, and returns the time of the first query.
func (h *hub) sync(ctx context.Context, ps *redis.PubSub, on map[string]*listening) time.Time {
	hubs.mu.Lock()
	next := time.Now().Add(time.Hour)
	wanted := map[string]bool{}
	for q, at := range h.queues {
		wanted[q.channel] = true
		if at.Before(next) {
			next = at
		}
	}
	hubs.mu.Unlock()
	for c := range wanted {
		if on[c] == nil {
			_ = ps.Subscribe(ctx, c) // the client repeats it after a reconnection
			on[c] = &listening{since: time.Now()}
		}
	}
	for c := range on {
		if !wanted[c] {
			_ = ps.Unsubscribe(ctx, c) // a message that still comes wakes no queue
			delete(on, c)
		}
	}
	return next
}

func (h *hub) tell(channel string) {
	hubs.mu.Lock()
	var told []*Queue
	for q := range h.queues {
		if q.channel == channel {
			told = append(told, q)
			if soon := time.Now().Add(busyPoll); h.queues[q].After(soon) {
				h.queues[q] = soon // it is not empty any more
			}
		}
	}
	hubs.mu.Unlock()
	for _, q := range told {
		q.wake()
	}
}

// ask queries the queues whose time has come.
func (h *hub) ask(ctx context.Context, on map[string]*listening) {
	hubs.mu.Lock()
	var due []*Queue
	for q, at := range h.queues {
		if !at.After(time.Now()) {
			due = append(due, q)
		}
	}
	hubs.mu.Unlock()
	for _, q := range due {
		wait := q.peekNext(ctx)
		if l := on[q.channel]; l == nil || !l.heard {
			wait = min(wait, busyPoll)
			if l != nil && !l.told && q.o.Logger != nil && time.Since(l.since) > unheard {
				l.told = true
				q.o.Logger.WarnContext(ctx, "redisqueue: no subscription; the queue is polled", "queue", q.name, "channel", q.channel)
			}
		}
		at := time.Now().Add(wait)
		hubs.mu.Lock()
		if _, still := h.queues[q]; still {
			h.queues[q] = at
		}
		hubs.mu.Unlock()
	}
}
