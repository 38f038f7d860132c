package publisher

import (
	"context"
	"runtime/pprof"
	"slices"
)

// run is the goroutine. A handler may end it (runtime.Goexit, which is what
// FailNow of a test does); then another one takes over where it was.
func (l *loop[V, R]) run() {
	parked := false
	defer func() {
		switch {
		case parked: // all of l belongs to the next goroutine, if there is one already
		case !l.shutdown.ended:
			go l.run()
		default:
			l.p.cancel()
			l.p.admission.publish(&l.shutdown.result, l.p.closed)
		}
	}()
	l.outside.goroutine.Store(goroutine())
	l.away(false, false)                           // a hook may have ended the goroutine before this one
	pprof.SetGoroutineLabels(context.Background()) // those of whoever woke the loop are not its own
	l.resume()
	parked = l.rounds()
	if parked {
		l.park()
	}
}

// park ends the goroutine of a loop that has nothing to wait for, so that an idle sender
// costs no stack: its goroutine ends, and signal starts the next one.
//
// The goroutine marks the loop parked and then looks for a wake-up; a signal
// leaves the wake-up and then looks for the mark. So at least one of the two finds
// what the other has left, and of all that do, the swap lets one start the next
// goroutine. This one must not go on itself: between its two steps others may have
// started a loop that has parked again, and the mark it takes is that one's.
func (l *loop[V, R]) park() {
	l.p.parked.Store(true)
	select {
	case <-l.p.wake: // taken, or the next goroutine would find it here, too
		l.p.unpark()
	default:
	}
}

// resume does what a goroutine that was ended in a hook has left undone.
func (l *loop[V, R]) resume() {
	if len(l.delivery.settled) > 0 {
		l.accountNow() // what a command has settled before another ended the goroutine
	}
	l.report()
	l.endVictims()
	for _, f := range slices.Clone(l.flights.inFlight) {
		if !f.started {
			l.announce(f)
			l.launch(f)
		}
	}
}

// enterHook is called before a hook, and leaveHook behind it.
func (l *loop[V, R]) enterHook() {
	l.outside.progress.Add(1)
	l.away(true, false)
}

func (l *loop[V, R]) leaveHook() {
	l.away(false, false)
	l.outside.progress.Add(1)
}

// away says whether the goroutine is in code of others, for which no slot is kept.
func (l *loop[V, R]) away(away, sent bool) {
	if slots := l.p.config.Slots; slots != nil {
		slots.Away(away, sent)
	}
}
