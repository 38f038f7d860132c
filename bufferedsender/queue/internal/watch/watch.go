// Package watch is for back ends whose queues are used by one process: it calls whoever
// wants to know that there may be something to reserve. It has no goroutine, but a timer
// while there is a moment to wait for.
package watch

import (
	"sync"
	"time"
)

// Watchers are those who want to know. The zero value is ready to use, by any number of
// goroutines.
type Watchers struct {
	mu     sync.Mutex // held while they are called
	wakes  map[*func()]struct{}
	timer  *time.Timer
	at     time.Time // of the timer, zero without one
	closed bool
}

// Watch adds one, until stop is called.
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

// Wake calls all of them.
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

// WakeAt has all of them called at a time, in place of the one that was set before; zero means
// never.
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

// Close ends the timer and calls nobody any more.
func (w *Watchers) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
