package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// job is a document as the arguments of a River job.
type job document

// Kind implements river.JobArgs.
func (job) Kind() string { return "document" }

type worker struct{ river.WorkerDefaults[job] }

// Work implements river.Worker. It does nothing.
func (worker) Work(context.Context, *river.Job[job]) error { return nil }

// riverIn creates the tables of River, and a pool.
func riverIn(ctx context.Context, l *place) (*pgxpool.Pool, error) {
	pool, err := pgxpool.New(ctx, l.url)
	if err != nil {
		return nil, err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return pool, err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return pool, err
}

// riverSettings returns the settings of River's own benchmark (cmd/river/riverbench/river_bench.go), which notes:
// "they perform quite well. Much better than the client's default values at any rate."
func riverSettings(said *complaints) *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{})
	return &river.Config{
		FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond,
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}},
		Workers: workers, Logger: said.logger(),
	}
}

// riverWorks inserts and works jobs, fewer than the other contestants' rows because River takes longer.
func riverWorks(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
	const perInsert = 1000
	n := p.Scaled(50, 1) * perInsert
	l, err := p.postgres(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.drop(ctx)) }()
	pool, err := riverIn(ctx, l)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	said := &complaints{}
	client, err := river.NewClient(riverpgxv5.New(pool), riverSettings(said))
	if err != nil {
		return nil, err
	}
	for first := 0; first < n; first += perInsert {
		jobs := make([]river.InsertManyParams, perInsert)
		for i, d := range documents(first, perInsert) {
			jobs[i].Args = job(d)
		}
		if _, err := client.InsertManyFast(ctx, jobs); err != nil {
			return nil, err
		}
	}
	completed, unsubscribe := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: n, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	defer unsubscribe()
	m, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	for left := n; left > 0 && err == nil; left-- {
		select {
		case <-completed:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	figures, err2 := m.stop(ctx, n)
	return figures, errors.Join(err, err2, client.Stop(context.WithoutCancel(ctx)), said.err())
}

// riverInserts inserts a job in the caller's transaction.
func riverInserts(ctx context.Context, l *place) (pgxTransaction, error) {
	pool, err := riverIn(ctx, l)
	if pool != nil {
		defer pool.Close()
	}
	if err != nil {
		return nil, err
	}
	client, err := river.NewClient(riverpgxv5.New(nil), &river.Config{})
	return func(ctx context.Context, tx pgx.Tx, table string, d document) error {
		if err := change(ctx, tx, table, d); err != nil {
			return err
		}
		_, err := client.InsertTx(ctx, tx, job(d), nil)
		return err
	}, err
}
