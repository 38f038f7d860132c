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

	// Between two attempts to connect: half of it at least, and the rest at random.
	backOffFirst = 100 * time.Millisecond
	backOffLast  = 5 * time.Second
)

// ErrRunning says that Run was called twice.
var ErrRunning = errors.New("outboxpgx: the listener runs already")

// Run listens until ctx ends, and returns nil then. It connects again whenever the connection is lost, after 50 ms
// to 5 s, and wakes all relays each time it has connected, because nobody has told it what was committed
// meanwhile. The first of a row of failures is logged. The only error is ErrRunning.
//
// It may return 15 s late if a server has stopped to answer shortly before: pgx takes that long to give a
// connection up.
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
		if lasted > backOffLast { // a server that lets in and throws out is no better than none
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

// listen is a connection, from its beginning until it is lost. It returns how long it has listened.
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
	// What was committed before LISTEN was, is seen by who reads now; what is committed later notifies.
	l.wakeAll()
	err = l.follow(ctx, conn)
	return time.Since(began), err
}

// follow wakes relays as notifications come, until the connection is lost.
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
		default: // nothing has come, which may be because nobody is there
			ask, cancel := context.WithTimeout(ctx, min(l.ping, maxPingTimeout))
			err := conn.Ping(ask)
			cancel()
			if err != nil {
				return fmt.Errorf("the server has not answered: %w", err)
			}
		}
	}
}

// begin returns a connection that listens.
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
	if n == nil { // the connection has a function of its own that gets them: it may have been any
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

// signal leaves a value if there is none. The channel of a queue that nobody here has is nil.
func signal(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// ending are connections that pgx still has goroutines for: of one that is lost it asks the server to cancel what it
// does, for 15 s at the most.
type ending []<-chan struct{}

// close closes a connection.
func (e *ending) close(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	// Of one that is lost already the first does nothing, and pgx would go on reading from it.
	_ = conn.Close(ctx)              // it is given up, whatever that brings
	_ = conn.PgConn().Conn().Close() // and so here
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
