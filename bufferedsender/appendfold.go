package bufferedsender

import (
	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// fill puts the records of adding calls into a call, and returns how many they are. Merges of
// a key become one record as far as they can, unless somebody here waits for one of them: the queue
// tells of a pile, to be folded, only so many records at a time.
func (a *appender) fill(call *queue.Call, calls []*appending) (n int) {
	for _, c := range calls {
		from, to := c.next()
		n += to - from
	}
	call.Records = make([]queue.Record, 0, n)
	var last map[string]int // of keys whose last record in the call may be folded: where that is
	for _, c := range calls {
		from, to := c.next()
		var places []int // of the records in the call, if it matters
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
					continue // it is in the last one now
				}
				last[r.Key] = len(call.Records)
			}
			call.Records = append(call.Records, *r)
		}
		a.keep(c, from, call.Number, places)
	}
	return n
}

// foldPiles makes as few records as can be of each pile.
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

// foldInto puts a record behind others, or merges it into the last one.
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
