package rebuild

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// stalled is a sender whose index accepts nothing while the switch is on; the sender waits, as usual.
type stalled struct {
	Sender
	is func() bool
}

func (s stalled) AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
	if s.is() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Sender.AddAndWait(ctx, actions)
}

func TestAnIndexThatTakesNothingWhileWritersWaitIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		made := m.r.opts.Sender
		m.r.opts.Sender = func(index string) (Sender, error) {
			s, err := made(index)
			return stalled{s, func() bool { return m.r.now().Phase == PhaseSwapped }}, err
		}
		began := time.Now()
		err := m.run(t.Context())
		require.ErrorIs(t, err, errStuck)
		require.ErrorIs(t, err, ErrClosed)
		assert.Less(t, time.Since(began), 10*time.Minute)
		require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}))
		a.end()
		w.checkTruth(oldIndex)
	})
}

// informed is a sender that reports a given Health.
type informed struct {
	Sender
	info models.SenderInfo
}

func (i informed) Info() models.SenderInfo { return i.info }

func TestASenderThatIsNoneForTheNewIndexIsRefused(t *testing.T) {
	for says, change := range map[string]func(*models.SenderInfo){
		`it writes to "hotels-1"`: func(i *models.SenderInfo) { i.IndexName = oldIndex },
		"it has a Queue":          func(i *models.SenderInfo) { i.Queued = true },
		"it writes to the service https://staging.search.windows.net": func(i *models.SenderInfo) { i.Endpoint = "https://staging.search.windows.net" },
		"UnknownWait": func(i *models.SenderInfo) { i.UnknownWait = -1 },
		"":            func(*models.SenderInfo) {},
	} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 20)
				m := w.runner(Options{})
				made := m.r.opts.Sender
				m.r.opts.Sender = func(index string) (Sender, error) {
					s, err := made(index)
					info := models.SenderInfo{IndexName: newIndex, UnknownWait: time.Second, RequestTimeout: time.Minute}
					change(&info)
					return informed{s, info}, err
				}
				err := m.run(t.Context())
				if says == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, says)
				_, err = w.client.GetIndex(t.Context(), newIndex, nil)
				require.ErrorIs(t, err, search.ErrIndexNotFound, "no index was created")
			})
		})
	}
}

func TestAFillSaysWhatHasEndedIt(t *testing.T) {
	r := newRunner(NewMemory(), nil)
	_, f, free := r.filling(t.Context())
	defer free()
	full := errors.New("the index is full")
	ends := []func(models.Outcome){f.add(models.RawAction{Key: "a"}), f.add(models.RawAction{Key: "b"}), f.add(models.RawAction{Key: "c"})}
	ends[1](models.Outcome{Key: "b", Reason: models.ReasonQuota, Err: full})
	ends[0](models.Outcome{Key: "a", Reason: models.ReasonWithdrawn, Err: context.Canceled}) // when the others end
	for _, err := range []error{nil, context.Canceled} {
		err = f.failure(err)
		require.ErrorIs(t, err, full)
		require.NotErrorIs(t, err, errLost)
		require.NotErrorIs(t, err, context.Canceled)
	}
	refused := (*RefusedError)(nil).add("d", errors.New("it is not an upload"))
	assert.Equal(t, refused, f.failure(refused))
}

func TestAnAbortWhoseLastAnswerIsLostIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{})
		m.dieAt(3)
		require.ErrorIs(t, m.run(t.Context()), errStopped)
		lost := false
		store := hanging{Store: w.store, after: func(_ context.Context, next Record) bool {
			first := !lost && next.Step == StepNone
			lost = lost || first
			return first
		}}
		require.NoError(t, Abort(t.Context(), store, w.client, &AbortOptions{settle: -1, Logger: quiet}))
		assert.True(t, lost)
		assert.Contains(t, w.record().Dropped, newIndex)
	})
}

func TestARunThatWatchesTheOneBeforeBearsADatabaseThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemory()
		found, err := store.Swap(t.Context(), Record{Phase: PhaseClosed, Step: stepClosing, Owner: "before"})
		require.NoError(t, err)
		is := new(atomic.Bool)
		r := newRunner(away{Store: store, is: is}, nil)
		r.opts.Logger = slog.New(slog.DiscardHandler)
		time.AfterFunc(shortTerm.takeOver-5*time.Second, func() { is.Store(true) }) // and when it takes over the record
		time.AfterFunc(shortTerm.takeOver+10*time.Second, func() { is.Store(false) })
		require.NoError(t, r.own(t.Context(), found))
		assert.Equal(t, r.id, r.now().Owner)

		lost := false
		r = newRunner(hanging{Store: store, after: func(context.Context, Record) bool {
			defer func() { lost = true }()
			return !lost
		}}, nil)
		r.opts.Logger = slog.New(slog.DiscardHandler)
		found, err = store.Load(t.Context())
		require.NoError(t, err)
		found.Owner = ""
		require.NoError(t, r.own(t.Context(), found), "the swap whose reply was lost was confirmed")
		assert.Equal(t, r.id, r.now().Owner)
	})
}

// An operator, or a clean-up of unused indexes, deletes the new index.
func TestANewIndexThatIsDeletedWhileItIsFilledEndsTheRun(t *testing.T) {
	for _, step := range []Step{StepFilling, stepCatchingUp} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			a := w.write("a", 1)
			m := w.runner(Options{Writers: []string{"a"}})
			line := m.r.line
			m.r.line = func(name string) error {
				if name == string(step) {
					w.noError(w.client.DeleteIndex(t.Context(), newIndex, nil))
				}
				return line(name)
			}
			began := time.Now()
			err := m.run(t.Context())
			require.ErrorIs(t, err, search.ErrIndexNotFound, step)
			require.ErrorContains(t, err, "call Abort", step)
			assert.Less(t, time.Since(began), 10*time.Minute, step)
			require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}))
			require.NoError(t, w.runner(Options{Writers: []string{"a"}}).run(t.Context()))
			a.end()
			w.checkTruth(newIndex)
		})
	}
}

// A deployment deletes the new index and creates it again, empty. Cursor and transferred documents then belong to the
// deleted index.
func TestANewIndexThatIsMadeAnewMeanwhileIsFilledAnew(t *testing.T) {
	for _, at := range []string{"half filled", "closed", "alias", string(stepMarking), string(StepFilling), string(stepCatchingUp), "close", string(stepSwapping)}[:testkit.Cases(3, 8, 8)] {
		for _, share := range []float64{0, -1}[:testkit.Cases(1, 2, 2)] {
			synctest.Test(t, func(t *testing.T) {
				documents := 20
				if at == "half filled" {
					documents = chunk
				}
				w := newWorld(t, documents)
				a := w.write("a", 1)
				m := w.runner(Options{Writers: []string{"a"}, MinShare: share})
				var once sync.Once
				anew := func(name string) {
					if name == at {
						once.Do(func() {
							w.noError(w.client.DeleteIndex(t.Context(), newIndex, nil))
							_, err := w.client.CreateIndex(t.Context(), next(t), nil)
							w.noError(err)
						})
					}
				}
				line, all := m.r.line, m.r.fill.All
				m.r.line = func(name string) error { anew(name); return line(name) }
				m.r.fill.All = func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
					return func(yield func(models.RawAction, error) bool) {
						n := 0
						for x, err := range all(ctx, after) {
							if n++; n == chunk/2+1 {
								time.Sleep(10 * time.Second) // earlier documents are written by then
								anew("half filled")
							}
							if !yield(x, err) {
								return
							}
						}
					}
				}
				if assert.NoError(t, m.run(t.Context()), at) {
					assert.Equal(t, newIndex, w.alias(), at)
				}
				a.end()
				w.checkTruth(newIndex)
			})
		}
	}
}

// A proxy accepts the request and never answers.
func TestARequestThatIsNeverAnsweredEndsTheCall(t *testing.T) {
	silence := func(w *world, method, path string) (end func()) {
		var off atomic.Bool
		w.srv.Intercept(func(req *http.Request, do func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if !off.Load() && req.Method == method && strings.HasSuffix(req.URL.Path, path) {
				if method == http.MethodPost { // the service has done it
					if _, err := do(req); err != nil {
						return nil, err
					}
				}
				<-req.Context().Done()
				return nil, req.Context().Err()
			}
			return w.intercept(req, do)
		})
		return func() { off.Store(true) }
	}
	ends := func(t *testing.T, call func(ctx context.Context) error) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(t, call(ctx), context.DeadlineExceeded)
		assert.Less(t, time.Since(began), 2*time.Minute)
	}
	for name, request := range map[string][2]string{
		"CreateIndex": {http.MethodPost, "/indexes"}, "GetAlias": {http.MethodGet, "/aliases('" + aliasName + "')"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 20)
				end := silence(w, request[0], request[1])
				ends(t, w.runner(Options{}).run)
				end()
				time.Sleep(time.Minute)
				require.NoError(t, w.runner(Options{Settle: -1}).run(t.Context()))
				end = silence(w, http.MethodGet, "/aliases('"+aliasName+"')")
				drop := func(ctx context.Context) error { return DropOld(ctx, w.store, w.client, &DropOptions{Now: true}) }
				ends(t, drop)
				end()
				require.NoError(t, drop(t.Context()))
			})
		})
	}
}
