package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/hotels"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const (
	oldHotels  = 2000 // never written by the application; the culprit changes them
	lostHotels = 7    // of these, the number whose writes are lost
	visible    = 200 * time.Millisecond
)

// story is the state of the run.
type story struct {
	db     *sql.DB
	client *search.Client
	tree   *digesttree.Tree
	sender *bufferedsender.BufferedSender[Hotel]

	writes, spoiled   atomic.Int64
	passes            int
	repaired, deleted int64
}

func tell(ctx context.Context, length time.Duration, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "repair")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &story{}
	if s.db, err = hotels.Open(dir); err != nil {
		return err
	}
	defer s.db.Close()
	service := stage.Emulate(&searchtest.Options{VisibilityLag: visible})
	defer service.Close()
	if s.client, err = stage.Open[Hotel](ctx, service, "hotels"); err != nil {
		return err
	}
	opts := bufferedsender.Options[Hotel]{AutoFlushInterval: 20 * time.Millisecond}
	if s.tree, s.sender, err = follow(s.client, filepath.Join(dir, "tree"), opts); err != nil {
		return err
	}
	defer func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.sender.Close(ended) // everything was flushed, or there is an earlier error
		err = errors.Join(err, s.tree.Close(context.Background()))
	}()
	if err := s.begin(ctx); err != nil {
		return err
	}
	if err := s.lose(ctx, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d hotels without writes, and an application that writes others at full speed, for %v\n", oldHotels, length)
	if err := s.live(ctx, length); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d writes of the application; %d documents deleted, changed or added by the culprit\n", s.writes.Load(), s.spoiled.Load())
	return s.judge(ctx, out)
}

// begin fills table and index with the same hotels.
func (s *story) begin(ctx context.Context) (err error) {
	if _, err := s.db.ExecContext(ctx, hotels.Schema); err != nil {
		return err
	}
	var all []Hotel
	for i := range oldHotels {
		all = append(all, Hotel{ID: fmt.Sprintf("old%05d", i), Text: "The Ritz", Version: 1})
	}
	if err := s.write(ctx, all, nil); err != nil {
		return err
	}
	return s.sender.Flush(ctx, nil)
}

// unread counts the full scans of an index.
type unread struct {
	*search.Rows
	scans int
}

func (u *unread) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	u.scans++
	return u.Rows.Scan(ctx, after, through)
}

// lose simulates an application that dies between the commit and the sending of some hotels, and repairs these.
func (s *story) lose(ctx context.Context, out io.Writer) error {
	var some []Hotel
	for i := range lostHotels {
		some = append(some, Hotel{ID: fmt.Sprintf("old%05d", i*oldHotels/lostHotels), Text: "The new Ritz", Version: 2})
	}
	if err := hotels.Commit(ctx, s.db, some, nil); err != nil {
		return err
	}
	rows, err := index(s.client)
	if err != nil {
		return err
	}
	counted := &unread{Rows: rows}
	began := time.Now()
	report, err := repairLost(ctx, s.tree, s.db, counted, s.sender)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d writes of %d hotels lost between table and index: %d found and %d repaired in %.1f s, %d scans of the index\n",
		lostHotels, oldHotels, report.Tree.Found, report.Repaired, time.Since(began).Seconds(), counted.scans)
	return nil
}

// write changes the table first and then the index, as the application must.
func (s *story) write(ctx context.Context, upload, remove []Hotel) error {
	if err := hotels.Commit(ctx, s.db, upload, remove); err != nil {
		return err
	}
	s.writes.Add(int64(len(upload) + len(remove)))
	return errors.Join(s.sender.UploadDocuments(ctx, upload...), s.sender.DeleteDocuments(ctx, remove...))
}

// live runs application, culprit and repair at the same time.
func (s *story) live(ctx context.Context, length time.Duration) error {
	var group sync.WaitGroup
	end := time.Now().Add(length)
	errs := make([]error, 3)
	group.Go(func() { errs[0] = s.apply(ctx, end) })
	group.Go(func() { errs[1] = s.spoil(ctx, end) })
	group.Go(func() {
		for time.Now().Before(end) && errs[2] == nil {
			_, errs[2] = s.pass(ctx)
		}
	})
	group.Wait()
	return errors.Join(append(errs, s.sender.Flush(ctx, nil))...)
}

// apply is the application: it changes a few hotels at a time.
func (s *story) apply(ctx context.Context, end time.Time) error {
	changes := hotels.Writer{Prefix: "new"}
	for time.Now().Before(end) {
		upload, remove := changes.Next(20)
		if err := s.write(ctx, upload, remove); err != nil {
			return err
		}
	}
	return nil
}

// This is the culprit: it changes the index without the sender and the table.
func (s *story) spoil(ctx context.Context, end time.Time) error {
	for i := 0; time.Now().Before(end); i++ {
		h := Hotel{ID: fmt.Sprintf("old%05d", rand.IntN(oldHotels)), Text: "spoiled"}
		action := models.UploadAction(h)
		switch i % 3 {
		case 0:
			action = models.DeleteAction(h)
		case 1:
			h.ID = fmt.Sprintf("odd%05d", rand.IntN(20))
			action = models.UploadAction(h)
		}
		if _, err := search.IndexDocuments(ctx, s.client, models.IndexDocumentsBatch[Hotel]{Actions: []models.IndexDocumentsAction[Hotel]{action}}, nil); err != nil {
			return err
		}
		s.spoiled.Add(1)
		if !stage.Wait(ctx, 10*time.Millisecond) {
			return ctx.Err()
		}
	}
	return nil
}

// pass runs one repair.
func (s *story) pass(ctx context.Context) (repair.Report, error) {
	rows, err := index(s.client)
	if err != nil {
		return repair.Report{}, err
	}
	r := repair.Repairer{Source: source(s.db), Index: rows, Sender: s.sender.Raw(), Options: repair.Options{
		Pause:    2 * visible,
		MaxShare: 1,               // the culprit changes more in a few seconds than the default allows in a day
		Throttle: []repair.Tier{}, // the default slows down while the sender is busy, and this application writes without pause
	}}
	report, err := r.Run(ctx)
	s.passes++
	s.repaired += report.Repaired
	s.deleted += report.Deleted
	return report, err
}

// judge checks that no write was lost, and that repeated passes make index and table equal.
func (s *story) judge(ctx context.Context, out io.Writer) error {
	time.Sleep(2 * visible) // all writes are visible
	problems, err := s.compare(ctx, "new")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d documents of the application are lost or outdated\n", len(problems))
	if len(problems) > 0 {
		return fmt.Errorf("the repair lost writes: %w", stage.Problems(problems))
	}
	for range 3 { // for the last changes of the culprit
		report, err := s.pass(ctx)
		if err != nil {
			return err
		}
		if report.Agrees() && report.Passing == 0 {
			break
		}
	}
	fmt.Fprintf(out, "%d passes, the last ones after that: %d documents repaired, %d deleted\n", s.passes, s.repaired, s.deleted)
	problems, err = s.compare(ctx, "")
	if err = errors.Join(err, stage.Problems(problems)); err != nil {
		return err
	}
	fmt.Fprintln(out, "index == table: yes")
	return nil
}

// compare returns the differences between index and table for keys with a prefix.
func (s *story) compare(ctx context.Context, prefix string) ([]string, error) {
	table, err := hotels.Table(ctx, s.db, "")
	if err != nil {
		return nil, err
	}
	documents := make(map[string]Hotel)
	for h, err := range search.Scan[Hotel](ctx, s.client, nil) {
		if err != nil {
			return nil, err
		}
		documents[h.ID] = h
	}
	for _, all := range []map[string]Hotel{table, documents} {
		maps.DeleteFunc(all, func(key string, _ Hotel) bool { return !strings.HasPrefix(key, prefix) })
	}
	return stage.Differences(table, documents), nil
}
