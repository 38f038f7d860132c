package publisher

import (
	"math"
	"time"
)

// mail is input from callers. All of it is taken at once, so that a Flush or a command finds everything accepted before
// it.
type mail struct {
	flushes  []*flush // calls of Flush, and again those whose callers gave up
	commands []func()

	producersWaiting bool // for room, or a call was rejected for lack of it
	closing          bool // no further items are accepted
	flushLater       flushLater
}

// flushLater requests that everything accepted up to through is sent no later than at, without waiting for full
// batches. through is 0 without a request.
type flushLater struct {
	through uint64
	at      instant
}

// settings are set by callers and remain until changed. Unlike mail they are read within a round, so that a Pause stops
// the very next request.
type settings struct {
	limits   Limits
	interval time.Duration // as Config.Interval
	overload Policy
	paused   bool
	resumes  int // calls of Resume
}

// takeMail takes over the input of producers, Flush and Close.
func (l *loop[V, R]) takeMail() {
	a := &l.p.admission
	a.mu.Lock()
	if a.room != nil && len(a.waiters) > 0 {
		a.admit() // another publisher may have returned some
	}
	accepted := a.inbox
	l.mail = mail{
		flushes: a.flushes, commands: a.commands,
		producersWaiting: len(a.waiters) > 0 || a.rejected || a.pressed(), closing: a.closing, flushLater: a.flushLater,
	}
	a.inbox, a.spare, a.inboxBytes, a.urgent, a.flushes, a.commands = a.spare, nil, 0, false, nil, nil
	l.applySettings(a)
	a.mu.Unlock()

	l.takeAccepted(accepted)
	for _, f := range l.mail.flushes {
		l.flushes.take(f, l.delivery.notified)
	}
	if l.mail.closing {
		l.flushes.through = math.MaxUint64
	}
	l.commands.waiting = append(l.commands.waiting, l.mail.commands...)
	if cap(accepted) > 0 { // also an empty one, or each round would allocate an inbox
		l.recycle(accepted)
	}
	// From here on a hook, or a command, may end the goroutine.
	if n := len(accepted); n > 0 {
		l.p.config.Hooks.Accepted(n)
	}
	l.runCommands()
}

// takeAccepted takes over new items.
func (l *loop[V, R]) takeAccepted(accepted []entry[V]) {
	l.pending.now = l.p.now()
	if len(accepted) > 0 && l.pending.blocks == nil {
		l.fetch()
	}
	var fold folds
	for i := range accepted {
		e := &accepted[i]
		folded, outdated := l.fold(e, &fold)
		if folded {
			continue
		}
		n := l.pending.at(l.pending.add(e.item, e.seq, e.accepted))
		n.outdated, n.item.Outdated = outdated, outdated
	}
	if len(accepted) > 0 {
		l.pending.newest = accepted[len(accepted)-1].seq
	}
	l.p.admission.unfold(&fold)
}

// recycle returns an inbox for reuse, unless it is much longer than is needed now. While a buffer fills first, an inbox
// holds what arrives between two rounds on a busy machine, later only what a request has made room for. The long one
// would stay twice as long as the sender is busy, in addition to the bounded buffer: 40 MB for forty senders.
func (l *loop[V, R]) recycle(inbox []entry[V]) {
	const few = 256 // entries that every sender may keep
	clear(inbox)
	a := &l.p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(inbox) > 0 { // an empty round carries no information
		a.usual = max(len(inbox), a.usual-a.usual/16)
	}
	if cap(inbox) <= max(4*a.usual, few) {
		a.spare = inbox[:0]
	}
}

// refresh reads the settings again, after a hook has run or time has passed.
func (l *loop[V, R]) refresh() {
	a := &l.p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	l.applySettings(a)
}

// applySettings is refresh for a caller that holds the lock.
func (l *loop[V, R]) applySettings(a *admission[V]) {
	old := l.settings
	l.settings = a.settings
	if l.settings.resumes != old.resumes {
		l.pace.resume(l.p.now())
	}
	if l.settings.limits.BatchBytes != old.limits.BatchBytes {
		l.pace.size = newSizeLimit(l.settings.limits.BatchBytes)
	}
	if !a.ended {
		l.publishLimits(&a.stats)
	}
}
