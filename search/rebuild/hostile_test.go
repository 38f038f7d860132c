package rebuild

import (
	"context"
	"errors"
	"fmt"
	"iter"
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

// While the alias is swapped writers confirm nothing without Run, so it neither gives up nor waits.
func TestOnceTheAliasHasMovedRunBearsWhatPasses(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(m *mortal){
		"too much to bring over in a second": func(m *mortal) {
			keys, n := m.r.fill.Keys, 0
			m.r.fill.Keys = func(ctx context.Context, all []string) ([]models.RawAction, error) {
				if m.r.now().Step == stepMoving && n < 8 {
					n++
					if err := sleep(ctx, time.Second); err != nil {
						return nil, err
					}
				}
				return keys(ctx, all)
			}
		},
		"the truth cannot be read for a while": func(m *mortal) {
			keys, n := m.r.fill.Keys, 0
			m.r.fill.Keys = func(ctx context.Context, all []string) ([]models.RawAction, error) {
				if m.r.now().Step == stepSettling && n < 20 {
					n++
					return nil, errors.New("the database is being moved")
				}
				return keys(ctx, all)
			}
		},
		"the new index is full when the writers come over": func(m *mortal) {
			made, n := m.r.opts.Sender, 0
			m.r.line = func(line string) error {
				if line == "close again" {
					time.Sleep(300 * time.Millisecond) // so that there is something to bring over
				}
				return nil
			}
			m.r.opts.Sender = func(index string) (Sender, error) {
				s, err := made(index)
				return failing{s, func() error {
					if m.r.now().Step == stepMoving && n < 3 {
						n++
						return errors.New("the quota is used up")
					}
					return nil
				}}, err
			}
		},
		"nobody says what readers see": func(m *mortal) {
			n := 0
			m.r.opts.Shown = func(context.Context) (bool, error) {
				if n++; n < 20 {
					return false, errors.New("503")
				}
				return true, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 20)
				a := w.write("a", 1)
				m := w.runner(Options{Writers: []string{"a"}, Settle: time.Second})
				trouble(m)
				require.NoError(t, m.run(t.Context()))
				for _, closed := range m.r.report.Closed {
					assert.LessOrEqual(t, closed, closedLimit)
				}
				a.end()
				w.checkTruth(newIndex)
			})
		})
	}
}

func TestErrorsThatDoNotEndAreToldAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}, Settle: time.Hour})
		broken, keys := errors.New("there is no such table"), m.r.fill.Keys
		m.r.fill.Keys = func(ctx context.Context, all []string) ([]models.RawAction, error) {
			if m.r.now().Step == stepSettling {
				return nil, broken
			}
			return keys(ctx, all)
		}
		err := m.run(t.Context())
		require.ErrorIs(t, err, broken)
		require.ErrorIs(t, err, ErrClosed)
		require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}))
		a.end()
		w.checkTruth(oldIndex)
	})
}

// Readers may still be at the new index when the first Abort has put the alias back.
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

// The first Abort sleeps while a second one ends, and a new rebuild makes an index of the same name.
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
			first <- Abort(context.Background(), w.store, w.client, &AbortOptions{Logger: quiet, Settle: time.Hour})
		}()
		time.Sleep(time.Minute)
		require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet, Settle: time.Second}))
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
		require.NoError(t, err) // by hand, because the new one is not what they wanted
		require.ErrorIs(t, DropOld(t.Context(), w.store, w.client, nil), ErrAliasMoved)
		assert.Contains(t, w.srv.IndexNames(), oldIndex)
	})
}

// Who mends the definition after a RefusedError gets no index with the old one.
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
		require.ErrorContains(t, other.run(t.Context()), "is there with another definition")
		same := w.runner(Options{Settle: -1})
		require.NoError(t, same.run(t.Context()))
	})
}

// A fill of millions does not read on when it is lost.
func TestAFillThatHasLostADocumentEndsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{})
		read := 0
		m.r.fill.All = func(ctx context.Context, _ string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				for ; read < 1_000_000; read++ {
					if read == 600 { // the clock was put back for a moment
						far := both()
						far.wall = far.wall.Add(time.Hour)
						m.r.beaten.Store(&far)
						time.Sleep(100 * time.Millisecond)
					}
					key := fmt.Sprintf("%07d", read)
					if !yield(models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: document(key, 1)}, nil) {
						return
					}
				}
			}
		}
		require.ErrorIs(t, m.run(t.Context()), errLost)
		assert.Less(t, read, 100_000)
	})
}

// A request whose answer is unknown may be carried out later, so the next Run waits as after a kill.
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

// A writer whose mark waits for a long round trip does not take Run for dead.
func TestAWriterWaitsForARunThatIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		tap := w.opened(w.store)
		w.set(func(r *Record) {
			r.Phase, r.Epoch, r.Round, r.Step, r.Owner = PhaseSwapped, 1, 1, stepSettling, "other"
		})
		time.Sleep(2 * time.Minute) // what it has read before is not valid any more
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
		require.Error(t, err, "nobody is at work")
	})
}

// Names are used in turn. A DropOld is stopped before its request, another one drops, and the next rebuild gives its
// new index the name that is free: the first one must not delete it when it goes on. (Once the alias is at it the
// service refuses that.)
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

// The client tries again, and the service says of an index that is not there that the condition does not hold.
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

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }

// The request of a writer to the old index is on its way while that is dropped and the next rebuild gives its new
// index the name. Its document is not in the truth any more, and nothing marks its key again: it would stay.
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

		// What was dropped long ago is not waited for, and forgotten with the next one that is dropped.
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

// Names of indexes that were dropped are kept in a copy: whoever has read the record before has its own.
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

// failing is a sender whose calls fail at times.
type failing struct {
	Sender
	err func() error
}

func (f failing) AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	return f.Sender.AddAndWait(ctx, actions)
}
