package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

func queueStats(ctx context.Context, c *queueCall) error {
	s, err := c.q.Stats(ctx)
	if err != nil {
		return failed(err)
	}
	survives := ""
	if says, ok := c.q.(queue.Survivor); ok {
		survives = says.Survives()
	}
	name := c.place.String()
	if c.place.dir != "" && !c.Bool("json") {
		name += ", as of " + c.began.Format(time.RFC3339)
	}
	if err := c.out.Stats(name, &s, survives); err != nil {
		return failed(err)
	}
	return nil
}

func queuePeek(ctx context.Context, c *queueCall) error {
	var states queue.State
	for _, name := range c.StringSlice("state") {
		switch name {
		case "waiting":
			states |= queue.Waiting
		case "leased":
			states |= queue.Leased
		case "parked":
			states |= queue.Parked
		default:
			return fmt.Errorf("-state %q is unknown: use waiting, leased or parked", name)
		}
	}
	return c.list(ctx, states)
}

// list prints the entries in the given states, 0 for all: those of the named keys, or the first -limit.
func (c *queueCall) list(ctx context.Context, states queue.State) error {
	limit := min(c.Int("limit"), math.MaxInt-1)
	if len(c.keys) > 0 {
		limit = max(limit, len(c.keys)) // print every named key
	}
	what := queue.Inspection{States: states, Limit: limit + 1, Bodies: c.Bool("bodies")}
	if len(c.keys) > 0 {
		what.Keys = c.keys
	}
	entries, err := c.q.Inspect(ctx, what)
	if err != nil {
		return failed(err)
	}
	for i := range entries[:min(limit, len(entries))] {
		if err := c.out.Entry(&entries[i], what.Bodies); err != nil {
			return failed(err)
		}
	}
	switch {
	case len(entries) > limit:
		err = c.out.More(fmt.Sprintf("… and more: -limit is %d", limit))
	case len(entries) == 0:
		err = c.out.More("nothing")
	}
	if err != nil {
		return failed(err)
	}
	return nil
}
