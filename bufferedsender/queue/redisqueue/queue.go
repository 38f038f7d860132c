package redisqueue

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/rediskit"
)

// format is the version of the layout of keys. A queue with a newer format is not opened. A queue of format 1, whose
// records do not name their keys, is converted to this format.
const format = 2

const (
	// perScript is the maximum number of entries for one script, and scriptBytes that of their bytes: a script blocks
	// the server while it runs.
	perScript   = 1000
	scriptBytes = 1 << 20
	// shardsOfCluster and shardsOfServer are the defaults of Options.Shards.
	shardsOfCluster = 16
	shardsOfServer  = 1
)

// Queue is a queue.Queue on Redis that also implements queue.Admin, queue.Membership, queue.Exchanger and queue.Faulty.
//
// It has no goroutine and no connection of its own. While Watch is used, all queues of a client share one of each.
type Queue struct {
	client   redis.UniversalClient
	leave    func() error // releases the client if Open has made it
	name     string
	channel  string
	o        Options
	shards   []shard
	survives string
	patience time.Duration // patience, except in tests

	calls  sync.RWMutex // read-locked by each call, locked by Close to wait for them
	closed bool         // guarded by calls
	ending atomic.Bool  // Close waits: later calls return at once instead of queueing behind it

	held   held
	adders adders
	hub    *hub

	mu          sync.Mutex
	watchers    map[int]*watcher
	lastWatcher int
}

type shard struct {
	keys  []string
	epoch string // of its marker; differs after the shard was lost and made again
	// Results of Fault; nil means none.
	fault, crowded *atomic.Pointer[error]
	noMemory       *atomic.Pointer[noMemory]
}

// noMemory is the last refusal of an Append because the server's memory was full.
type noMemory struct {
	at  time.Time
	err error
}

var (
	_ queue.Queue      = (*Queue)(nil)
	_ queue.Admin      = (*Queue)(nil)
	_ queue.Membership = (*Queue)(nil)
	_ queue.Exchanger  = (*Queue)(nil)
	_ queue.Faulty     = (*Queue)(nil)
)

// Open opens the queue of that name, or makes it, on the server of a redis:// or rediss:// URL. It makes its own
// client, a cluster client if the server belongs to a cluster. All queues that a process opens with the same URL share
// the client. Open gives up after ten seconds.
func Open(url, name string, opts *Options) (*Queue, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, leave, err := clients.get(ctx, url)
	if err != nil {
		return nil, err
	}
	q, err := New(ctx, client, name, opts)
	if err != nil {
		return nil, errors.Join(err, leave())
	}
	q.leave = leave
	return q, nil
}

// New opens the queue of that name, or makes it, with the caller's client, which Close leaves open: a client of a
// server, of Sentinel or of a cluster, not a Ring. ctx bounds the opening only. A ClusterClient should have a
// ClusterStateReloadInterval of about a second; with its default a failover takes up to a minute. Clients without
// ContextTimeoutEnabled check a context between commands only.
func New(ctx context.Context, client redis.UniversalClient, name string, opts *Options) (*Queue, error) {
	q := &Queue{client: client, name: name, channel: channelOf(name), watchers: map[int]*watcher{}, patience: patience}
	if opts != nil {
		q.o = *opts
	}
	_, err := rediskit.CheckClient(client) // an unbounded client is accepted, see above
	if err := errors.Join(err, q.o.check(name)); err != nil {
		return nil, fmt.Errorf("redisqueue: %w", err)
	}
	q.o.replicaTimeout = cmp.Or(q.o.replicaTimeout, 5*time.Second)
	masters, err := rediskit.Examine(ctx, client)
	if err == nil {
		err = rediskit.Judge(masters, (*rediskit.Server).Old)
	}
	if err == nil && q.o.Durability > 0 {
		err = rediskit.CheckWait(client, masters)
	}
	if err != nil {
		return nil, fmt.Errorf("redisqueue: %w", err)
	}
	worst := slices.MinFunc(masters, func(a, b rediskit.Server) int { return rank(&a) - rank(&b) })
	q.survives = q.o.Durability.survives(&worst)
	if weak := rediskit.Judge(masters, q.o.Durability.weaker); weak != nil && !q.o.AcceptWeaker {
		return nil, fmt.Errorf("redisqueue: %w; set Options.AcceptWeaker to use it anyway. %s", weak, q.survives)
	}
	if err := q.open(ctx, worst.Cluster); err != nil {
		return nil, err
	}
	q.held.init(len(q.shards))
	if q.o.Logger != nil {
		q.o.Logger.InfoContext(ctx, "redisqueue: queue opened", "queue", name, "shards", len(q.shards), "survives", q.survives)
	}
	return q, nil
}

func (o *Options) check(name string) error {
	var errs []error
	if name == "" {
		errs = append(errs, errors.New("no name"))
	}
	if o.Shards < 0 || o.Shards > slots {
		errs = append(errs, fmt.Errorf("got Options.Shards %d, want 1 to %d, or 0", o.Shards, slots))
	}
	if o.MaxKeys < 0 || o.MaxBytes < 0 {
		errs = append(errs, fmt.Errorf("got Options.MaxKeys %d and MaxBytes %d, want none negative", o.MaxKeys, o.MaxBytes))
	}
	if o.Durability < Disk {
		errs = append(errs, fmt.Errorf("got Options.Durability %d, want Server, Process, Disk or Replicas(n)", o.Durability))
	}
	return errors.Join(errs...)
}

// Survives describes which failures the content of the queue survives, by the server's settings at the opening.
func (q *Queue) Survives() string { return q.survives }

// open makes the missing shards. The first one goes first: its marker has the number of shards, so that concurrent
// openers agree.
func (q *Queue) open(ctx context.Context, cluster bool) error {
	n := q.o.Shards
	if n == 0 {
		n = shardsOfServer
		if cluster {
			n = shardsOfCluster
		}
	}
	for i := 0; i < n; i++ {
		q.shards = append(q.shards, shard{keys: keysOf(q.name, i), fault: new(atomic.Pointer[error]), crowded: new(atomic.Pointer[error]), noMemory: new(atomic.Pointer[noMemory])})
		var epoch [8]byte
		_, _ = rand.Read(epoch[:]) // crypto/rand never fails: it ends the process instead
		makes := "1"               // also for the later shards of an existing queue: its maker may have died
		if q.o.Existing && i == 0 {
			makes = "0"
		}
		answer, err := q.ask(ctx, openScript, i, format, n, i, hex.EncodeToString(epoch[:]), q.name, q.o.Index, q.o.Endpoint, makes)
		if err != nil {
			return err
		}
		r := rediskit.Read(answer)
		_ = r.Int()
		if !r.More() && r.Err == nil {
			return fmt.Errorf("redisqueue: %w: %q", ErrNotFound, q.name)
		}
		version, shards, _ := r.Text(), r.Text(), r.Text()
		q.shards[i].epoch = r.Text()
		name, index, endpoint := r.Text(), r.Text(), r.Text()
		if r.Err != nil {
			return r.Err
		}
		if v, err := strconv.Atoi(version); err != nil || v > format {
			return fmt.Errorf("redisqueue: queue %q has format %s, want at most %d; use a newer program", q.name, version, format)
		}
		made, err := strconv.Atoi(shards)
		switch {
		case err != nil || made < 1:
			return fmt.Errorf("redisqueue: marker %q has a malformed number of shards: %q", q.shards[i].keys[0], shards)
		case name != q.name:
			return fmt.Errorf("redisqueue: queue %q has the same Redis keys as queue %q; use another name", q.name, name)
		case q.o.Shards != 0 && made != q.o.Shards:
			return fmt.Errorf("redisqueue: queue %q has %d shards, want %d; make another queue and drain this one into it", q.name, made, q.o.Shards)
		case differ(q.o.Index, index):
			return fmt.Errorf("redisqueue: queue %q is for index %q, not %q", q.name, index, q.o.Index)
		case differ(q.o.Endpoint, endpoint):
			return fmt.Errorf("redisqueue: queue %q is for endpoint %q, not %q", q.name, endpoint, q.o.Endpoint)
		}
		n = made
	}
	return nil
}

func differ(a, b string) bool { return a != "" && b != "" && a != b }

// shardOf returns the shard of a key.
func (q *Queue) shardOf(key string) int { return slotOf(key) % len(q.shards) }

// begin begins a call; end ends it. It returns an error if the queue is closed.
func (q *Queue) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("redisqueue: %w", err)
	}
	if q.ending.Load() {
		return fmt.Errorf("redisqueue: %w", queue.ErrClosed)
	}
	q.calls.RLock()
	if q.closed {
		q.calls.RUnlock()
		return fmt.Errorf("redisqueue: %w", queue.ErrClosed)
	}
	return nil
}

func (q *Queue) end() { q.calls.RUnlock() }

// Close implements queue.Queue.
func (q *Queue) Close() error {
	q.ending.Store(true)
	q.mu.Lock()
	var stops []func()
	for id := range q.watchers {
		stops = append(stops, func() { q.unwatch(id) })
	}
	q.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
	q.calls.Lock()
	defer q.calls.Unlock()
	if q.closed {
		return nil
	}
	q.closed = true
	if q.leave != nil {
		if err := q.leave(); err != nil {
			return fmt.Errorf("redisqueue: %w", err)
		}
	}
	return nil
}

// on runs a script of a shard with the common arguments in front of args.
func (q *Queue) on(ctx context.Context, s *redis.Script, shard int, args ...any) (*rediskit.Reader, error) {
	answer, err := q.ask(ctx, s, shard, q.with(shard, args)...)
	if err != nil {
		return nil, err
	}
	return rediskit.Read(answer), nil
}

// with returns the common arguments of all scripts, followed by args.
func (q *Queue) with(shard int, args []any) []any {
	all := make([]any, 0, 3+len(args))
	all = append(all, q.clock(), q.shards[shard].epoch, q.channel)
	return append(all, args...)
}

// ask is run for idempotent scripts.
func (q *Queue) ask(ctx context.Context, s *redis.Script, shard int, args ...any) (any, error) {
	answer, _, err := q.run(ctx, s, shard, 0, args...) // only Append reports that a call may have been applied
	return answer, err
}

// clock returns the time for scripts: "" except in tests.
func (q *Queue) clock() string {
	if q.o.clock == nil {
		return ""
	}
	return strconv.FormatInt(q.o.clock().UnixMilli(), 10)
}

func (q *Queue) now() time.Time {
	if q.o.clock == nil {
		return time.Now()
	}
	return q.o.clock()
}
