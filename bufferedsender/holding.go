package bufferedsender

import (
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
)

// holding is a key that is reserved, while its records are in the buffer.
type holding struct {
	lease queue.Lease
	span  atomic.Pointer[span]
	// back says that the records go back to the queue if they are not in a request; lost
	// that the lease has ended, so that there is nothing to give back.
	back, lost atomic.Bool

	// Of the feed's lock.
	left    int // records that have not ended
	ends    []recordEnd
	bytes   int
	locals  [][]*local // by record; the last of each is the record's own if it has one
	sent    bool       // a record has been in a request
	reason  string     // why one was refused
	unknown bool       // the last one that was cut may still be applied

	// What ends and locals are of a key with one record, which is most of them.
	oneEnd   [1]recordEnd
	oneLocal [1][]*local
}

func newHolding(l queue.Lease) *holding {
	h := &holding{lease: l, left: len(l.Records)}
	if h.ends, h.locals = h.oneEnd[:], h.oneLocal[:]; len(l.Records) != 1 {
		h.ends, h.locals = make([]recordEnd, len(l.Records)), make([][]*local, len(l.Records))
	}
	return h
}

// recordEnd is what became of a record.
type recordEnd uint8

const (
	recordOpen recordEnd = iota
	recordDone
	recordRefused
	recordBack
)

// span is how long leases last, by both clocks: a machine that sleeps stops the
// monotonic one, and somebody who sets the time moves the other.
type span struct{ until time.Time }

// left is how much of it is left, by the clock that says less.
func (s *span) left(now time.Time) time.Duration {
	return min(s.until.Sub(now), s.until.Round(0).Sub(now.Round(0)))
}

// end says what is to become of the lease when all records have ended.
func (h *holding) end(uncertain time.Duration, again time.Duration) queue.End {
	e := queue.End{Lease: queue.Lease{Key: h.lease.Key, Token: h.lease.Token}, Fate: queue.Commit}
	if h.unknown {
		e.Uncertain = uncertain
	}
	for i, end := range h.ends {
		if end == recordDone {
			continue
		}
		e.Done, e.Fate = i, queue.Release
		if end == recordRefused {
			e.Fate, e.Reason = queue.Park, h.reason
		} else if h.sent {
			e.After = again
		}
		break
	}
	return e
}

// reserved is what an item of the buffer knows of the lease it came with.
type reserved struct {
	holding *holding
	record  int
	own     *local // what this process has kept of it, nil if another has appended it
}

// goesBack says of an item that is taken back, or given up by Close, whether it returns to
// the queue.
func (f *feed) goesBack(v *payload) bool {
	h := v.from.holding
	return h != nil && (h.back.Load() || f.stopped.Load())
}

// goesBack says of an item whether its lease is given back.
func (v *payload) goesBack() bool { return v.from.holding != nil && v.from.holding.back.Load() }

// detach has an action of the queue travel although who waited for it has gone, and reports
// whether it is one. It may have replaced others that nobody has taken back, so it cannot be
// taken back itself; its caller was given that it is unknown.
func (v *payload) detach() bool {
	if v.from.holding == nil {
		return false
	}
	v.waiter = nil
	return true
}

// mayTravel says of an item whether its lease lasts for another request.
func (f *feed) mayTravel(it *item) bool {
	h := it.Value.from.holding
	if h == nil {
		return true
	}
	if h.back.Load() || h.span.Load().left(time.Now()) < f.margin+f.shortest {
		h.back.Store(true)
		return false
	}
	return true
}

// lasts returns how long a request with these items may take: nobody waits for one when
// its leases end, but for a margin.
func (f *feed) lasts(batch *batch) (time.Duration, bool) {
	now, limit, reserved := time.Now(), time.Duration(0), false
	see := func(v *payload) {
		h := v.from.holding
		if h == nil {
			return
		}
		if left := h.span.Load().left(now) - f.margin; !reserved || left < limit {
			limit, reserved = left, true
		}
	}
	for i := range batch.Items {
		see(&batch.Items[i].Value)
		for j := range batch.Items[i].Parts {
			see(&batch.Items[i].Parts[j].Value)
		}
	}
	return limit, reserved
}

// settledFor notes what became of a record.
func fateOf(s *settlement, lettersTaken bool) recordEnd {
	switch {
	case s.Outcome == publisher.Completed:
		return recordDone
	case s.Outcome == publisher.Returned || s.Outcome == publisher.Unsent:
		return recordBack
	case s.Withdrawn || lettersTaken:
		return recordDone // the program wants it so, or a dead letter has it
	default:
		return recordRefused
	}
}
