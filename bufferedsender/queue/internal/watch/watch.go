// Package watch calls the watchers of a queue that one process uses, when there may be something to reserve. It has no
// goroutine; a timer runs while a wake-up is scheduled.
package watch

import (
	"sync"
	"time"
)

// Watchers is a set of functions to call. The zero value is ready to use and safe for concurrent use.
type Watchers struct {
	mu     sync.Mutex // held during the calls
	wakes  map[*func()]struct{}
	timer  *time.Timer
	at     time.Time // of timer, zero without one
	closed bool
}

// Watch adds wake, until stop is called.
func (w *Watchers) Watch(wake func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wakes == nil {
		w.wakes = make(map[*func()]struct{})
	}
	w.wakes[&wake] = struct{}{}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.wakes, &wake)
	}
}

// Wake calls all watchers.
func (w *Watchers) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake()
}

func (w *Watchers) wake() {
	if w.closed {
		return
	}
	for wake := range w.wakes {
		(*wake)()
	}
}

// WakeAt schedules a call of all watchers, and replaces the time set before; zero means never.
func (w *Watchers) WakeAt(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || at.Equal(w.at) {
		return
	}
	w.at = at
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if at.IsZero() {
		return
	}
	w.timer = time.AfterFunc(time.Until(at), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.at.Equal(at) {
			w.at, w.timer = time.Time{}, nil
			w.wake()
		}
	})
}

// Close stops the timer. No watcher is called after it.
func (w *Watchers) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
