package outbox

import (
	"context"
	"log/slog"
	"time"
)

// guardLeases withdraws unsent actions when leases are about to end, and drops the rows of leases that have ended.
func (l *loop) guardLeases(now time.Time) {
	lost := 0
	for i := range l.holds.parts {
		p := &l.holds.parts[i]
		if p.lease == nil {
			continue
		}
		if p.lease.Left(now) <= 0 {
			l.lose(i)
			lost++
			continue
		}
		if !l.r.terms.Lasts(&p.lease.Lease, now) && !p.lease.GoesBack() {
			p.lease.GiveBack()
			l.holds.withdraw = true
		}
		if p.draining && p.sent == 0 && !l.desk.settling.has(uint8(i)) && !l.closing {
			l.holds.give(i, now)
			l.desk.drop(uint8(i))
		}
	}
	if lost > 0 {
		l.r.log(slog.LevelWarn, "outbox: leases expired before renewal", nil, "leases", lost)
	}
}

// lose drops the rows of a range whose lease has ended.
func (l *loop) lose(part int) {
	l.stats.LeasesLost++
	l.holds.lose(part)
	l.desk.drop(uint8(part))
	l.holds.withdraw = true
}

func (l *loop) beginGive(time.Time) {
	gifts := l.holds.gifts
	l.holds.gifts = nil
	leases := l.leases
	lost := func(err error) {
		l.holds.owed = append(l.holds.owed, gifts...) // the pool may be used up, and a tick has its own connection
		l.r.log(slog.LevelWarn, "outbox: leases not given away; they expire", err)
	}
	l.ask(kindGive, statement, func(ctx context.Context) func() {
		err := leases.givenAway(ctx, l.r.db, gifts)
		return func() {
			if err != nil {
				lost(err)
			}
		}
	}, lost)
}

// leave gives away all leases without work in progress.
func (l *loop) leave() {
	ctx, cancel := context.WithTimeout(l.work, 5*time.Second)
	defer cancel()
	now := time.Now()
	for i := range l.holds.parts {
		if p := &l.holds.parts[i]; p.lease != nil && p.sent == 0 {
			l.holds.give(i, now)
		}
	}
	leases, gifts := l.leases, l.holds.gifts
	err, abandoned := bounded(ctx, func() error {
		if err := leases.givenAway(ctx, l.r.db, gifts); err != nil {
			return err
		}
		return leases.leave(ctx, l.r.db)
	})
	if abandoned != nil {
		err = ctx.Err()
	}
	if err != nil {
		l.r.log(slog.LevelWarn, "outbox: leases not given away; they expire", err)
	}
}

func (l *loop) beginTick(now time.Time) {
	_, draining := l.holds.count()
	if l.closing || now.Before(l.back.quiet) {
		draining -= ranges // it takes no more ranges
	}
	var knew [ranges]int64
	for i := range l.holds.parts {
		if p := l.holds.parts[i].lease; p != nil {
			knew[i] = p.epoch
		}
	}
	life, known, at := l.progress.life, l.progress.floor.server, l.stuck.place
	leases, moved := l.leases, l.back.moved
	leases.owed, l.holds.owed = l.holds.owed, nil
	l.back.moved = false
	l.ask(kindTick, max(l.r.opts.renew, 5*time.Second), func(ctx context.Context) func() {
		if moved {
			leases.close()
		}
		t, err := leases.tick(ctx, l.r.db, at, draining)
		if t.paused && err == nil {
			t.rows = l.r.table.rowsWait(ctx, l.r.db)
		}
		if t.life, t.known = life, known; ctx.Err() != nil { // the call may have been abandoned, with its connection
			leases.close()
		}
		return func() { l.tickedOff(t, knew, err) }
	}, func(err error) {
		l.leases = newLeasing(l.r)
		l.tickedOff(tally{}, knew, err)
	})
}

// tickedOff takes over the result of a tick.
func (l *loop) tickedOff(t tally, knew [ranges]int64, err error) {
	now := time.Now()
	if err != nil {
		l.fails(kindTick, slog.LevelWarn, "outbox: leases not renewed", err)
		l.r.state.Store(&state{err})
		return
	}
	l.works(kindTick)
	if t.life != l.progress.life { // its answer may be from the earlier server
		l.jobs[kindTick].retry.At = now
		return
	}
	if how := l.wentBack(&t); how != "" {
		l.begun("", how, now) // the next read asks for its identity, and compares the sequence
	}
	l.back.renewals = t.renewals
	at := &l.jobs[kindTick].retry.At
	*at = t.began.Add(l.r.opts.renew)
	l.desk.settling.ticked(&t)
	if l.paused != t.paused {
		message := "outbox: queue resumed"
		if l.paused = t.paused; l.paused {
			message = "outbox: queue paused"
		}
		l.r.log(slog.LevelInfo, message, nil)
	}
	end := t.began.Add(l.r.opts.Lease)
	for part := range l.holds.parts {
		had := l.holds.parts[part].lease
		epoch, renewed := t.renewed[part]
		switch acquired, is := t.acquired[part]; {
		case is && now.Before(l.back.quiet): // another relay may have requests in flight for it
			l.holds.gifts = append(l.holds.gifts, gift{part, acquired, l.r.opts.Lease})
		case is:
			if had != nil { // it had ended by the database's clock, and another relay may have held the range
				l.lose(part)
			}
			l.holds.extend(part, acquired, end)
			l.readAgain()
		case renewed && had != nil && had.epoch == epoch:
			l.holds.extend(part, epoch, end)
		case renewed: // it is being given away, or has ended by this clock: this relay does not use it
			l.holds.gifts = append(l.holds.gifts, gift{part, epoch, l.r.opts.Lease})
		case had != nil && knew[part] == had.epoch:
			l.lose(part)
		}
	}
	if l.closing {
		return
	}
	l.judge(&t, now)
	want := t.share(l.stuck.place)
	for _, part := range l.holds.surplus(want) {
		l.holds.drain(part)
		if l.recall != nil { // it may wait for room that never comes
			l.recall()
		}
	}
	held, draining := l.holds.count()
	if len(t.acquired) > 0 { // whether the new ranges have dead letters is not known yet
		*at = now
	}
	if held-draining < want { // other relays must still give some away
		*at = now.Add(min(time.Second, l.r.opts.renew))
	}
	l.r.state.Store(&state{l.waiting(&t, want, now)})
}
