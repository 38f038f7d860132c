package publisher

// delivery holds settlements that must be accounted for and then reported, in order. It is a cursor over one list. So a
// handler that ends its goroutine, or a Close that stops waiting, neither loses nor repeats a settlement: the next
// goroutine continues where the list was left. It is pure data.
type delivery[V, R any] struct {
	settled   []Settlement[V, R]
	endings   []ending // further data of each
	counted   int      // accounted for so far
	announced bool     // the Ending hook was called
	kept      bool     // the Ending hook has kept the failed ones
	next      int      // the first one not yet reported

	notified uint64 // total of reported items

	dropped []dropped[R] // items to settle next without being sent
	victims []ref        // items to purge
	purged  []string     // keys to pass to onPurged
	ever    uint64       // total of purged items
	// onPurged is the function of the policy that chose the victims.
	onPurged func(keys []string)
}

// ending is the part of a settlement that only the loop needs.
type ending struct {
	seq   uint64
	bytes int // room to return
	node  ref // to be removed, or none
	slab  *slab
}

// dropped is an item that has become the first of its key but must not be sent.
type dropped[R any] struct {
	node    ref
	before  Result[R] // of the item before it, which has a newer version if it completed
	attempt int
}

func (d *delivery[V, R]) add(end Settlement[V, R], e ending) {
	d.settled = append(d.settled, end)
	d.endings = append(d.endings, e)
}

// account counts the settlements added since its last call and returns the room that they had. given is what Close has
// given up.
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

// markUnknown changes settlements that are not accounted for to what a Close that stopped waiting has reported: they
// may have been applied.
func (d *delivery[V, R]) markUnknown() {
	for i := d.counted; i < len(d.settled); i++ {
		end := &d.settled[i]
		end.Outcome, end.Exhausted, end.Unknown = Unsent, false, true
		end.Result = &Result[R]{Next: Fail, Err: ErrAbandoned, Unknown: true}
	}
}

// reported records that the next one was reported.
func (d *delivery[V, R]) reported() {
	d.next++
	d.notified++
}

// reset removes all settlements, after they were reported.
func (d *delivery[V, R]) reset() {
	clear(d.settled)
	d.settled, d.endings = d.settled[:0], d.endings[:0]
	d.counted, d.next, d.announced, d.kept = 0, 0, false, false
}
