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

// Sender is what a relay needs of a sender: the Raw method of a bufferedsender.BufferedSender without a Queue
// returns one.
type Sender interface {
	// Offer adds actions and returns how many were accepted, which are the first ones. It
	// waits while there is no room, until ctx ends. Each accepted action has its OnOutcome
	// called once. An error with a method Rejected() bool that returns true is about the
	// action behind the accepted ones; any other may go away. The actions of a key are
	// applied in the order of the calls.
	Offer(ctx context.Context, actions []models.RawAction) (accepted int, err error)
	// Withdraw takes accepted actions back that match wants, and returns when none of them
	// is in a request; their outcomes have ReasonWithdrawn if they were not applied.
	Withdraw(match func(key string, tag any) bool) int
	// Info says what the sender is like.
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
	// Loader reads the documents of keys whose rows have none; without one these rows wait, and the log says so.
	Loader Loader
	// Export turns a row into actions on other keys: an inverted index deletes the old entry and writes the new one.
	// Rows of one key are exported one after the other, each when all actions of the one before are confirmed; the row
	// is deleted then. After a failure it is exported again, so it must return the same, or newer, each time. Actions
	// of one call on a key are applied in their order; rows of different keys have none. It may block; ctx ends with
	// the relay. After an error the row waits. Defaults to none: a row is an action on its own key.
	Export func(ctx context.Context, row Row) ([]models.RawAction, error)
	// SeqField is the field of documents, Edm.Int64, into which the number of the row is written: the higher one is
	// newer. That of a delete is kept as a tombstone, see Table.Tombstones. Not for exports. Defaults to none.
	SeqField string
	// TombstonesFor is how long tombstones are kept. Defaults to 24 h.
	TombstonesFor time.Duration

	// Lease is how long a stopped relay keeps its ranges: how late its rows are after a crash. It is at least two
	// seconds longer than a margin (UnknownWait and a second, at least five seconds), by default nine: 15 s for a
	// sender with its defaults. A request is cut a margin before its leases end if they could not be renewed.
	Lease time.Duration
	// Poll is the interval of reads after one that found nothing. Defaults to 250 ms.
	Poll time.Duration
	// Wake is received from when rows may have been committed, see outboxpgx.Listen; an idle relay then reads each 15 s
	// only. A send on it must not wait for the relay.
	Wake <-chan struct{}

	// Dead is called for each new dead letter, and must not block. Defaults to a line in the log.
	Dead func(DeadLetter)
	// Logger defaults to slog.Default().
	Logger *slog.Logger
	// MeterProvider defaults to the global one.
	MeterProvider metric.MeterProvider

	// Tests change these.
	renew    time.Duration // between renewals of the leases
	idlePoll time.Duration // between reads that find nothing, with Wake
	fullPass time.Duration // between reads from the beginning, which are a safety net
	maxRows  int           // that are buffered at once: half of the sender's buffer, which is also the most
	maxBytes int64
}

// Relay sends what is in a Table. Any number, in any number of processes, share its keys.
type Relay struct {
	db      *sql.DB
	table   *Table
	to      Sender
	opts    RelayOptions
	info    models.SenderInfo
	owner   string
	slot    int64 // of the relay itself in the table of leases, while it shares the ranges
	terms   relay.Terms
	file    *databaseFile // of the Run under way
	running atomic.Bool
	stats   atomic.Pointer[Stats]
	state   atomic.Pointer[state]
	trouble atomic.Pointer[troubled]
}

// NewRelay returns a relay of a table that sends to a sender. It asks nothing of the database. The error names
// every problem. On PostgreSQL one connection of db is taken for good, for the leases, and up to three more for
// moments: give each relay four, with pool_max_conns behind a pgxpool.Pool.
//
//archtest:long owed: checks of options that are not in their file
func NewRelay(db *sql.DB, from *Table, to Sender, opts *RelayOptions) (*Relay, error) {
	var missing []error
	if db == nil {
		missing = append(missing, errors.New("outbox: the database is nil"))
	}
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
		bad("the sender's RequestTimeout is off: a request that hangs would have its keys for ever. Set it")
	}
	margin := max(5*time.Second, r.info.UnknownWait+time.Second)
	r.terms = relay.Terms{Margin: margin, Shortest: relay.Shortest(r.info.RequestTimeout)}
	positive("Lease", &o.Lease, margin+9*time.Second)
	spare := o.Lease - margin
	o.renew = cmp.Or(o.renew, min(10*time.Second, spare/3))
	if spare < 2*time.Second {
		bad("Lease is %v: it has to be two seconds longer than a margin of %v: use at least %v", o.Lease, margin, margin+2*time.Second)
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
		bad("SeqField is %q: use the name of a field of the index, of letters, digits and _", o.SeqField)
	}
	if o.SeqField != "" && o.Export != nil {
		bad("SeqField is for rows that are actions on their own keys, and there is an Export")
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
	_, _ = rand.Read(random[:]) // it never fails
	host, _ := os.Hostname()    // a name for people: random makes it the only one
	r.owner = fmt.Sprintf("process %d on %s %x", os.Getpid(), host, random)
	r.slot = int64(sharing) + 1
	for _, b := range random[:6] {
		r.slot = r.slot<<8 | int64(b)
	}
	r.stats.Store(new(Stats))
	r.state.Store(&state{errNotRunning})
	return r, nil
}

// state is what Ready says.
type state struct{ err error }

var errNotRunning = errors.New("the relay does not run")

// ErrRunning says that Run was called while it runs.
var ErrRunning = errors.New("outbox: the relay runs already")

// Ready returns nil while the relay has joined the others, its leases are renewed, and what it asked of the
// database, the Loader and the sender last has worked, or has not been under way for ten seconds. It never blocks.
// Whether the service works is in the sender's Health.
func (r *Relay) Ready() error {
	if err := r.state.Load().err; err != nil {
		return err
	}
	if t := r.trouble.Load(); t != nil {
		return t
	}
	return nil
}

// Stats counts what a relay has done since it was made, and what it has buffered.
type Stats struct {
	// Read is how many rows were read, Late how many of them only by a full pass.
	Read, Late int64
	// Sent is how many actions the sender has accepted, Loaded for how many keys the Loader was asked.
	Sent, Loaded int64
	// Deleted is how many rows were deleted because they, or later ones of their keys, were confirmed; Folded of them
	// were not sent themselves.
	Deleted, Folded int64
	// Dead is how many became dead letters, Failed how often an action failed and waits.
	Dead, Failed int64
	// Stale is how many rows could not be deleted because the lease had ended: they are sent again.
	Stale int64
	// LeasesLost is how many leases have expired.
	LeasesLost int64
	// Ranges is how many of the 64 ranges of keys the relay holds, InHand how many rows it has, and Aside how many
	// rows, there and in the table, are of keys that wait after a failure.
	Ranges, InHand, Aside int64
}

// Stats returns the counts. It never blocks.
func (r *Relay) Stats() Stats { return *r.stats.Load() }

// Run sends rows until ctx ends. Then it takes back what was not sent, waits for requests under way
// (RequestTimeout, and half a minute for a statement), deletes what they have confirmed, gives its leases away, and
// returns nil. Close the sender after that.
//
// An outage of the database or of the service does not end it. The error is ErrSchema, ErrDialect, ErrRunning, or
// says that the sender was closed, that the file of a SQLite database was replaced or removed, or that eight calls
// of the database driver have not returned although their contexts had ended. Rows stay where they are.
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
	return newLoop(r).run(ctx)
}

// await waits for a database whose tables are as they should be.
func (r *Relay) await(ctx context.Context) error {
	wait := 100 * time.Millisecond
	for {
		err, abandoned := bounded(ctx, func() error {
			err := Check(ctx, r.db, r.table.Dialect, &SchemaOptions{Prefix: r.table.prefix()})
			if err == nil {
				r.advise(ctx)
			}
			return err
		})
		if err == nil && abandoned == nil {
			return nil
		}
		if errors.Is(err, ErrSchema) || errors.Is(err, ErrDialect) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.state.Swap(&state{err}).err == errNotRunning { //nolint:errorlint // the very value that NewRelay has set
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

// advise warns of settings that will hurt.
func (r *Relay) advise(ctx context.Context) {
	_ = sqlkit.OnConn(ctx, r.db, func(c *sql.Conn) error {
		says, err := r.table.data.advice(ctx, c, r.table.text)
		if says != "" {
			r.opts.Logger.Warn("outbox: settings need a change", "queue", r.table.Queue, "advice", says)
		}
		return err
	}) // a database that does not answer is reported by the first tick
}

func (r *Relay) log(level slog.Level, message string, err error, attrs ...any) {
	if err != nil {
		attrs = append([]any{"error", err}, attrs...)
	}
	r.opts.Logger.Log(context.Background(), level, message, append([]any{"queue", r.table.Queue}, attrs...)...)
}
