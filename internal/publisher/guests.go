package publisher

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// guest is running foreign code that actions wait for, outside the goroutine of the loop. Health, and the errors of
// waiting calls, name it.
type guest struct {
	name   string
	nameOf func() string // the name, if it is expensive
	keys   int           // keys of actions that wait for it
	waited *atomic.Int64 // number of keys, if it can grow
	since  time.Time
	asked  bool // a request waits for it, not for the service
}

// waiting returns how many keys wait for it.
func (g *guest) waiting() int {
	if g.waited != nil {
		return int(g.waited.Load())
	}
	return g.keys
}

// String returns the name.
func (g *guest) String() string {
	if g.nameOf != nil {
		return g.nameOf()
	}
	return g.name
}

// guests are those that are running, oldest first.
type guests []*guest

// come adds a guest that starts, and returns what gone needs when it ends.
func (all *guests) come(g guest) *guest {
	g.since = time.Now()
	*all = append(*all, &g)
	return &g
}

func (all *guests) gone(g *guest) {
	*all = slices.DeleteFunc(*all, func(other *guest) bool { return other == g })
}

// asked returns the oldest guest that a request waits for, or nil.
func (all guests) asked() *guest { return all.first(func(g *guest) bool { return g.asked }) }

// first returns the oldest wanted one, or nil.
func (all guests) first(wanted func(*guest) bool) *guest {
	if i := slices.IndexFunc(all, wanted); i >= 0 {
		return all[i]
	}
	return nil
}

// visit runs foreign code that a request with so many keys waits for.
func (p *Publisher[V, R]) visit(name string, keys int, run func()) {
	a := &p.admission
	a.mu.Lock()
	g := a.guests.come(guest{name: name, keys: keys, asked: true})
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		before := a.guests.asked()
		a.guests.gone(g)
		if a.silent.IsZero() || before != g {
			return
		}
		// The service was not asked since the first visit began. Time after the start of the next visit is counted by that one.
		until, from := time.Now(), g.since
		if next := a.guests.asked(); next != nil {
			until = next.since
		}
		if from.Before(a.silent) {
			from = a.silent
		}
		if until.After(from) {
			a.silent = a.silent.Add(until.Sub(from))
		}
	}()
	run()
}

// silence returns how long the service has not answered. The lock is held.
func (a *admission[V]) silence() time.Duration {
	if a.silent.IsZero() {
		return 0
	}
	if g := a.guests.asked(); g != nil {
		return max(0, g.since.Sub(a.silent))
	}
	return time.Since(a.silent)
}

// Stuck returns an error if foreign code, or a lack of room, has kept actions or calls waiting for at least long.
// Otherwise it returns nil.
func (c Condition) Stuck(long time.Duration) error {
	if c.Busy >= max(long, 1) {
		return fmt.Errorf("nothing is sent for %s because of %s", c.Busy.Round(time.Second), c.In)
	}
	if g := c.guest; g != nil && time.Since(g.since) >= long {
		return fmt.Errorf("%s has not returned for %s; keys that wait for it: %d", g, time.Since(g.since).Round(time.Second), g.waiting())
	}
	if c.roomless >= max(long, 1) && c.Held() == nil {
		return fmt.Errorf("adding calls wait for %s for room that is shared and that other senders hold", c.roomless.Round(time.Second))
	}
	return nil
}
