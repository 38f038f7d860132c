package bufferedsender

import (
	"fmt"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// largestFold is the size in bytes of the largest action that a change is merged into. Merging a small change into a
// large document would read all of it. The following changes are folded into the first small one instead.
const largestFold = 64 << 10

// folder returns the function that folds two unsettled actions of one key, or nil if nothing is folded. Without Folding
// it folds only the records of a lease whose previous holder died. That holder may have applied all of them; sent one
// by one, they would expose older states of the document.
func (o *settings) folder() func(older, newer *item, sent bool) (publisher.Folding, item) {
	if o.Folding == nil && o.Queue == nil {
		return nil
	}
	return func(older, newer *item, sent bool) (publisher.Folding, item) {
		v := &newer.Value
		if older == nil { // the one whose version it has was not applied
			if v.inherits() {
				v.version, v.newest = 0, 0
			}
			return publisher.Apart, item{}
		}
		if h := older.Value.from.holding; o.Folding == nil && (h == nil || h != v.from.holding || h.lease.Expired == 0) {
			return publisher.Apart, item{}
		}
		newest := older.Value.version
		if older.Outdated {
			newest = older.Value.newest
		}
		switch {
		case v.version == 0 || v.inherits():
			// A delete has no version of its own. It takes the newest one, so that outdated actions do not restore the document.
			v.version, v.newest = newest, newest
		case newest != 0 && v.version < newest:
			v.newest = newest
			return publisher.Outdated, item{}
		}
		replaces := v.typ == models.ActionTypeUpload || v.typ == models.ActionTypeDelete
		if sent || !replaces && len(older.Body) > largestFold {
			return publisher.Apart, item{}
		}
		typ, body, ok := fold.Actions(older.Value.typ, narrow(older.Body), v.typ, narrow(newer.Body))
		if !ok || !foldWaiters(older.Value.waiter, v.waiter) {
			return publisher.Apart, item{}
		}
		if typ == models.ActionTypeMerge && o.OnMergeMissing == MergeMissingUpload {
			body = widen(body, 0)
		}
		folded := *older
		folded.Body, folded.Value.typ, folded.Value.version = body, typ, v.version
		if folded.Value.newest = 0; older.Value.inherits() && v.inherits() {
			folded.Value.newest = v.version
		}
		folded.Value.waiter = nil // it stands for several actions, so one caller must not withdraw it
		return publisher.Folded, folded
	}
}

// versionOf returns the version of the action being added, or 0 if it has none.
func (o *settings) versionOf(c *chunk) (version int64, err error) {
	switch {
	case !o.versioned, c.header.typ == models.ActionTypeDelete, c.patch != nil:
		return 0, nil
	case c.raw != nil:
		return c.raw.Version, nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the function Version panicked: %v", v)
		}
	}()
	return c.document.version(), nil
}

// fill puts the records of adding calls into a queue call and returns how many records the adding calls had. Merges of
// one key become one record where possible, except records that a caller in this process waits for. Folding here is
// cheaper than through piles, which the queue reports only for a limited number of records at a time.
func (a *appender) fill(call *queue.Call, calls []*appending) (n int) {
	for _, c := range calls {
		from, to := c.next()
		n += to - from
	}
	call.Records = make([]queue.Record, 0, n)
	var last map[string]int // keys whose last record in the call may be folded, with its index
	for _, c := range calls {
		from, to := c.next()
		var places []int // indexes of the records in the call, if locals need them
		for i := from; i < to; i++ {
			r := &c.records[i]
			known := c.locals != nil && c.locals[i] != nil
			if c.locals != nil {
				places = append(places, len(call.Records))
			}
			switch at, ok := last[r.Key]; {
			case known || r.Replaces():
				delete(last, r.Key)
			case !ok:
				if last == nil {
					last = make(map[string]int)
				}
				last[r.Key] = len(call.Records)
			default:
				if len(foldInto(call.Records[at:at+1:at+1], r)) == 1 {
					continue // merged into the last record
				}
				last[r.Key] = len(call.Records)
			}
			call.Records = append(call.Records, *r)
		}
		a.keep(c, from, call.Number, places)
	}
	return n
}

// foldPiles folds each pile into as few records as possible.
func foldPiles(piles []queue.Pile) (folds []queue.Fold) {
	for i := range piles {
		pile := piles[i].Records
		var folded []queue.Record
		for j := range pile {
			folded = foldInto(folded, &pile[j])
		}
		if len(folded) < len(pile) {
			folds = append(folds, queue.Fold{Key: piles[i].Key, Count: len(pile), Last: pile[len(pile)-1].Seq, Records: folded})
		}
	}
	return folds
}

// foldInto merges a record into the last one of folded, or appends it.
func foldInto(folded []queue.Record, r *queue.Record) []queue.Record {
	if len(folded) == 0 || len(folded[len(folded)-1].Body) > largestFold {
		return append(folded, *r)
	}
	last := &folded[len(folded)-1]
	if last.Op == "" || r.Op == "" {
		return append(folded, *r)
	}
	typ, body, ok := fold.Actions(last.Op, last.Body, r.Op, r.Body)
	if !ok {
		return append(folded, *r)
	}
	last.Op, last.Body, last.Class = typ, body, min(last.Class, r.Class)
	return folded
}
