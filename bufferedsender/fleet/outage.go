package fleet

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// spread is the time between the resets of two index breakers after an outage, a hundred per second.
const spread = 10 * time.Millisecond

// indexChanged records a change of an index breaker.
func (f *Fleet) indexChanged(e *entry, c breaker.Change) {
	if c.To == breaker.Closed {
		f.note(e, 0, false)
		return
	}
	if c.To == breaker.Open {
		e.absent.Store(absent(c.Err)) // before opened is set
	}
	f.note(e, c.At.UnixNano(), false)
	if c.To == breaker.Open {
		f.doubt(c.Err)
		f.purgeSoon()
	}
}

// down reports whether nothing is sent to any index because of the service breaker.
func (f *Fleet) down() bool { return f.breaker.Status().State != breaker.Closed }

// suspended returns how many senders do not send because of a breaker.
func (f *Fleet) suspended() int64 {
	if f.down() {
		return f.made.Load()
	}
	return f.held.Load()
}

// note records when the breaker of an index opened, or that it is closed (0). After last nothing is recorded.
func (f *Fleet) note(e *entry, opened int64, last bool) {
	e.watch.Lock()
	defer e.watch.Unlock()
	before := e.opened.Load()
	switch {
	case !e.watched:
	case opened == 0 && before != 0:
		e.opened.Store(0)
		f.held.Add(-1)
	case opened != 0 && before == 0:
		e.opened.Store(opened)
		f.held.Add(1)
	}
	e.watched = e.watched && !last
}

// errAllFail is the fleet's reason for tripping the service breaker.
var errAllFail = errors.New("all indexes fail")

// absent reports whether the service answered that the index does not exist. Then the service works.
func absent(err error) bool { return retry.HasStatus(err, http.StatusNotFound) }

// doubt trips the service breaker if everything sent to any index fails: the breakers of more than half of the senders,
// at least two, are not closed, and no other sender has something to send or has recently completed something. Missing
// indexes do not count. cause is the last failure.
func (f *Fleet) doubt(cause error) {
	if all := f.allFail(); all && !absent(cause) {
		f.trip(cause)
	}
}

// allFail is the condition of doubt. It looks at all senders, to know later which of them have completed something
// since the first failure.
func (f *Fleet) allFail() bool {
	f.doubting.Lock()
	defer f.doubting.Unlock()
	held, made, works := 0, 0, false
	for _, e := range f.all() {
		s, opened := e.get(), e.opened.Load() != 0
		switch {
		case s == nil, opened && e.absent.Load():
			continue
		case opened:
			held++
		case f.works(e, s):
			works = true
		}
		made++
	}
	return !works && held >= 2 && 2*held > made
}

// lately is how long a completed action proves that the service works.
const lately = time.Minute

// works reports whether an index with a closed breaker indicates that the service may work: it has something to send,
// or completed something lately. f.doubting must be held.
func (f *Fleet) works(e *entry, s sender) bool {
	stats := s.Stats()
	if stats.Completed != e.done {
		e.done, e.doneAt = stats.Completed, time.Now()
	}
	return stats.PendingActions > 0 || !e.doneAt.IsZero() && time.Since(e.doneAt) < lately
}

// trip opens the service breaker.
func (f *Fleet) trip(cause error) {
	permit, err := f.breaker.Allow()
	if err != nil {
		return // it is already open, or a probe is in flight
	}
	if permit.Probe() {
		permit.Done(breaker.Result{Outcome: breaker.Neutral})
		return
	}
	if cause != nil {
		cause = fmt.Errorf("%w; the last one: %w", errAllFail, cause)
	} else {
		cause = errAllFail
	}
	permit.Done(breaker.Result{Outcome: breaker.Trip, Err: cause})
}

// sameOutage is how much earlier than the service breaker an index breaker may have opened for the same reason.
const sameOutage = time.Minute

// serviceChanged resets the index breakers soon after the service works again, because they could otherwise stay open
// for half a minute. It spreads the resets over time to avoid a burst. The breakers of indexes that failed before the
// outage stay as they are.
func (f *Fleet) serviceChanged(c breaker.Change) {
	if c.To == breaker.Open {
		f.downSince.CompareAndSwap(0, c.At.UnixNano())
	}
	if c.To != breaker.Closed {
		f.purgeSoon()
		return
	}
	since := f.downSince.Swap(0)
	if since == 0 {
		return // it was disabled and enabled
	}
	n := 0
	for _, e := range f.all() {
		s := e.get()
		if opened := e.opened.Load(); s == nil || opened == 0 || opened < since-int64(sameOutage) {
			continue
		}
		n++
		time.AfterFunc(time.Duration(n)*spread, func() {
			if b := s.Breaker(); b.Status().State == breaker.Open {
				b.Reset()
			}
		})
	}
}
