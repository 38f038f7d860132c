package rebuild

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// watchDrained returns a function that returns the longest time without a transfer while confirming waited for one.
func (w *world) watchDrained() func() time.Duration {
	over, longest := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		last, since := int64(-1), time.Now()
		for {
			select {
			case <-over:
				longest <- most
				return
			case <-time.After(10 * time.Millisecond):
			}
			if x := w.record(); x.Phase != PhaseSwapped || x.Drained != last {
				last, since = x.Drained, time.Now()
			}
			most = max(most, time.Since(since))
		}
	}()
	return func() time.Duration { close(over); return <-longest }
}

func TestAShownThatGivesNoAnswerKeepsNoWriterWaiting(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	const long = 3 * time.Second
	never := errors.New("it has not been tried")
	for name, tc := range map[string]struct {
		shown func(ctx context.Context, n int, over chan struct{}) (bool, error)
		takes time.Duration
	}{
		"it is slow": {func(context.Context, int, chan struct{}) (bool, error) { time.Sleep(long); return true, nil }, 3 * long},
		"it hangs at first": {func(ctx context.Context, n int, _ chan struct{}) (bool, error) {
			if n < 3 {
				<-ctx.Done()
				return false, ctx.Err()
			}
			return true, nil
		}, 2 * tryLimit},
		"it hangs regardless of its context": {func(_ context.Context, _ int, over chan struct{}) (bool, error) { <-over; return false, never }, bearable},
		"it fails always":                    {func(context.Context, int, chan struct{}) (bool, error) { return false, never }, bearable},
		"it panics":                          {func(context.Context, int, chan struct{}) (bool, error) { panic("no reader") }, bearable},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && tc.takes == bearable && name != "it panics" {
				t.Skip("five minutes of writers: one such case is enough under the race detector")
			}
			synctest.Test(t, func(t *testing.T) {
				w, over := newWorld(t, 20), make(chan struct{})
				w.pace = 100
				a := w.write("a", 1)
				var asked atomic.Int64
				m := w.runner(Options{Writers: []string{"a"}, Shown: func(ctx context.Context) (bool, error) {
					return tc.shown(ctx, int(asked.Add(1)), over)
				}})
				var began time.Time
				m.r.line = at(string(stepSettling), func() { began = time.Now() })
				waited := w.watchDrained()
				require.NoError(t, m.run(t.Context()))
				assert.InDelta(t, tc.takes.Seconds(), time.Since(began).Seconds(), 20)
				assert.GreaterOrEqual(t, time.Since(began), tc.takes)
				assert.Less(t, waited(), time.Second)
				close(over)
				a.end()
				w.checkTruth(newIndex)
			})
		})
	}
}

// The fail-over of a managed database takes a minute. Run tolerates it while writers wait for Run.
func TestADatabaseThatIsAwayForAMinuteLeavesNoWriterWaiting(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	ends, step := false, 1
	if testing.Short() {
		step = 7
	}
	for n := 0; !ends; n += step {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			w.pace = 100
			a := w.write("a", uint64(n))
			m, away := w.shaky(Options{Writers: []string{"a"}, Settle: 3 * time.Second})
			line, passed := "", 0
			m.r.line = func(l string) error {
				if passed++; passed == n+1 {
					line = l
					away.Store(true)
					time.AfterFunc(time.Minute, func() { away.Store(false) })
				}
				return nil
			}
			err := m.run(t.Context())
			if ends = line == ""; err != nil {
				require.ErrorIs(t, err, errAway, line)
				require.NotErrorIs(t, err, ErrClosed, line)
				assert.Contains(t, []Phase{PhaseIdle, PhaseMarking}, w.record().Phase, line)
				time.Sleep(time.Minute)
				require.NoError(t, m.run(t.Context()), line)
			}
			a.end()
			w.checkTruth(newIndex)
		})
	}
}

// dialling is a store that loses its connection when a call is cancelled, and needs a while to reconnect.
type dialling struct {
	Store
	gone  atomic.Bool
	takes time.Duration
}

func (d *dialling) Swap(ctx context.Context, next Record) (Record, error) {
	if d.gone.Load() {
		if err := sleep.For(ctx, d.takes); err != nil {
			return Record{}, err
		}
		d.gone.Store(false)
	}
	return d.Store.Swap(ctx, next)
}

func TestTapsAreOpenedAlsoWhereANewConnectionTakesLong(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	for _, line := range []string{"drain closing", "closed", "alias", "closed again"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			a := w.write("a", 1)
			m := w.runner(Options{Writers: []string{"a"}, Settle: time.Second})
			store := &dialling{Store: m.r.store, takes: 2 * closedRequest}
			m.r.store = store
			m.r.line = at(line, func() { store.gone.Store(true) })
			closed := w.watchClosed()
			require.NoError(t, m.run(t.Context()), line)
			assert.Less(t, closed(), 5*time.Second, line)
			a.end()
			w.checkTruth(newIndex)
		})
	}
}

// slowly is a sender whose index takes one document at a time.
type slowly struct{ Sender }

func (s slowly) AddAndWait(ctx context.Context, actions []models.RawAction) (results []models.IndexingResult, err error) {
	for i := range actions {
		if err := sleep.For(ctx, stuckLimit/10); err != nil {
			return results, err
		}
		r, err := s.Sender.AddAndWait(ctx, actions[i:i+1])
		if results = append(results, r...); err != nil {
			return results, err
		}
	}
	return results, nil
}

func TestAnIndexThatTakesOneDocumentAfterTheOtherIsNotStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		store := NewMemory()
		_, err := store.Swap(t.Context(), Record{Phase: PhaseMarking, Route: oldIndex})
		require.NoError(t, err)
		keys := make([]string, 0, 20)
		for key := range w.truth {
			keys = append(keys, key)
		}
		_, err = store.Mark(t.Context(), 0, keys)
		require.NoError(t, err)
		_, err = w.client.CreateIndex(t.Context(), next(t), nil)
		require.NoError(t, err)
		m := w.runner(Options{})
		sender, err := m.r.opts.Sender(newIndex)
		require.NoError(t, err)
		r := m.r
		r.store, r.sender = store, slowly{sender}
		found, err := store.Load(t.Context())
		require.NoError(t, err)
		require.NoError(t, r.take(t.Context(), found, func(x *Record) { x.Step, x.Phase = stepSettling, PhaseSwapped }))
		ctx, end := context.WithCancelCause(t.Context())
		go r.beat(ctx, end)
		began := time.Now()
		require.NoError(t, r.bring(ctx, true))
		assert.Greater(t, time.Since(began), stuckLimit)
		end(nil)
		assert.NoError(t, m.made.Close(t.Context()))
		w.checkTruth(newIndex)
	})
}

func TestWhatTheSenderItselfRefusesIsRefusedWhenItIsBroughtOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		m.r.fill.Keys = func(_ context.Context, keys []string) (all []models.RawAction, err error) {
			for i, key := range keys {
				x := models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: document(key, 1)}
				if i == len(keys)-1 {
					x.Document = []byte("{")
				}
				all = append(all, x)
			}
			return all, nil
		}
		var refused *RefusedError
		require.ErrorAs(t, m.run(t.Context()), &refused)
		assert.Len(t, refused.Keys, 1)
		assert.Zero(t, m.r.under.Load())
		assert.Empty(t, w.record().Owner, "no action is left in the sender")
		require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}))
		a.end()
		w.checkTruth(oldIndex)
	})
}

func TestAFillThatIsCutShortMovesNothing(t *testing.T) {
	for n, tc := range map[int]struct {
		share float64
		ok    bool
	}{0: {0, false}, 189: {0, false}, 190: {0, true}, 20: {0.1, true}, 1: {-1, true}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 200)
			m := w.runner(Options{MinShare: tc.share, Settle: -1})
			all := m.r.fill.All
			m.r.fill.All = func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
				return func(yield func(models.RawAction, error) bool) {
					left := n
					for x, err := range all(ctx, after) {
						if left--; left < 0 || !yield(x, err) {
							return // without an error
						}
					}
				}
			}
			err := m.run(t.Context())
			if tc.ok {
				require.NoError(t, err, n)
				if tc.share >= 0 {
					assert.Equal(t, []int64{200, int64(n)}, []int64{m.r.report.OldDocuments, m.r.report.NewDocuments})
				}
				assert.Equal(t, newIndex, w.alias())
				return
			}
			require.ErrorIs(t, err, ErrTooFew, n)
			assert.Equal(t, oldIndex, w.alias())
			assert.Equal(t, PhaseMarking, w.record().Phase)
			m = w.runner(Options{MinShare: -1, Settle: -1})
			require.NoError(t, m.run(t.Context()), "the share is sufficient")
			assert.Equal(t, newIndex, w.alias())
		})
	}
}

// The service may count the last writes some seconds late.
func TestACountThatIsLateIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 200)
		m := w.runner(Options{Settle: -1})
		log := new(strings.Builder)
		m.r.opts.Logger = slog.New(slog.NewTextHandler(log, nil))
		var since time.Time
		w.srv.Intercept(func(req *http.Request, do func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if strings.Contains(req.URL.Path, newIndex) && strings.HasSuffix(req.URL.Path, "/docs/$count") {
				if since.IsZero() {
					since = time.Now()
				}
				if time.Since(since) < 5*time.Second {
					return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Body: io.NopCloser(strings.NewReader("0")), Header: http.Header{"Content-Type": {"text/plain"}}, Request: req}, nil
				}
			}
			return do(req)
		})
		require.NoError(t, m.run(t.Context()))
		assert.GreaterOrEqual(t, time.Since(since), 5*time.Second)
		assert.Equal(t, 1, strings.Count(log.String(), `level=WARN msg="rebuild: new index is not complete; checking again" error="rebuild: new index has too few documents`))
		assert.Equal(t, newIndex, w.alias())
	})
}

func TestAnAbortOpensAlsoWhereANewConnectionTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		m.r.line = at("alias", func() { m.dead.Store(true) })
		require.Error(t, m.run(t.Context()))
		require.Equal(t, PhaseClosed, w.record().Phase)
		r := newRunner(nil, w.client)
		r.opts.Settle, r.opts.Logger = -1, quiet
		store := &dialling{Store: w.store, takes: 2 * closedRequest}
		r.store, r.line = store, at("alias back", func() { store.gone.Store(true) })
		require.NoError(t, r.abort(t.Context()))
		assert.Equal(t, PhaseIdle, w.record().Phase)
		a.end()
		w.checkTruth(oldIndex)
	})
}

// Confirm has read that keys are marked, but its mark arrives after the alias has moved and readers use the new
// index.
func TestAMarkThatComesWhenTheAliasHasMovedIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, late := NewMemory(), make(chan struct{})
		found, err := store.Swap(t.Context(), Record{Phase: PhaseMarking, Step: stepSwapping, Route: oldIndex, New: newIndex, Epoch: 1, Round: 1})
		require.NoError(t, err)
		tap, err := NewTap(t.Context(), store, TapOptions{Writer: "a", Index: oldIndex, Connect: func(string) (Indexer, error) { return noIndexer{}, nil }})
		require.NoError(t, err)
		tap.Indexer()
		require.NoError(t, tap.Before(t.Context(), []string{"k"}))
		tap.store = lateMarks{store, late}
		confirmed := make(chan error, 1)
		go func() {
			_, err := tap.Confirm(t.Context(), []string{"k"})
			confirmed <- err
		}()
		synctest.Wait()
		r := newRunner(store, nil)
		r.opts.Logger = quiet
		require.NoError(t, r.own(t.Context(), found))
		require.NoError(t, r.open(t.Context(), time.Time{}, stepSettling, PhaseSwapped))
		close(late)
		time.Sleep(time.Second)
		require.Empty(t, confirmed, "the new index does not have it yet")
		require.NoError(t, r.swap(t.Context(), func(x *Record) { x.Drained = x.Round }))
		require.NoError(t, <-confirmed)
	})
}

type lateMarks struct {
	Store
	late chan struct{}
}

func (l lateMarks) Mark(ctx context.Context, epoch int64, keys []string) (int64, error) {
	<-l.late
	return l.Store.Mark(ctx, epoch, keys)
}

// Schedule: an Abort is stopped before it moves the alias back; another Abort does so; a Run reuses the index name
// and ends; the first Abort resumes.
func TestAnAbortThatWasStoppedLeavesTheAliasOfTheNextRebuildAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{})
		m.r.line = at(string(stepSettling), func() { m.dead.Store(true) })
		require.ErrorIs(t, m.run(t.Context()), errStopped)
		first := newRunner(w.store, w.client)
		first.opts.Settle, first.opts.Logger = -1, quiet
		first.line = at("alias back", func() {
			require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{settle: -1, Logger: quiet}))
			require.Equal(t, oldIndex, w.alias())
			require.NoError(t, w.runner(Options{Settle: -1}).run(t.Context()))
		})
		require.ErrorIs(t, first.abort(t.Context()), ErrTakenOver)
		assert.Equal(t, newIndex, w.alias())
		w.checkTruth(newIndex)
	})
}

func TestAnIndexThatRunHasNotMadeIsLeftAlone(t *testing.T) {
	// somebodyElse creates an index with the new name and fills it.
	somebodyElse := func(t *testing.T, w *world) {
		t.Helper()
		_, err := w.client.CreateIndex(t.Context(), next(t), nil)
		require.NoError(t, err)
		c, err := w.client.Client(newIndex)
		require.NoError(t, err)
		_, err = search.UploadDocuments(t.Context(), c, []models.Document{{"id": "theirs", "n": 1}}, nil)
		require.NoError(t, err)
	}
	t.Run("the swap was refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			full := true
			w.srv.Intercept(func(req *http.Request, do func(*http.Request) (*http.Response, error)) (*http.Response, error) {
				if full && req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/indexes") {
					body := io.NopCloser(strings.NewReader(`{"error":{"code":"","message":"Index quota has been exceeded for this service."}}`))
					return &http.Response{StatusCode: http.StatusForbidden, Status: "403 Forbidden", Body: body, Header: http.Header{"Content-Type": {"application/json"}}, Request: req}, nil
				}
				return do(req)
			})
			require.Error(t, w.runner(Options{}).run(t.Context()))
			assert.Equal(t, StepNone, w.record().Step, "Abort has nothing to do")
			full = false
			somebodyElse(t, w)
			require.ErrorIs(t, Abort(t.Context(), w.store, w.client, nil), ErrNothing)
			require.ErrorContains(t, w.runner(Options{}).run(t.Context()), "exists already")
			assert.Contains(t, w.srv.IndexNames(), newIndex)
		})
	})
	t.Run("Run was killed before it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			m := w.runner(Options{})
			m.r.line = at(string(stepCreating), func() { m.dead.Store(true) })
			require.Error(t, m.run(t.Context()))
			require.Equal(t, stepCreating, w.record().Step)
			somebodyElse(t, w)
			require.ErrorContains(t, w.runner(Options{}).run(t.Context()), "not created by this rebuild")
			require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{settle: -1, Logger: quiet}))
			assert.Equal(t, StepNone, w.record().Step)
			assert.Contains(t, w.srv.Documents(newIndex), "theirs")
		})
	})
	t.Run("the request was refused, but the index exists", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			m := w.runner(Options{})
			m.r.line = at("created", func() { m.dead.Store(true) })
			require.Error(t, m.run(t.Context()))
			w.srv.Intercept(func(req *http.Request, do func(*http.Request) (*http.Response, error)) (*http.Response, error) {
				if req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/indexes") {
					return &http.Response{StatusCode: http.StatusForbidden, Status: "403 Forbidden", Body: http.NoBody, Header: http.Header{}, Request: req}, nil
				}
				return do(req)
			})
			require.Error(t, w.runner(Options{}).run(t.Context()))
			assert.Equal(t, stepCreating, w.record().Step, "an index of ours may be there")
		})
	})
	t.Run("Run was killed behind it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			m := w.runner(Options{})
			m.r.line = at("created", func() { m.dead.Store(true) })
			require.Error(t, m.run(t.Context()))
			require.Equal(t, stepCreating, w.record().Step)
			require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{settle: -1, Logger: quiet}))
			assert.NotContains(t, w.srv.IndexNames(), newIndex, "the index was created by this rebuild")
		})
	})
}

func TestARunWhoseContextEndsSaysWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 200)
		m := w.runner(Options{})
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		m.r.fill.All = func(ctx context.Context, _ string) iter.Seq2[models.RawAction, error] {
			asked++
			return func(yield func(models.RawAction, error) bool) {
				_ = yield(models.RawAction{Key: "k000", Type: models.ActionTypeUpload, Document: document("k000", 1)}, nil)
				cancel()
				yield(models.RawAction{}, ctx.Err())
			}
		}
		err := m.run(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, `in the step "filling": call Run again`)
		assert.Equal(t, 1, asked)
	})
}
