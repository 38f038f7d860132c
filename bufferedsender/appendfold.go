package bufferedsender

import (
	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

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
