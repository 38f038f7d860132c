package publisher

import "time"

// limitsOf returns the limits for a class: the most urgent one has the last eighth of the
// buffer for itself, so that it does not wait for room behind the others.
func (a *admission[V]) limitsOf(class uint8) Limits {
	const reserved = 8
	limits := a.settings.limits
	if class != 0 && limits.Items >= reserved {
		limits.Items -= limits.Items / reserved
		limits.Bytes -= limits.Bytes / reserved
	}
	return limits
}

// take takes the room of one item that is accepted. Only others that share the room may
// keep it from having it, and not if it must.
func (a *admission[V]) take(want Want) bool {
	if a.room != nil && !a.room.Take(want) {
		return false
	}
	a.stats.Items++
	a.stats.Bytes += want.Bytes
	a.stats.Accepted++
	return true
}

// flows reports whether what is accepted goes away by itself: nothing holds it.
func (a *admission[V]) flows() bool {
	c := &a.condition
	return a.autoFlush && !a.settings.paused && (c.Err == nil || c.State == Throttled)
}

// quitRoom tells those who share the room when nobody waits for it here.
func (a *admission[V]) quitRoom() {
	if a.room != nil && len(a.waiters) == 0 {
		a.room.Quit()
	}
}

// pressed reports whether what is here is sent at once, because others wait until there is nothing.
func (a *admission[V]) pressed() bool {
	return a.room != nil && a.room.Pressed() && a.autoFlush
}

// roomless is for how long the call that is next has waited although nothing is here: others have the room. A sender
// that has something waits for that, as it does without others. The lock is held.
func (a *admission[V]) roomless(now instant) time.Duration {
	if a.room == nil || len(a.waiters) == 0 || a.stats.Items > 0 {
		return 0
	}
	return min(now-a.waiters[0].now, time.Since(a.emptied))
}

// free gives back room.
func (a *admission[V]) free(items int, bytes int64) {
	a.stats.Items -= items
	a.stats.Bytes -= bytes
	if a.stats.Items == 0 {
		a.silent = time.Time{} // nothing waits for an answer any more
		a.emptied = time.Now()
	}
	if a.room != nil && (items != 0 || bytes != 0) {
		a.room.Return(items, bytes)
	}
}
