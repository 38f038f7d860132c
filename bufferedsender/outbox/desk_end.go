package outbox

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// verdict is what is to become of a flight.
type verdict uint8

const (
	confirmed verdict = iota
	refused           // for good
	failed            // it may succeed later
	returned          // nothing has happened to it
)

func verdictOf(o models.Outcome) verdict {
	switch {
	case o.Completed():
		return confirmed
	case o.Rejected():
		return refused
	case o.Reason == models.ReasonClosed:
		return returned
	default:
		return failed
	}
}

// end notes how a flight has ended.
func (d *desk) end(f *flight, v verdict, why models.Outcome, now time.Time) {
	if !d.land(f) {
		return
	}
	e := f.entry
	group := e.rows[:len(f.rows)]
	switch {
	case v == refused && len(group) > 1 && f.rows[0].seq > e.apart && !loadOnly(group):
		e.apart = f.seq // one by one: it is one of them
	case v == refused:
		l := letter{row: group[len(group)-1], status: why.Status, reason: why.Reason}
		if why.Err != nil {
			l.message = why.Err.Error()
		}
		d.dead = append(d.dead, l)
		d.bytes += int64(len(l.body)) // which finish takes off
		d.finish(e, len(group), len(group)-1)
	case v == confirmed:
		group[len(group)-1].gone = !d.exports && len(f.actions) == 1 && f.actions[0].Type == models.ActionTypeDelete
		d.finish(e, len(group), len(group))
	case v == failed:
		for _, r := range group {
			r.body = nil // its number is all that is needed
			d.tried = append(d.tried, r)
		}
		e.tries++
		d.putAside(e, now.Add(backOff(e.tries)))
		return
	}
	d.goOn(e)
}

// loadOnly reports whether all rows say only that the key has changed: together they are
// one.
func loadOnly(rows []row) bool {
	return !slices.ContainsFunc(rows, func(r row) bool { return r.op != "" })
}

// finish takes the first rows of a key out, the first n of which are to be deleted; the others are dead
// letters, which the same transaction removes.
func (d *desk) finish(e *entry, all, n int) {
	for i := range all {
		r := e.rows[i]
		d.bytes -= int64(len(r.body))
		r.body = nil
		if i < n {
			d.done = append(d.done, r)
		}
	}
	e.rows = slices.Delete(e.rows, 0, all)
	e.tries = 0
}

// goOn goes on with a key, or forgets it.
func (d *desk) goOn(e *entry) {
	if len(e.rows) == 0 {
		delete(d.entries, e.key)
		return
	}
	d.supersede(e)
	d.enqueue(e)
}

// wait has the key of a flight wait until due; nothing was wrong with it.
func (d *desk) wait(f *flight, due time.Time) {
	if d.land(f) {
		d.putAside(f.entry, due)
	}
}

// putAside has a key wait until due, without its bodies.
func (d *desk) putAside(e *entry, due time.Time) {
	for i := range e.rows {
		d.lighten(&e.rows[i])
	}
	d.asides += len(e.rows)
	e.due = due
	heap.Push(&d.aside, e)
}

// wake has keys go on whose time has come.
func (d *desk) wake(now time.Time) {
	for len(d.aside) > 0 && !d.aside[0].due.After(now) {
		e := heap.Pop(&d.aside).(*entry) //nolint:forcetypeassert // there is nothing else in it
		d.asides -= len(e.rows)
		d.enqueue(e)
	}
}

// nextDue is when wake has something to do, zero if it has not.
func (d *desk) nextDue() time.Time {
	if len(d.aside) == 0 {
		return time.Time{}
	}
	return d.aside[0].due
}

// Back-off of a key that fails: half of it at least, and the rest at random.
const (
	backOffFirst = time.Second
	backOffLast  = 5 * time.Minute
)

func backOff(tries int) time.Duration {
	d := backOffLast
	if tries < 10 {
		d = min(backOffFirst<<max(tries-1, 0), backOffLast)
	}
	return d/2 + rand.N(d/2+1)
}

// asides are keys that wait, the one that is due first in front.
type asides []*entry

func (a asides) Len() int           { return len(a) }
func (a asides) Less(i, j int) bool { return a[i].due.Before(a[j].due) }
func (a asides) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].at, a[j].at = i+1, j+1
}

// Push implements heap.Interface.
func (a *asides) Push(x any) {
	e := x.(*entry) //nolint:forcetypeassert // as in wake
	*a = append(*a, e)
	e.at = len(*a)
}

// Pop implements heap.Interface.
func (a *asides) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	e.at = 0
	return e
}
