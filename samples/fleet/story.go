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

// story is the state of the run.
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

// play runs the whole program.
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

// happen runs the writers and the faults, and returns when all writers have ended.
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
		s.start(writing, name, steady, 300*time.Millisecond, 50*time.Millisecond, 1, 50)
	}
	s.start(writing, products, live, 50*time.Millisecond, 10*time.Millisecond, 1, 50)
	fmt.Fprintf(s.out, "- %d indexes are written to, without a backfill\n", len(s.names))

	half := lasts / 2
	if stage.Wait(ctx, half) {
		s.ledger.mu.Lock()
		s.ledger.backfilling = true
		s.ledger.mu.Unlock()
		s.start(writing, products, backfill, 50*time.Millisecond, 0, 200, 1_000_000)
		fmt.Fprintf(s.out, "- a backfill of %q has begun\n", products)
	}
	if stage.Wait(ctx, half/6) {
		s.service.Faults(searchtest.Fault{Index: sick, Status: http.StatusServiceUnavailable, For: searchtest.Duration(half / 2)})
		fmt.Fprintf(s.out, "- %q answers 503, for %v\n", sick, half/2)
	}
	if stage.Wait(ctx, half/6) {
		s.failed(s.client.DeleteIndex(ctx, doomed, nil))
		fmt.Fprintf(s.out, "- %q was deleted\n", doomed)
	}
	s.writers.Wait()
	_ = stage.Until(ctx, 5*time.Second, 50*time.Millisecond, func() (bool, error) { return !slices.Contains(s.fleet.Indexes(), doomed), nil })
	stopWatching()
	<-watched
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// start starts a writer. It writes a piece of its documents after each interval, and ends when ctx ends or its sender
// is closed. Each item has its own version.
func (s *story) start(ctx context.Context, index string, class models.Class, autoFlush, every time.Duration, piece, documents int) {
	sender, err := s.sender(index, autoFlush)
	if err != nil {
		s.failed(err)
		return
	}
	s.writers.Go(func() {
		for n := 0; stage.Wait(ctx, every); n += piece {
			items := make([]Item, piece)
			for i := range items {
				items[i] = Item{ID: fmt.Sprintf("%d-%06d", class, (n+i)%documents), Version: s.versions.Add(1), Text: strings.Repeat("some words about it ", 10)}
			}
			if err := s.write(ctx, index, sender, class, items...); err != nil {
				if ctx.Err() == nil && (index != doomed || !errors.Is(err, bufferedsender.ErrClosed)) { // dropped
					s.failed(err)
				}
				return
			}
		}
	})
}

// failed records an unexpected error.
func (s *story) failed(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

// The indexes with a special role.
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
