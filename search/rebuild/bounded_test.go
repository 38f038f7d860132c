package rebuild

import (
	"context"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// deaf is a store whose driver ignores contexts once it is broken, until it is over.
type deaf struct {
	Store
	broken *atomic.Bool
	over   chan struct{}
	end    func() // the driver returns; may be called again
}

func newDeaf(store Store) deaf {
	d := deaf{Store: store, broken: new(atomic.Bool), over: make(chan struct{})}
	d.end = sync.OnceFunc(func() { d.broken.Store(false); close(d.over) })
	return d
}

func (d deaf) wait() {
	if d.broken.Load() {
		<-d.over
	}
}

func (d deaf) Load(ctx context.Context) (Record, error) {
	d.wait()
	return d.Store.Load(ctx)
}

func (d deaf) Swap(ctx context.Context, next Record) (Record, error) {
	d.wait()
	return d.Store.Swap(ctx, next)
}

func (d deaf) Mark(ctx context.Context, epoch int64, keys []string) (int64, error) {
	d.wait()
	return d.Store.Mark(ctx, epoch, keys)
}

func TestARunWhoseDriverDoesNotReturnEndsAndAnotherGoesOn(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"closed", string(StepFilling), "close", "closed again"}[:testkit.Cases(1, 4, 4)] {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 20)
				m := w.runner(Options{Settle: time.Second})
				store := newDeaf(m.r.store)
				defer store.end()
				m.r.store = returning(store)
				m.r.line = at(line, func() { store.broken.Store(true) })
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
				defer cancel()
				began := time.Now()
				err := m.run(ctx)
				require.ErrorContains(t, err, "returned")
				assert.Less(t, time.Since(began), 7*time.Minute, "from its beginning: its context lasts a day")
				store.end() // late swaps may take effect
				synctest.Wait()
				next := w.runner(Options{Settle: time.Second})
				require.NoError(t, next.run(t.Context()))
				w.checkTruth(newIndex)
			})
		})
	}
}

func TestAFillThatReturnsNothingForAnHourIsMentionedInTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 900)
		m := w.runner(Options{Settle: time.Second})
		log := new(sendertest.Buffer)
		m.r.opts.Logger = slog.New(slog.NewTextHandler(log, nil))
		all := m.r.fill.All
		m.r.fill.All = func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				n := 0
				for a, err := range all(ctx, after) {
					if n++; n == 600 {
						time.Sleep(time.Hour)
					}
					if !yield(a, err) {
						return
					}
				}
			}
		}
		require.NoError(t, m.run(t.Context()))
		assert.Equal(t, 8, strings.Count(log.String(), "Fill.All returns no document"), "after 10 s, 30 s, 70 s, ... 42 min")
		assert.Contains(t, log.String(), "for=10s")
		w.checkTruth(newIndex)
	})
}

func TestATapWhoseDriverDoesNotReturnFailsInsteadOfWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newDeaf(NewMemory())
		defer store.end()
		tap, err := NewTap(t.Context(), store, TapOptions{Writer: "w", Index: oldIndex, Connect: func(string) (Indexer, error) { return noIndexer{}, nil }})
		require.NoError(t, err)
		tap.Indexer()
		store.broken.Store(true)
		for n := range 12 {
			time.Sleep(time.Hour) // what it has read expires
			began := time.Now()
			err := tap.Before(t.Context(), []string{"1"})
			require.ErrorContains(t, err, "the tap of \"w\" cannot be read")
			assert.LessOrEqual(t, time.Since(began), 11*time.Second)
			if n >= 8 { // one call in twenty seconds is tried
				began = time.Now()
				err = tap.Before(t.Context(), []string{"1"})
				require.ErrorContains(t, err, "calls of the driver have not returned")
				require.Equal(t, began, time.Now())
			}
		}
		store.end()
		synctest.Wait()
		require.NoError(t, tap.Before(t.Context(), []string{"1"}))
	})
}

// A panic on a goroutine of its own would end the process. The sender takes one in a tap for a lost connection.
func TestAPanicOfAStoreIsOneOfTheTap(t *testing.T) {
	store := &panics{Store: NewMemory()}
	tap, err := NewTap(t.Context(), store, TapOptions{Writer: "w", Index: oldIndex, IdleValid: time.Second, Connect: func(string) (Indexer, error) { return noIndexer{}, nil }})
	require.NoError(t, err)
	tap.Indexer()
	tap.monotonic = func() time.Time { return time.Now().Add(time.Hour) }
	store.broken = true
	assert.Panics(t, func() { _ = tap.Before(t.Context(), []string{"1"}) })
}

type panics struct {
	Store
	broken bool
}

func (p *panics) Load(ctx context.Context) (Record, error) {
	if p.broken {
		panic("driver")
	}
	return p.Store.Load(ctx)
}
