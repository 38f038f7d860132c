package pool

// dispatch grants room to waiting rooms and returns those to wake, without self. mu must be held.
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

// next grants room to a waiting room and returns it, or returns nil. Rooms that wait for a floor come first, because
// they are empty.
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

// held reports whether lending stops because a large action needs what loans will return. A large action that would not
// fit even then stops no loans.
func (b *budget) held() bool { return b.large.first != nil && b.judgeFloor(b.large.first) == blocked }
