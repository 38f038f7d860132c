package publisher

import (
	"context"
	"slices"
	"time"
)

// shutdown is the progress of closing. It survives a goroutine that a hook ends.
type shutdown struct {
	giveUp       bool // Close's ctx has ended
	abandoned    bool // requests were left behind
	drained      bool // everything is settled
	closedCalled bool // the Closed hook was called
	ended        bool // Close may return
	result       CloseError
}

// abort ends everything after Close's ctx has ended: it cancels the requests, accepts answers that still arrive, and
// settles the rest as Unsent.
func (l *loop[V, R]) abort() {
	l.p.cancel()
	l.launchStanding() // takes them back
	l.quitAllSlots()
	deadline := time.NewTimer(abandonAfter)
	defer deadline.Stop()
	for len(l.flights.inFlight) > 0 {
		if l.p.admission.over() {
			l.abandon() // the items in requests have been reported as unknown
			break
		}
		if f := l.completions.next(); f != nil {
			l.complete(f)
			continue
		}
		select {
		case <-l.p.wake:
		case <-deadline.C:
			l.abandon()
		}
	}
	if l.shutdown.result.Errors == nil {
		l.shutdown.result.Errors = slices.Clone(l.flushes.unreported.errors)
	}
	l.refreshGate()
	held := l.held()
	if l.shutdown.result.Held == nil { // a hook that ends the goroutine has this run again
		l.shutdown.result.Held = held
	}
	if _, _, why := l.pending.heldApart(); why != nil && l.shutdown.result.Held == nil {
		l.shutdown.result.Held = &IndexError{Err: why}
	}
	l.pending.releaseAll()
	all := l.pending.all()
	for len(all) > 0 && !l.p.admission.over() {
		n := l.piece(all)
		l.giveUpItems(all[:n], held)
		all = all[n:]
	}
	l.giveUpItems(all, held) // already counted; only reported
	l.finish()
}

// A piece is given up at once: its dead letters are written together, and each piece counts as progress.
const (
	pieceItems = 64
	pieceBytes = 1 << 20
)

// piece returns how many of the first items form a piece, at least one.
func (l *loop[V, R]) piece(refs []ref) int {
	n, bytes := 0, 0
	for n < min(len(refs), pieceItems) && (n == 0 || bytes < pieceBytes) {
		bytes += l.pending.sizeOf(refs[n])
		n++
	}
	return n
}

// giveUpItems settles items as Unsent.
func (l *loop[V, R]) giveUpItems(refs []ref, held error) {
	now := l.p.now()
	for _, r := range refs {
		n := l.pending.at(r)
		held := held
		if g := n.held; g != nil {
			if g.guilty() && held == nil {
				held = &IndexError{Err: g.err}
			}
			g.remove(r, l.pending.sizeOf(r))
			n.held = nil
		}
		l.settle(Settlement[V, R]{
			Item: &n.item, Outcome: l.unlessReturned(&n.item, Unsent), Unknown: n.unknown, Held: held, Waited: now - n.accepted,
			Result: &Result[R]{Next: Fail, Err: n.err, Unknown: n.unknown},
		}, r)
	}
	l.account(func(s *Stats) { s.InFlight = 0 })
	l.report()
}

// abandon leaves behind requests that did not return after they were cancelled. Their workers still add them to
// completions when they return, but they are ignored.
func (l *loop[V, R]) abandon() {
	for len(l.flights.inFlight) > 0 {
		f := l.flights.inFlight[0]
		l.flights.inFlight = l.flights.inFlight[1:]
		l.shutdown.abandoned = true
		for _, r := range f.refs {
			l.pending.at(r).unknown = true
		}
		f.giveBack()
		l.noteEnd(f)
		if !f.started {
			continue
		}
		l.enterHook()
		l.p.config.Hooks.Replied(&f.batch, &Reply[R]{Err: ErrAbandoned}, 0, Counts{})
		l.leaveHook()
	}
}

// finish releases the last waiting calls, joins the workers, and completes the result of Close.
func (l *loop[V, R]) finish() {
	l.releaseFlushes()
	if !l.shutdown.abandoned {
		l.p.workers.Wait()
	}
	l.shutdown.result.Failed = l.flushes.unreported.count - l.flushes.unreported.unsent
	l.shutdown.result.Kept = l.flushes.unreported.kept - l.flushes.unreported.keptUnsent
	if l.shutdown.result.Errors == nil {
		l.shutdown.result.Errors = l.flushes.unreported.errors
	}
	l.shutdown.drained = true
	l.reportCondition()
	if !l.shutdown.closedCalled {
		l.shutdown.closedCalled = true
		l.shutdown.result.Hook = errGoexit // replaced if the hook returns
		l.shutdown.result.Hook = l.callClosed()
	}
	l.shutdown.ended = true
}

// callClosed runs the Closed hook.
func (l *loop[V, R]) callClosed() error {
	ctx, cancel := context.WithCancel(l.p.HookContext(context.Background()))
	defer cancel()
	stop := context.AfterFunc(l.p.requests, func() { // Close has given up
		grace := time.NewTimer(abandonAfter)
		defer grace.Stop()
		select {
		case <-grace.C:
			cancel()
		case <-ctx.Done():
		}
	})
	defer stop()
	l.enterHook()
	defer l.leaveHook()
	return l.p.config.Hooks.Closed(ctx)
}
