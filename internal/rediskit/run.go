package rediskit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"
)

// Runner runs scripts.
type Runner struct {
	Client redis.UniversalClient
	// Patience is how long a call is repeated after transient errors. 0 means until its context ends.
	Patience time.Duration
	// Replicas is how many replicas must have what a script wrote, and ReplicaTimeout how long a call waits for them.
	Replicas       int
	ReplicaTimeout time.Duration
}

// TooFew is the error of a call that fewer replicas have confirmed than required.
type TooFew struct{ Have, Want int64 }

func (e TooFew) Error() string {
	return fmt.Sprintf("%d of %d replicas have confirmed it: it may be kept, or not", e.Have, e.Want)
}

// Run runs a script on the server that holds keys, until it gets an answer, Patience or ctx ends, or an error is
// permanent. A nil answer of a script is returned as nil. unsure reports that an attempt may have been applied although
// its answer is unknown.
//
// A script may run more than once: go-redis repeats a request whose answer was lost, Run repeats it after that, and the
// wait for replicas repeats it too. So a script must detect repeats, or be idempotent.
func (r *Runner) Run(ctx context.Context, s *redis.Script, keys []string, args ...any) (answer any, unsure bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	pause, until := 2*time.Millisecond, time.Now().Add(r.Patience)
	var before error // error of the previous attempt, the reason for this one
	for {
		var ran bool
		if r.Replicas > 0 {
			answer, ran, err = r.replicated(ctx, s, keys, args)
		} else {
			answer, err = s.Run(ctx, r.Client, keys, args...).Result()
		}
		if err == nil || errors.Is(err, redis.Nil) {
			return answer, unsure, nil
		}
		unsure = unsure || ran || !Refused(err)
		switch {
		case ctx.Err() != nil && before != nil && !ran && !Refused(err): // this attempt was cut short
			return nil, unsure, fmt.Errorf("%w, after: %w", context.Cause(ctx), before)
		case !Transient(err) || r.Patience > 0 && time.Now().After(until):
			return nil, unsure, err
		}
		before = err
		if c, ok := r.Client.(reloading); ok {
			c.ReloadState(ctx) // the client would wait until its next interval
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, unsure, fmt.Errorf("%w, after: %w", context.Cause(ctx), err)
		case <-timer.C:
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

// replicated runs a script and waits on the same connection until replicas have its writes: WAIT covers the writes of
// its own connection, so both go in one pipeline. A nil answer means that nothing was written. ran reports that the
// script has run, even if WAIT, or a later attempt, returned an error.
func (r *Runner) replicated(ctx context.Context, s *redis.Script, keys []string, args []any) (result any, ran bool, err error) {
	c, err := Master(ctx, r.Client, keys[0]) // WAIT has no key by which a cluster client could find the server
	if err != nil {
		return nil, false, err
	}
	until, source := time.Now().Add(r.ReplicaTimeout), false
	if t, ok := ctx.Deadline(); ok && t.Before(until) {
		until = t
	}
	for {
		var answer, have *redis.Cmd
		wait := min(max(time.Until(until)/2, time.Millisecond), 500*time.Millisecond) // well below the read time-out
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			if source {
				answer = s.Eval(ctx, p, keys, args...)
			} else {
				answer = s.EvalSha(ctx, p, keys, args...)
			}
			have = p.Do(ctx, "WAIT", r.Replicas, wait.Milliseconds())
			return nil
		})
		if !source && redis.HasErrorPrefix(answer.Err(), "NOSCRIPT") {
			source = true
			continue
		}
		if answer.Err() != nil {
			return nil, ran, answer.Err()
		}
		ran = true
		if err != nil && have.Err() == nil {
			return nil, ran, err
		}
		n, err := have.Int64()
		switch {
		case err != nil:
			return nil, ran, err
		case n >= int64(r.Replicas):
			return answer.Val(), ran, nil
		case ctx.Err() != nil:
			return nil, ran, fmt.Errorf("%w: %w", TooFew{n, int64(r.Replicas)}, ctx.Err())
		case !time.Now().Before(until):
			return nil, ran, TooFew{n, int64(r.Replicas)}
		}
	}
}
