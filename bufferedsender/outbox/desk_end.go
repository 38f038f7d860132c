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

// verdictOf is what an outcome means for the rows of an action.
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

// end notes how a flight has ended.
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
		e.apart = f.seq // one by one: it is one of them
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
		for _, r := range group {
			r.body = nil // its number is all that is needed
			d.settling.tried = append(d.settling.tried, r)
		}
		e.tries++
		d.putAside(e, now.Add(relay.BackOff(e.tries, backOffFirst, backOffLast)))
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
			d.settling.done = append(d.settling.done, r)
		}
	}
	e.rows = slices.Delete(e.rows, 0, all)
	e.tries = 0
}

// overtake looks for rows of a key that came while a later one was under way, which is applied now.
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

// overtaken has a row not sent because a later one of its key was applied: with a Loader its key is read, and without
// one it is a dead letter. It reports whether the row stays.
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

// goOn goes on with a key, or forgets it.
func (d *desk) goOn(e *entry) {
	if len(e.rows)+e.gap.n == 0 {
		delete(d.entries, e.key)
		return
	}
	e.sort()
	d.supersede(e)
	d.enqueue(e)
}

// sort puts the rows of a key into their order: one that came late stood behind those that were under way.
func (e *entry) sort() {
	slices.SortFunc(e.rows, func(x, y row) int { return cmp.Compare(x.seq, y.seq) })
}

// wait has the key of a flight wait until due; nothing was wrong with it.
func (d *desk) wait(f *flight, due time.Time) {
	if d.land(f) {
		d.putAside(f.entry, due)
	}
}

// putAside has a key wait until due, without its bodies.
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

// Back-off of a key that fails.
const (
	backOffFirst = time.Second
	backOffLast  = 5 * time.Minute
)

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
