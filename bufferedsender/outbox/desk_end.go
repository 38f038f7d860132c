package outbox

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

// verdictOf returns the effect of an outcome on the rows of an action.
func verdictOf(o models.Outcome) relay.Verdict {
	switch {
	case o.Completed():
		return relay.Confirmed
	case o.Rejected():
		return relay.Refused
	case o.Reason == models.ReasonClosed:
		return relay.Returned
	default:
		return relay.Failed
	}
}

// end records the end of a flight.
func (d *desk) end(f *flight, v relay.Verdict, why models.Outcome, now time.Time) {
	if !d.land(f) {
		return
	}
	e := f.entry
	group := e.rows[:len(f.rows)]
	if v == relay.Confirmed || v == relay.Refused {
		d.settled = now
	}
	switch {
	case v == relay.Refused && len(group) > 1 && f.rows[0].seq > e.apart && !loadOnly(group):
		e.apart = f.seq // one by one: one of them has the fault
	case v == relay.Refused:
		l := letter{row: group[len(group)-1], status: why.Status, reason: why.Reason}
		if why.Err != nil {
			l.message = why.Err.Error()
		}
		d.settling.dead = append(d.settling.dead, l)
		d.finish(e, len(group), len(group)-1)
	case v == relay.Confirmed:
		group[len(group)-1].gone = !d.exports && len(f.actions) == 1 && f.actions[0].Type == models.ActionTypeDelete
		d.confirmed.add(&group[len(group)-1], d.seqs[f.seq], now)
		d.finish(e, len(group), len(group))
		d.overtake(e, f.seq)
	case v == relay.Failed:
		for i := range group {
			group[i].tries++ // as the table will count it
			r := group[i]
			r.body = nil // only its number is needed
			d.settling.tried = append(d.settling.tried, r)
		}
		e.tries++
		d.putAside(e, now.Add(relay.BackOff(e.tries, backOffFirst, backOffLast)))
		return
	}
	d.goOn(e)
}

// loadOnly reports whether all rows only state that the key has changed: together they count as one.
func loadOnly(rows []row) bool {
	return !slices.ContainsFunc(rows, func(r row) bool { return r.op != "" })
}

// finish removes the first rows of a key: the first n of them will be deleted, the others become dead letters in the
// same transaction.
func (d *desk) finish(e *entry, all, n int) {
	for i := range all {
		r := e.rows[i]
		d.bytes -= int64(len(r.body))
		r.body = nil
		if i < n {
			d.settling.done = append(d.settling.done, r)
		}
	}
	e.rows = slices.Delete(e.rows, 0, all)
	e.tries = 0
}

// overtake handles rows of a key that came while a later row, which is applied now, was in flight.
func (d *desk) overtake(e *entry, newer int64) {
	kept := e.rows[:0]
	for i := range e.rows {
		r := &e.rows[i]
		if r.seq < newer {
			d.bytes -= int64(len(r.body))
			if !d.overtaken(r, newer) {
				continue
			}
		}
		kept = append(kept, *r)
	}
	clear(e.rows[len(kept):])
	e.rows = kept
}

// overtaken handles a row that must not be sent because a later row of its key was applied. With a Loader the key is
// loaded; otherwise the row becomes a dead letter. It reports whether the row stays.
func (d *desk) overtaken(r *row, newer int64) bool {
	if !d.exports && (d.loads || r.op == "") {
		r.op, r.body, r.light = "", nil, false
		return true
	}
	d.settling.dead = append(d.settling.dead, letter{
		row: *r, reason: models.ReasonSuperseded, newer: newer,
		message: fmt.Sprintf("row %d of the key was applied before this row became visible", newer),
	})
	return false
}

// goOn continues with the next rows of a key; a key without rows is removed.
func (d *desk) goOn(e *entry) {
	if len(e.rows)+e.gap.n == 0 {
		delete(d.entries, e.key)
		return
	}
	e.sort()
	d.supersede(e)
	d.enqueue(e)
}

// sort sorts the rows of a key by number: a late row was behind those in flight.
func (e *entry) sort() {
	slices.SortFunc(e.rows, func(x, y row) int { return cmp.Compare(x.seq, y.seq) })
}

// wait makes the key of a flight wait until due, without a failure.
func (d *desk) wait(f *flight, due time.Time) {
	if d.land(f) {
		d.putAside(f.entry, due)
	}
}

// putAside makes a key wait until due, without its bodies.
func (d *desk) putAside(e *entry, due time.Time) {
	e.sort()
	for i := range e.rows {
		d.lighten(&e.rows[i])
	}
	d.asides += len(e.rows)
	e.due = due
	heap.Push(&d.aside, e)
	d.trim(e)
}

// wake enqueues the keys that are due.
func (d *desk) wake(now time.Time) {
	for len(d.aside) > 0 && !d.aside[0].due.After(now) {
		e := heap.Pop(&d.aside).(*entry) //nolint:forcetypeassert // it has no other type
		d.asides -= len(e.rows)
		d.enqueue(e)
	}
}

// nextDue returns the time of the next wake, zero if there is none.
func (d *desk) nextDue() time.Time {
	if len(d.aside) == 0 {
		return time.Time{}
	}
	return d.aside[0].due
}

// Back-off of a failing key.
const (
	backOffFirst = time.Second
	backOffLast  = 5 * time.Minute
)

// asides is a heap of waiting keys; the one that is due first is in front.
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
