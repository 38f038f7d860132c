package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// patience is for how long a call is tried again while the server fails over, or a slot moves.
var patience = 10 * time.Second

// again are the beginnings of what a server says that may be over soon.
var again = []string{
	"MOVED", "ASK", "TRYAGAIN", "LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "BUSY", "UNBLOCKED", "ERR max number of clients",
	// How Redis 7.0.0 refuses a script with flags on a replica; later versions say READONLY before it.
	"ERR Can not run script with write flag on readonly replica",
}

// transient reports whether the same call may succeed later.
func transient(err error) bool {
	var said redis.Error
	if errors.As(err, &said) {
		return slices.ContainsFunc(again, func(prefix string) bool { return strings.HasPrefix(said.Error(), prefix) })
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true // also where it says context.DeadlineExceeded: that is the time-out of a dial
	}
	if errors.Is(err, redis.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, errNoMaster)
}

var errNoMaster = errors.New("the cluster does not say who has the keys")

// run runs a script until it has an answer, patience or ctx ends. Every script may be run twice: who does not know
// whether it was run sends it again, as go-redis itself does. nil is the answer nil.
func (s *Store) run(ctx context.Context, script *redis.Script, replicas int, args ...any) (answer any, err error) {
	pause, until := 2*time.Millisecond, time.Now().Add(patience)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if replicas > 0 {
			answer, err = s.replicated(ctx, script, replicas, args)
		} else {
			answer, err = script.Run(ctx, s.client, s.keys, args...).Result()
		}
		if errors.Is(err, redis.Nil) {
			return nil, nil
		}
		if err == nil || !transient(err) || time.Now().After(until) {
			return answer, meaning(err)
		}
		if c, ok := s.client.(interface{ ReloadState(context.Context) }); ok {
			c.ReloadState(ctx) // the client itself would wait for its next turn
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w, after: %w", context.Cause(ctx), err)
		case <-timer.C:
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

// tooFew is the error of a call that fewer replicas have than were asked for.
type tooFew struct{ have, want int64 }

func (e tooFew) Error() string {
	return fmt.Sprintf("%d of %d replicas have confirmed it: it may have been done, or not", e.have, e.want)
}

// replicated runs a script, and waits on the same connection until replicas have what it has
// written: WAIT is about the writes of its connection, so both go in one pipeline.
func (s *Store) replicated(ctx context.Context, script *redis.Script, replicas int, args []any) (any, error) {
	var c redis.Cmdable = s.client
	if cluster, ok := s.client.(interface {
		MasterForKey(ctx context.Context, key string) (*redis.Client, error)
	}); ok {
		node, err := cluster.MasterForKey(ctx, s.keys[0]) // WAIT has no key by which the cluster's client would find it
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNoMaster, err)
		}
		c = node
	}
	until, source := time.Now().Add(s.opts.ReplicaTimeout), false
	if t, ok := ctx.Deadline(); ok && t.Before(until) {
		until = t
	}
	for {
		var answer, have *redis.Cmd
		wait := min(max(time.Until(until)/2, time.Millisecond), 500*time.Millisecond) // well below the time-out of a read
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			if source {
				answer = script.Eval(ctx, p, s.keys, args...)
			} else {
				answer = script.EvalSha(ctx, p, s.keys, args...)
			}
			have = p.Do(ctx, "WAIT", replicas, wait.Milliseconds())
			return nil
		})
		if !source && redis.HasErrorPrefix(answer.Err(), "NOSCRIPT") {
			source = true
			continue
		}
		if answer.Err() != nil { // nil says that nothing was written
			return nil, answer.Err()
		}
		if err != nil && have.Err() == nil {
			return nil, err
		}
		n, err := have.Int64()
		switch {
		case err != nil:
			return nil, err
		case n >= int64(replicas):
			return answer.Result()
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%w: %w", tooFew{n, int64(replicas)}, ctx.Err())
		case !time.Now().Before(until):
			return nil, tooFew{n, int64(replicas)}
		}
	}
}

// meaning says what the refusals of the server mean.
func meaning(err error) error {
	var said redis.Error
	if err == nil || !errors.As(err, &said) {
		return err
	}
	word, rest, _ := strings.Cut(strings.TrimPrefix(said.Error(), "ERR "), " ") // one word has no rest
	switch word {
	case "MISCONF":
		return fmt.Errorf("server refuses writes because it cannot save to its disk; free the disk, or see the server's log: %w", err)
	case "AZRLOST":
		return fmt.Errorf("marks in %q were lost: somebody has deleted or evicted the key. Call Abort, and begin anew: what was written would be missing from the new index", rest)
	case "WRONGTYPE":
		return fmt.Errorf("a key of the store was overwritten by somebody else: %w", err)
	}
	return err
}
