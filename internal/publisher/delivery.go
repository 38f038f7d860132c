package publisher

// delivery is what has been settled and is to be accounted for and reported, in this
// order. It is a cursor over one list, so that a handler that ends its goroutine (or a
// Close that could not wait) loses no end and reports none twice: whoever goes on finds
// the list where it was left. It is pure data.
type delivery[V, R any] struct {
	settled   []Settlement[V, R]
	endings   []ending // more about each
	counted   int      // how many of them are accounted for
	announced bool     // the Ending hook has seen them
	kept      bool     // and has kept what has failed
	next      int      // the first that is not reported

	notified uint64 // items reported, ever

	dropped []dropped[R] // items that are to be settled next, without being sent
	victims []ref        // that are to be purged
	purged  []string     // keys that onPurged is to be given
	ever    uint64       // items that were purged
	// onPurged is that of the policy which has chosen the victims.
	onPurged func(keys []string)
}

// ending is what the loop knows of a settlement and nobody else needs.
type ending struct {
	seq   uint64
	bytes int // to be given back
	node  ref // to be removed, or none
	slab  *slab
}

// dropped is an item that is first of its key now and not to be sent at all.
type dropped[R any] struct {
	node    ref
	before  Result[R] // of the one before it, which holds more if that was completed
	attempt int
}

func (d *delivery[V, R]) add(end Settlement[V, R], e ending) {
	d.settled = append(d.settled, end)
	d.endings = append(d.endings, e)
}

// account counts what was settled since the last time, and returns the room that it
// had. given is what Close has given up.
func (d *delivery[V, R]) account(s *Stats, given *CloseError) (items int, bytes int64) {
	for ; d.counted < len(d.settled); d.counted++ {
		end := &d.settled[d.counted]
		switch {
		case end.Outcome == Completed:
			s.Completed++
		case end.Outcome == Failed:
			s.Failed++
			if end.Purged {
				s.Purged++
			}
			if end.Withdrawn {
				s.Withdrawn++
			}
		case end.Outcome == Returned:
			s.Returned++
		case end.Unknown:
			s.Unsent++
			given.Unknown++
		default:
			s.Unsent++
			given.Unsent++
		}
		items++
		bytes += int64(d.endings[d.counted].bytes)
	}
	return items, bytes
}

// markUnknown makes what is not accounted for what a Close that could not wait has
// called it: it may have been applied.
func (d *delivery[V, R]) markUnknown() {
	for i := d.counted; i < len(d.settled); i++ {
		end := &d.settled[i]
		end.Outcome, end.Exhausted, end.Unknown = Unsent, false, true
		end.Result = &Result[R]{Next: Fail, Err: ErrAbandoned, Unknown: true}
	}
}

// reported notes that the next one is reported.
func (d *delivery[V, R]) reported() {
	d.next++
	d.notified++
}

// reset forgets what is reported, which is all of it.
func (d *delivery[V, R]) reset() {
	clear(d.settled)
	d.settled, d.endings = d.settled[:0], d.endings[:0]
	d.counted, d.next, d.announced, d.kept = 0, 0, false, false
}
