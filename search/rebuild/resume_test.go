package rebuild

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// After a RefusedError a corrected definition must not resume the index of the old one.
func TestARebuildGoesOnWithItsOwnDefinitionOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{})
		m.r.line = func(line string) error {
			if line == string(StepFilling) {
				return errStopped
			}
			return nil
		}
		require.ErrorIs(t, m.run(t.Context()), errStopped)
		other := w.runner(Options{})
		other.r.next = definition(t, newIndex, "de.lucene")
		require.ErrorContains(t, other.run(t.Context()), "exists with another definition")
		same := w.runner(Options{Settle: -1})
		require.NoError(t, same.run(t.Context()))
	})
}

// elsewhere is a client of an index on another service.
type elsewhere struct{ noIndexer }

func (elsewhere) Endpoint() string { return "https://staging.search.windows.net" }

// A record of one service moves no alias, deletes no index and routes no writer on another service.
func TestARecordOfAnotherServiceIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		_, err := w.store.Swap(t.Context(), Record{Phase: PhaseIdle, Route: oldIndex}) // by a version without Endpoint
		require.NoError(t, err)
		m := w.runner(Options{})
		m.r.line = func(line string) error {
			if line == string(StepFilling) {
				return errStopped
			}
			return nil
		}
		require.ErrorIs(t, m.run(t.Context()), errStopped)
		assert.Equal(t, w.client.Endpoint(), w.record().Endpoint, "Run keeps it")
		there, err := search.NewIndexClientWithKey(elsewhere{}.Endpoint(), azcore.NewKeyCredential("k"), nil)
		require.NoError(t, err)
		before := w.record()
		opts := m.r.opts
		opts.Sender = w.runner(Options{}).r.opts.Sender
		for what, call := range map[string]func() error{
			"Run":     func() error { _, err := Run(t.Context(), w.store, there, next(t), m.r.fill, opts); return err },
			"Abort":   func() error { return Abort(t.Context(), w.store, there, nil) },
			"DropOld": func() error { return DropOld(t.Context(), w.store, there, nil) },
			"NewTap": func() error {
				_, err := NewTap(t.Context(), w.store, TapOptions{Writer: "b", Index: oldIndex, Connect: func(string) (Indexer, error) { return elsewhere{}, nil }})
				return err
			},
			"a tap that has moved": func() error {
				tap, err := NewTap(t.Context(), w.store, TapOptions{Writer: "b", Index: newIndex, Connect: func(index string) (Indexer, error) {
					if index == newIndex {
						return noIndexer{}, nil
					}
					return elsewhere{}, nil
				}})
				require.NoError(t, err)
				return tap.Indexer().Ping(t.Context())
			},
		} {
			require.ErrorContains(t, call(), "the record is of the indexes at "+w.client.Endpoint()+", got a client of https://staging.search.windows.net", what)
		}
		assert.Equal(t, before, w.record(), "no setting was changed")
	})
}

// A request with unknown outcome may be executed later, so the next Run waits as after a kill.
func TestTheNextRunWaitsForARequestThatWasCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{})
		m.r.cut.Store(true)
		m.r.fill.All = func(context.Context, string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) { yield(models.RawAction{}, errors.New("broken")) }
		}
		require.ErrorContains(t, m.run(t.Context()), "broken")
		assert.Equal(t, m.r.id, w.record().Owner)

		f := &filling{ended: make(chan struct{}, 1), give: func() {}, under: &m.r.under, cut: &m.r.cut, late: func() {}}
		m.r.cut.Store(false)
		f.add(models.RawAction{Key: "a"})(models.Outcome{Reason: models.ReasonWithdrawn, Unknown: true, Err: errors.New("cut")})
		assert.True(t, m.r.cut.Load())
	})
}

// A writer whose mark takes a long round trip must not take Run for dead.
func TestAWriterWaitsForARunThatIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		tap := w.opened(w.store)
		w.set(func(r *Record) {
			r.Phase, r.Epoch, r.Round, r.Step, r.Owner = PhaseSwapped, 1, 1, stepSettling, "other"
		})
		time.Sleep(2 * time.Minute) // its cached record has expired
		require.NoError(t, tap.Before(t.Context(), []string{"x"}))
		go func() {
			for range 30 {
				time.Sleep(2 * time.Second)
				w.set(func(r *Record) { r.Beat++ })
			}
			w.set(func(r *Record) { r.Drained = 1 })
		}()
		began := time.Now()
		again, err := tap.Confirm(t.Context(), []string{"x"})
		require.NoError(t, err)
		assert.False(t, again)
		assert.Greater(t, time.Since(began), 50*time.Second)
		w.set(func(r *Record) { r.Round = 2 })
		require.NoError(t, tap.Before(t.Context(), []string{"x"}))
		_, err = tap.Confirm(t.Context(), []string{"x"})
		require.Error(t, err, "no Run is active")
	})
}
