package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// story is what happens.
type story struct {
	*indexes

	service  *stage.Service
	names    []string // of the indexes
	versions atomic.Int64
	writers  sync.WaitGroup
	mu       sync.Mutex // guards errs
	errs     []error
	dropped  map[string]*bufferedsender.CloseError
	out      io.Writer
}

// play is the whole program.
func play(ctx context.Context, lasts time.Duration, logger *slog.Logger, out io.Writer) error {
	service := stage.Emulate(&searchtest.Options{Latency: 25 * time.Millisecond, KeepRequests: -1, KeepChanges: -1})
	defer service.Close()
	x, err := newIndexes(service.Indexes, logger)
	if err != nil {
		return err
	}
	s := &story{indexes: x, service: service, out: out}
	if err := s.create(); err != nil {
		return errors.Join(err, s.close(ctx))
	}
	err = errors.Join(s.happen(ctx, lasts), s.close(ctx))
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
	for _, name := range s.names[1:] {
		s.start(writing, name, steady, 300*time.Millisecond, s.trickle("item", 50*time.Millisecond))
	}
	s.start(writing, products, live, 50*time.Millisecond, s.trickle("live", 10*time.Millisecond))
	s.say("%d indexes are written to, without a backfill", len(s.names))

	half := lasts / 2
	if stage.Wait(ctx, half) {
		s.ledger.mu.Lock()
		s.ledger.backfilling = true
		s.ledger.mu.Unlock()
		s.start(writing, products, backfill, 50*time.Millisecond, s.flood)
		s.say("a backfill of %q has begun", products)
	}
	if stage.Wait(ctx, half/6) {
		s.breakDown(half / 2)
		s.say("%q answers 503, for %v", sick, half/2)
	}
	if stage.Wait(ctx, half/6) {
		s.failed(s.client.DeleteIndex(ctx, doomed, nil))
		s.say("%q was deleted", doomed)
	}
	s.writers.Wait()
	_ = stage.Until(ctx, 5*time.Second, 50*time.Millisecond, func() (bool, error) { return !slices.Contains(s.fleet.Indexes(), doomed), nil })
	stopWatching()
	<-watched
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// put writes items to the index of a writer, in its class.
type put func(items ...Item) error

// start starts a writer, which ends when ctx does or its sender is closed.
func (s *story) start(ctx context.Context, index string, class models.Class, autoFlush time.Duration, writer func(context.Context, put) error) {
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
		for n := 0; stage.Wait(ctx, every); n++ {
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

// The indexes that have a part of their own.
const (
	products = "products" // gets live updates and a backfill
	sick     = "reviews"  // answers 503 for a while
	doomed   = "coupons"  // is deleted
)

const howMany = 40

// create creates the indexes.
func (s *story) create() error {
	fields, err := models.FieldsOf[Item]()
	s.names = []string{products, sick, doomed}
	for len(s.names) < howMany {
		s.names = append(s.names, fmt.Sprintf("tenant-%02d", len(s.names)))
	}
	for _, name := range s.names {
		err = errors.Join(err, s.service.Emulator.CreateIndex(models.SearchIndex{Name: name, Fields: fields}))
	}
	return err
}

// breakDown has the sick index answer 503.
func (s *story) breakDown(d time.Duration) {
	s.service.Emulator.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments, Index: sick, Status: http.StatusServiceUnavailable, For: searchtest.Duration(d),
	}}})
}
