package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// If a call of a driver does not return, as with lib/pq on a dead connection, it is abandoned: its goroutine stays, and
// its result is ignored. A delete or renewal that it may still make is guarded by the epoch of the lease. A range that
// it may still take is given away at the next tick.
const (
	abandonAfter = 2 * time.Second // after the end of the context of a call
	maxAbandoned = 8               // abandoned calls at once; then the relay ends
)

// bounded is sqlkit.Bounded with the time of the outbox.
func bounded[T any](ctx context.Context, f func() T) (result T, abandoned <-chan T) {
	return sqlkit.Bounded(ctx, abandonAfter, f)
}

// ask begins work with the database, as beginWork does. If the call is abandoned, lost is called on the loop instead of
// the result of f; lost must not touch anything that f writes.
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

// end waits for all running work, which may be abandoned, and closes the connection for leases.
func (l *loop) end() {
	defer l.hub.exit(l.r.table.Queue)
	ctx, cancel := context.WithTimeout(context.Background(), abandonAfter) // long enough for calls that hang to be abandoned
	defer cancel()
	if _, abandoned := bounded(ctx, func() struct{} {
		l.beside.Wait()
		return struct{}{}
	}); abandoned != nil {
		l.r.log(slog.LevelWarn, "outbox: calls abandoned at the end", nil, "of", "the database, Loader, Export or sender")
	}
	if l.takeInbox(); l.jobs[kindTick].busy { // it was abandoned, and closes the connection when it returns
		return
	}
	leases := l.leases
	_, _ = bounded(ctx, func() struct{} {
		leases.close()
		return struct{}{}
	})
}
