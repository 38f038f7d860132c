package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox/outboxpgx"
	"github.com/go-azsearch/azsearch/models"
)

var latencies = []contestant{
	{Name: "PostgreSQL, NOTIFY", Measure: latencyNotified},
	{Name: "SQLite, polled each 100 ms", Measure: latencyPolled},
}

const serviceTakes = 50 * time.Millisecond

// service applies documents after a delay.
type service struct {
	mu    sync.Mutex
	waits map[string]chan<- time.Time
}

// IndexDocumentsRaw implements bufferedsender.Indexer.
func (s *service) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (result models.IndexDocumentsResult, err error) {
	keys, err := slow.Keys(body)
	if err != nil {
		return result, err
	}
	if err := slow.Wait(ctx, serviceTakes); err != nil {
		return result, err
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if s.waits[key] != nil {
			s.waits[key] <- now
		}
		delete(s.waits, key)
	}
	return slow.Applied(keys), nil
}

// expect returns a channel that receives the time at which a key is applied.
func (s *service) expect(key string) <-chan time.Time {
	c := make(chan time.Time, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits[key] = c
	return c
}

// KeyFieldName returns the key field of the index.
func (s *service) KeyFieldName(context.Context) (string, error) { return "id", nil }

// lone commits rows one at a time to an idle relay, and measures the time until each is applied.
func lone(ctx context.Context, p *plan, db *sql.DB, table *outbox.Table, opts outbox.RelayOptions) (figures []figure, err error) {
	s := &service{waits: map[string]chan<- time.Time{}}
	said := &complaints{}
	sender, err := bufferedsender.New(s, &bufferedsender.Options[document]{AutoFlushInterval: 5 * time.Millisecond, Logger: said.logger()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sender.Close(context.WithoutCancel(ctx)), said.err()) }()
	r, err := run(ctx, db, table, sender.Raw(), opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.end()) }()
	if err := r.await(ctx, holdsAll); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(3, 4))
	var took []float64
	for _, d := range documents(0, p.Scaled(200, 5)) {
		if err := slow.Wait(ctx, 50*time.Millisecond+time.Duration(random.Int64N(int64(400*time.Millisecond)))); err != nil {
			return nil, err
		}
		applied := s.expect(d.ID)
		err := inTransaction(ctx, db, func(tx *sql.Tx) error { return outbox.Write(ctx, tx, table, models.UploadAction(d)) })
		if err != nil {
			return nil, err
		}
		committed := time.Now()
		select {
		case at := <-applied:
			took = append(took, float64(at.Sub(committed))/float64(time.Millisecond))
		case <-time.After(30 * time.Second):
			return nil, fmt.Errorf("%s is not applied after 30 s", d.ID)
		}
	}
	slices.Sort(took)
	at := func(share float64) float64 { return took[int(share*float64(len(took)-1)+0.5)] }
	return []figure{{Name: "p50 ms", Value: at(0.5)}, {Name: "p99 ms", Value: at(0.99)}, {Name: "maximum, ms", Value: took[len(took)-1]}}, nil
}

// listening is an outbox in PostgreSQL whose relay is woken by notifications.
type listening struct {
	l      *place
	pool   *pgxpool.Pool
	db     *sql.DB
	table  *outbox.Table
	wake   <-chan struct{}
	undone []func() error // cleanups, run in reverse order
}

func listen(ctx context.Context, p *plan) (n *listening, err error) {
	n = &listening{table: hotels()}
	if n.l, err = p.postgres(ctx); err != nil {
		return nil, err
	}
	n.undone = append(n.undone, func() error { return n.l.drop(ctx) })
	if n.pool, err = pgxpool.New(ctx, n.l.url); err != nil {
		return n, err
	}
	n.undone = append(n.undone, func() error { n.pool.Close(); return nil })
	n.db = stdlib.OpenDBFromPool(n.pool)
	n.undone = append(n.undone, n.db.Close)
	if err := outbox.Migrate(ctx, n.db, outbox.PostgreSQL, nil); err != nil {
		return n, err
	}
	said := &complaints{}
	listener, err := outboxpgx.Listen(n.pool, &outboxpgx.ListenOptions{Logger: said.logger()}, n.table)
	if err != nil {
		return n, err
	}
	n.wake = listener.Wake(n.table)
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- listener.Run(running) }()
	n.undone = append(n.undone, func() error { stop(); return errors.Join(<-ended, said.err()) })
	return n, nil
}

func (n *listening) close() (err error) {
	if n == nil {
		return nil
	}
	for _, f := range slices.Backward(n.undone) {
		err = errors.Join(err, f())
	}
	return err
}

func latencyNotified(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
	n, err := listen(ctx, p)
	defer func() { err = errors.Join(err, n.close()) }()
	if err != nil {
		return nil, err
	}
	return lone(ctx, p, n.db, n.table, outbox.RelayOptions{Wake: n.wake})
}

func latencyPolled(ctx context.Context, p *plan, dir string) (figures []figure, err error) {
	db, err := openSQLite("sqlite", dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := outbox.Migrate(ctx, db, outbox.SQLite, nil); err != nil {
		return nil, err
	}
	return lone(ctx, p, db, &outbox.Table{Dialect: outbox.SQLite, Queue: queue}, outbox.RelayOptions{Poll: 100 * time.Millisecond})
}
