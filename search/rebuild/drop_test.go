package rebuild

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// Readers may still use the new index after the first Abort has moved the alias back.
func TestAnAbortThatIsCalledAgainWaitsForReadersToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{})
		m.r.line = func(line string) error {
			if line == "close again" {
				return errStopped
			}
			return nil
		}
		require.ErrorIs(t, m.run(t.Context()), errStopped)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		require.ErrorIs(t, Abort(ctx, w.store, w.client, &AbortOptions{Logger: quiet}), context.DeadlineExceeded)
		assert.Equal(t, oldIndex, w.alias())
		began := time.Now()
		require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}))
		assert.GreaterOrEqual(t, time.Since(began), defaultSettle)
		assert.NotContains(t, w.srv.IndexNames(), newIndex)
	})
}

func TestAnAbortWaitsForReadersAsLongAsTheRunWouldHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{Settle: time.Hour})
		m.r.line = func(line string) error {
			if line == "close again" {
				return errStopped
			}
			return nil
		}
		require.ErrorIs(t, m.run(t.Context()), errStopped)
		began := time.Now()
		require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}))
		assert.GreaterOrEqual(t, time.Since(began), time.Hour)
		assert.NotContains(t, w.srv.IndexNames(), newIndex)
	})
}

// An operator moves the alias to the new index by hand while it is filled.
func TestAnAbortThatFindsTheAliasAtTheNewIndexWaitsForReaders(t *testing.T) {
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
		w.moveAliasTo(newIndex)
		began, log := time.Now(), new(strings.Builder)
		require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: slog.New(slog.NewTextHandler(log, nil))}))
		assert.Contains(t, log.String(), `level=INFO msg="rebuild: waiting for readers of the new index" index=hotels-2 wait=1m0s`)
		assert.GreaterOrEqual(t, time.Since(began), defaultSettle, "readers may still use the new index")
		assert.Equal(t, oldIndex, w.alias())
		assert.NotContains(t, w.srv.IndexNames(), newIndex)
	})
}

// While the first Abort waits, a second one ends and a new rebuild creates an index of the same name.
func TestAnAbortDeletesNoIndexThatIsNotItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{})
		m.r.line = func(line string) error {
			if line == "close again" {
				return errStopped
			}
			return nil
		}
		require.ErrorIs(t, m.run(t.Context()), errStopped)
		first := make(chan error, 1)
		go func() {
			first <- Abort(context.Background(), w.store, w.client, &AbortOptions{Logger: quiet, settle: time.Hour})
		}()
		time.Sleep(time.Minute)
		require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet, settle: time.Second}))
		again := w.runner(Options{Settle: -1})
		require.NoError(t, again.run(t.Context()))
		require.ErrorIs(t, <-first, ErrTakenOver)
		assert.Contains(t, w.srv.IndexNames(), newIndex)
	})
}

func TestTheOldIndexIsNotDroppedWhileTheAliasIsAtIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{Settle: -1, Keep: -1})
		require.NoError(t, m.run(t.Context()))
		_, err := w.client.CreateOrUpdateAlias(t.Context(), models.Alias{Name: aliasName, Indexes: []string{oldIndex}}, nil)
		require.NoError(t, err) // an operator moves the alias back
		require.ErrorIs(t, DropOld(t.Context(), w.store, w.client, nil), ErrAliasMoved)
		assert.Contains(t, w.srv.IndexNames(), oldIndex)
	})
}

// Index names alternate. A DropOld is stopped before its request; another one drops the index, and the next rebuild
// reuses the name. When the first one resumes it must not delete that index. (Once the alias refers to it the service
// refuses the deletion.)
func TestADropThatWasStoppedDeletesNoIndexOfTheSameName(t *testing.T) {
	for _, stoppedAt := range []string{http.MethodGet, http.MethodDelete} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			m := w.runner(Options{Settle: -1, Keep: -1})
			require.NoError(t, m.run(t.Context()))
			stopped, goesOn := make(chan struct{}), make(chan struct{})
			client := w.newClient(doer(func(req *http.Request) (*http.Response, error) {
				if req.Method == stoppedAt && strings.Contains(req.URL.Path, "'"+oldIndex+"'") {
					close(stopped)
					<-goesOn
					// The service has received the request: it answers whether or not anybody still waits.
					req = req.WithContext(context.WithoutCancel(req.Context()))
				}
				return w.srv.Do(req)
			}))
			first := make(chan error, 1)
			go func() { first <- DropOld(context.Background(), w.store, client, nil) }()
			<-stopped
			require.NoError(t, DropOld(t.Context(), w.store, w.client, nil), stoppedAt)
			again := w.runner(Options{Settle: -1, Keep: -1, Always: true})
			again.r.next = definition(t, oldIndex, "standard.lucene")
			again.r.line = at(string(stepCatchingUp), func() {
				close(goesOn)
				assert.Error(t, <-first, stoppedAt)
			})
			require.NoError(t, again.run(t.Context()), stoppedAt)
			w.checkTruth(oldIndex)
		})
	}
}

// The client retries, and for a missing index the service reports that the condition does not hold.
func TestADeleteWhoseAnswerIsLostIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{Settle: -1, Keep: -1})
		require.NoError(t, m.run(t.Context()))
		deletes := 0
		client := w.newClient(doer(func(req *http.Request) (*http.Response, error) {
			resp, err := w.srv.Do(req)
			if req.Method == http.MethodDelete {
				if deletes++; deletes == 1 {
					return nil, errors.New("the line is cut")
				}
			}
			return resp, err
		}))
		require.NoError(t, DropOld(t.Context(), w.store, client, nil))
		assert.Equal(t, 2, deletes)
		assert.Equal(t, StepNone, w.record().Step)
	})
}

// A writer's request to the old index is delayed until the index has been dropped and the next rebuild has reused its
// name. The document was deleted from the source and its key is not marked again, so it would stay.
func TestALateRequestToADroppedIndexDoesNotComeToTheNextOfItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		late, err := w.newClient(doer(func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Minute)
			return w.srv.Do(req)
		})).Client(oldIndex)
		require.NoError(t, err)
		require.NoError(t, w.runner(Options{Settle: -1, Keep: -1}).run(t.Context()))
		arrived := make(chan error, 1)
		go func() {
			_, err := late.IndexDocumentsRaw(context.Background(), streaming.NopCloser(strings.NewReader(`{"value":[{"@search.action":"upload","id":"late"}]}`)))
			arrived <- err
		}()
		require.NoError(t, DropOld(t.Context(), w.store, w.client, nil))
		assert.Contains(t, w.record().Dropped, oldIndex)
		again := w.runner(Options{Settle: -1, Keep: -1, Always: true})
		again.r.next = definition(t, oldIndex, "standard.lucene")
		began := time.Now()
		require.NoError(t, again.run(t.Context()))
		require.Error(t, <-arrived)
		assert.GreaterOrEqual(t, time.Since(began), nameRests)
		w.checkTruth(oldIndex)

		// Drops older than dropsKnown are not waited for, and the next drop removes them from the record.
		time.Sleep(dropsKnown)
		third := w.runner(Options{Settle: -1, Keep: -1, Always: true})
		third.r.next = definition(t, newIndex, "standard.lucene")
		require.NoError(t, DropOld(t.Context(), w.store, w.client, nil))
		assert.NotContains(t, w.record().Dropped, oldIndex)
		time.Sleep(dropsKnown)
		began = time.Now()
		require.NoError(t, third.run(t.Context()))
		assert.Less(t, time.Since(began), nameRests)
	})
}

// The list is copied, because callers may still have the previous record.
func TestWhatWasDroppedIsKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Record
		r.drop("a")
		before := r
		time.Sleep(dropsKnown - time.Second)
		r.drop("b")
		assert.Len(t, before.Dropped, 1)
		assert.Len(t, r.Dropped, 2)
		time.Sleep(2 * time.Second)
		r.drop("c")
		assert.NotContains(t, r.Dropped, "a")
		assert.Len(t, r.Dropped, 2)
	})
}
