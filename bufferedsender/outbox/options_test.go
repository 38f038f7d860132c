package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

// scripted is a Sender whose outcomes the test decides.
type scripted struct {
	mu      sync.Mutex
	info    models.SenderInfo
	offered []models.RawAction
	held    []models.RawAction
	holds   bool
	most    int64 // maximum of held bytes
	bytes   int64
	room    chan struct{} // nil: unlimited
	answer  func(a models.RawAction) models.Outcome
	reject  func(a models.RawAction) bool
}

func newScripted() *scripted {
	return &scripted{
		info:   models.SenderInfo{MaxBufferedActions: 2000, MaxBufferedBytes: 8 << 20, RequestTimeout: time.Second, UnknownWait: -1},
		answer: func(models.RawAction) models.Outcome { return models.Outcome{} },
	}
}

// notAccepted is a sender's error for an action that it never accepts.
type notAccepted struct{}

func (notAccepted) Error() string  { return "it is not fit to be sent" }
func (notAccepted) Rejected() bool { return true }

func (s *scripted) Offer(ctx context.Context, actions []models.RawAction) (int, error) {
	for i, a := range actions {
		s.mu.Lock()
		if s.reject != nil && s.reject(a) || a.Key == "" || a.Type != models.ActionTypeDelete && !json.Valid(a.Document) {
			s.mu.Unlock()
			return i, notAccepted{}
		}
		room := s.room
		s.mu.Unlock()
		if room != nil {
			select {
			case <-ctx.Done():
				return i, ctx.Err()
			case <-room:
			}
		}
		s.mu.Lock()
		if s.info.Closed {
			s.mu.Unlock()
			return i, errors.New("closed")
		}
		if len(s.held) >= s.info.MaxBufferedActions {
			s.mu.Unlock()
			return i, errors.New("full")
		}
		s.offered = append(s.offered, a)
		s.bytes += int64(len(a.Document))
		s.most = max(s.most, s.bytes)
		if s.holds {
			s.held = append(s.held, a)
			s.mu.Unlock()
			continue
		}
		answer := s.answer(a)
		if a.Until != nil && a.Until() <= 0 { // a sender does not send under an expired lease
			answer = models.Outcome{Key: a.Key, Reason: models.ReasonWithdrawn, Err: errors.New("withdrawn")}
		}
		s.bytes -= int64(len(a.Document))
		s.mu.Unlock()
		a.OnOutcome(answer)
	}
	return len(actions), nil
}

func (s *scripted) Withdraw(match func(key string, tag any) bool) (n int) {
	s.mu.Lock()
	var gone []models.RawAction
	kept := s.held[:0]
	for _, a := range s.held {
		if match(a.Key, a.Tag) {
			gone = append(gone, a)
		} else {
			kept = append(kept, a)
		}
	}
	s.held = kept
	s.mu.Unlock()
	for _, a := range gone {
		a.OnOutcome(models.Outcome{Key: a.Key, Reason: models.ReasonWithdrawn, Err: errors.New("withdrawn")})
	}
	return len(gone)
}

func (s *scripted) Info() models.SenderInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

func (s *scripted) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// release reports the held outcomes and stops holding.
func (s *scripted) release() {
	s.set(func() { s.holds = false })
	s.answerHeld()
}

// answerHeld reports the outcomes held so far.
func (s *scripted) answerHeld() {
	s.mu.Lock()
	held, answer := s.held, s.answer
	s.held, s.bytes = nil, 0
	s.mu.Unlock()
	for _, a := range held {
		a.OnOutcome(answer(a))
	}
}

func failing(reason models.Reason) models.Outcome {
	return models.Outcome{Reason: reason, Status: map[models.Reason]int{models.ReasonDocument: 400}[reason], Err: errors.New(reason.String())}
}

// refuse makes the service refuse these keys' documents for good.
func (s *scripted) refuse(keys ...string) {
	s.set(func() {
		s.answer = func(a models.RawAction) models.Outcome {
			for _, k := range keys {
				if a.Key == k {
					return failing(models.ReasonDocument)
				}
			}
			return models.Outcome{}
		}
	})
}

func (s *scripted) all() []models.RawAction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]models.RawAction(nil), s.offered...)
}

// keys returns the keys offered, in order.
func (s *scripted) keys() (all []string) {
	for _, a := range s.all() {
		all = append(all, a.Key)
	}
	return all
}

func (s *scripted) count(key string) (n int) {
	for _, k := range s.keys() {
		if k == key {
			n++
		}
	}
	return n
}

// deletesAll is a Loader that finds nothing.
var deletesAll = LoadRaw(func(context.Context, []string) ([]models.RawAction, error) { return nil, nil })

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// quick returns options without delays.
func quick(o RelayOptions) *RelayOptions {
	if o.Lease == 0 {
		o.Lease, o.renew = 20*time.Second, 250*time.Millisecond
	}
	if o.Poll == 0 {
		o.Poll = 20 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = quiet()
	}
	return &o
}

// tried is a relay that a test has started.
type tried struct {
	*Relay
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
}

// end ends the relay and returns the result of Run.
func (r *tried) end() error {
	r.cancel()
	<-r.ended
	return r.err
}

// tryRelay starts a relay, which ends with the test.
func tryRelay(t testing.TB, db database, table *Table, to Sender, opts RelayOptions) *tried {
	t.Helper()
	relay, err := NewRelay(db.DB, table, to, quick(opts))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r := &tried{Relay: relay, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		r.err = relay.Run(ctx)
	}()
	t.Cleanup(func() { require.NoError(t, r.end()) })
	return r
}

// emptied waits until no row of a queue is left.
func emptied(t testing.TB, db database, table *Table) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		lag, err := table.Lag(context.Background(), db)
		return err == nil && lag.Rows == 0
	}, "no row is left")
}

const gadgetIndex = `{"name":"gadgets","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"n","type":"Edm.Int32"},
	{"name":"text","type":"Edm.String"},{"name":"more","type":"Edm.Double"},{"name":"seq","type":"Edm.Int64"},{"name":"ids","type":"Collection(Edm.String)"}]}`

// realSender returns a sender to an emulated service.
func realSender(t testing.TB) (*bufferedsender.BufferedSender[gadget], *searchtest.Server) {
	t.Helper()
	service := searchtest.NewServer(&searchtest.Options{KeepContents: true})
	t.Cleanup(func() { require.NoError(t, service.Close()) })
	client := clienttest.NewClient(t, gadgetIndex, &clienttest.Options{Server: service})
	return newRealSender(t, client), service
}

func newRealSender(t testing.TB, client *search.Client) *bufferedsender.BufferedSender[gadget] {
	t.Helper()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[gadget]{
		AutoFlushInterval: 2 * time.Millisecond, RequestTimeout: 2 * time.Second, UnknownWait: 100 * time.Millisecond, Logger: quiet(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = sender.Close(context.Background()) }) // its error lists failed documents
	return sender
}

// uploads writes each document in its own transaction.
func uploads(t testing.TB, db database, table *Table, docs ...gadget) {
	t.Helper()
	for _, d := range docs {
		db.inTx(t, func(tx *sql.Tx) error { return Write(t.Context(), tx, table, models.UploadAction(d)) })
	}
}

func TestNewRelayNamesEveryProblemAtOnce(t *testing.T) {
	table := &Table{Dialect: PostgreSQL, Queue: "hotels"}
	db, err := sql.Open("pgx", "postgres://nobody@127.0.0.1:1/none")
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(3)
	to := newScripted()
	to.info.Queued, to.info.RequestTimeout = true, -1
	_, err = NewRelay(db, table, to, &RelayOptions{
		Lease: -1, Poll: -3, TombstonesFor: -6, SeqField: "seq",
		Export: func(context.Context, Row) ([]models.RawAction, error) { return nil, nil },
	})
	for _, want := range []string{
		`relay of "hotels"`, "the sender has a Queue", "RequestTimeout is off", "Lease is -1ns", "Poll is -3ns",
		"TombstonesFor is -6ns", "SeqField", "at most 3 connections", "needs four",
	} {
		require.ErrorContains(t, err, want)
	}
	for want, call := range map[string]func() (*Relay, error){
		"the Table is nil":                            func() (*Relay, error) { return NewRelay(db, nil, to, nil) },
		"the database is nil":                         func() (*Relay, error) { return NewRelay(nil, table, to, nil) },
		"the sender is nil":                           func() (*Relay, error) { return NewRelay(db, table, nil, nil) },
		"the sender is nil\noutbox: the Table is nil": func() (*Relay, error) { return NewRelay(nil, nil, nil, nil) },
		"the sender is nil\n":                         func() (*Relay, error) { return NewRelay(db, nil, (*scripted)(nil), nil) },
		"MeterProvider is a nil *struct": func() (*Relay, error) {
			return NewRelay(db, table, to, &RelayOptions{MeterProvider: (*struct{ metric.MeterProvider })(nil)})
		},
		"got Queue": func() (*Relay, error) { return NewRelay(db, &Table{Dialect: SQLite}, to, nil) },
	} {
		_, err := call()
		require.ErrorContains(t, err, want)
	}
}

// Programs that ignore the error of sql.Open, or of a constructor around it, pass a nil pointer.
func TestADatabaseThatIsNilIsRefused(t *testing.T) {
	var db *sql.DB
	var conn *sql.Conn
	var tx *sql.Tx
	ctx := t.Context()
	for _, d := range []Dialect{PostgreSQL, SQLite} {
		table := &Table{Dialect: d, Queue: "q"}
		for what, f := range map[string]func() error{
			"Check":         func() error { return Check(ctx, conn, d, nil) },
			"Migrate":       func() error { return Migrate(ctx, db, d, nil) },
			"EnsureTrigger": func() error { return table.EnsureTrigger(ctx, db, "app", "id") },
			"DropTrigger":   func() error { return table.DropTrigger(ctx, db, "app", "id") },
			"Pause":         func() error { return table.Pause(ctx, db) },
			"Resume":        func() error { return table.Resume(ctx, tx) },
			"Contains":      func() error { _, err := table.Contains(ctx, db, "k"); return err },
			"Purge":         func() error { _, err := table.Purge(ctx, db, "k"); return err },
			"PurgeAll":      func() error { _, err := table.PurgeAll(ctx, conn, "q"); return err },
			"Backfill":      func() error { _, err := table.Backfill(ctx, db, func(func(string, error) bool) {}); return err },
			"Lag":           func() error { _, err := table.Lag(ctx, db); return err },
			"no interface":  func() error { _, err := table.Lag(ctx, nil); return err },
			"Tombstones":    func() error { _, err := table.Tombstones(ctx, tx, "k"); return err },
			"DeadLetters":   func() error { _, err := table.DeadLetters(ctx, db, 0, 1); return err },
			"Retry":         func() error { return table.Retry(ctx, db, 1) },
			"Discard":       func() error { _, err := table.Discard(ctx, db, 1); return err },
		} {
			require.NotPanics(t, func() { require.EqualError(t, f(), "outbox: the database is nil", what) }, what)
		}
		require.NotPanics(t, func() { require.ErrorIs(t, WriteKeys(ctx, tx, table, "k"), errNoTransaction) })
	}
}

func TestALeaseThatDoesNotOutlastItsMarginIsRefused(t *testing.T) {
	db, table := newSQLite(t), &Table{Dialect: SQLite, Queue: "q"}
	for name, row := range map[string]struct {
		timeout, unknown, lease time.Duration
		ok                      bool
	}{
		"a lease as long as a margin":                            {time.Minute, -1, 5 * time.Second, false},
		"a margin and a second":                                  {time.Minute, -1, 6 * time.Second, false},
		"a margin and two seconds, whatever the request timeout": {time.Minute, -1, 7 * time.Second, true},
		"a margin of UnknownWait and a second":                   {time.Second, 20 * time.Second, 22 * time.Second, false},
		"a margin of UnknownWait and three seconds":              {time.Second, 20 * time.Second, 23 * time.Second, true},
		"no Lease is set":                                        {time.Minute, 5 * time.Second, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			to := newScripted()
			to.info.RequestTimeout, to.info.UnknownWait = row.timeout, row.unknown
			_, err := NewRelay(db.DB, table, to, &RelayOptions{Lease: row.lease})
			if row.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "got Lease "+row.lease.String())
			require.ErrorContains(t, err, "use at least")
		})
	}
}

func TestOptionsThatAreNotSetHaveTheirDefaults(t *testing.T) {
	sender, _ := realSender(t)
	to := newScripted()
	to.info.RequestTimeout, to.info.UnknownWait = bufferedsender.DefaultRequestTimeout, bufferedsender.DefaultUnknownWait
	r, err := NewRelay(newSQLite(t).DB, &Table{Dialect: SQLite, Queue: "q"}, to, nil)
	require.NoError(t, err)
	o := r.opts
	require.Equal(t, 250*time.Millisecond, o.Poll)
	require.Equal(t, 2*time.Minute, o.fullPass)
	require.Equal(t, 24*time.Hour, o.TombstonesFor)
	require.Equal(t, 2*time.Second, o.renew)
	require.Equal(t, 1000, o.maxRows, "half of the sender's buffer")
	require.EqualValues(t, 4<<20, o.maxBytes)
	require.ErrorContains(t, r.Ready(), "is not running")
	require.True(t, strings.HasPrefix(r.owner, "process "), r.owner)
	r, err = NewRelay(newSQLite(t).DB, &Table{Dialect: SQLite, Queue: "q"}, sender.Raw(), &RelayOptions{maxRows: 1 << 30, maxBytes: 1 << 50})
	require.NoError(t, err)
	require.Equal(t, bufferedsender.DefaultMaxBufferedActions/2, r.opts.maxRows)
	require.EqualValues(t, bufferedsender.DefaultMaxBufferedBytes/2, r.opts.maxBytes)
}

// RelayOptions.Lease: six seconds longer than a margin, "12 s for a sender with its defaults".
func TestALeaseOutlastsItsMarginBySixSeconds(t *testing.T) {
	sender, _ := realSender(t)
	to := newScripted()
	to.info = sender.Raw().Info()
	for want, waits := range map[time.Duration][2]time.Duration{
		12 * time.Second: {bufferedsender.DefaultRequestTimeout, bufferedsender.DefaultUnknownWait},
		11 * time.Second: {time.Second, -1},
		27 * time.Second: {time.Second, 20 * time.Second},
	} {
		to.info.RequestTimeout, to.info.UnknownWait = waits[0], waits[1]
		r, err := NewRelay(newSQLite(t).DB, &Table{Dialect: SQLite, Queue: "q"}, to, nil)
		require.NoError(t, err)
		require.Equal(t, want, r.opts.Lease)
		require.Equal(t, 2*time.Second, r.opts.renew)
	}
}

func TestRunTwiceAtOnceIsRefusedAndOneAfterTheOtherIsNot(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: db.dialect, Queue: "q"}, newScripted()
		r := tryRelay(t, db, table, to, RelayOptions{})
		testkit.Eventually(t, func() bool { return r.Ready() == nil }, "the relay is ready")
		require.ErrorIs(t, r.Run(t.Context()), ErrRunning)
		require.EqualValues(t, ranges, r.Stats().Ranges)
		require.NoError(t, r.end())
		require.ErrorContains(t, r.Ready(), "is not running")
		uploads(t, db, table, gadget{ID: "a"})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		emptied(t, db, table)
		cancel()
		require.NoError(t, <-ended)
		require.Equal(t, []string{"a"}, to.keys())
	})
}

func TestRunReturnsWhatIsWrongWithTheTables(t *testing.T) {
	bareBoth(t, func(t *testing.T, db database) {
		r, err := NewRelay(db.DB, &Table{Dialect: db.dialect, Queue: "q"}, newScripted(), quick(RelayOptions{}))
		require.NoError(t, err)
		require.ErrorIs(t, r.Run(t.Context()), ErrSchema)
		require.Error(t, r.Ready())
	})
}

func TestASenderThatIsClosedEndsTheRelayAndTheRowsStay(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		for _, name := range []string{"before", "while actions are on their way"} {
			t.Run(name, func(t *testing.T) {
				table, to := &Table{Dialect: db.dialect, Queue: fmt.Sprint("q", len(name))}, newScripted()
				if name == "before" {
					to.info.Closed = true
				} else {
					to.holds, to.answer = true, func(models.RawAction) models.Outcome { return failing(models.ReasonClosed) }
				}
				relay, err := NewRelay(db.DB, table, to, quick(RelayOptions{}))
				require.NoError(t, err)
				uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "b"})
				ended := make(chan error)
				go func() { ended <- relay.Run(context.Background()) }()
				if name != "before" {
					testkit.Eventually(t, func() bool { return len(to.all()) == 2 }, "both rows are in requests")
					to.set(func() { to.info.Closed = true })
					to.release()
				}
				require.ErrorContains(t, <-ended, "the sender is closed")
				require.Len(t, rowsOf(t, db, table.Queue), 2)
			})
		}
	})
}

func TestARelayThatEndsGivesItsKeysToAnotherAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table, first, second := &Table{Dialect: db.dialect, Queue: "q"}, newScripted(), newScripted()
		first.holds = true
		slow := RelayOptions{Lease: time.Minute, renew: 300 * time.Millisecond}
		a := tryRelay(t, db, table, first, slow)
		testkit.Eventually(t, func() bool { return a.Stats().Ranges == ranges }, "one relay holds all ranges")
		b := tryRelay(t, db, table, second, slow)
		testkit.Eventually(t, func() bool { return a.Stats().Ranges == ranges/2 && b.Stats().Ranges == ranges/2 }, "both relays share the ranges")
		var docs []gadget
		for i := range 40 {
			docs = append(docs, gadget{ID: fmt.Sprint("k", i)})
		}
		uploads(t, db, table, docs...)
		testkit.Eventually(t, func() bool { return len(first.all())+len(second.all()) == len(docs) }, "all rows are in requests")
		began := time.Now()
		require.NoError(t, a.end())
		emptied(t, db, table)
		require.Less(t, time.Since(began), 3*time.Second, "the leases end with the next renewal, not after a minute")
		require.Len(t, second.all(), len(docs))
		require.EqualValues(t, ranges, b.Stats().Ranges)
		require.Zero(t, a.Stats().LeasesLost+b.Stats().LeasesLost)
	})
}

// inBubble runs a test on SQLite in a synctest bubble, with virtual time.
func inBubble(t *testing.T, test func(t *testing.T, db database)) {
	t.Helper()
	sqliteWithBubbleClock(t)
	synctest.Test(t, func(t *testing.T) { test(t, newSQLite(t)) })
}

// calm returns options for a bubble in which minutes pass.
func calm(o RelayOptions) RelayOptions {
	o.Poll, o.renew, o.Lease = 200*time.Millisecond, 5*time.Second, time.Minute
	return o
}

// passes lets time pass and waits for everything due.
func passes(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestRowsOnTheirWayAreBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, row := range map[string]struct {
		RelayOptions
		most int
	}{
		"one row":                       {RelayOptions{maxRows: 1}, 1},
		"fewer bytes than one body has": {RelayOptions{maxBytes: 1000}, 1},
		"three bodies":                  {RelayOptions{maxBytes: 250_000}, 3},
		"half of the sender's buffer":   {RelayOptions{maxRows: 1000, maxBytes: 1 << 40}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, db database) {
				table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
				to.holds, to.info.MaxBufferedActions, to.info.MaxBufferedBytes = true, 20, 1<<20
				if row.maxRows == 1000 {
					to.info.MaxBufferedBytes = 1 << 40
				}
				r := tryRelay(t, db, table, to, row.RelayOptions)
				db.inTx(t, func(tx *sql.Tx) error {
					var err error
					for i := range 30 {
						err = errors.Join(err, Write(t.Context(), tx, table, models.UploadAction(gadget{ID: fmt.Sprint("k", i), Text: long})))
					}
					return err
				})
				for r.Stats().Deleted < 30 {
					passes(100 * time.Millisecond)
					var held int
					to.set(func() { held = len(to.held) })
					require.LessOrEqual(t, held, row.most)
					to.answerHeld()
				}
				require.Len(t, to.all(), 30)
			})
		})
	}
}

// "Rows in hand, bodies included: half of the sender's buffer, in actions and in bytes, at least one row."
func TestBodiesThatAreReadAgainAfterABackOffAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		to.answer = func(models.RawAction) models.Outcome { return failing(models.ReasonUnreachable) }
		const body, most = 50_000, 500_000
		tryRelay(t, db, table, to, RelayOptions{maxBytes: most})
		db.inTx(t, func(tx *sql.Tx) error {
			var err error
			for i := range 100 {
				err = errors.Join(err, Write(t.Context(), tx, table, models.UploadAction(gadget{ID: fmt.Sprint("k", i), Text: strings.Repeat("x", body)})))
			}
			return err
		})
		testkit.Eventually(t, func() bool { return len(to.all()) >= 100 }, "all rows have failed and wait")
		require.Len(t, to.all(), 100, "all rows have failed and wait")
		to.set(func() { to.holds, to.most = true, 0 })
		passes(3 * time.Second)
		to.set(func() { require.LessOrEqual(t, to.most, int64(most+body+1000), "bytes of bodies in flight") })
		to.set(func() { to.answer = func(models.RawAction) models.Outcome { return models.Outcome{} } })
		to.release()
		emptied(t, db, table)
	})
}

func TestDocumentsThatWereLoadedAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		to.info.MaxBufferedActions, to.info.MaxBufferedBytes, to.room = 40_000, 2_000_000, make(chan struct{})
		const body = 10_000
		loaded := 0
		doc := strings.Repeat("x", body)
		tryRelay(t, db, table, to, RelayOptions{Loader: Load(func(_ context.Context, keys []string) (all []models.IndexDocumentsAction[gadget], err error) {
			loaded += len(keys)
			for _, k := range keys {
				all = append(all, models.UploadAction(gadget{ID: k, Text: doc}))
			}
			return all, nil
		})})
		all := make([]string, fewer(20_000))
		for i := range all {
			all[i] = fmt.Sprint("k", i)
		}
		db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, all...) })
		passes(2 * time.Second)
		require.LessOrEqual(t, loaded*body, 1_000_000+1000*body, "MaxBytes, and one call of the Loader: the sender has no room")
		close(to.room)
		emptied(t, db, table)
	})
}

func TestRowsThatCannotBeDeletedAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		db.exec(t, `CREATE TRIGGER no BEFORE DELETE ON azsearch_outbox BEGIN SELECT RAISE(ABORT, 'permission denied'); END`)
		all := make([]string, 5000)
		for i := range all {
			all[i] = fmt.Sprint("k", i)
		}
		db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, all...) })
		r := tryRelay(t, db, table, to, calm(RelayOptions{maxRows: 100, Loader: deletesAll}))
		passes(10 * time.Second)
		require.LessOrEqual(t, r.Stats().InHand, int64(200))
		db.exec(t, `DROP TRIGGER no`)
		emptied(t, db, table)
	})
}
