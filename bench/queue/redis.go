package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/redisqueue"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// The work on Redis: several workers add, take and acknowledge documents concurrently.
var (
	keepsUp = []contestant{
		{Name: "redisqueue", Measure: redisTrip(onServer, keepingUp, 1, 200)},
		{Name: "redisqueue, 4 workers", Measure: redisTrip(onServer, keepingUp, 4, 200)},
		{Name: "redisqueue, cluster", Measure: redisTrip(onCluster, keepingUp, 1, 200)},
	}
	isBehind = []contestant{
		{Name: "redisqueue", Measure: redisTrip(onServer, behind, 1, 200)},
		{Name: "redisqueue, 4 workers", Measure: redisTrip(onServer, behind, 4, 200)},
		{Name: "redisqueue, cluster", Measure: redisTrip(onCluster, behind, 1, 200)},
		{Name: "asynq, 4 workers", Measure: redisTrip(onServer, asynqThrough, 4, 20)},
	}
)

// place is one Redis server or a cluster.
type place struct {
	nodes []*servers.RedisServer
	close func() error
}

// onServer starts a server with the settings of servers.Redis: appendonly yes, appendfsync everysec.
func onServer() (*place, error) {
	r, err := servers.StartRedis()
	if err != nil {
		return nil, err
	}
	return &place{[]*servers.RedisServer{r}, r.Close}, nil
}

func onCluster() (*place, error) {
	c, err := servers.StartCluster()
	if err != nil {
		return nil, err
	}
	return &place{c.Nodes, c.Close}, nil
}

func (l *place) cpu() (sum float64, err error) {
	for _, n := range l.nodes {
		s, err := measure.ProcessCPU(n.PID())
		if err != nil {
			return 0, err
		}
		sum += s
	}
	return sum, nil
}

type through func(ctx context.Context, l *place, workers, documents int, clock func() error) error

// redisTrip measures a round of client and server: where the server runs, the work, and the number of documents in
// thousands.
func redisTrip(where func() (*place, error), do through, workers, thousands int) func(ctx context.Context, p *plan, dir string) ([]figure, error) {
	return func(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
		l, err := where()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, l.close()) }()
		documents := p.Scaled(thousands/workers, 1) * workers * perCall
		var clock measure.Clock
		before := 0.0
		// Connecting and loading scripts is not counted.
		start := func() (err error) {
			before, err = l.cpu()
			clock.Start()
			return err
		}
		if err := do(ctx, l, workers, documents, start); err != nil {
			return nil, err
		}
		u := clock.Stop()
		after, err := l.cpu()
		if err != nil {
			return nil, err
		}
		per := 1e6 / float64(documents)
		return []figure{
			{Name: "CPU s per 10⁶", Value: (u.CPUSeconds + after - before) * per},
			{Name: "of these the server", Value: (after - before) * per},
			{Name: "documents/s", Value: float64(documents) / u.Seconds},
		}, nil
	}
}

// text returns a body that compresses poorly, like real documents.
func text(from *rand.Rand) []byte {
	b := make([]byte, bodyBytes)
	for i := range b {
		b[i] = byte('a' + from.IntN(26))
	}
	return b
}

func keepingUp(ctx context.Context, l *place, workers, documents int, start func() error) error {
	return oursThrough(ctx, l, workers, documents, start, func(t *trip, first, n int) error {
		for at := first; at < first+n; at += perCall {
			if err := errors.Join(t.append(ctx, at), t.take(ctx)); err != nil {
				return err
			}
		}
		return t.takeRest(ctx)
	})
}

func behind(ctx context.Context, l *place, workers, documents int, start func() error) error {
	return oursThrough(ctx, l, workers, documents, start, func(t *trip, first, n int) error {
		for at := first; at < first+n; at += perCall {
			if err := t.append(ctx, at); err != nil {
				return err
			}
		}
		return errors.Join(t.take(ctx), t.takeRest(ctx))
	})
}

func oursThrough(ctx context.Context, l *place, workers, documents int, start func() error, work func(t *trip, first, n int) error) error {
	q, err := redisqueue.Open(l.nodes[0].URL(), "bench", nil)
	if err != nil {
		return err
	}
	defer q.Close()
	bodies := make([][]byte, perCall)
	from := rand.New(rand.NewPCG(1, 2))
	for i := range bodies {
		bodies[i] = text(from)
	}
	if err := start(); err != nil {
		return err
	}
	var wg sync.WaitGroup
	var sent atomic.Int64
	errs := make([]error, workers)
	each := documents / workers
	for w := range workers {
		wg.Go(func() { errs[w] = work(newTrip(q, bodies, &sent), w*each, each) })
	}
	wg.Wait()
	if n := sent.Load(); n != int64(documents) {
		errs = append(errs, fmt.Errorf("%d of %d documents went through", n, documents))
	}
	return errors.Join(errs...)
}

// trip is one worker.
type trip struct {
	q      *redisqueue.Queue
	bodies [][]byte
	sent   *atomic.Int64
	call   queue.Call
	want   queue.Want
	ends   []queue.End
}

func newTrip(q *redisqueue.Queue, bodies [][]byte, sent *atomic.Int64) *trip {
	return &trip{
		q: q, bodies: bodies, sent: sent, call: queue.Call{Adder: queue.NewID(), Records: make([]queue.Record, perCall)},
		want: queue.Want{Holder: queue.NewID(), Keys: perCall, Bytes: 1 << 30, For: time.Minute},
	}
}

func (t *trip) append(ctx context.Context, first int) error {
	t.call.Number++
	for i, key := range keysFrom(first, perCall) {
		t.call.Records[i] = queue.Record{Key: key, Op: models.ActionTypeUpload, Body: t.bodies[i]}
	}
	_, err := t.q.Append(ctx, t.call)
	return err
}

// take commits the previous keys and takes more in one call, as a sender does.
func (t *trip) take(ctx context.Context) error {
	t.want.Token = queue.NewID()
	leases, stale, _, err := t.q.Exchange(ctx, t.want, t.ends...)
	if err == nil && len(stale) > 0 {
		err = errors.New("leases were stale")
	}
	t.sent.Add(int64(len(t.ends)))
	t.ends = t.ends[:0]
	for i := range leases {
		t.ends = append(t.ends, queue.End{Lease: leases[i], Fate: queue.Commit})
	}
	return err
}

func (t *trip) takeRest(ctx context.Context) error {
	for len(t.ends) > 0 {
		if err := t.take(ctx); err != nil {
			return err
		}
	}
	return nil
}

// asynqThrough enqueues all documents, one task each, because asynq has no call for several, and handles them, with
// as many goroutines for both. Options are the defaults.
func asynqThrough(ctx context.Context, l *place, workers, documents int, start func() error) error {
	opts := asynq.RedisClientOpt{Addr: l.nodes[0].Addr()}
	client := asynq.NewClient(opts)
	defer client.Close()
	from := rand.New(rand.NewPCG(1, 2))
	bodies := make([][]byte, perCall)
	for i := range bodies {
		bodies[i] = text(from)
	}
	if err := start(); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, workers)
	each := documents / workers
	for w := range workers {
		wg.Go(func() {
			for i := 0; i < each && errs[w] == nil; i++ {
				_, errs[w] = client.EnqueueContext(ctx, asynq.NewTask("document", bodies[i%perCall]))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	done := make(chan struct{})
	var handled atomic.Int64
	server := asynq.NewServer(opts, asynq.Config{Concurrency: workers, LogLevel: asynq.FatalLevel})
	err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		if handled.Add(1) == int64(documents) {
			close(done)
		}
		return nil
	}))
	if err != nil {
		return err
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
	server.Shutdown()
	return ctx.Err()
}
