package pool

// dispatch grants room to rooms that wait, and returns those to wake: all but self. mu must be held.
func (b *budget) dispatch(self *Room) (news told) {
	for b.waiting > 0 {
		r := b.next()
		if r == nil {
			break
		}
		r.state = roomGranted
		b.place(r)
		if r != self {
			news.add(r)
		}
	}
	return news
}

// next grants a room that waits what it waits for, or returns nil. One that wants a floor comes first, since it has
// nothing.
func (b *budget) next() *Room {
	if r := b.entering.next(b, (*budget).judgeFloor); r != nil {
		b.unqueue(r)
		b.entering.served(r.lane)
		b.enter(r)
		return r
	}
	if r := b.large.first; r != nil && b.judgeFloor(r) == fits {
		b.unqueue(r)
		b.enter(r)
		return r
	}
	if b.held() {
		return nil
	}
	if r := b.lending.next(b, (*budget).judgeLoan); r != nil {
		b.unqueue(r)
		b.lending.served(r.lane)
		b.lend(r)
		return r
	}
	return nil
}

// held reports whether nothing is lent, because what is lent now a large action would wait for. One that does not
// wait for loans alone holds up no other.
func (b *budget) held() bool { return b.large.first != nil && b.judgeFloor(b.large.first) == blocked }
