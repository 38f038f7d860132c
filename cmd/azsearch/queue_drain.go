package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/drain"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
)

// queueDrain moves a queue into another one, and prints its progress on stderr every second.
func queueDrain(stderr io.Writer) func(context.Context, *queueCall) error {
	return func(ctx context.Context, c *queueCall) error {
		where, err := parsePlace(c.String("to"), c.String("to-name"))
		if err != nil {
			return fmt.Errorf("-to: %w", err)
		}
		to, err := where.open(making)
		if err != nil {
			return fmt.Errorf("-to: %w", err)
		}
		host, _ := os.Hostname()
		next := time.Now().Add(time.Second)
		done, err := drain.Run(ctx, c.q.(administered), to, drain.Options{
			Name: fmt.Sprintf("azsearch queue drain, process %d on %s", os.Getpid(), host),
			Progress: func(r drain.Result) {
				if now := time.Now(); now.After(next) {
					next = now.Add(time.Second)
					fmt.Fprintf(stderr, "azsearch: moved %s%s\n", amount.Of(r.Records, "record"), c.waiting(ctx))
				}
			},
		})
		err = errors.Join(err, to.Close())
		switch {
		case errors.Is(err, drain.ErrSame):
			return failed(fmt.Errorf("-to: %s and %s are the same queue", c.place, where))
		case errors.Is(err, drain.ErrPaused):
			err = fmt.Errorf("%w: stop its senders, then run azsearch queue resume", err)
		case ctx.Err() != nil:
			return exit.With(exit.Interrupted, fmt.Errorf("interrupted with %s moved; run it again to continue", amount.Of(done.Records, "record")))
		}
		if err != nil {
			return failed(fmt.Errorf("moved %s, then: %w; run it again to continue", amount.Of(done.Records, "record"), err))
		}
		said := "moved " + amount.Of(done.Records, "record")
		if done.Left > 0 {
			said += "; left, because parked: " + amount.Of(done.Left, "key") + "; azsearch queue release or drop ends that"
		}
		return c.said(done, said)
	}
}

// waiting returns the number of keys left as a phrase, "" if it cannot be read.
func (c *queueCall) waiting(ctx context.Context) string {
	s, err := c.q.Stats(ctx)
	if err != nil {
		return ""
	}
	return ", left: " + amount.Of(s.Waiting, "key")
}
