package pool

// A member that waits for a floor, or with an action larger than one, has an empty buffer. It must wait until the
// buffer of another member is empty. A member that collects a batch would delay that until the batch is full or its
// timer ends. So busy members are pressed: they send without waiting, until their buffers are empty or no member waits.

// presses reports whether busy members must send what they have.
func (b *budget) presses() bool { return b.entering.count > 0 || b.large.first != nil }

// press presses a room, and wakes it unless it was pressed already. mu must be held.
func (b *budget) press(r *Room, news *told) {
	if b.pressing = true; !r.pressed.Swap(true) {
		news.add(r)
	}
}

// pressAll presses all busy rooms.
func (b *budget) pressAll() (news told) {
	for r := b.holding.first; r != nil; r = r.around.next {
		b.press(r, &news)
	}
	return news
}

// relieve ends pressing if no member waits any more.
func (b *budget) relieve() {
	if !b.pressing || b.presses() {
		return
	}
	b.pressing = false
	for r := b.holding.first; r != nil; r = r.around.next {
		r.pressed.Store(false)
	}
}

// busyNow records that a room has become busy or idle.
func (b *budget) busyNow(r *Room, busy bool) {
	if r.busy = busy; busy {
		b.busy++
		b.holding.push(r)
		return
	}
	b.busy--
	b.holding.remove(r)
	r.pressed.Store(false)
}

// neighbours are the links of a room in a roomList.
type neighbours struct{ prev, next *Room }

// roomList is a list of idle or busy rooms. A room is in at most one list.
type roomList struct{ first, last *Room }

func (l *roomList) push(r *Room) {
	r.around.prev, r.around.next = l.last, nil
	if l.last != nil {
		l.last.around.next = r
	} else {
		l.first = r
	}
	l.last = r
}

func (l *roomList) remove(r *Room) {
	if r.around.prev != nil {
		r.around.prev.around.next = r.around.next
	} else {
		l.first = r.around.next
	}
	if r.around.next != nil {
		r.around.next.around.prev = r.around.prev
	} else {
		l.last = r.around.prev
	}
	r.around.prev, r.around.next = nil, nil
}
