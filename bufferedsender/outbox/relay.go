package outbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/models"
)

// Sender is the interface of a sender that a relay uses. The Raw method of a bufferedsender.BufferedSender without a
// Queue returns one.
type Sender interface {
	// Offer adds actions and returns how many it accepted, which are the first ones. It waits while there is no room,
	// until ctx ends. It calls OnOutcome once for each accepted action. If the error has a method Rejected() bool that
	// returns true, it concerns the action after the accepted ones; any other error may be temporary. The actions of a
	// key are applied in the order of the calls.
	Offer(ctx context.Context, actions []models.RawAction) (accepted int, err error)
	// Withdraw takes back the accepted actions for which match returns true: those in no request get an outcome with
	// ReasonWithdrawn, and are counted in the result; it waits for requests with the others.
	Withdraw(match func(key string, tag any) bool) int
	// Info describes the sender.
	Info() models.SenderInfo
}

// Defaults of RelayOptions.
const (
	defaultPoll          = 250 * time.Millisecond
	defaultIdlePoll      = 15 * time.Second
	defaultFullPass      = 2 * time.Minute
	defaultTombstonesFor = 24 * time.Hour
)

// RelayOptions configures a Relay. nil and the zero value are ready to use.
type RelayOptions struct {
	// Loader reads the documents of rows that hold a key only. Without a Loader these rows wait, and the relay logs it.
	// Defaults to none.
	Loader Loader
	// Export converts a row into actions on other keys; an inverted index, for example, deletes the old entry and
	// writes the new one. Rows of one key are exported one after the other: when all actions of a row are confirmed,
	// the row is deleted, and the next one is exported. After a failure a row is exported again, so Export must return
	// the same actions, or newer ones, each time. Actions of one call on the same key are applied in order; rows of
	// different keys have no order. Export may block; its ctx ends with the relay. If it returns an error, the row
	// waits. Defaults to none: a row is an action on its own key.
	Export func(ctx context.Context, row Row) ([]models.RawAction, error)
	// SeqField is a document field of type Edm.Int64 into which the number of the row is written; the document with the
	// higher number is newer. The number of a delete is kept as a tombstone, see Table.Tombstones. It cannot be used
	// with Export. Defaults to none.
	SeqField string
	// TombstonesFor is how long tombstones are kept. Defaults to 24 h.
	TombstonesFor time.Duration

	// Lease is how long a stopped relay keeps its ranges. After a crash its rows are late by up to Lease. Its minimum
	// is a margin plus two seconds, its default a margin plus six. The margin is the sender's UnknownWait plus one
	// second, at least five seconds. So the default is 12 s for a sender with its defaults. A request is cut off one
	// margin before its leases end if they could not be renewed.
	Lease time.Duration
	// Poll is the interval until the next read after one that found nothing. Defaults to 250 ms.
	Poll time.Duration
	// Wake receives a value when rows may have been committed, see outboxpgx.Listen. With it an idle relay polls every
	// 15 s only. A send on it must not wait for the relay. Defaults to nil.
	Wake <-chan struct{}

	// Dead is called for each new dead letter, and must not block. Defaults to an error in the log.
	Dead func(DeadLetter)
	// Logger defaults to slog.Default().
	Logger *slog.Logger
	// MeterProvider defaults to the global one.
	MeterProvider metric.MeterProvider

	// Set by tests.
	renew    time.Duration // interval of renewals of leases
	idlePoll time.Duration // interval of reads that find nothing, with Wake
	fullPass time.Duration // interval of reads from the beginning, which are a safety net
	maxRows  int           // buffered at once: at most half of the sender's buffer, which is the default
	maxBytes int64
}

// Relay sends the rows of a Table. Any number of relays, in any number of processes, share its keys.
type Relay struct {
	db      *sql.DB
	table   *Table
	to      Sender
	opts    RelayOptions
	info    models.SenderInfo
	owner   string
	slot    int64 // of the relay itself in the table of leases, while it has a share of the ranges
	terms   relay.Terms
	file    *databaseFile // of the current Run
	running atomic.Bool
	stats   atomic.Pointer[Stats]
	state   atomic.Pointer[state]
	trouble atomic.Pointer[troubled]
	passed  atomic.Int64 // when the last full pass ended, in nanoseconds since 1970; before the first one, when Run began
}

// NewRelay returns a relay that sends the rows of a table to a sender. It does not access the database. The error names
// every problem. On PostgreSQL a relay uses one connection of db permanently, for the leases, and up to three more
// briefly: allow four connections for each relay, with pool_max_conns if db uses a pgxpool.Pool.
//
//archtest:long owed: checks of options that are not in their file
func NewRelay(db *sql.DB, from *Table, to Sender, opts *RelayOptions) (*Relay, error) {
	missing := []error{present(db)}
	if nilcheck.IsNil(to) {
		missing = append(missing, errors.New("outbox: the sender is nil"))
	}
	if err := errors.Join(append(missing, from.ready())...); err != nil {
		return nil, err
	}
	r := &Relay{db: db, table: from, to: to, info: to.Info()}
	if opts != nil {
		r.opts = *opts
	}
	o := &r.opts
	errs := []error{nilcheck.Refuse(nilcheck.Option{Name: "MeterProvider", Value: o.MeterProvider})}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	positive := func(name string, d *time.Duration, standard time.Duration) {
		if *d < 0 {
			bad("%s is %v: use a positive duration, or 0 for the default of %v", name, *d, standard)
		}
		if *d == 0 {
			*d = standard
		}
	}
	if r.info.Queued {
		bad("the sender has a Queue: the outbox is durable, so give the relay a sender without one")
	}
	if r.info.RequestTimeout <= 0 {
		bad("the sender's RequestTimeout is off, so a hanging request would block its keys forever; set it")
	}
	margin := max(5*time.Second, r.info.UnknownWait+time.Second)
	r.terms = relay.Terms{Margin: margin, Shortest: relay.Shortest(r.info.RequestTimeout)}
	positive("Lease", &o.Lease, margin+6*time.Second)
	spare := o.Lease - margin
	o.renew = cmp.Or(o.renew, min(10*time.Second, spare/3))
	if spare < 2*time.Second {
		bad("got Lease %v, want two seconds more than the margin of %v; use at least %v", o.Lease, margin, margin+2*time.Second)
	}
	positive("Poll", &o.Poll, defaultPoll)
	o.idlePoll = cmp.Or(o.idlePoll, defaultIdlePoll)
	o.fullPass = cmp.Or(o.fullPass, defaultFullPass)
	positive("TombstonesFor", &o.TombstonesFor, defaultTombstonesFor)
	if o.Wake == nil {
		o.idlePoll = o.Poll
	}
	rows, bytes := max(1, r.info.MaxBufferedActions/2), max(1, r.info.MaxBufferedBytes/2)
	o.maxRows, o.maxBytes = min(cmp.Or(o.maxRows, rows), rows), min(cmp.Or(o.maxBytes, bytes), bytes)
	if o.SeqField != "" && !columnName.MatchString(o.SeqField) {
		bad("got SeqField %q, want the name of an index field of letters, digits and _", o.SeqField)
	}
	if o.SeqField != "" && o.Export != nil {
		bad("SeqField and Export are mutually exclusive")
	}
	if n := db.Stats().MaxOpenConnections; from.data.Server && n > 0 && n < 4 {
		bad("the database has at most %d connections, and a relay needs four: SetMaxOpenConns, or a *sql.DB of its own", n)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("outbox: relay of %q: %w", from.Queue, err)
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	host, _ := os.Hostname()    // readable name; random makes it unique
	r.owner = fmt.Sprintf("process %d on %s %x", os.Getpid(), host, random)
	r.slot = int64(sharing) + 1
	for _, b := range random[:6] {
		r.slot = r.slot<<8 | int64(b)
	}
	r.stats.Store(new(Stats))
	r.state.Store(&state{errNotRunning})
	return r, nil
}

// state is the result of Ready.
type state struct{ err error }

var errNotRunning = errors.New("relay is not running")

// ErrRunning reports that Run was called while the relay runs.
var ErrRunning = errors.New("outbox: relay is already running")

// Ready returns nil while the relay is registered, its leases are renewed, it does not wait for others, and each last
// call of the database, the Loader and the sender succeeded or has run for less than ten seconds. If another relay
// holds the ranges of this one, the error names it and until when; after a Pause it says so while rows wait. It never
// blocks. It does not cover the service: see the sender's Health.
func (r *Relay) Ready() error {
	if err := r.state.Load().err; err != nil {
		return err
	}
	if t := r.trouble.Load(); t != nil {
		return t
	}
	return nil
}

// Stats counts what a relay has done since NewRelay, and what it has buffered.
type Stats struct {
	// Read is the number of rows read; Late counts those of them that only a full pass found.
	Read, Late int64
	// Sent is the number of actions that the sender has accepted, Loaded the number of keys passed to the Loader.
	Sent, Loaded int64
	// Deleted is the number of rows deleted because they, or later rows of their keys, were confirmed; Folded counts
	// those of them that were not sent themselves.
	Deleted, Folded int64
	// Dead is the number of rows that became dead letters, Failed the number of failed attempts after which an action
	// waits.
	Dead, Failed int64
	// Stale is the number of rows that were gone at their deletion, or whose lease had ended; the latter are sent again.
	Stale int64
	// LeasesLost is the number of expired leases.
	LeasesLost int64
	// Ranges is how many of the 64 ranges of keys the relay holds, InHand the number of its buffered rows, and Aside
	// the number of rows, buffered or not, of keys that wait after a failure.
	Ranges, InHand, Aside int64
}

// Stats returns the counts. It never blocks.
func (r *Relay) Stats() Stats { return *r.stats.Load() }

// Run sends rows until ctx ends. Then it withdraws what was not sent, waits for requests in flight (up to
// RequestTimeout, and half a minute for a statement), deletes the rows that they have confirmed, gives up its leases,
// and returns nil. Close the sender after that.
//
// An outage of the database or the service does not end it. The error is ErrSchema, ErrDialect or ErrRunning, or
// reports that the sender was closed, that the file of a SQLite database was replaced or removed, or that eight calls
// of the database driver have not returned although their contexts had ended. Rows stay in the table.
func (r *Relay) Run(ctx context.Context) error {
	if r.running.Swap(true) {
		return ErrRunning
	}
	defer r.running.Store(false)
	if err := r.await(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	unobserve, err := r.observe()
	if err != nil {
		return err
	}
	defer unobserve()
	r.trouble.Store(nil)
	r.file, _ = bounded(ctx, func() *databaseFile { return r.table.data.fileOf(ctx, r.db) })
	defer r.state.Store(&state{errNotRunning})
	r.log(slog.LevelInfo, "outbox: relay started", nil, "owner", r.owner, "lease", r.opts.Lease)
	return newLoop(r).run(ctx)
}

// await waits until the database answers and its tables are correct.
func (r *Relay) await(ctx context.Context) error {
	wait := 100 * time.Millisecond
	var calls sqlkit.Calls
	for {
		try, cancel := context.WithTimeout(ctx, statement) // a call on a connection to a server that is gone does not end
		_, err := sqlkit.Call(try, &calls, abandonAfter, func() (struct{}, error) {
			err := Check(try, r.db, r.table.Dialect, &SchemaOptions{Prefix: r.table.prefix()})
			if err == nil {
				r.advise(try)
			}
			return struct{}{}, err
		})
		if cancel(); err == nil {
			return nil
		}
		if errors.Is(err, ErrSchema) || errors.Is(err, ErrDialect) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.state.Swap(&state{err}).err == errNotRunning { //nolint:errorlint // the value set by NewRelay
			r.log(slog.LevelWarn, "outbox: database does not answer", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
			wait = min(2*wait, 5*time.Second)
		}
	}
}

// advise warns about settings that will cause problems.
func (r *Relay) advise(ctx context.Context) {
	_ = sqlkit.OnConn(ctx, r.db, func(c *sql.Conn) error {
		says, err := r.table.data.advice(ctx, c, r.table.text)
		if says != "" {
			r.opts.Logger.Warn("outbox: settings need a change", "queue", r.table.Queue, "advice", says)
		}
		return err
	}) // the first tick reports a database that does not answer
}

func (r *Relay) log(level slog.Level, message string, err error, attrs ...any) {
	if err != nil {
		attrs = append([]any{"error", err}, attrs...)
	}
	r.opts.Logger.Log(context.Background(), level, message, append([]any{"queue", r.table.Queue}, attrs...)...)
}
