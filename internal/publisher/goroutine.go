package publisher

import (
	"context"
	"runtime/pprof"
	"slices"
)

// run is the loop's goroutine. A handler may end it (runtime.Goexit, as FailNow of a test does); then a new one
// continues.
func (l *loop[V, R]) run() {
	parked := false
	defer func() {
		switch {
		case parked: // the next goroutine, if there is one, owns all of l
		case !l.shutdown.ended:
			go l.run()
		default:
			l.p.cancel()
			l.p.admission.publish(&l.shutdown.result, l.p.closed)
		}
	}()
	l.outside.goroutine.Store(goroutine())
	l.away(false, false)                           // a hook may have ended the previous goroutine
	pprof.SetGoroutineLabels(context.Background()) // do not inherit the labels of the goroutine that woke the loop
	l.resume()
	parked = l.rounds()
	if parked {
		l.park()
	}
}

// park ends the goroutine of a loop that has nothing to wait for, so that an idle sender needs no stack. signal starts
// the next goroutine.
//
// The goroutine marks the loop as parked and then checks for a wake-up; a signal sends the wake-up and then checks the
// mark. So at least one of the two detects the other, and the compare-and-swap lets only one start the next goroutine.
// This goroutine must not continue itself: between its two steps another one may have run and parked again, and the
// mark would be that one's.
func (l *loop[V, R]) park() {
	l.p.parked.Store(true)
	select {
	case <-l.p.wake: // removed, or the next goroutine would find it too
		l.p.unpark()
	default:
	}
}

// resume completes what a goroutine that ended in a hook has left undone.
func (l *loop[V, R]) resume() {
	if len(l.delivery.settled) > 0 {
		l.accountNow() // settled by a command before another one ended the goroutine
	}
	l.report()
	l.endVictims()
	for _, f := range slices.Clone(l.flights.inFlight) {
		// launch takes in replies: a request that ends meanwhile is empty, as one not started, and for reuse.
		if !f.started && slices.Contains(l.flights.inFlight, f) {
			l.announce(f)
			l.launch(f)
		}
	}
}

// enterHook must be called before a hook, leaveHook after it.
func (l *loop[V, R]) enterHook() {
	l.outside.progress.Add(1)
	l.away(true, false)
}

func (l *loop[V, R]) leaveHook() {
	l.away(false, false)
	l.outside.progress.Add(1)
}

// away reports whether the goroutine runs foreign code, during which no slot is kept.
func (l *loop[V, R]) away(away, sent bool) {
	if slots := l.p.config.Slots; slots != nil {
		slots.Away(away, sent)
	}
}
