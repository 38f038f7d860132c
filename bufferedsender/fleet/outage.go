package fleet

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// spread is how far apart the breakers of two indexes are reset when the service is back: those of a hundred in a
// second.
const spread = 10 * time.Millisecond

// indexChanged notes that the breaker of an index has changed.
func (f *Fleet) indexChanged(e *entry, c breaker.Change) {
	if c.To == breaker.Closed {
		f.note(e, 0, false)
		return
	}
	if c.To == breaker.Open {
		e.absent.Store(absent(c.Err)) // before others see that it is open
	}
	f.note(e, c.At.UnixNano(), false)
	if c.To == breaker.Open {
		f.doubt(c.Err)
		f.purgeSoon()
	}
}

// note counts that the breaker of an index has opened then, or is closed (0); last says that nothing counts any more.
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

// errAllFail is why the fleet trips the breaker of the service.
var errAllFail = errors.New("all indexes fail")

// absent reports whether the service has answered that there is no such index: then it works.
func absent(err error) bool { return retry.HasStatus(err, http.StatusNotFound) }

// doubt trips the breaker of the service if all that is sent to any index fails: more than half of the senders, and
// two at least, are held, and no other has anything to send, or has sent anything lately. Indexes that do not exist
// count neither way. cause is what the last one failed with.
func (f *Fleet) doubt(cause error) {
	if !absent(cause) && f.held.Load() >= 2 && f.allFail() {
		f.trip(cause)
	}
}

// allFail is what doubt asks.
func (f *Fleet) allFail() bool {
	f.doubting.Lock()
	defer f.doubting.Unlock()
	held, made := 0, 0
	for _, e := range f.all() {
		s, opened := e.get(), e.opened.Load() != 0
		switch {
		case s == nil, opened && e.absent.Load():
			continue
		case opened:
			held++
		case f.works(e, s):
			return false
		}
		made++
	}
	return held >= 2 && 2*held > made
}

// lately is how long an index proves that the service works after something of it was completed.
const lately = time.Minute

// works reports whether an index that is not held shows that the service may work: it has something to send, or
// something of it was completed lately. f.doubting must be held.
func (f *Fleet) works(e *entry, s sender) bool {
	stats := s.Stats()
	if stats.Completed != e.done {
		e.done, e.doneAt = stats.Completed, time.Now()
	}
	return stats.PendingActions > 0 || !e.doneAt.IsZero() && time.Since(e.doneAt) < lately
}

// trip opens the breaker of the service.
func (f *Fleet) trip(cause error) {
	permit, err := f.breaker.Allow()
	if err != nil {
		return // it is open already, or is being tried
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

// sameOutage is how long before the breaker of the service that of an index may have opened for the same reason.
const sameOutage = time.Minute

// serviceChanged has all go on soon when the service works again: the breaker of an index that was held with it may
// have half a minute to wait. It does so one after the other, so that they do not all come at once. An index that was
// sick before is not touched.
func (f *Fleet) serviceChanged(c breaker.Change) {
	switch {
	case c.To == breaker.Open:
		f.downSince.CompareAndSwap(0, c.At.UnixNano())
		return
	case c.To != breaker.Closed:
		return
	}
	since := f.downSince.Swap(0)
	if since == 0 {
		return // somebody has disabled and enabled it
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
