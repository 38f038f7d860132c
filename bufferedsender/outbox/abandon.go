package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// A call of a driver that does not return, such as one of lib/pq over a connection that the network has forgotten, is
// abandoned: its goroutine stays, and what comes of it changes nothing here. Deletes and renewals that it may still
// make are guarded by the epoch of the lease, and ranges that it may still take are given away at the next tick.
const (
	abandonAfter = 2 * time.Second // after the end of the context of a call
	maxAbandoned = 8               // calls at once; then the relay ends
)

// bounded returns what f returns. If that is not there soon after ctx has ended, it returns the channel on which it may
// come.
func bounded[T any](ctx context.Context, f func() T) (result T, abandoned <-chan T) {
	returned := make(chan T, 1)
	go func() { returned <- f() }()
	select {
	case result = <-returned:
		return result, nil
	case <-ctx.Done():
	}
	select {
	case result = <-returned:
		return result, nil
	case <-time.After(abandonAfter):
		return result, returned
	}
}

// ask begins work with the database, as beginWork does. lost is called on the loop instead of what f returns if the
// call is abandoned; it may not touch what f writes to.
func (l *loop) ask(k kind, timeout time.Duration, f func(ctx context.Context) (then func()), lost func(err error)) {
	l.beginWork(l.work, k, timeout, func(ctx context.Context) func() {
		then, abandoned := bounded(ctx, func() func() { return f(ctx) })
		if abandoned == nil {
			return then
		}
		go func() {
			<-abandoned
			l.inbox.post(func() { l.abandoned-- })
		}()
		return func() {
			l.abandoned++
			err := fmt.Errorf("the driver has not returned %v after the end of its context: %d calls are abandoned", abandonAfter, l.abandoned)
			if lost(err); l.abandoned >= maxAbandoned && l.failure == nil {
				l.failure = fmt.Errorf("outbox: relay of %q ended, rows stay in the table: %w; use a driver that ends a call with its context", l.r.table.Queue, err)
			}
		}
	})
}

// end waits for what runs beside the loop, as long as it may take, and closes the connection for leases.
func (l *loop) end() {
	ctx, cancel := context.WithTimeout(context.Background(), abandonAfter) // calls are abandoned meanwhile
	defer cancel()
	if _, abandoned := bounded(ctx, func() struct{} {
		l.beside.Wait()
		return struct{}{}
	}); abandoned != nil {
		l.r.log(slog.LevelWarn, "outbox: calls have not returned; left behind", nil)
		return
	}
	if l.takeInbox(); l.jobs[kindTick].busy { // it has been abandoned, and closes what it has
		return
	}
	leases := l.leases
	_, _ = bounded(ctx, func() struct{} {
		leases.close()
		return struct{}{}
	})
}
