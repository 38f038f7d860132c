package redisqueue

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// format is the version of the layout of keys. A queue of a newer one is not opened.
const format = 1

const (
	// perScript is how many entries a script works on, and scriptBytes how many bytes of them: the server does
	// nothing else meanwhile.
	perScript   = 1000
	scriptBytes = 1 << 20
	// shardsOfCluster and shardsOfServer are the defaults of Options.Shards.
	shardsOfCluster = 16
	shardsOfServer  = 1
)

// Queue is a queue.Queue on Redis, with queue.Admin, queue.Membership and queue.Exchanger.
//
// It has no goroutine and no connection of its own; while Watch is used, all queues of a client share one of
// each.
type Queue struct {
	client   Client
	closer   io.Closer // of the client, if Open has made it
	name     string
	channel  string
	o        Options
	shards   []shard
	survives string

	calls  sync.RWMutex // held by each call, and by Close to wait for them
	closed bool         // guarded by calls
	ending atomic.Bool  // Close waits for calls: later ones do not wait behind it

	held   held
	adders adders
	hub    *hub

	mu          sync.Mutex
	watchers    map[int]*watcher
	lastWatcher int
}

type shard struct {
	keys  []string
	epoch string // that of its marker: it changes when the shard is lost and made again
}

var (
	_ queue.Queue      = (*Queue)(nil)
	_ queue.Admin      = (*Queue)(nil)
	_ queue.Membership = (*Queue)(nil)
	_ queue.Exchanger  = (*Queue)(nil)
)

// Open opens the queue of that name, or makes it, on the server of a redis:// or rediss:// URL, with a client of its
// own: one of a cluster if the server belongs to one. All queues that a process opens with the same URL
// share the client. It gives up after ten seconds.
func Open(url, name string, opts *Options) (*Queue, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, closer, err := clients.get(ctx, url)
	if err != nil {
		return nil, err
	}
	q, err := New(ctx, client, name, opts)
	if err != nil {
		return nil, errors.Join(err, closer.Close())
	}
	q.closer = closer
	return q, nil
}

// New opens the queue of that name, or makes it, with a client of the caller's, which Close
// leaves open. ctx bounds the opening only. A ClusterClient should have a ClusterStateReloadInterval of about a
// second; its default makes a failover take up to a minute. Clients without ContextTimeoutEnabled notice the end of
// a context between commands only.
func New(ctx context.Context, client Client, name string, opts *Options) (*Queue, error) {
	q := &Queue{client: client, name: name, channel: channelOf(name), watchers: map[int]*watcher{}}
	if opts != nil {
		q.o = *opts
	}
	if err := q.o.check(name); err != nil {
		return nil, err
	}
	if q.o.ReplicaTimeout <= 0 {
		q.o.ReplicaTimeout = 5 * time.Second
	}
	server, err := examine(ctx, client)
	if err != nil {
		return nil, err
	}
	if old(server.version) {
		return nil, fmt.Errorf("redisqueue: server is Redis %s, want 7.0 or later: its scripts have no flags; use a newer server", server.version)
	}
	if _, ok := client.(clustered); q.o.Durability > 0 && !ok {
		_, ring := client.(interface {
			ForEachShard(ctx context.Context, fn func(context.Context, *redis.Client) error) error
		})
		if ring || server.cluster {
			return nil, errors.New("redisqueue: Options.Durability asks for replicas, and WAIT would not reach the server of a shard through this client: use a *redis.ClusterClient, or a type that embeds one")
		}
	}
	q.survives = server.survives(q.o.Durability)
	if weak := server.weaker(q.o.Durability); weak != nil && !q.o.AcceptWeaker {
		return nil, fmt.Errorf("redisqueue: %w; set Options.AcceptWeaker to use it all the same. %s", weak, q.survives)
	}
	if err := q.open(ctx, server.cluster); err != nil {
		return nil, err
	}
	q.held.init(len(q.shards))
	if q.o.Logger != nil {
		q.o.Logger.InfoContext(ctx, "queue opened on Redis", "queue", name, "shards", len(q.shards), "survives", q.survives)
	}
	return q, nil
}

func (o *Options) check(name string) error {
	var errs []error
	if name == "" {
		errs = append(errs, errors.New("the queue has no name"))
	}
	if o.Shards < 0 || o.Shards > slots {
		errs = append(errs, fmt.Errorf("Options.Shards is %d: between 1 and %d, or 0", o.Shards, slots))
	}
	if o.MaxKeys < 0 || o.MaxBytes < 0 {
		errs = append(errs, fmt.Errorf("Options.MaxKeys is %d and MaxBytes %d: none may be negative", o.MaxKeys, o.MaxBytes))
	}
	if o.Durability < Disk {
		errs = append(errs, fmt.Errorf("Options.Durability is %d: Server, Process, Disk or Replicas(n)", o.Durability))
	}
	if len(errs) > 0 {
		return fmt.Errorf("redisqueue: %w", errors.Join(errs...))
	}
	return nil
}

// Survives says in words what of the queue survives what, as the settings of the server were at the opening.
func (q *Queue) Survives() string { return q.survives }

// open makes the shards that are not there, the first one first: its marker says how many there
// are, whoever else opens the queue at the same time.
func (q *Queue) open(ctx context.Context, cluster bool) error {
	n := q.o.Shards
	if n == 0 {
		n = shardsOfServer
		if cluster {
			n = shardsOfCluster
		}
	}
	for i := 0; i < n; i++ {
		q.shards = append(q.shards, shard{keys: keysOf(q.name, i)})
		var epoch [8]byte
		_, _ = rand.Read(epoch[:]) // crypto/rand never fails: it ends the process instead
		makes := "1"               // also the others of a queue that is there: whoever made it may have died
		if q.o.Existing && i == 0 {
			makes = "0"
		}
		answer, err := q.ask(ctx, openScript, i, format, n, i, hex.EncodeToString(epoch[:]), q.name, q.o.Index, q.o.Endpoint, makes)
		if err != nil {
			return err
		}
		r := read(answer)
		_ = r.int()
		if !r.more() && r.err == nil {
			return fmt.Errorf("redisqueue: %w: %q", ErrNotFound, q.name)
		}
		version, shards, _ := r.string(), r.string(), r.string()
		q.shards[i].epoch = r.string()
		name, index, endpoint := r.string(), r.string(), r.string()
		if r.err != nil {
			return r.err
		}
		if v, err := strconv.Atoi(version); err != nil || v > format {
			return fmt.Errorf("redisqueue: the queue %q has format %s, this program knows up to %d: a newer program has made it", q.name, version, format)
		}
		made, err := strconv.Atoi(shards)
		switch {
		case err != nil || made < 1:
			return fmt.Errorf("redisqueue: the marker %q of the queue has %q shards", q.shards[i].keys[0], shards)
		case name != q.name:
			return fmt.Errorf("redisqueue: the keys of queue %q are those of queue %q", q.name, name)
		case q.o.Shards != 0 && made != q.o.Shards:
			return fmt.Errorf("redisqueue: the queue %q was made with %d shards and keeps them, not %d: make another queue and drain this one into it", q.name, made, q.o.Shards)
		case differ(q.o.Index, index):
			return fmt.Errorf("redisqueue: the queue %q is for the index %q, not %q", q.name, index, q.o.Index)
		case differ(q.o.Endpoint, endpoint):
			return fmt.Errorf("redisqueue: the queue %q is for the endpoint %q, not %q", q.name, endpoint, q.o.Endpoint)
		}
		n = made
	}
	return nil
}

func differ(a, b string) bool { return a != "" && b != "" && a != b }

// shardOf is the shard of a key.
func (q *Queue) shardOf(key string) int { return Slot(key) % len(q.shards) }

// begin begins a call; end ends it. An object that is closed refuses.
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

// Close is of queue.Queue.
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
	if q.closer != nil {
		if err := q.closer.Close(); err != nil {
			return fmt.Errorf("redisqueue: %w", err)
		}
	}
	return nil
}

// on runs a script of a shard with what all of them begin with.
func (q *Queue) on(ctx context.Context, s *script, shard int, args ...any) (*reader, error) {
	answer, err := q.ask(ctx, s, shard, q.with(shard, args)...)
	if err != nil {
		return nil, err
	}
	return read(answer), nil
}

// with returns the arguments of a script behind those that all of them begin with.
func (q *Queue) with(shard int, args []any) []any {
	all := make([]any, 0, 3+len(args))
	all = append(all, q.clock(), q.shards[shard].epoch, q.channel)
	return append(all, args...)
}

// ask is run for the scripts that do no harm when they run again.
func (q *Queue) ask(ctx context.Context, s *script, shard int, args ...any) (any, error) {
	answer, _, err := q.run(ctx, s, shard, 0, args...) // only Append reports that a call may have been applied
	return answer, err
}

// clock is the time that scripts are given: none but in tests.
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

// clients are those that Open has made, by URL, with how many queues use them.
var clients = pool{byURL: map[string]*pooled{}}

type pool struct {
	mu    sync.Mutex
	byURL map[string]*pooled
}

type pooled struct {
	client Client
	closer io.Closer
	users  int
}

func (p *pool) get(ctx context.Context, url string) (Client, io.Closer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.byURL[url]
	if c == nil {
		client, closer, err := dial(ctx, url)
		if err != nil {
			return nil, nil, err
		}
		c = &pooled{client: client, closer: closer}
		p.byURL[url] = c
	}
	c.users++
	return c.client, closing(func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if c.users--; c.users > 0 {
			return nil
		}
		delete(p.byURL, url)
		return c.closer.Close()
	}), nil
}

type closing func() error

func (f closing) Close() error { return f() }
