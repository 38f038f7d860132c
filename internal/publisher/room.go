package publisher

import "time"

// limitsOf returns the limits for a class. The last eighth of the buffer is reserved for the most urgent class, so that
// it does not wait for room behind the others.
func (a *admission[V]) limitsOf(class uint8) Limits {
	const reserved = 8
	limits := a.settings.limits
	if class != 0 && limits.Items >= reserved {
		limits.Items -= limits.Items / reserved
		limits.Bytes -= limits.Bytes / reserved
	}
	return limits
}

// take takes the room of one accepted item. It fails only if other publishers have the shared room and want.Must is
// false.
func (a *admission[V]) take(want Want) bool {
	if a.room != nil && !a.room.Take(want) {
		return false
	}
	a.stats.Items++
	a.stats.Bytes += want.Bytes
	a.stats.Accepted++
	return true
}

// flows reports whether accepted items leave without intervention, because nothing stops them.
func (a *admission[V]) flows() bool {
	c := &a.condition
	return a.autoFlush && !a.settings.paused && (c.Err == nil || c.State == Throttled)
}

// quitRoom notifies the shared room when no call waits here any more.
func (a *admission[V]) quitRoom() {
	if a.room != nil && len(a.waiters) == 0 {
		a.room.Quit()
	}
}

// pressed reports whether buffered items should be sent at once, because other publishers wait until there are none.
func (a *admission[V]) pressed() bool {
	return a.room != nil && a.room.Pressed() && a.autoFlush
}

// roomless returns how long the next call has waited although the buffer is empty, because others have the room. A
// sender with buffered items waits for these, as without a shared room. The lock is held.
func (a *admission[V]) roomless(now instant) time.Duration {
	if a.room == nil || len(a.waiters) == 0 || a.stats.Items > 0 {
		return 0
	}
	return min(now-a.waiters[0].now, time.Since(a.emptied))
}

// free returns room.
func (a *admission[V]) free(items int, bytes int64) {
	a.stats.Items -= items
	a.stats.Bytes -= bytes
	if a.stats.Items == 0 {
		a.silent = time.Time{} // nothing waits for an answer
		a.emptied = time.Now()
	}
	if a.room != nil && (items != 0 || bytes != 0) {
		a.room.Return(items, bytes)
	}
}
