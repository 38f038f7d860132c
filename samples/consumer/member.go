package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// stopFor is how long a member that ends goes on sending what it has read.
const stopFor = 5 * time.Second

// member is a process of the group: a consumer that is started again when it cannot
// go on.
type member struct {
	name    string
	group   *Group
	indexer bufferedsender.Indexer
	aside   *deadLetters
	logger  *slog.Logger

	cancel  context.CancelFunc
	crashed bool       // set before cancel
	done    chan error // gets why it has ended
}

// start runs the member until stop or crash.
func (m *member) start(ctx context.Context) {
	ctx, m.cancel = context.WithCancel(ctx)
	m.done = make(chan error, 1) // one place: the member never waits for us
	go func() { m.done <- m.live(ctx) }()
}

func (m *member) live(ctx context.Context) error {
	for {
		c, err := newConsumer(m.name, m.group, m.indexer, m.aside, m.logger)
		if err != nil {
			return err
		}
		err = c.run(ctx)
		switch {
		case err == nil && m.crashed:
			c.crash()
			return nil
		case err == nil:
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopFor)
			defer cancel()
			return c.stop(closing)
		}
		// Something failed that says nothing about the record, so it must be sent
		// again. The marks stand below it, and the next consumer reads from there.
		m.logger.Warn("starting again from the committed offsets", "member", m.name, "error", err)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_ = c.stop(ended) // what fails here is read again
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return err
		}
	}
}

// stop has the member hand its partitions over, and returns when it has.
func (m *member) stop() error {
	m.cancel()
	return <-m.done
}

// crash ends the member without a word.
func (m *member) crash() error {
	m.crashed = true
	return m.stop()
}
