package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
)

// story is what happens.
type story struct {
	*indexes

	service  *service
	versions atomic.Int64
	writers  sync.WaitGroup
	mu       sync.Mutex // guards errs
	errs     []error
	dropped  map[string]*bufferedsender.CloseError
	out      io.Writer
}

// play is the whole program.
func play(ctx context.Context, c config, logger *slog.Logger, out io.Writer) error {
	service, err := newService()
	if err != nil {
		return err
	}
	defer service.Close()
	client, err := service.client()
	if err != nil {
		return err
	}
	x, err := newIndexes(client, logger)
	if err != nil {
		return err
	}
	s := &story{indexes: x, service: service, out: out}
	err = s.happen(ctx, c.lasts)
	err = errors.Join(err, s.close(ctx))
	s.report()
	return errors.Join(err, s.verify())
}

// happen lets everything happen that is to happen, and returns when nobody writes any more.
func (s *story) happen(ctx context.Context, lasts time.Duration) error {
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		dropped, err := s.watch(watching)
		s.dropped = dropped
		s.failed(err)
	}()

	writing, stopWriting := context.WithTimeout(ctx, lasts)
	defer stopWriting()
	for _, name := range s.service.names[1:] {
		s.start(writing, name, steady, 300*time.Millisecond, s.trickle("item", 50*time.Millisecond))
	}
	s.start(writing, products, live, 50*time.Millisecond, s.trickle("live", 10*time.Millisecond))
	s.say("%d indexes are written to, without a backfill", len(s.service.names))

	half := lasts / 2
	if wait(ctx, half) {
		s.ledger.backfilling.Store(true)
		s.start(writing, products, backfill, 50*time.Millisecond, s.flood)
		s.say("a backfill of %q has begun", products)
	}
	if wait(ctx, half/6) {
		s.service.breakDown(half / 2)
		s.say("%q answers 503, for %v", sick, half/2)
	}
	if wait(ctx, half/6) {
		s.failed(s.client.DeleteIndex(ctx, doomed, nil))
		s.say("%q was deleted", doomed)
	}
	s.writers.Wait()
	for patience := time.Now().Add(5 * time.Second); slices.Contains(s.fleet.Indexes(), doomed) && time.Now().Before(patience); {
		if !wait(ctx, 50*time.Millisecond) {
			break
		}
	}
	stopWatching()
	<-watched
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// put writes items to the index of a writer, in its class.
type put func(items ...Item) error

// start starts a writer, which ends when ctx does or its sender is closed.
func (s *story) start(ctx context.Context, index string, class pool.Class, autoFlush time.Duration, writer func(context.Context, put) error) {
	sender, err := s.sender(index, autoFlush)
	if err != nil {
		s.failed(err)
		return
	}
	s.writers.Go(func() {
		err := writer(ctx, func(items ...Item) error { return s.write(ctx, index, sender, class, items...) })
		switch {
		case ctx.Err() != nil: // the time is over
		case index == doomed && errors.Is(err, bufferedsender.ErrClosed): // it was dropped
		default:
			s.failed(err)
		}
	})
}

// trickle returns a writer that changes one of fifty documents at a time.
func (s *story) trickle(what string, every time.Duration) func(context.Context, put) error {
	return func(ctx context.Context, put put) error {
		for n := 0; wait(ctx, every); n++ {
			if err := put(s.item(what, n%50)); err != nil {
				return err
			}
		}
		return nil
	}
}

// flood writes new documents as fast as there is room for them.
func (s *story) flood(ctx context.Context, put put) error {
	const piece = 200
	for n := 0; ctx.Err() == nil; n += piece {
		items := make([]Item, piece)
		for i := range items {
			items[i] = s.item("backfill", n+i)
		}
		if err := put(items...); err != nil {
			return err
		}
	}
	return nil
}

// item makes an item with a version that no other has. Those of one key are made by one writer.
func (s *story) item(what string, n int) Item {
	return Item{ID: fmt.Sprintf("%s-%05d", what, n), Version: s.versions.Add(1), Text: strings.Repeat("some words about it ", 10)}
}

// say prints what happens.
func (s *story) say(format string, args ...any) { fmt.Fprintf(s.out, "- "+format+"\n", args...) }

// failed notes an error that ought not to be.
func (s *story) failed(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}
