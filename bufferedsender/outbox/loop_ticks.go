package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// guardLeases has what was not sent taken back when leases are about to end, and forgets what is of those
// that have ended.
func (l *loop) guardLeases(now time.Time) {
	lost := 0
	defer func() {
		if lost > 0 {
			l.r.log(slog.LevelWarn, fmt.Sprintf("%d leases have ended before they could be renewed: others send their keys", lost), nil)
		}
	}()
	for i := range l.holds.parts {
		p := &l.holds.parts[i]
		if p.lease == nil {
			continue
		}
		left := p.lease.span.Load().left(now)
		if left <= 0 {
			l.lose(i)
			lost++
			continue
		}
		if left-l.r.margin < l.shortest() && !p.lease.revoked.Swap(true) {
			l.withdraw = true
		}
		if p.draining && l.sent[i] == 0 && !l.desk.busy(uint8(i)) && !l.now.has(uint8(i)) && !l.closing {
			l.giveAway(i, now)
		}
	}
}

// lose forgets a range whose lease has ended.
func (l *loop) lose(part int) {
	l.r.stats.lost.Add(1)
	l.holds.lose(part)
	l.desk.drop(uint8(part))
	l.withdraw = true
}

// giveAway ends the lease on a range of which nothing is under way.
func (l *loop) giveAway(part int, now time.Time) {
	p := &l.holds.parts[part]
	g := gift{part: part, epoch: p.lease.epoch}
	if l.r.info.UnknownWait > 0 && !p.cut.IsZero() {
		g.wait = max(0, p.cut.Add(l.r.info.UnknownWait).Sub(now))
	}
	l.holds.lose(part)
	l.desk.drop(uint8(part))
	l.gifts = append(l.gifts, g)
}

func (l *loop) beginGive() {
	if len(l.gifts) == 0 || l.busy[kindGive] {
		return
	}
	gifts := l.gifts
	l.gifts = nil
	l.beginWork(l.work, kindGive, statement, func(ctx context.Context) func() {
		err := l.leases.givenAway(ctx, l.r.db, gifts)
		return func() {
			if err != nil { // they run out
				l.r.log(slog.LevelWarn, "leases could not be given away", err)
			}
		}
	})
}

func (l *loop) tick() {
	_, draining := l.holds.count()
	if l.closing {
		draining -= ranges // it wants no more
	}
	var knew [ranges]int64
	for i := range l.holds.parts {
		if p := l.holds.parts[i].lease; p != nil {
			knew[i] = p.epoch
		}
	}
	l.beginWork(l.work, kindTick, max(l.r.opts.Renew, 5*time.Second), func(ctx context.Context) func() {
		t, err := l.leases.tick(ctx, l.r.db, draining)
		return func() { l.tickedOff(t, knew, err) }
	})
}

// tickedOff takes over what a tick has found.
func (l *loop) tickedOff(t tally, knew [ranges]int64, err error) {
	now := time.Now()
	if err != nil {
		l.tickAt = now.Add(retryAfter(l.tickFailed, l.r.opts.Renew))
		l.fails(kindTick, slog.LevelWarn, "leases cannot be renewed", err)
		l.tickFailed++
		l.r.state.Store(&state{err: err})
		return
	}
	l.tickFailed = 0
	l.works(kindTick)
	l.tickAt = t.began.Add(l.r.opts.Renew)
	// A letter may be newer than the answer: of ours, or of who had a range before.
	l.letters = t.letters || l.letters && (!t.began.After(l.buriedAt) || l.now != nil && len(l.now.dead) > 0) || len(t.acquired) > 0
	l.paused = t.paused
	end := t.began.Add(l.r.opts.Lease)
	for part := range l.holds.parts {
		had := l.holds.parts[part].lease
		epoch, renewed := t.renewed[part]
		switch acquired, is := t.acquired[part]; {
		case is:
			if had != nil { // it had ended by the clock there, and others may have had the range
				l.lose(part)
			}
			l.holds.extend(part, acquired, end)
			l.restart = true
		case renewed && had != nil && had.epoch == epoch:
			l.holds.extend(part, epoch, end)
		case renewed: // it is being given away, or has ended by the clock here: nobody works on it
			l.gifts = append(l.gifts, gift{part: part, epoch: epoch, wait: l.r.margin})
		case had != nil && knew[part] == had.epoch:
			l.lose(part)
		}
	}
	if l.closing {
		return
	}
	want := share(max(t.members, 1), t.rank)
	for _, part := range l.holds.surplus(want) {
		l.holds.drain(part)
		l.withdraw = true
		if l.recall != nil { // it may wait for room that never comes
			l.recall()
		}
	}
	held, draining := l.holds.count()
	if len(t.acquired) > 0 { // whether there are letters of the new ranges is not known yet
		l.tickAt = now
	}
	if held-draining < want { // others have yet to give some away
		l.tickAt = now.Add(min(time.Second, l.r.opts.Renew))
	}
	l.r.state.Store(&state{held: held})
}

// retryAfter is when something is tried again that has failed so often.
func retryAfter(failed int, most time.Duration) time.Duration {
	return min(100*time.Millisecond<<min(failed, 10), most, 5*time.Second)
}
