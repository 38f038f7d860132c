package outboxpgx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
)

// defaultPing is how long nothing may come before the server is asked whether it is still there.
const defaultPing = 30 * time.Second

// ListenOptions configures a Listener. nil and the zero value are ready to use.
type ListenOptions struct {
	// Connect makes the connection that listens, which the Listener closes. It is called at the
	// beginning and each time the connection was lost; ctx ends after 30 s. It is for pools that lead through a
	// pooler in transaction mode, where LISTEN does nothing. Defaults to a connection made with the settings of
	// the pool, of which its BeforeConnect is called.
	Connect func(ctx context.Context) (*pgx.Conn, error)
	// Logger defaults to slog.Default().
	Logger *slog.Logger

	ping time.Duration // 0 for defaultPing; tests shorten it
}

// Listener wakes relays when rows are committed, by LISTEN and NOTIFY. It keeps one connection, for all of its
// tables. Its methods are safe for concurrent use.
type Listener struct {
	connect func(ctx context.Context) (*pgx.Conn, error)
	ping    time.Duration
	logger  *slog.Logger
	wakes   map[string]map[string]chan struct{} // by channel and queue
	running atomic.Bool
}

// Listen returns a Listener for tables in the database of a pool. It does no I/O: nothing is listened to
// before Run. The connection is made besides those of the pool, so that neither waits for the other; pool may be nil if
// there is a ListenOptions.Connect. The tables are those of relays in this process; whoever writes to them,
// here or elsewhere, sets Table.Notify. The error names every problem at once.
func Listen(pool *pgxpool.Pool, opts *ListenOptions, tables ...*outbox.Table) (*Listener, error) {
	var o ListenOptions
	if opts != nil {
		o = *opts
	}
	l := &Listener{connect: o.Connect, ping: cmp.Or(o.ping, defaultPing), logger: o.Logger, wakes: make(map[string]map[string]chan struct{})}
	var errs []error
	switch {
	case l.connect != nil:
	case pool == nil:
		errs = append(errs, errors.New("no way to connect: pass a pool, or set ListenOptions.Connect"))
	default:
		l.connect = besides(pool)
	}
	if l.logger == nil {
		l.logger = slog.Default()
	}
	if len(tables) == 0 {
		errs = append(errs, errors.New("no tables to listen for; pass at least one"))
	}
	for _, table := range tables {
		errs = append(errs, l.add(table))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("outboxpgx: listener: %w", err)
	}
	return l, nil
}

// maxChannel is how long the name of a channel may be in PostgreSQL, which cuts that of a LISTEN and
// refuses that of a NOTIFY.
const maxChannel = 63

// add makes the channel of a table.
func (l *Listener) add(table *outbox.Table) error {
	if _, err := outbox.BuildInsertKeys(table); err != nil { // checks it
		return err
	}
	if !table.Notify { // others may notify for it
		l.logger.Warn("outboxpgx: Table.Notify is off; relays poll every 15 s", "queue", table.Queue)
	}
	channel := table.Channel()
	if len(channel) > maxChannel {
		return fmt.Errorf("table %q: the name of the channel, %q, is longer than the %d bytes that PostgreSQL allows: use a shorter Prefix", table.Queue, channel, maxChannel)
	}
	if l.wakes[channel] == nil {
		l.wakes[channel] = make(map[string]chan struct{})
	}
	if l.wakes[channel][table.Queue] == nil {
		l.wakes[channel][table.Queue] = make(chan struct{}, 1)
	}
	return nil
}

// Wake returns the channel that is sent on when rows of a table may have been committed, for RelayOptions.Wake: the
// same one at each call, nil if Listen was not given the table. It has room for one value and the Listener never
// waits, so what comes while the relay is busy becomes one. It wakes one relay: two of one table in a process need a
// Listener each.
func (l *Listener) Wake(table *outbox.Table) <-chan struct{} {
	if table == nil {
		return nil
	}
	return l.wakes[table.Channel()][table.Queue]
}

// besides makes connections as a pool does, without taking one of its places.
func besides(pool *pgxpool.Pool) func(ctx context.Context) (*pgx.Conn, error) {
	return func(ctx context.Context) (*pgx.Conn, error) {
		config := pool.Config() // a copy
		if config.BeforeConnect != nil {
			if err := config.BeforeConnect(ctx, config.ConnConfig); err != nil {
				return nil, err
			}
		}
		config.ConnConfig.OnNotification = nil // WaitForNotification would not see what comes
		return pgx.ConnectConfig(ctx, config.ConnConfig)
	}
}
