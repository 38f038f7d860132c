package rebuild

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

// counted counts the calls of a store.
type counted struct {
	Store
	loads, marks atomic.Int64
}

func (c *counted) Load(ctx context.Context) (Record, error) {
	c.loads.Add(1)
	return c.Store.Load(ctx)
}

func (c *counted) Mark(ctx context.Context, epoch int64, keys []string) (int64, error) {
	c.marks.Add(1)
	return c.Store.Mark(ctx, epoch, keys)
}

// set changes the record, as a runner would.
func (w *world) set(change func(*Record)) {
	r := w.record()
	change(&r)
	_, err := w.store.Swap(context.Background(), r)
	require.NoError(w.t, err)
}

// opened returns a tap with its sender.
func (w *world) opened(store Store) *Tap {
	tap := w.tap(store, "a", nil)
	tap.Indexer()
	return tap
}

func TestAWriterThatCannotReadTheTapConfirmsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		away := &mortal{w: w} // the writer's process is alive; only its store fails
		a := w.writeBy(mortalStore{w.store, away}, "a", 1)
		b := w.write("b", 2)
		time.Sleep(time.Second)
		away.dead.Store(true)
		began := time.Now()
		m := w.runner(Options{Writers: []string{"a", "b"}})
		m.r.line = func(line string) error {
			if line != string(StepFilling) {
				return nil
			}
			assert.Greater(t, time.Since(began), defaultIdleValid, "the tap may use its previous read for a minute")
			before := a.sender.Stats().Completed
			time.Sleep(10 * time.Second)
			assert.Equal(t, before, a.sender.Stats().Completed)
			return nil
		}
		require.NoError(t, m.run(t.Context()))
		assert.Positive(t, a.sender.Stats().Completed)
		assert.Zero(t, a.sender.Stats().Failed)
		away.dead.Store(false)
		a.end()
		b.end()
		w.checkTruth(newIndex)
	})
}

// slow is a client of the old index whose replies come after the rebuild.
type slow struct {
	Indexer
	until chan struct{}
}

func (s slow) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	result, err := s.Indexer.IndexDocumentsRaw(ctx, body)
	<-s.until
	return result, err
}

func TestARequestThatOutlastsTheRebuildIsSentToTheNewIndexBeforeItIsConfirmed(t *testing.T) {
	for _, begun := range []Step{StepNone, StepFilling} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 5)
			over := make(chan struct{})
			tap := w.tap(w.store, "a", func(index string) (Indexer, error) {
				c, err := w.client.Client(index)
				if err == nil && index == oldIndex {
					return slow{c, over}, nil
				}
				return c, err
			})
			sender, err := bufferedsender.New(tap.Indexer(), &bufferedsender.Options[models.Document]{
				Tap: tap, RequestTimeout: -1, AutoFlushInterval: time.Millisecond, Logger: quiet, Documents: bufferedsender.Documents[models.Document]{KeyField: "id"},
			})
			require.NoError(t, err)
			confirmed := false
			write := func() {
				// The source does not have the document, so only its own sender can transfer it.
				require.NoError(t, sender.Raw().Add(t.Context(), models.RawAction{
					Key: "late", Type: models.ActionTypeUpload, Document: document("late", 1000),
					OnOutcome: func(o models.Outcome) {
						confirmed = o.Completed()
						assert.EqualValues(t, 1000, w.indexed(newIndex)["late"])
					},
				}))
				time.Sleep(time.Second)
				assert.EqualValues(t, 1000, w.indexed(oldIndex)["late"])
			}
			m := w.runner(Options{Writers: []string{"a"}})
			if begun == StepNone {
				write()
			}
			m.r.line = func(line string) error {
				if begun != StepNone && line == string(begun) {
					write()
				}
				return nil
			}
			require.NoError(t, m.run(t.Context()))
			assert.False(t, confirmed)
			assert.NotContains(t, w.indexed(newIndex), "late")
			close(over)
			require.NoError(t, sender.Close(t.Context()))
			assert.True(t, confirmed)
		})
	}
}

func TestWhatIsAnsweredWhenTheAliasHasMovedIsConfirmedWhenTheNewIndexHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		tap := w.opened(w.store)
		w.set(func(r *Record) { r.Phase, r.Epoch, r.Round, r.Drained = PhaseSwapped, 1, 7, 6 })
		time.Sleep(time.Minute)
		require.NoError(t, tap.Before(t.Context(), []string{"x"}))
		var confirmed atomic.Bool
		go func() {
			again, err := tap.Confirm(t.Context(), []string{"x"})
			assert.NoError(t, err)
			assert.False(t, again)
			confirmed.Store(true)
		}()
		time.Sleep(5 * time.Second)
		assert.False(t, confirmed.Load())
		keys, err := w.store.Marked(t.Context(), 7, 10)
		require.NoError(t, err)
		assert.Equal(t, []string{"x"}, keys)
		w.set(func(r *Record) { r.Round, r.Drained = 8, 7 })
		time.Sleep(time.Second)
		assert.True(t, confirmed.Load())
	})
}

func TestKeysAreMarkedBeforeTheRequestAndWhenItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		tap := w.opened(w.store)
		w.set(func(r *Record) { r.Phase, r.Epoch, r.Round = PhaseMarking, 1, 1 })
		time.Sleep(time.Minute)
		marked := func(last int64) []string {
			keys, err := w.store.Marked(t.Context(), last, 10)
			require.NoError(t, err)
			return keys
		}
		require.NoError(t, tap.Before(t.Context(), []string{"x", "y"}))
		assert.Equal(t, []string{"x", "y"}, marked(1))
		// The keys are read again before the request is applied.
		require.NoError(t, w.store.Unmark(t.Context(), 1, []string{"x", "y"}))
		w.set(func(r *Record) { r.Round, r.Drained = 2, 1 })
		again, err := tap.Confirm(t.Context(), []string{"x"})
		require.NoError(t, err)
		assert.False(t, again)
		assert.Empty(t, marked(1))
		assert.Equal(t, []string{"x"}, marked(2))
	})
}

func TestWithoutARebuildTheRecordIsReadOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		store := &counted{Store: w.store}
		tap := w.opened(store)
		before := store.loads.Load()
		for range 3600 {
			time.Sleep(time.Second)
			require.NoError(t, tap.Before(t.Context(), []string{"x"}))
			again, err := tap.Confirm(t.Context(), []string{"x"})
			require.NoError(t, err)
			assert.False(t, again)
		}
		assert.EqualValues(t, 60, store.loads.Load()-before)
		assert.Zero(t, store.marks.Load())
	})
}

// noIndexer is an index client that must not be called.
type noIndexer struct{ Indexer }

// The first tap fixes the period for all, because Run waits for the one in the record.
func TestTheRecordSaysHowLongAReadIsValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counted{Store: NewMemory()}
		opts := TapOptions{Writer: "first", Index: "hotels-1", Connect: func(string) (Indexer, error) { return noIndexer{}, nil }, IdleValid: 5 * time.Second}
		first, err := NewTap(t.Context(), store, opts)
		require.NoError(t, err)
		_ = first.Indexer()
		opts.Writer, opts.IdleValid = "second", time.Hour
		second, err := NewTap(t.Context(), store, opts)
		require.NoError(t, err)
		_ = second.Indexer()
		before := store.loads.Load()
		for range 60 {
			time.Sleep(time.Second)
			require.NoError(t, first.Before(t.Context(), []string{"x"}))
			require.NoError(t, second.Before(t.Context(), []string{"x"}))
		}
		assert.EqualValues(t, 2*12, store.loads.Load()-before)
		opts.IdleValid = time.Millisecond
		_, err = NewTap(t.Context(), store, opts)
		assert.ErrorContains(t, err, "IdleValid is 1ms: use a second to an hour")
	})
}

func TestAReadIsValidOnlyIfBothClocksSaySo(t *testing.T) {
	for name, stop := range map[string]func(*Tap){
		"the monotonic clock stood still": func(tap *Tap) { at := time.Now(); tap.monotonic = func() time.Time { return at } },
		"the time of day stood still":     func(tap *Tap) { at := time.Now().Round(0); tap.wall = func() time.Time { return at } },
		"the time of day was put back": func(tap *Tap) {
			at := tap.read.wall.Add(-time.Hour)
			tap.wall = func() time.Time { return at }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 0)
				tap := w.opened(w.store)
				stop(tap)
				time.Sleep(2 * time.Minute)
				w.set(func(r *Record) { r.Phase, r.Epoch, r.Round = PhaseMarking, 1, 1 })
				require.NoError(t, tap.Before(t.Context(), []string{"x"}))
				keys, err := w.store.Marked(t.Context(), 1, 10)
				require.NoError(t, err)
				assert.Equal(t, []string{"x"}, keys)
			})
		})
	}
}

func TestAReadCountsFromWhenTheRecordWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		store := &late{Store: w.store}
		tap := w.opened(store)
		store.by = 8 * time.Second
		time.Sleep(2 * time.Minute)
		require.NoError(t, tap.Before(t.Context(), []string{"x"})) // answered 8 s later with the state at the request
		w.set(func(r *Record) { r.Phase, r.Epoch, r.Round = PhaseMarking, 1, 1 })
		time.Sleep(55 * time.Second) // 63 s since the request
		require.NoError(t, tap.Before(t.Context(), []string{"x"}))
		keys, err := w.store.Marked(t.Context(), 1, 10)
		require.NoError(t, err)
		assert.Equal(t, []string{"x"}, keys)
	})
}

// late delays replies.
type late struct {
	Store
	by time.Duration
}

func (l *late) Load(ctx context.Context) (Record, error) {
	by := l.by
	r, err := l.Store.Load(ctx)
	time.Sleep(by)
	return r, err
}

func TestOfTwoConcurrentReadsTheOlderDoesNotReplaceTheNewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		store := &late{Store: w.store}
		tap := w.opened(store)
		read := func(by time.Duration) {
			store.by = by // read by the goroutine before synctest.Wait returns
			go func() {
				_, err := tap.load(t.Context())
				assert.NoError(t, err)
			}()
			synctest.Wait()
		}
		read(2 * time.Second)
		w.set(func(r *Record) { r.Phase, r.Epoch, r.Round = PhaseMarking, 1, 1 })
		read(time.Second)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.Equal(t, PhaseMarking, tap.record.Phase)
	})
}

func TestAWriterWaitsWhileTheTapIsClosedAndIsToldWhenThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		tap := w.opened(w.store)
		require.NoError(t, tap.Before(t.Context(), []string{"x"}))
		w.set(func(r *Record) { r.Phase, r.Epoch = PhaseClosed, 1 })
		time.Sleep(time.Minute)
		began := time.Now()
		require.ErrorIs(t, tap.Before(t.Context(), []string{"y"}), ErrClosed)
		assert.InDelta(t, 2, time.Since(began).Seconds(), 0.1)
		_, err := tap.Confirm(t.Context(), []string{"x"})
		require.ErrorIs(t, err, ErrClosed)
		go func() {
			time.Sleep(time.Second)
			w.set(func(r *Record) { r.Phase = PhaseIdle })
		}()
		began = time.Now()
		again, err := tap.Confirm(t.Context(), []string{"x"})
		require.NoError(t, err)
		assert.False(t, again)
		assert.InDelta(t, 1, time.Since(began).Seconds(), 0.1)
	})
}

func TestATapLetsNothingGoThatIsNotSentByItsIndexer(t *testing.T) {
	w := newWorld(t, 0)
	tap := w.tap(w.store, "a", nil)
	require.ErrorContains(t, tap.Before(t.Context(), []string{"x"}), "Tap.Indexer()")
	tap.Indexer()
	require.NoError(t, tap.Before(t.Context(), []string{"x"}))
}

func TestWhatATapDoesNotRememberIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		tap := w.opened(w.store)
		require.NoError(t, tap.Before(t.Context(), []string{"x"}))
		for range 3 {
			time.Sleep(noteAge + time.Second)
			require.NoError(t, tap.Before(t.Context(), []string{"y"}))
		}
		assert.Len(t, tap.notes, 1)
		again, err := tap.Confirm(t.Context(), []string{"y", "x"})
		require.NoError(t, err)
		assert.True(t, again)
		again, err = tap.Confirm(t.Context(), []string{"y"})
		require.NoError(t, err)
		assert.False(t, again)
	})
}

func TestATapSaysAtOnceWhatIsWrongWithItsOptions(t *testing.T) {
	_, err := NewTap(t.Context(), (*SQL)(nil), TapOptions{})
	for _, want := range []string{"store is nil", "Writer is empty", "Index is empty", "Connect is nil"} {
		assert.ErrorContains(t, err, want)
	}
}

// Without its tap the sender would write keys that are not marked.
func TestASenderThatSendsByATapMustHaveIt(t *testing.T) {
	w := newWorld(t, 0)
	tap := w.opened(w.store)
	unwired, err := NewTap(t.Context(), w.store, TapOptions{Writer: "b", Index: oldIndex, Connect: func(index string) (Indexer, error) { return w.client.Client(index) }})
	require.NoError(t, err)
	client, err := w.client.Client(oldIndex)
	require.NoError(t, err)
	_, err = bufferedsender.New(client, &bufferedsender.Options[models.Document]{Tap: unwired, Documents: bufferedsender.Documents[models.Document]{KeyField: "id"}})
	require.ErrorContains(t, err, "make it with Tap.Indexer()")
	_, err = bufferedsender.New(tap.Indexer(), &bufferedsender.Options[models.Document]{Documents: bufferedsender.Documents[models.Document]{KeyField: "id"}})
	require.ErrorContains(t, err, "Options.Tap is nil: set it to the Tap that the indexer belongs to")
	s, err := bufferedsender.New(tap.Indexer(), &bufferedsender.Options[models.Document]{Tap: tap, Documents: bufferedsender.Documents[models.Document]{KeyField: "id"}})
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))
}

func TestAnAliasThatWritersWriteToIsNotReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		w.opened(w.store)
		w.set(func(r *Record) { r.Route = aliasName })
		require.ErrorContains(t, w.runner(Options{}).run(t.Context()), "set TapOptions.Index to an index")
	})
}
