package outboxpgx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/go-azsearch/azsearch/internal/relay"
)

const (
	connectTimeout = 30 * time.Second
	maxPingTimeout = 10 * time.Second
	closeTimeout   = 5 * time.Second

	// Back-off between attempts to connect: half of it at least, the rest at random.
	backOffFirst = 100 * time.Millisecond
	backOffLast  = 5 * time.Second
)

// ErrRunning reports that Run was called while the listener runs.
var ErrRunning = errors.New("outboxpgx: listener is already running")

// Run listens until ctx ends, and then returns nil. It reconnects whenever the connection is lost, after 50 ms to 5 s,
// and wakes all relays after each connection, because it may have missed notifications. Only the first of several
// failures in a row is logged. The only error is ErrRunning.
//
// It may return up to 15 s late if the server has stopped answering shortly before: pgx takes that long to give up a
// connection.
func (l *Listener) Run(ctx context.Context) error {
	if l.running.Swap(true) {
		return ErrRunning
	}
	defer l.running.Store(false)
	var gone ending
	defer gone.await()
	for failed := 0; ctx.Err() == nil; failed++ {
		lasted, err := l.listen(ctx, &gone, failed > 0)
		if ctx.Err() != nil {
			break
		}
		if lasted > backOffLast { // a server that accepts and then drops connections counts as failing
			failed = 0
		}
		if failed == 0 {
			l.logger.WarnContext(ctx, "outboxpgx: listener not connected; relays poll meanwhile", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(relay.BackOff(failed+1, backOffFirst, backOffLast)):
		}
	}
	return nil
}

// listen makes a connection and uses it until it is lost. It returns how long it has listened.
func (l *Listener) listen(ctx context.Context, gone *ending, again bool) (time.Duration, error) {
	conn, err := l.begin(ctx, gone)
	if err != nil {
		return 0, err
	}
	defer gone.close(ctx, conn)
	began := time.Now()
	if again {
		l.logger.InfoContext(ctx, "outboxpgx: listener connected again")
	}
	// A relay that reads now sees what was committed before LISTEN; later commits notify.
	l.wakeAll()
	err = l.follow(ctx, conn)
	return time.Since(began), err
}

// follow wakes relays on notifications, until the connection is lost.
func (l *Listener) follow(ctx context.Context, conn *pgx.Conn) error {
	for {
		wait, cancel := context.WithTimeout(ctx, l.ping)
		n, err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil:
			l.wake(n)
		case conn.IsClosed() || ctx.Err() != nil:
			return err
		default: // nothing has come, maybe because the connection is dead
			ask, cancel := context.WithTimeout(ctx, min(l.ping, maxPingTimeout))
			err := conn.Ping(ask)
			cancel()
			if err != nil {
				return fmt.Errorf("server did not answer: %w", err)
			}
		}
	}
}

// begin returns a listening connection.
func (l *Listener) begin(ctx context.Context, gone *ending) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := l.connect(ctx)
	switch {
	case err != nil:
		return nil, err
	case conn == nil:
		return nil, errors.New("ListenOptions.Connect has returned nil")
	}
	for channel := range l.wakes {
		if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
			gone.close(ctx, conn)
			return nil, fmt.Errorf("LISTEN: %w", err)
		}
	}
	return conn, nil
}

// wake wakes the relay of the queue that a notification names.
func (l *Listener) wake(n *pgconn.Notification) {
	if n == nil { // the connection's own function got the notification: it may be for any queue
		l.wakeAll()
		return
	}
	signal(l.wakes[n.Channel][n.Payload])
}

func (l *Listener) wakeAll() {
	for _, queues := range l.wakes {
		for _, wake := range queues {
			signal(wake)
		}
	}
}

// signal leaves a value if the channel is empty. It does nothing for a queue without a relay here, whose channel is
// nil.
func signal(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// ending are connections for which pgx still has goroutines: for a lost connection it asks the server to cancel the
// query, for at most 15 s.
type ending []<-chan struct{}

// close closes a connection.
func (e *ending) close(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	// If the connection is already lost, the first Close does nothing, and pgx would keep reading from it.
	_ = conn.Close(ctx)              // it is given up in any case
	_ = conn.PgConn().Conn().Close() // likewise
	*e = append(slices.DeleteFunc(*e, over), conn.PgConn().CleanupDone())
}

func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func (e *ending) await() {
	for _, done := range *e {
		<-done
	}
}
