package faults

import (
	"sync"
	"time"
)

// watchEvery is the interval of the samples.
const watchEvery = 20 * time.Millisecond

// watch samples the memory and the progress of a sender.
type watch struct {
	meter *meter
	seen  []progress
}

// progress is a sample of a sender's counts.
type progress struct {
	at                time.Time
	accepted, settled int64
}

// newWatch returns a watch with the current memory as its baseline.
func newWatch() *watch {
	w := &watch{seen: make([]progress, 0, 1<<15)} // eleven minutes
	w.meter = newMeter()
	return w
}

// start samples the sender of r until stop is called.
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
				w.meter.sampled = time.Time{} // measure the remaining memory too
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

// drained returns the time of the first sample with at least as many settled actions as were accepted at t, and
// whether there is one.
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
