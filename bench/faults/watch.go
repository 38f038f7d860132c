package faults

import (
	"sync"
	"time"
)

// watchEvery is how often the watch looks at the sender.
const watchEvery = 20 * time.Millisecond

// watch looks at a sender while it works: its memory, and how far it has come.
type watch struct {
	meter *meter
	seen  []progress
}

// progress is how far a sender had come.
type progress struct {
	at                time.Time
	accepted, settled int64
}

// newWatch returns a watch whose baseline is everything that is there now.
func newWatch() *watch {
	w := &watch{seen: make([]progress, 0, 1<<15)} // eleven minutes
	w.meter = newMeter()
	return w
}

// start looks at the sender of r until stop is called.
func (w *watch) start(r *run) (stop func()) {
	quit := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			w.look(r)
			select {
			case <-ticker.C:
			case <-quit:
				w.meter.sampled = time.Time{} // what is still held must not be missed
				w.look(r)
				return
			}
		}
	})
	return func() {
		close(quit)
		group.Wait()
	}
}

func (w *watch) look(r *run) {
	s := r.sender.Stats()
	if len(w.seen) < cap(w.seen) {
		w.seen = append(w.seen, progress{time.Now(), s.Accepted, s.Completed + s.Failed + s.Unsent})
	}
	r.mu.Lock()
	r.blocked = max(r.blocked, s.BlockedProducers)
	r.mu.Unlock()
	w.meter.sample()
}

// drained returns when as much was settled as had been accepted at t, and
// whether that was seen.
func (w *watch) drained(t time.Time) (time.Time, bool) {
	accepted := int64(-1)
	for _, p := range w.seen {
		if p.at.Before(t) {
			continue
		}
		if accepted < 0 {
			accepted = p.accepted
		}
		if p.settled >= accepted {
			return p.at, true
		}
	}
	return time.Time{}, false
}
