package hints

import (
	"context"
	"maps"
	"slices"
	"time"
)

// How long the writer waits after an error: so long at first, then twice as long each time.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// writer is the goroutine that writes what the Set has, and what others know of it.
type writer struct {
	// Its own.
	journal journal
	pause   time.Duration // after the last error
	next    time.Time     // when it tries again

	release func() error  // gives the folder back
	wake    chan struct{} // holds one: there is something to write
	ended   chan struct{} // closed at the end
	closing error         // what went wrong there; read after ended

	// The mutex of the Set guards the rest.
	whole     bool  // what is in the log does not say everything: rewrite
	durable   int64 // of the changes, these are
	fileBytes int64
	failures  int64
	err       error         // of the last attempt
	attempt   int64         // number of the last one that has begun
	failed    int64         // number of the last one that has failed
	turn      chan struct{} // closed at the end of an attempt
	hurry     bool          // somebody waits for the next one
}

func newWriter(j journal) *writer {
	return &writer{
		journal: j, whole: true, release: func() error { return nil },
		wake: make(chan struct{}, 1), ended: make(chan struct{}), turn: make(chan struct{}),
	}
}

// record takes note of a change. The caller has the lock.
func (s *Set) record(o op, x *index, key string) {
	s.changes++
	w := s.writer
	if w == nil || w.whole {
		return
	}
	s.log.add(o, x.name, key)
	if s.log.bytes > max(fullFrame, s.bytes) {
		s.log, w.whole = frames{}, true
	}
}

// wake lets the writer have a look. The caller has the lock.
func (s *Set) wake() {
	if s.writer != nil {
		select {
		case s.writer.wake <- struct{}{}:
		default: // it will
		}
	}
}

// run writes until the Set is closed.
func (s *Set) run() {
	w := s.writer
	defer close(w.ended)
	for s.waitForWork() {
		_ = s.step() // Stats has the error
	}
	err := s.step()
	if err != nil {
		err = s.step() // by a rewrite, once
	}
	if closed := w.journal.close(); err == nil {
		err = closed
	}
	if released := w.release(); err == nil {
		err = released
	}
	w.closing = err
}

// waitForWork returns when there is something to write, and false if the Set is closed.
func (s *Set) waitForWork() bool {
	w := s.writer
	for {
		s.mu.Lock()
		closed, dirty, hurry := s.closed, s.changes > w.durable, w.hurry
		s.mu.Unlock()
		pause := time.Until(w.next)
		switch {
		case closed:
			return false
		case dirty && (hurry || pause <= 0):
			return true
		case !dirty:
			<-w.wake
		default:
			timer := time.NewTimer(pause)
			select {
			case <-w.wake:
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

// step is one attempt to write all that there is.
func (s *Set) step() error {
	w := s.writer
	s.mu.Lock()
	if s.changes == w.durable {
		s.mu.Unlock()
		return nil
	}
	changes, pending := s.changes, s.log
	whole := w.whole || w.journal.handle == nil || w.journal.size+pending.bytes > 2*s.bytes+slack
	var parts []part
	if whole {
		parts = s.snapshot()
	}
	s.log, w.whole, w.hurry = frames{}, false, false
	w.attempt++
	s.mu.Unlock()

	var err error
	if whole {
		err = w.journal.rewrite(parts)
	} else {
		err = w.journal.append(pending)
	}
	if err == nil {
		w.pause = 0
	} else {
		w.pause = min(max(2*w.pause, firstPause), lastPause)
	}
	w.next = time.Now().Add(w.pause)

	s.mu.Lock()
	defer s.mu.Unlock()
	w.err = err
	if err == nil {
		w.durable, w.fileBytes = changes, w.journal.size
	} else {
		s.log, w.whole = frames{}, true
		w.failed = w.attempt
		w.failures++
	}
	close(w.turn)
	w.turn = make(chan struct{})
	return err
}

// snapshot returns all that there is. The caller has the lock.
func (s *Set) snapshot() []part {
	parts := make([]part, 0, len(s.indexes))
	for _, name := range slices.Sorted(maps.Keys(s.indexes)) {
		x := s.indexes[name]
		parts = append(parts, part{name, x.all, x.snapshot()})
	}
	return parts
}

// Sync waits until all that was added and done before is durable: it is there after a crash of the machine.
// If the disk fails, Sync has it tried at once, and returns the error; the Set is not concerned, and it is tried
// again later. ctx bounds the waiting. A Set in memory has nothing to wait for.
func (s *Set) Sync(ctx context.Context) error {
	w := s.writer
	if w == nil {
		return nil
	}
	s.mu.Lock()
	target, attempt := s.changes, w.attempt
	for {
		turn := w.turn
		switch {
		case w.durable >= target:
			s.mu.Unlock()
			return nil
		case w.failed > attempt:
			err := w.err
			s.mu.Unlock()
			return err
		}
		w.hurry = true
		s.wake()
		s.mu.Unlock()
		select {
		case <-turn:
		case <-w.ended:
			if s.Stats().Unsynced == 0 {
				return nil
			}
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		s.mu.Lock()
	}
}
