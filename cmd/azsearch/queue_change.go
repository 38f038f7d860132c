package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
)

// perCall is the number of keys released or dropped per call.
const perCall = 1000

func queueRelease(ctx context.Context, c *queueCall) error {
	return c.changeParked(ctx, "released", c.q.Unpark)
}

func queueDrop(ctx context.Context, c *queueCall) error {
	return c.changeParked(ctx, "dropped", c.q.Drop)
}

// changeParked calls do with the named keys that are parked, or with -all with all parked keys.
func (c *queueCall) changeParked(ctx context.Context, done string, do func(context.Context, ...string) (int, error)) error {
	parked, err := c.parked(ctx)
	if err != nil {
		return failed(err)
	}
	if c.Bool("all") && !c.Bool("yes") && len(parked) > 0 {
		return fmt.Errorf("%s would be %s: add -yes to confirm", amount.Of(len(parked), "parked key"), done)
	}
	n := 0
	for keys := range slices.Chunk(parked, perCall) {
		some, err := do(ctx, keys...)
		n += some
		if err != nil {
			return failed(fmt.Errorf("%s %d of %s, then: %w", done, n, amount.Of(len(parked), "key"), err))
		}
	}
	if err := c.out.Done(map[string]int{done: n}, fmt.Sprintf("%s %s", done, amount.Of(n, "key"))); err != nil {
		return failed(err)
	}
	var others []string
	for _, key := range c.keys {
		if !slices.Contains(parked, key) {
			others = append(others, listing.Safe(key))
		}
	}
	if len(others) > 0 {
		return failed(fmt.Errorf("not parked: %s", strings.Join(others, ", ")))
	}
	return nil
}

// parked returns the named keys that are parked; all parked keys if none is named. It returns them sorted.
func (c *queueCall) parked(ctx context.Context) ([]string, error) {
	s, err := c.q.Stats(ctx)
	if err != nil {
		return nil, err
	}
	what := queue.Inspection{States: queue.Parked, Limit: max(int(s.Parked), len(c.keys), 1)}
	if len(c.keys) > 0 {
		what.Keys = c.keys
	}
	entries, err := c.q.Inspect(ctx, what)
	keys := make([]string, len(entries))
	for i := range entries {
		keys[i] = entries[i].Key
	}
	slices.Sort(keys)
	return slices.Compact(keys), err
}

func queuePause(ctx context.Context, c *queueCall) error {
	reason := c.String("reason")
	if reason == "" {
		return errors.New("-reason must not be empty: stats shows it to other users")
	}
	if err := c.q.Pause(ctx, reason); err != nil {
		return failed(err)
	}
	return c.said(map[string]bool{"paused": true}, "paused; azsearch queue resume ends it")
}

func queueResume(ctx context.Context, c *queueCall) error {
	before, err := c.q.Stats(ctx)
	if err == nil {
		err = c.q.Resume(ctx)
	}
	if err != nil {
		return failed(err)
	}
	if !before.Paused {
		return c.said(map[string]bool{"paused": false}, "the queue was not paused")
	}
	return c.said(map[string]bool{"paused": false}, "resumed")
}

func (c *queueCall) said(v any, sentence string) error {
	if err := c.out.Done(v, sentence); err != nil {
		return failed(err)
	}
	return nil
}
