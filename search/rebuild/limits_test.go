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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

func TestTooMuchToBringOverInASecondGivesUpWithTheTapsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		time.Sleep(time.Second)
		m := w.runner(Options{Writers: []string{"a"}})
		took := 2 * time.Second
		m.r.line = func(line string) error {
			if line == "close" {
				time.Sleep(time.Second) // so that writers leave changes to transfer
			}
			return nil
		}
		m.r.fill.Keys = func(ctx context.Context, keys []string) ([]models.RawAction, error) {
			if m.r.now().Phase == PhaseClosed {
				if err := sleep.For(ctx, took); err != nil {
					return nil, err
				}
			}
			return w.read(keys...), nil
		}
		require.ErrorIs(t, m.run(t.Context()), ErrTooSlow)
		require.Len(t, m.r.report.Closed, closings)
		for _, closed := range m.r.report.Closed {
			assert.LessOrEqual(t, closed, closedLimit)
		}
		assert.Equal(t, PhaseMarking, w.record().Phase)
		assert.Equal(t, oldIndex, w.alias())
		took = 0
		began := time.Now()
		m2 := w.runner(Options{Writers: []string{"a"}, Settle: -1})
		require.NoError(t, m2.run(t.Context()))
		assert.Less(t, time.Since(began), 10*time.Second, "a writer that left with an error is not awaited")
		a.end()
		w.checkTruth(newIndex)
	})
}

func TestAContextThatEndsWhileTheTapsAreClosedOpensThem(t *testing.T) {
	for line, phase := range map[string]Phase{"drain closing": PhaseMarking, "drain moving": PhaseSwapped, "close": PhaseMarking} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			a := w.write("a", 1)
			m := w.runner(Options{Writers: []string{"a"}, Settle: time.Second})
			ctx, cancel := context.WithCancel(t.Context())
			m.r.line = at(line, cancel)
			require.ErrorIs(t, m.run(ctx), context.Canceled, line)
			assert.Equal(t, phase, w.record().Phase, line)
			m = w.runner(Options{Writers: []string{"a"}, Settle: time.Second})
			require.NoError(t, m.run(t.Context()))
			a.end()
			w.checkTruth(newIndex)
		})
	}
}

func TestADocumentThatTheNewIndexRefusesKeepsTheAliasWhereItIs(t *testing.T) {
	for name, bad := range map[string]func(*Fill){
		"a document that the service refuses": func(f *Fill) {
			f.All = func(context.Context, string) iter.Seq2[models.RawAction, error] {
				return func(yield func(models.RawAction, error) bool) {
					_ = yield(models.RawAction{Key: "good", Type: models.ActionTypeUpload, Document: document("good", 1)}, nil) &&
						yield(models.RawAction{Key: "bad", Type: models.ActionTypeUpload, Document: []byte(`{"id":"bad","n":"many"}`)}, nil)
				}
			}
		},
		"a document that the sender refuses": func(f *Fill) {
			f.All = func(context.Context, string) iter.Seq2[models.RawAction, error] {
				return func(yield func(models.RawAction, error) bool) {
					yield(models.RawAction{Key: "bad", Type: models.ActionTypeUpload, Document: []byte(`{`)}, nil)
				}
			}
		},
		"because it is not a document": func(f *Fill) {
			f.All = func(context.Context, string) iter.Seq2[models.RawAction, error] {
				return func(yield func(models.RawAction, error) bool) {
					yield(models.RawAction{Key: "bad", Type: models.ActionTypeMerge, Document: document("bad", 1)}, nil)
				}
			}
		},
		"when it is brought over": func(f *Fill) {
			f.Keys = func(_ context.Context, keys []string) (all []models.RawAction, err error) {
				for _, key := range keys {
					all = append(all, models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: fmt.Appendf(nil, `{"id":%q,"n":"many"}`, key)})
				}
				return all, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 20)
				a := w.write("a", 1)
				m := w.runner(Options{Writers: []string{"a"}})
				bad(&m.r.fill)
				var refused *RefusedError
				require.ErrorAs(t, m.run(t.Context()), &refused)
				assert.GreaterOrEqual(t, refused.Count, 1)
				assert.NotContains(t, refused.Keys, "good")
				assert.Equal(t, oldIndex, w.alias())
				assert.Equal(t, PhaseMarking, w.record().Phase)
				require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}))
				a.end()
				w.checkTruth(oldIndex)
			})
		})
	}
}

func TestOneRunIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		first := w.runner(Options{Writers: []string{"a"}})
		first.r.line = at(string(StepFilling), func() {
			second := w.runner(Options{Writers: []string{"a"}})
			assert.ErrorIs(t, second.run(t.Context()), ErrRunning)
		})
		require.NoError(t, first.run(t.Context()))
		a.end()
		w.checkTruth(newIndex)
	})
}

// Schedule: a process has read all documents and its sender holds them; it is cut off from store and service; another
// takes over and finishes; writers change the documents in the new index; the connection recovers.
func TestARunnerThatWasCutOffWritesNothingWhenAnotherHasTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100)
		a := w.write("a", 1)
		first := w.runner(Options{Writers: []string{"a"}})
		made := first.r.opts.Sender
		first.r.opts.Sender = func(index string) (Sender, error) {
			s, err := made(index)
			return cutOff{s, first}, err
		}
		done := make(chan error)
		go func() { done <- first.r.run(t.Context()) }() // its sender stays alive
		time.Sleep(70 * time.Second)
		require.True(t, first.dead.Load())
		second := w.runner(Options{Writers: []string{"a"}})
		require.NoError(t, second.run(t.Context()))
		for i := range 100 { // the documents that the first process has read
			require.NoError(t, a.sender.Raw().Add(t.Context(), w.change(fmt.Sprintf("k%03d", i), models.ActionTypeUpload)))
		}
		time.Sleep(10 * time.Second)
		first.dead.Store(false)
		require.ErrorIs(t, <-done, errLost)
		time.Sleep(5 * time.Minute)
		require.NoError(t, first.made.Close(t.Context()))
		a.end()
		w.checkTruth(newIndex)
	})
}

// Schedule: Run returns an error while its sender holds documents that the service temporarily refuses; the next Run
// uses another sender; writers change the documents; the service accepts requests again.
func TestTheNextRunWaitsUntilTheSenderOfTheOneBeforeSendsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100)
		a := w.write("a", 1)
		began, ctx := time.Now(), t.Context()
		w.srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if strings.Contains(req.URL.Path, "'"+newIndex+"')/docs") && time.Since(began) < 80*time.Second {
				return nil, errors.New("the line is cut")
			}
			return w.intercept(req, next)
		})
		first := w.runner(Options{Writers: []string{"a"}})
		limited, cancel := context.WithTimeout(ctx, 70*time.Second)
		defer cancel()
		require.ErrorIs(t, first.r.run(limited), context.DeadlineExceeded) // its sender stays alive
		for i := range 100 {
			require.NoError(t, a.sender.Raw().Add(ctx, w.change(fmt.Sprintf("k%03d", i), models.ActionTypeDelete)))
		}
		second := w.runner(Options{Writers: []string{"a"}, Settle: -1})
		require.NoError(t, second.run(ctx))
		assert.Greater(t, time.Since(began), 130*time.Second)
		time.Sleep(5 * time.Minute)
		require.NoError(t, first.made.Close(ctx))
		a.end()
		w.checkTruth(newIndex)
	})
}

// cutOff is a sender that loses its connection after the first accepted document.
type cutOff struct {
	Sender
	m *mortal
}

func (c cutOff) Offer(ctx context.Context, actions []models.RawAction) (int, error) {
	c.m.dead.Store(true)
	return c.m.made.Raw().Offer(ctx, actions)
}

func TestAFillGoesOnBehindWhatTheNewIndexHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 900)
		a := w.write("a", 1)
		first := w.runner(Options{Writers: []string{"a"}})
		all := first.r.fill.All
		first.r.fill.All = func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				n := 0
				for x, err := range all(ctx, after) {
					if n++; n == 700 {
						time.Sleep(10 * time.Second) // heartbeats store the cursor
						first.dead.Store(true)
						yield(x, errStopped)
						return
					}
					if !yield(x, err) {
						return
					}
				}
			}
		}
		require.ErrorIs(t, first.run(t.Context()), errStopped)
		cursor := w.record().Cursor
		assert.NotEmpty(t, cursor)
		assert.Less(t, cursor, "k700")
		second := w.runner(Options{Writers: []string{"a"}})
		var from []string
		again := second.r.fill.All
		second.r.fill.All = func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			from = append(from, after)
			return again(ctx, after)
		}
		require.NoError(t, second.run(t.Context()))
		assert.Equal(t, []string{cursor}, from)
		assert.Less(t, second.r.report.Filled, int64(900))
		a.end()
		w.checkTruth(newIndex)
	})
}

func TestRunRefusesWithoutSendingAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		_, err := Run(t.Context(), (*SQL)(nil), nil, models.SearchIndex{}, Fill{}, Options{})
		for _, want := range []string{"store is nil", "client is nil", "has no name", "Fill.All is nil", "Fill.Keys is nil", "Sender is nil", "Writers is empty"} {
			require.ErrorContains(t, err, want)
		}
		m := w.runner(Options{Writers: []string{"a"}})
		require.ErrorContains(t, m.run(t.Context()), "no writer has made a Tap")
		w.opened(w.store) // the index is called "a"
		m = w.runner(Options{Writers: []string{"a"}})
		m.r.next.Name = oldIndex
		require.ErrorContains(t, m.run(t.Context()), "exists already")
		assert.Equal(t, StepNone, w.record().Step)
	})
}

func TestRunRefusesWriterThatIsNotRegistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		w.opened(w.store)
		m := w.runner(Options{Writers: []string{"a", "b", "c"}})
		err := m.run(t.Context())
		require.ErrorContains(t, err, `"b" has made no Tap`)
		require.ErrorContains(t, err, `"c" has made no Tap`)
		assert.NotContains(t, w.srv.IndexNames(), newIndex)
		assert.Equal(t, StepNone, w.record().Step)
	})
}

func TestADefinitionThatNeedsNoNewIndexIsLeftAloneUnlessOneIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		w.opened(w.store)
		same := definition(t, newIndex, "standard.lucene")
		m := w.runner(Options{Writers: []string{"a"}})
		m.r.next = same
		require.NoError(t, m.run(t.Context()))
		assert.False(t, m.r.report.Needed)
		assert.Equal(t, oldIndex, m.r.report.Index)
		assert.NotContains(t, w.srv.IndexNames(), newIndex)
		m = w.runner(Options{Writers: []string{"a"}, Always: true})
		m.r.next = same
		require.NoError(t, m.run(t.Context()))
		assert.True(t, m.r.report.Needed)
		assert.Equal(t, newIndex, w.alias())
	})
}

func TestWithoutAnAliasTheNameToSwitchToIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		m.r.opts.Alias = ""
		require.NoError(t, m.run(t.Context()))
		assert.Equal(t, newIndex, m.r.report.Index)
		assert.Equal(t, oldIndex, w.alias(), "the alias is not changed")
		assert.Len(t, m.r.report.Closed, 1)
		a.end()
		w.checkTruth(newIndex)
	})
}

func TestTheOldIndexIsKeptForTheStatedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		require.ErrorIs(t, DropOld(t.Context(), NewMemory(), w.client, nil), ErrNothing)
		m := w.runner(Options{Keep: 2 * time.Hour})
		require.NoError(t, m.run(t.Context()), "there are no writers, and so no record")
		require.ErrorContains(t, DropOld(t.Context(), w.store, w.client, nil), "is kept until")
		time.Sleep(2*time.Hour - time.Minute)
		require.Error(t, DropOld(t.Context(), w.store, w.client, nil))
		assert.Contains(t, w.srv.IndexNames(), oldIndex)
		time.Sleep(time.Minute)
		require.NoError(t, DropOld(t.Context(), w.store, w.client, nil))
		assert.Equal(t, []string{newIndex}, w.srv.IndexNames())
		require.ErrorIs(t, DropOld(t.Context(), w.store, w.client, nil), ErrNothing)
	})
}

func TestWritersComeOverWhenReadsThroughTheAliasShowTheNewIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		asked := 0
		m := w.runner(Options{Writers: []string{"a"}, Shown: func(context.Context) (bool, error) {
			asked++
			assert.Equal(t, oldIndex, a.tap.Index())
			return asked > 10 && asked != 12, nil // one replica lags
		}})
		require.NoError(t, m.run(t.Context()))
		assert.Equal(t, 15, asked)
		a.end()
		w.checkTruth(newIndex)
	})
}

func TestStatusSaysHowFarItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		w.opened(w.store)
		status := func() Status {
			s, err := ReadStatus(t.Context(), w.store)
			require.NoError(t, err)
			return s
		}
		assert.False(t, status().Active)
		assert.Equal(t, []Writer{{"a", status().Writers[0].Seen}}, status().Writers)
		m := w.runner(Options{Writers: []string{"a"}})
		m.r.line = at(string(stepCatchingUp), func() {
			assert.True(t, status().Active)
			assert.Equal(t, stepCatchingUp, status().Record.Step)
		})
		require.NoError(t, m.run(t.Context()))
		assert.False(t, status().Active)
		assert.Equal(t, StepMoved, status().Record.Step)
		assert.Equal(t, newIndex, status().Record.Route)
	})
}

func TestAnotherRebuildUnderWayIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		w.opened(w.store)
		m := w.runner(Options{Writers: []string{"a"}})
		m.r.fill.All = func(context.Context, string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) { yield(models.RawAction{}, errors.New("no database")) }
		}
		require.ErrorContains(t, m.run(t.Context()), "no database")
		m = w.runner(Options{Writers: []string{"a"}})
		m.r.next.Name = "hotels-3"
		require.ErrorContains(t, m.run(t.Context()), `from "hotels-1" to "hotels-2"`)
	})
}

// stuckSender applies everything at once except the first document.
type stuckSender struct {
	Sender
	accepted int
	first    models.RawAction
}

func (s *stuckSender) Offer(_ context.Context, actions []models.RawAction) (int, error) {
	for _, a := range actions {
		if s.accepted++; s.accepted == 1 {
			s.first = a
			continue
		}
		a.OnOutcome(models.Outcome{Key: a.Key})
	}
	return len(actions), nil
}

func TestAFillWaitsForADocumentThatIsFarBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newWorld(t, 0).runner(Options{})
		const n = 3 * mostBehind
		m.r.fill.All = func(context.Context, string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				for i := range n {
					if !yield(models.RawAction{Type: models.ActionTypeUpload, Key: fmt.Sprintf("%07d", i)}, nil) {
						return
					}
				}
			}
		}
		s := &stuckSender{}
		m.r.sender = s
		now := both()
		m.r.beaten.Store(&now)
		ctx, f, free := m.r.filling(t.Context())
		defer free()
		ended := make(chan error, 1)
		go func() { ended <- m.r.fillFrom(ctx, f) }()
		synctest.Wait()
		assert.Equal(t, mostBehind-chunk/2, s.accepted, "and as many have been read as are offered at once")
		assert.Empty(t, f.reached())
		s.first.OnOutcome(models.Outcome{Key: s.first.Key})
		require.NoError(t, <-ended)
		assert.Equal(t, n, s.accepted)
		assert.Equal(t, fmt.Sprintf("%07d", n-1), f.reached())

		s.accepted = 0
		ctx, end := context.WithCancel(ctx)
		go func() { ended <- m.r.fillFrom(ctx, f) }()
		synctest.Wait()
		end()
		require.ErrorIs(t, <-ended, context.Canceled, "waiting calls end with their contexts")
	})
}
