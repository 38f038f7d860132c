package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/models"
)

const queue = "hotels"

var relays = []contestant{
	{Name: "outbox", Measure: relayWritten},
	{Name: "River", Anchor: "outbox", Measure: riverWorks},
}

var held = []contestant{
	{Name: "outbox", Measure: relayWhileWritten(false)},
	{Name: "outbox, REPEATABLE READ", Anchor: "outbox", Measure: relayWhileWritten(true)},
}

// sink is a sender that reports every action as applied, on its own goroutine.
type sink struct {
	actions chan []models.RawAction
	ended   chan struct{}
}

func newSink() *sink {
	s := &sink{make(chan []models.RawAction, 16), make(chan struct{})}
	go func() {
		defer close(s.ended)
		for actions := range s.actions {
			for i := range actions {
				a := &actions[i]
				a.OnOutcome(models.Outcome{Key: a.Key, Tag: a.Tag, Status: 200})
			}
		}
	}()
	return s
}

// Offer implements outbox.Sender.
func (s *sink) Offer(ctx context.Context, actions []models.RawAction) (int, error) {
	select {
	case s.actions <- append([]models.RawAction(nil), actions...):
		return len(actions), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Withdraw implements outbox.Sender.
func (s *sink) Withdraw(func(string, any) bool) int { return 0 }

// Info implements outbox.Sender, with the defaults of a bufferedsender.
func (s *sink) Info() models.SenderInfo {
	return models.SenderInfo{MaxBufferedActions: 100_000, MaxBufferedBytes: 64 << 20, RequestTimeout: time.Minute, UnknownWait: 5 * time.Second}
}

// close must be called after the last Offer.
func (s *sink) close() {
	close(s.actions)
	<-s.ended
}

// running is a running relay.
type running struct {
	relay *outbox.Relay
	said  *complaints
	stop  context.CancelFunc
	ended chan error
}

func run(ctx context.Context, db *sql.DB, from *outbox.Table, to outbox.Sender, opts outbox.RelayOptions) (*running, error) {
	r := &running{said: &complaints{}, ended: make(chan error, 1)}
	opts.Logger = r.said.logger()
	var err error
	if r.relay, err = outbox.NewRelay(db, from, to, &opts); err != nil {
		return nil, err
	}
	ctx, r.stop = context.WithCancel(ctx)
	go func() { r.ended <- r.relay.Run(ctx) }()
	return r, nil
}

// await waits until the relay's statistics meet a condition.
func (r *running) await(ctx context.Context, condition func(outbox.Stats) bool) error {
	for !condition(r.relay.Stats()) {
		select {
		case err := <-r.ended:
			r.ended <- err
			return errors.Join(err, errors.New("the relay has ended"))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

// holdsAll reports whether a relay has all ranges, as the only one.
func holdsAll(s outbox.Stats) bool { return s.Ranges == 64 }

// end stops the relay and returns its errors.
func (r *running) end() error {
	r.stop()
	err := errors.Join(<-r.ended, r.said.err())
	if s := r.relay.Stats(); s.Failed+s.Dead+s.Stale+s.LeasesLost+s.Late > 0 {
		err = errors.Join(err, fmt.Errorf("the relay has detected an impossible state: %+v", s))
	}
	return err
}

// fill returns a statement that inserts n rows as separate transactions would.
func fill(first, n int) string {
	return fmt.Sprintf(`INSERT INTO azsearch_outbox (queue, key, op, body)
		SELECT '%s', 'hotel-' || lpad(i::text, 12, '0'), 'upload', '{"id":"hotel-' || lpad(i::text, 12, '0') || '","text":"' || repeat(md5(i::text), 18) || md5((-i)::text) || '"}'
		FROM generate_series(%d, %d) i`, queue, first, first+n-1)
}

// outboxIn creates the tables of an outbox, and a pool.
func outboxIn(ctx context.Context, l *place) (*sql.DB, *outbox.Table, error) {
	db, err := sql.Open("pgx", l.url)
	if err != nil {
		return nil, nil, err
	}
	return db, &outbox.Table{Dialect: outbox.PostgreSQL, Queue: queue}, outbox.Migrate(ctx, db, outbox.PostgreSQL, nil)
}

func relayWritten(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
	n := p.Scaled(200_000, 1000)
	l, err := p.postgres(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.drop(ctx)) }()
	db, from, err := outboxIn(ctx, l)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := l.exec(ctx, fill(1, n)); err != nil {
		return nil, err
	}
	return l.relay(ctx, db, from, n, func() error { return nil })
}

// relay measures a relay until n rows are deleted, while meanwhile runs.
func (l *place) relay(ctx context.Context, db *sql.DB, from *outbox.Table, n int, meanwhile func() error) ([]figure, error) {
	to := newSink()
	defer to.close()
	m, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	r, err := run(ctx, db, from, to, outbox.RelayOptions{})
	if err != nil {
		return nil, err
	}
	err = meanwhile()
	if err == nil {
		err = r.await(ctx, func(s outbox.Stats) bool { return s.Deleted >= int64(n) })
	}
	figures, err2 := m.stop(ctx, n)
	return figures, errors.Join(err, err2, r.end())
}

// relayWhileWritten lets another connection write. Its transactions have so many rows that the disk is not the
// bottleneck.
func relayWhileWritten(reads bool) func(ctx context.Context, p *plan, _ string) ([]figure, error) {
	return func(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
		const rows = 1000
		transactions := p.Scaled(250, 1)
		l, err := p.postgres(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, l.drop(ctx)) }()
		db, from, err := outboxIn(ctx, l)
		if err != nil {
			return nil, err
		}
		defer db.Close()
		if reads {
			c, err := pgx.Connect(ctx, l.url)
			if err != nil {
				return nil, err
			}
			defer c.Close(ctx)
			for _, s := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM azsearch_outbox"} {
				if _, err := c.Exec(ctx, s); err != nil {
					return nil, err
				}
			}
		}
		writer, err := pgx.Connect(ctx, l.url)
		if err != nil {
			return nil, err
		}
		defer writer.Close(ctx)
		return l.relay(ctx, db, from, transactions*rows, func() error {
			for i := range transactions {
				if _, err := writer.Exec(ctx, fill(1+i*rows, rows)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}
