package redisqueue

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Client is what a queue needs of a client of Redis. Every redis.UniversalClient has it. Of a
// *redis.ClusterClient it also uses what only that has.
type Client interface {
	EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd
	Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd
	Do(ctx context.Context, args ...any) *redis.Cmd
	Pipelined(ctx context.Context, fn func(redis.Pipeliner) error) ([]redis.Cmder, error)
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

var (
	_ Client = (redis.UniversalClient)(nil)
	_ Client = (*redis.ClusterClient)(nil)
)

// dial makes a client for a URL, for a cluster if there is one behind it.
func dial(ctx context.Context, url string) (Client, io.Closer, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, nil, fmt.Errorf("redisqueue: %w", err)
	}
	o.ContextTimeoutEnabled = true
	single := redis.NewClient(o)
	info, err := single.Info(ctx, "cluster").Result()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("redisqueue: %s: %w", o.Addr, err), single.Close())
	}
	if !strings.Contains(info, "cluster_enabled:1") {
		return single, single, nil
	}
	if err := single.Close(); err != nil {
		return nil, nil, fmt.Errorf("redisqueue: %w", err)
	}
	cluster := redis.NewClusterClient(clusterOptions(o))
	return cluster, cluster, nil
}

func clusterOptions(o *redis.Options) *redis.ClusterOptions {
	var config *tls.Config
	if o.TLSConfig != nil {
		config = o.TLSConfig.Clone()
	}
	return &redis.ClusterOptions{
		Addrs: []string{o.Addr}, Username: o.Username, Password: o.Password, TLSConfig: config,
		DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		ContextTimeoutEnabled: true,
		// The default is a minute, for which a client asks a master that is gone.
		ClusterStateReloadInterval: time.Second,
	}
}

// clustered is what a *redis.ClusterClient has, also one inside another type.
type clustered interface {
	MasterForKey(ctx context.Context, key string) (*redis.Client, error)
	ForEachMaster(ctx context.Context, fn func(context.Context, *redis.Client) error) error
}

// again are the beginnings of what a server says that may be over soon.
var again = []string{
	"MOVED", "ASK", "TRYAGAIN", "LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "BUSY",
	"UNBLOCKED", "ERR max number of clients",
	// How Redis 7.0.0 refuses a script with flags on a replica; later versions say READONLY before it.
	"ERR Can not run script with write flag on readonly replica",
}

// transient reports whether the same call may succeed later.
func transient(err error) bool {
	var said redis.Error
	if errors.As(err, &said) {
		for _, prefix := range again {
			if strings.HasPrefix(said.Error(), prefix) {
				return true
			}
		}
		return false
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true // also where it says context.DeadlineExceeded: that is the time-out of a dial
	}
	if errors.Is(err, redis.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, redis.ErrPoolTimeout) || strings.Contains(err.Error(), "connection") || strings.Contains(err.Error(), "cluster")
}

// run runs a script on a shard, until it has an answer or ctx ends. sent reports whether it may
// have been run without an answer.
func (q *Queue) run(ctx context.Context, s *script, shard int, replicas int, args ...any) (answer any, sent bool, err error) {
	keys := q.shards[shard].keys
	pause := 2 * time.Millisecond
	for {
		if replicas > 0 {
			answer, err = q.replicated(ctx, s, keys, replicas, args)
		} else {
			answer, err = eval(ctx, q.client, s, keys, args)
		}
		if err == nil {
			return answer, sent, nil
		}
		var few tooFew
		if errors.As(err, &few) {
			return nil, true, err
		}
		var done applied
		sent = sent || errors.As(err, &done)
		if !transient(err) {
			sent = sent || !refusal(err)
			return nil, sent, meaning(err, keys[0])
		}
		var said redis.Error
		sent = sent || !errors.As(err, &said)
		if c, ok := q.client.(interface{ ReloadState(context.Context) }); ok {
			c.ReloadState(ctx) // the client itself would wait for its next turn
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, sent, fmt.Errorf("redisqueue: %w, after: %w", context.Cause(ctx), err)
		case <-timer.C:
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

// refusal reports whether a server has said no, so that nothing was run.
func refusal(err error) bool {
	var said redis.Error
	return errors.As(err, &said)
}

// eval runs a script by its name, and sends it where the server does not know it.
func eval(ctx context.Context, c Client, s *script, keys []string, args []any) (any, error) {
	answer, err := c.EvalSha(ctx, s.sha, keys, args...).Result()
	if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		answer, err = c.Eval(ctx, s.source, keys, args...).Result()
	}
	return answer, err
}

// tooFew is the error of a call that fewer replicas have than were asked for.
type tooFew struct{ have, want int64 }

func (e tooFew) Error() string {
	return fmt.Sprintf("%d of %d replicas have confirmed it: it may be kept, or not", e.have, e.want)
}

// applied is an error behind a script that has run: of WAIT, or of a later attempt.
type applied struct{ err error }

func (e applied) Error() string { return e.err.Error() }
func (e applied) Unwrap() error { return e.err }

// replicated runs a script, and waits on the same connection until replicas have what it has
// written: WAIT is about the writes of its connection, so both go in one pipeline.
func (q *Queue) replicated(ctx context.Context, s *script, keys []string, replicas int, args []any) (any, error) {
	c := q.client
	if cluster, ok := q.client.(clustered); ok {
		node, err := cluster.MasterForKey(ctx, keys[0]) // WAIT has no key by which the cluster's client would find it
		if err != nil {
			return nil, fmt.Errorf("cluster: %w", err)
		}
		c = node
	}
	var answer *redis.Cmd
	var have *redis.Cmd
	until := time.Now().Add(q.o.ReplicaTimeout)
	source, ran := false, false
	is := func(err error) error {
		if ran {
			return applied{err}
		}
		return err
	}
	for {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			if source {
				answer = p.Eval(ctx, s.source, keys, args...)
			} else {
				answer = p.EvalSha(ctx, s.sha, keys, args...)
			}
			have = p.Do(ctx, "WAIT", replicas, 500) // ms, well below the time-out of a read
			return nil
		})
		switch {
		case !source && redis.HasErrorPrefix(answer.Err(), "NOSCRIPT"):
			source = true
			continue
		case answer.Err() != nil:
			return nil, is(answer.Err())
		}
		ran = true
		if err != nil && have.Err() == nil {
			return nil, is(err)
		}
		n, err := have.Int64()
		switch {
		case err != nil:
			return nil, is(err)
		case n >= int64(replicas):
			return answer.Result()
		case time.Now().After(until) || ctx.Err() != nil:
			return nil, tooFew{n, int64(replicas)}
		}
	}
}

// meaning says what the refusals of the scripts mean.
func meaning(err error, marker string) error {
	var said redis.Error
	if !errors.As(err, &said) {
		return fmt.Errorf("redisqueue: %w", err)
	}
	text := strings.TrimPrefix(said.Error(), "ERR ")
	word, rest, _ := strings.Cut(text, " ") // one word has no rest
	switch word {
	case "OOM":
		return fmt.Errorf("redisqueue: the memory of the server is full: %w (%w)", queue.ErrFull, err)
	case "MISCONF":
		return fmt.Errorf("redisqueue: server refuses writes because it cannot save to its disk; free the disk, or see the server's log: %w", err)
	case "AZQFULL":
		return fmt.Errorf("redisqueue: %w", queue.ErrFull)
	case "AZQTOOOLD":
		return fmt.Errorf("redisqueue: %w", queue.ErrTooOld)
	case "AZQLOST":
		return fmt.Errorf("redisqueue: the marker %q is gone or another one: %w; open the queue again", marker, queue.ErrLost)
	case "AZQPART":
		return fmt.Errorf("redisqueue: an earlier part of the call is not there: %w", queue.ErrLost)
	case "AZQCLOBBERED", "WRONGTYPE":
		return fmt.Errorf("redisqueue: a key of the queue was overwritten: %s; delete it, then Repair the queue", rest)
	case "AZQDAMAGED":
		return fmt.Errorf("%w: %s (%w)", errDamaged, rest, err)
	case "AZQMARKER":
		return fmt.Errorf("redisqueue: the queue has lost its marker: %s; is maxmemory-policy one that evicts? Destroy the queue or restore the marker", rest)
	}
	return fmt.Errorf("redisqueue: %w", err)
}

// errDamaged says that somebody else has changed the keys of a queue.
var errDamaged = errors.New("redisqueue: the queue is damaged, and has to be repaired with Repair")
