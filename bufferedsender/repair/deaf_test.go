package repair

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// deaf is a source whose driver ignores contexts in the given method, until it is over.
type deaf struct {
	half
	in   string
	over chan struct{}
	open *atomic.Int64 // calls that have not returned
}

func newDeaf(w *world, in string) deaf {
	return deaf{half{w, "source"}, in, make(chan struct{}), new(atomic.Int64)}
}

func (d deaf) wait(in string) {
	if d.in == in {
		d.open.Add(1)
		<-d.over
		d.open.Add(-1)
	}
}

func (d deaf) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		for row, err := range d.half.Scan(ctx, after, through) {
			if !yield(row, err) {
				return
			}
			d.wait("Scan")
		}
	}
}

func (d deaf) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	d.wait("Lookup")
	return d.half.Lookup(ctx, keys)
}

func (d deaf) Read(ctx context.Context, keys []string) ([]models.RawAction, error) {
	d.wait("Read")
	return d.half.Read(ctx, keys)
}

func TestASourceWhoseDriverDoesNotReturnEndsThePass(t *testing.T) {
	says := map[string]string{"Scan": "scan the source", "Lookup": "Lookup of the source", "Read": "read documents of the source", "Pending": "Pending took longer"}
	for in, most := range map[string]time.Duration{"Scan": 6 * time.Minute, "Lookup": 2 * time.Minute, "Read": 2 * time.Minute, "Pending": 2 * time.Minute} {
		inBubble(t, func(t *testing.T, w *world) {
			w.fill(100)
			w.behind(key(1), nil)
			time.Sleep(time.Minute)
			source, log := newDeaf(w, in), new(sendertest.Buffer)
			o := Options{Logger: slog.New(slog.NewTextHandler(log, nil))}
			if in == "Pending" {
				o.Pending = func(_ context.Context, keys []string) ([]bool, error) {
					source.wait(in)
					return make([]bool, len(keys)), nil
				}
			}
			s, began := w.sender(nil), time.Now()
			_, err := repairer(source, half{w, "index"}, s.Raw(), &o).Run(t.Context())
			require.ErrorContains(t, err, says[in])
			require.ErrorContains(t, err, "the driver has not returned 5s after the end of its context")
			assert.Less(t, time.Since(began), most)
			assert.Contains(t, log.String(), "call has not returned for ten seconds")
			assert.Contains(t, log.String(), in)
			assert.Len(t, w.index, 99, "nothing is deleted for rows that did not come")
			require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: key(1)}), "no key is held")
			require.NoError(t, s.Flush(t.Context(), nil))
			close(source.over)
			synctest.Wait()
			assert.Zero(t, source.open.Load())
		})
	}
}

func TestAMarkWhoseDriverDoesNotReturnEndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.behind(key(1), nil)
		time.Sleep(time.Minute)
		over, log := make(chan struct{}), new(sendertest.Buffer)
		mark := func(context.Context, []string) error { <-over; return nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		o := Options{Mark: mark, Logger: slog.New(slog.NewTextHandler(log, nil))}
		_, err := repairer(half{w, "source"}, half{w, "index"}, nil, &o).Run(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Less(t, time.Since(began), time.Hour+time.Minute)
		assert.Equal(t, 1, strings.Count(log.String(), "call=Mark"))
		close(over)
	})
}

// deafDatabase is a database whose driver ignores the context while it connects.
type deafDatabase struct{ over chan struct{} }

func (d deafDatabase) Connect(context.Context) (driver.Conn, error) {
	<-d.over
	return nil, driver.ErrBadConn
}

func (deafDatabase) Driver() driver.Driver { return nil }

func TestAStoreWhoseDriverDoesNotReturnFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		db := sql.OpenDB(deafDatabase{over})
		s, err := NewSQLStore(db, "repairs", nil)
		require.NoError(t, err)
		for name, call := range map[string]func(ctx context.Context) error{
			"Lock": func(ctx context.Context) error { _, _, err := s.Lock(ctx, "r"); return err },
			"Load": func(ctx context.Context) error { _, err := s.Load(ctx, "r"); return err },
			"Save": func(ctx context.Context) error { return s.Save(ctx, "r", nil) },
		} {
			began := time.Now()
			require.ErrorContains(t, call(t.Context()), "the table repairs: the driver has not returned 5s after", name)
			assert.Less(t, time.Since(began), 2*time.Minute, name)
		}
		close(over)
		synctest.Wait()
		require.NoError(t, db.Close())
	})
}

// A Watch makes passes for months.
func TestTheCallsThatAWatchAbandonsAreBounded(t *testing.T) {
	for _, in := range []string{"Scan", "Lookup"} {
		for _, functions := range []bool{false, true} {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(100)
				w.behind(key(1), nil)
				time.Sleep(time.Minute)
				d := newDeaf(w, in)
				var source Source = &d
				if functions {
					source = Functions{ScanRows: d.Scan, LookupKeys: d.Lookup, ReadKeys: d.Read}
				}
				ctx, cancel := context.WithCancel(t.Context())
				passes := 0
				err := repairer(source, half{w, "index"}, w.sender(nil).Raw(), &Options{Logger: quiet}).Watch(ctx, time.Hour, func(_ Report, err error) {
					assert.ErrorContains(t, err, "source")
					if passes++; passes == 50 {
						assert.ErrorContains(t, err, "calls of the driver have not returned")
						cancel()
					}
				})
				require.ErrorIs(t, err, context.Canceled)
				assert.EqualValues(t, 32, d.open.Load(), "%s %v", in, functions)
				close(d.over)
				synctest.Wait()
			})
		}
	}
}
