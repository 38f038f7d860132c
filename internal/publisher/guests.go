package publisher

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// guest is code of others that actions wait for, but not on the goroutine of the publisher. Health and the
// errors of calls that wait name it.
type guest struct {
	name   string
	nameOf func() string // the name, if it costs something
	keys   int           // of actions that wait for it
	waited *atomic.Int64 // the keys, if they become more
	since  time.Time
	asked  bool // a request waits for it, and not for the service
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

// guests are those that have not returned, the first one first.
type guests []*guest

// come notes that code of others begins, and returns what gone takes when it has returned.
func (all *guests) come(g guest) *guest {
	g.since = time.Now()
	*all = append(*all, &g)
	return &g
}

func (all *guests) gone(g *guest) {
	*all = slices.DeleteFunc(*all, func(other *guest) bool { return other == g })
}

// asked returns the first for which a request waits, or nil.
func (all guests) asked() *guest { return all.first(func(g *guest) bool { return g.asked }) }

// first returns the first that is as wanted, or nil.
func (all guests) first(wanted func(*guest) bool) *guest {
	if i := slices.IndexFunc(all, wanted); i >= 0 {
		return all[i]
	}
	return nil
}

// visit runs code of others that a request of so many items waits for.
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
		// The service was not asked since the first visit began. What comes after the next one did, that one counts.
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

// silence is for how long the service has not answered. The lock is held.
func (a *admission[V]) silence() time.Duration {
	if a.silent.IsZero() {
		return 0
	}
	if g := a.guests.asked(); g != nil {
		return max(0, g.since.Sub(a.silent))
	}
	return time.Since(a.silent)
}

// Stuck returns what has kept actions or calls waiting for so long and is not the service: code of others, or room. It
// returns nil if nothing has.
func (c Condition) Stuck(long time.Duration) error {
	if c.Busy >= max(long, 1) {
		return fmt.Errorf("nothing is sent for %s because of %s", c.Busy.Round(time.Second), c.In)
	}
	if g := c.guest; g != nil && time.Since(g.since) >= long {
		return fmt.Errorf("%s has not returned for %s; keys that wait for it: %d", g, time.Since(g.since).Round(time.Second), g.waiting())
	}
	if c.roomless >= max(long, 1) && c.Held() == nil {
		return fmt.Errorf("adding calls wait for %s for room that is shared, and that other senders have", c.roomless.Round(time.Second))
	}
	return nil
}
