package outbox

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"
)

// close begins to end the relay: nothing is read or handed over any more.
func (l *loop) close(now time.Time) {
	if l.closing {
		return
	}
	l.closing, l.closeBy = true, now.Add(l.r.info.RequestTimeout+l.r.margin)
	l.stop()
	l.r.state.Store(&state{err: errors.New("the relay ends")})
	for i := range l.holds.parts {
		if l.holds.parts[i].lease != nil {
			l.holds.drain(i)
		}
	}
	l.withdraw = true
}

// finished reports whether nothing is under way any more, or it takes too long.
func (l *loop) finished(now time.Time) bool {
	if !now.Before(l.closeBy) {
		return true
	}
	return l.underway == 0 && !slices.Contains(l.busy[:], true) && !l.withdraw &&
		(len(l.desk.done)+len(l.desk.dead) == 0 || l.finishFailed > 3)
}

// leave gives all leases away of which nothing is under way.
func (l *loop) leave() {
	ctx, cancel := context.WithTimeout(l.work, 5*time.Second)
	defer cancel()
	now := time.Now()
	for i := range l.holds.parts {
		if p := &l.holds.parts[i]; p.lease != nil && l.sent[i] == 0 {
			l.giveAway(i, now)
		}
	}
	err := l.leases.givenAway(ctx, l.r.db, l.gifts)
	if err == nil {
		err = l.leases.leave(ctx, l.r.db)
	}
	if err != nil {
		l.r.log(slog.LevelWarn, "leases could not be given away: they run out", err)
	}
}
