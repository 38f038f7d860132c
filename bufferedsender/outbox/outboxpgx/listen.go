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

// defaultPing is how long the connection may be silent before the server is pinged.
const defaultPing = 30 * time.Second

// ListenOptions configures a Listener. nil and the zero value are ready to use.
type ListenOptions struct {
	// Connect makes the listening connection, which the Listener closes. It is called at the beginning and each time
	// the connection was lost; its ctx ends after 30 s. Set it if the pool uses a pooler in transaction mode, where
	// LISTEN has no effect. Defaults to a connection with the settings of the pool, including its BeforeConnect.
	Connect func(ctx context.Context) (*pgx.Conn, error)
	// Logger defaults to slog.Default().
	Logger *slog.Logger

	ping time.Duration // 0 means defaultPing; set by tests
}

// Listener wakes relays when rows are committed, by LISTEN and NOTIFY. It keeps one connection for all of its tables.
// Its methods are safe for concurrent use.
type Listener struct {
	connect func(ctx context.Context) (*pgx.Conn, error)
	ping    time.Duration
	logger  *slog.Logger
	wakes   map[string]map[string]chan struct{} // by channel and queue
	running atomic.Bool
}

// Listen returns a Listener for tables in the database of a pool. It does no I/O: listening starts with Run. The
// connection does not come from the pool, so that neither waits for the other. pool may be nil if ListenOptions.Connect
// is set. Pass the tables of the relays in this process. Every program that writes to them, here or elsewhere, must set
// Table.Notify. The error names every problem.
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

// maxChannel is the maximum length of a channel name in PostgreSQL, in bytes: LISTEN truncates a longer one, NOTIFY
// refuses it.
const maxChannel = 63

// add makes the channel of a table.
func (l *Listener) add(table *outbox.Table) error {
	if _, err := outbox.BuildInsertKeys(table); err != nil { // checks the table
		return err
	}
	if !table.Notify { // other processes may notify for it
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

// Wake returns the channel that receives a value when rows of a table may have been committed, for RelayOptions.Wake.
// It is the same one at each call, nil if the table was not passed to Listen. It has room for one value and the
// Listener never waits, so several notifications for a busy relay become one. It wakes one relay: two relays of one
// table in a process need a Listener each.
func (l *Listener) Wake(table *outbox.Table) <-chan struct{} {
	if table == nil {
		return nil
	}
	return l.wakes[table.Channel()][table.Queue]
}

// besides returns a function that connects as a pool does, without taking one of its connections.
func besides(pool *pgxpool.Pool) func(ctx context.Context) (*pgx.Conn, error) {
	return func(ctx context.Context) (*pgx.Conn, error) {
		config := pool.Config() // a copy
		if config.BeforeConnect != nil {
			if err := config.BeforeConnect(ctx, config.ConnConfig); err != nil {
				return nil, err
			}
		}
		config.ConnConfig.OnNotification = nil // otherwise WaitForNotification would miss notifications
		return pgx.ConnectConfig(ctx, config.ConnConfig)
	}
}
