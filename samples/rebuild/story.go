package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/hotels"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/rebuild"
)

const (
	fromBefore = 3000 // hotels that are never changed
	writers    = 2
	perSecond  = 5000 // writes, all writers together
	atOnce     = 50
)

// story is the state of the run.
type story struct {
	db      *sql.DB
	service *stage.Service
	indexes *search.IndexClient
	readers *search.Client // through the alias
	store   *rebuild.SQL
	senders []*bufferedsender.BufferedSender[Hotel]
	logger  *slog.Logger

	written, reads atomic.Int64
}

func tell(ctx context.Context, logger *slog.Logger, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "rebuild")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := hotels.Open(dir)
	if err != nil {
		return err
	}
	defer db.Close()
	service := stage.Emulate(nil)
	defer service.Close()
	s := &story{logger: logger, db: db, service: service, indexes: service.Indexes}
	defer func() {
		for _, sender := range s.senders {
			err = errors.Join(err, stage.Close(ctx, sender))
		}
	}()
	if err := s.begin(ctx); err != nil {
		return err
	}
	if err := s.find(ctx, out, "before"); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d hotels from before, %d writers of %d a second together, a reader that looks every 10 ms\n", fromBefore, writers, perSecond)
	ending, end := context.WithCancel(ctx)
	defer end()
	errs := make([]error, writers+1)
	var group sync.WaitGroup
	for i, sender := range s.senders {
		group.Go(func() { errs[i] = s.apply(ending, i, sender) })
	}
	group.Go(func() { errs[writers] = s.read(ending) })
	report, err := run(ctx, s.db, s.store, s.indexes, s.logger)
	end()
	group.Wait()
	if err = errors.Join(append(errs, err)...); err != nil {
		return err
	}
	for _, closed := range report.Closed {
		fmt.Fprintf(out, "the writers were stopped for %v\n", closed.Round(time.Millisecond))
	}
	fmt.Fprintf(out, "%d documents filled, %d concurrent writes replayed; %d writes in total\n", report.Filled, report.Replayed, s.written.Load())
	fmt.Fprintf(out, "%d reads, no document missing\n", s.reads.Load())
	return errors.Join(s.find(ctx, out, "after"), s.compare(ctx, out))
}

// begin creates table, index, alias and senders.
func (s *story) begin(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, hotels.Schema); err != nil {
		return err
	}
	first, err := definition(oldIndex, "standard.lucene")
	if err != nil {
		return err
	}
	if _, err := s.indexes.CreateIndex(ctx, first, nil); err != nil {
		return err
	}
	if _, err := s.indexes.CreateAlias(ctx, models.Alias{Name: alias, Indexes: []string{oldIndex}}, nil); err != nil {
		return err
	}
	if s.readers, err = s.indexes.Client(alias); err != nil {
		return err
	}
	if s.store, err = rebuild.NewSQL(s.db, rebuild.SQLOptions{Dialect: rebuild.SQLite, Name: alias}); err != nil {
		return err
	}
	if err := s.store.CreateTables(ctx); err != nil {
		return err
	}
	for i := range writers {
		sender, err := writer(ctx, s.store, s.indexes, fmt.Sprint("writer-", i), s.logger)
		if err != nil {
			return err
		}
		s.senders = append(s.senders, sender)
	}
	var all []Hotel
	for i := range fromBefore {
		all = append(all, Hotel{ID: fmt.Sprintf("old%05d", i), Text: "Guests love the running water", Version: 1})
	}
	return errors.Join(write(ctx, s.db, s.senders[0], all, nil), s.senders[0].Flush(ctx, nil))
}

// apply is a writing program: it changes a few hotels at a time.
func (s *story) apply(ctx context.Context, id int, sender *bufferedsender.BufferedSender[Hotel]) error {
	changes := hotels.Writer{Prefix: fmt.Sprintf("new%d-", id)}
	tick := time.NewTicker(atOnce * writers * time.Second / perSecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return sender.Flush(context.WithoutCancel(ctx), nil)
		}
		upload, remove := changes.Next(atOnce)
		if err := write(context.WithoutCancel(ctx), s.db, sender, upload, remove); err != nil {
			return err
		}
		s.written.Add(atOnce)
	}
}

// read checks every 10 ms that no document is missing.
func (s *story) read(ctx context.Context) error {
	for ctx.Err() == nil {
		asked := context.WithoutCancel(ctx)
		key := fmt.Sprintf("old%05d", rand.IntN(fromBefore))
		if _, err := search.GetDocument[Hotel](asked, s.readers, key, nil); err != nil {
			return fmt.Errorf("a reader: %w", err)
		}
		n, err := s.readers.DocumentCount(asked, nil)
		if err != nil {
			return fmt.Errorf("a reader: %w", err)
		}
		if n < fromBefore {
			return fmt.Errorf("a reader finds %d documents, and %d were there from the beginning", n, fromBefore)
		}
		s.reads.Add(1)
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// find searches for words whose inflected forms are in the texts. Only the new analyzer matches them.
func (s *story) find(ctx context.Context, out io.Writer, when string) error {
	n := 0
	for _, err := range search.Search[Hotel](ctx, s.readers, "run guest", &search.SearchOptions{SearchMode: models.SearchModeAll}) {
		if err != nil {
			return err
		}
		n++
	}
	fmt.Fprintf(out, "%s: \"run guest\" finds %d hotels whose texts have \"running\" and \"guests\"\n", when, n)
	if want := map[string]int{"before": 0, "after": fromBefore}[when]; n != want {
		return fmt.Errorf("it should find %d", want)
	}
	return nil
}

// compare returns an error if the new index differs from the table.
func (s *story) compare(ctx context.Context, out io.Writer) error {
	table, err := hotels.Table(ctx, s.db, "")
	if err != nil {
		return err
	}
	index, err := stage.Documents[Hotel](s.service, newIndex)
	if err = errors.Join(err, stage.Problems(stage.Differences(table, index))); err != nil {
		return err
	}
	fmt.Fprintln(out, "new index == table: yes")
	return nil
}
