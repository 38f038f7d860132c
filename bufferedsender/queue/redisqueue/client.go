package redisqueue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/bounds"
	"github.com/go-azsearch/azsearch/internal/rediskit"
)

// clients holds the clients made by Open, by URL, with the number of queues that use each.
var clients = pool{byURL: map[string]*pooled{}}

type pool struct {
	mu    sync.Mutex
	byURL map[string]*pooled
}

type pooled struct {
	redis.UniversalClient
	users int
}

// get returns the client of a URL, and a function that releases it; the last user closes it. It does not hold the lock
// while it waits for a server.
func (p *pool) get(ctx context.Context, url string) (client redis.UniversalClient, leave func() error, err error) {
	c := p.join(url, nil)
	if c == nil {
		client, err := rediskit.Dial(ctx, url)
		if err != nil {
			return nil, nil, fmt.Errorf("redisqueue: %w", err)
		}
		if c = p.join(url, client); c.UniversalClient != client { // another call was faster
			_ = client.Close() // nothing uses it
		}
	}
	return c.UniversalClient, func() error { return p.leave(url, c) }, nil
}

// join adds a user to the client of a URL. If there is none, it becomes client; nil if that is nil.
func (p *pool) join(url string, client redis.UniversalClient) *pooled {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.byURL[url]
	if c == nil {
		if client == nil {
			return nil
		}
		c = &pooled{UniversalClient: client}
		p.byURL[url] = c
	}
	c.users++
	return c
}

func (p *pool) leave(url string, c *pooled) error {
	p.mu.Lock()
	c.users--
	last := c.users == 0
	if last {
		delete(p.byURL, url)
	}
	p.mu.Unlock()
	if !last {
		return nil
	}
	return c.Close()
}

// run runs a script on a shard until it has an answer or ctx ends. unsure reports whether the script may have been
// applied although there is no answer.
func (q *Queue) run(ctx context.Context, s *redis.Script, shard int, replicas int, args ...any) (answer any, unsure bool, err error) {
	r := rediskit.Runner{Client: q.client, Replicas: replicas, ReplicaTimeout: q.o.replicaTimeout}
	answer, unsure, err = r.Run(ctx, s, q.shards[shard].keys, args...)
	switch err = q.meaning(err, shard); {
	case err == nil:
		q.shards[shard].fault.Store(nil)
		if s == appendScript {
			q.shards[shard].noMemory.Store(nil)
		}
	case errors.Is(err, queue.ErrLost):
		q.shards[shard].fault.Store(&err)
	case redis.HasErrorPrefix(err, "OOM"):
		q.shards[shard].noMemory.Store(&noMemory{time.Now(), err})
	}
	return answer, unsure, err
}

// bounds returns the bounds of a shard: an equal share.
func (q *Queue) bounds() bounds.Bounds {
	n := int64(len(q.shards))
	return bounds.Bounds{Keys: (int64(q.o.MaxKeys) + n - 1) / n, Bytes: (q.o.MaxBytes + n - 1) / n}
}

// parked updates the fault for parked keys of a shard.
func (q *Queue) parked(shard int, keys, bytes int64) {
	if err := q.bounds().Fault(bounds.Fill{Parked: keys, ParkedBytes: bytes}); err != nil {
		err = fmt.Errorf("redisqueue: shard %d: %w", shard, err)
		q.shards[shard].crowded.Store(&err)
		return
	}
	q.shards[shard].crowded.Store(nil)
}

// full explains which bound of a shard is exceeded, from the amounts in the refusal of append.lua.
func (q *Queue) full(amounts string) error {
	var f bounds.Fill
	_, err := fmt.Sscan(amounts, &f.Keys, &f.Parked, &f.Bytes, &f.ParkedBytes)
	if err == nil {
		err = q.bounds().Full(f, true, true)
	}
	if !errors.Is(err, queue.ErrFull) {
		err = queue.ErrFull
	}
	return fmt.Errorf("redisqueue: %w", err)
}

// noMemoryFor is how long a refused Append counts as a fault. An Append that waits for room repeats its call every
// second.
const noMemoryFor = 10 * time.Second

// Fault implements queue.Faulty. It returns the last error that a part of a shard is gone, or that parked keys have
// used up their share of a shard (as of the last Stats or, while Watch is used, a few seconds ago), or queue.ErrFull if
// the server had no memory for an Append in the last ten seconds.
func (q *Queue) Fault() error {
	for s := range q.shards {
		for _, err := range []*error{q.shards[s].fault.Load(), q.shards[s].crowded.Load()} {
			if err != nil {
				return *err
			}
		}
		if no := q.shards[s].noMemory.Load(); no != nil && time.Since(no.at) < noMemoryFor {
			return no.err
		}
	}
	return nil
}

// meaning translates the refusals of scripts.
func (q *Queue) meaning(err error, shard int) error {
	if err == nil {
		return nil
	}
	switch code, rest := rediskit.Refusal(err); code {
	case "OOM":
		return fmt.Errorf("redisqueue: memory of the server is full: %w (%w)", queue.ErrFull, err)
	case "AZQFULL":
		return q.full(rest)
	case "AZQTOOOLD":
		return fmt.Errorf("redisqueue: %w", queue.ErrTooOld)
	case "AZQLOST":
		return fmt.Errorf("redisqueue: marker %q is gone or changed: %w; open the queue again", q.shards[shard].keys[0], queue.ErrLost)
	case "AZQPART":
		return fmt.Errorf("redisqueue: an earlier part of the call is missing: %w", queue.ErrLost)
	case "AZQCLOBBERED", "WRONGTYPE":
		return fmt.Errorf("redisqueue: Redis key of the queue was overwritten: %s; delete it, then Repair the queue: %w", rest, queue.ErrLost)
	case "AZQGONE":
		return fmt.Errorf("%w: key %q was deleted or evicted (%w)", errDamaged, rest, err)
	case "AZQDAMAGED":
		return fmt.Errorf("%w: %s (%w)", errDamaged, rest, err)
	case "AZQMARKER":
		return fmt.Errorf("redisqueue: the queue has lost its marker: %s; is maxmemory-policy one that evicts? Destroy the queue or restore the marker", rest)
	}
	return fmt.Errorf("redisqueue: %w", rediskit.Explain(err))
}

// errDamaged: the keys of the queue were changed by other programs.
var errDamaged = fmt.Errorf("redisqueue: queue needs Repair: %w", queue.ErrLost)
