package bufferedsender

import (
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
)

// reported notes the end of a record that was in the buffer, after the handlers have run. It
// runs on the publisher goroutine.
func (f *feed[T]) reported(s *settlement[T], err error) {
	v := &s.Item.Value
	h := v.from.holding
	if h == nil {
		return
	}
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	end := fateOf(s, f.s.observer.lettersTaken)
	f.mu.Lock()
	h.sent = h.sent || s.Item.Attempt > 0
	f.mu.Unlock()
	defer f.ended(v, end, s.Unknown, reason) // also if a callback ends the goroutine
	if end == recordRefused && h.left > 1 {
		// What is behind it waits behind it, for people, and is not sent.
		h.back.Store(true)
		f.s.publisher.Sweep(f.s.gone)
	}
	if end != recordBack {
		f.follow(h.locals[v.from.record], v, s, err)
	}
}

// follow gives the records that were replaced by one the same end. It goes on if a callback
// ends the goroutine.
func (f *feed[T]) follow(all []*local[T], v *payload[T], s *settlement[T], err error) {
	if len(all) == 0 {
		return
	}
	defer f.follow(all[1:], v, s, err)
	l := all[0]
	if l == v.from.own {
		return
	}
	end := *s
	it := *s.Item
	it.Value, it.Parts = l.value, nil
	end.Item, end.Folded, end.Superseded, end.Carrier = &it, true, err == nil, nil
	end.Unknown = end.Unknown || err != nil
	f.s.observer.notify(&end, err)
}

// ended notes what became of a record. When it was the last one of its key the lease can be
// settled, which the next round does.
func (f *feed[T]) ended(v *payload[T], end recordEnd, unknown bool, reason string) {
	h := v.from.holding
	if end == recordBack {
		for _, l := range h.locals[v.from.record] {
			if w := l.value.waiter; w != nil {
				w.state.CompareAndSwap(waiterQueued, waiterMaybe) // others may send it from now on
			}
			f.locals.add(h.lease.Key, l)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if end == recordBack && len(h.locals[v.from.record]) > 0 {
		f.pollLater(pollFirst) // another may send it now
	}
	h.ends[v.from.record] = end
	h.unknown = h.unknown || unknown
	f.records--
	if h.left--; h.left > 0 {
		return
	}
	f.bytes -= h.bytes
	delete(f.held, h)
	if !h.lost.Load() {
		if cap(f.ends) == 0 {
			f.ends = make([]queue.End, 0, min(len(f.held)+1, queue.MaxCall))
		}
		f.ends = append(f.ends, h.end(max(f.s.options.UnknownWait, 0), afterProbe, reason))
	}
	f.again = true
}

// afterProbe is how long a key that was sent in vain is not due when it is given back: the
// next probe is to be another one.
const afterProbe = time.Second

// delivered is called when a batch has been reported.
func (f *feed[T]) delivered() {
	f.mu.Lock()
	work := f.again
	f.mu.Unlock()
	if work {
		f.wake()
	}
}

// conditionChanged gives back what is held when sending is held, and goes on when it is not.
// It runs on the publisher goroutine.
func (f *feed[T]) conditionChanged(to publisher.Condition) {
	if to.Held() != nil && to.State != publisher.Ready {
		f.giveBack()
	}
	f.wake()
}

// giveBack has everything go back to the queue that is not in a request.
func (f *feed[T]) giveBack() {
	f.mu.Lock()
	for h := range f.held {
		h.back.Store(true)
	}
	n := len(f.held)
	f.mu.Unlock()
	if n > 0 {
		f.s.publisher.Sweep(f.s.gone)
	}
}
