package rebuild

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// at returns a hook that calls do at the first line with this name.
func at(name string, do func()) func(string) error {
	return func(line string) error {
		if line == name && do != nil {
			first := do
			do = nil
			first()
		}
		return nil
	}
}

const otherIndex = "hotels-9"

func TestAnAliasThatSomebodyElseHasMovedStaysThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		_, err := w.client.CreateIndex(t.Context(), definition(t, otherIndex, "standard.lucene"), nil)
		require.NoError(t, err)
		w.moveAliasTo(otherIndex)
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		require.ErrorIs(t, m.run(t.Context()), ErrAliasMoved)
		assert.NotContains(t, w.srv.IndexNames(), newIndex, "nothing is begun")

		for _, line := range []string{"close", "closed", "alias"} {
			w.moveAliasTo(oldIndex)
			m = w.runner(Options{Writers: []string{"a"}})
			m.r.line = at(line, func() { w.moveAliasTo(otherIndex) })
			require.ErrorIs(t, m.run(t.Context()), ErrAliasMoved, line)
			assert.Equal(t, otherIndex, w.alias(), line)
			assert.Equal(t, PhaseMarking, w.record().Phase, "the writers continue")
			require.Len(t, m.r.report.Closed, 1)
			assert.Less(t, m.r.report.Closed[0], time.Second)
		}
		w.moveAliasTo(oldIndex)
		m = w.runner(Options{Writers: []string{"a"}})
		require.NoError(t, m.run(t.Context()), "the Run resumes where it was")
		a.end()
		w.checkTruth(newIndex)
	})
}

func TestAnAliasThatSomebodyElseHasWrittenToTheSameIndexIsMovedWithTheNextTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		m.r.line = at("alias", func() { w.moveAliasTo(oldIndex) }) // changes its ETag
		require.NoError(t, m.run(t.Context()))
		assert.Len(t, m.r.report.Closed, 3)
		a.end()
		w.checkTruth(newIndex)
	})
}

// onPut calls do with the first request that moves the alias to the new index.
func (w *world) onPut(do func(next func() (*http.Response, error)) (*http.Response, error)) {
	w.srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if first := do; first != nil && req.Method == http.MethodPut && strings.Contains(req.URL.Path, "alias") {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			again := req.Clone(context.Background())
			again.Body = io.NopCloser(strings.NewReader(string(body)))
			if strings.Contains(string(body), newIndex) {
				do = nil
				return first(func() (*http.Response, error) { return w.intercept(again, next) })
			}
			req.Body = again.Body
		}
		return w.intercept(req, next)
	})
}

func TestAMoveOfTheAliasWhoseAnswerIsLostIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		w.onPut(func(next func() (*http.Response, error)) (*http.Response, error) {
			_, _ = next()
			return nil, errors.New("the line is cut")
		})
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		require.NoError(t, m.run(t.Context()))
		assert.Len(t, m.r.report.Closed, 2)
		a.end()
		w.checkTruth(newIndex)
	})
}

// Schedule: the request to move the alias hangs and times out, writers confirm changes that the new index lacks, then
// the service executes the request. It must fail.
func TestAMoveOfTheAliasThatIsLateDoesNotHappenBehindTheWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		status := 0
		w.onPut(func(next func() (*http.Response, error)) (*http.Response, error) {
			go func() {
				time.Sleep(1500 * time.Millisecond) // during the second attempt
				if resp, err := next(); assert.NoError(t, err) {
					status = resp.StatusCode
				}
			}()
			time.Sleep(950 * time.Millisecond)
			return nil, context.DeadlineExceeded
		})
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		require.NoError(t, m.run(t.Context()))
		assert.Len(t, m.r.report.Closed, 3)
		assert.Equal(t, http.StatusPreconditionFailed, status)
		a.end()
		w.checkTruth(newIndex)
	})
}

func TestWritersDoNotWaitForAServiceThatDoesNotSayWhereTheAliasIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		m.r.line = at(string(stepSwapping), func() {
			began := time.Now()
			w.srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
				if strings.Contains(req.URL.Path, "alias") && time.Since(began) < 5*time.Second {
					return nil, errors.New("the line is cut")
				}
				return w.intercept(req, next)
			})
		})
		require.NoError(t, m.run(t.Context()))
		assert.Greater(t, len(m.r.report.Closed), 2)
		for _, closed := range m.r.report.Closed {
			assert.LessOrEqual(t, closed, closedLimit)
		}
		a.end()
		w.checkTruth(newIndex)
	})
}

// silent keeps each request that want selects without an answer until its context has ended.
func (w *world) silent(want func(*http.Request) bool) {
	w.srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if want(req) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}
		return w.intercept(req, next)
	})
}

// On a broken connection an answer may never come, and no error either.
func TestWritersDoNotWaitForAnAnswerThatNeverComes(t *testing.T) {
	for _, second := range []string{http.MethodGet, http.MethodPut} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			a := w.write("a", 1)
			m := w.runner(Options{Writers: []string{"a"}})
			awaited := []string{http.MethodPut, second}
			w.silent(func(req *http.Request) bool {
				hangs := strings.Contains(req.URL.Path, "alias") && len(awaited) > 0 && req.Method == awaited[0] && m.r.now().Phase == PhaseClosed
				if hangs {
					awaited = awaited[1:]
				}
				return hangs
			})
			assert.NoError(t, m.run(t.Context()), second)
			assert.Empty(t, awaited)
			assert.Greater(t, len(m.r.report.Closed), 2)
			for _, closed := range m.r.report.Closed {
				assert.Less(t, closed, 10*time.Second, second)
			}
			a.end()
			w.checkTruth(newIndex)
		})
	}
}

func TestOneAnswerThatNeverComesEndsNoRebuildAndNoAbort(t *testing.T) {
	for n, calls := int64(1), int64(1); n <= calls && !t.Failed(); n++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			a := w.write("a", 1)
			var call atomic.Int64
			var over atomic.Bool
			hang := func(req *http.Request) bool {
				return !strings.Contains(req.URL.Path, "/docs/search.index") && !over.Load() && call.Add(1) == n
			}
			m := w.runner(Options{Writers: []string{"a"}})
			m.r.line = func(line string) error {
				switch line {
				case string(stepCatchingUp):
					w.silent(hang)
				case "alias moved":
					return errors.New("enough")
				}
				return nil
			}
			assert.ErrorContains(t, m.run(t.Context()), "enough", n)
			began := time.Now()
			assert.NoError(t, Abort(context.Background(), w.store, w.client, &AbortOptions{settle: -1, Logger: quiet}), n)
			assert.Less(t, time.Since(began), 30*time.Second, n)
			over.Store(true)
			calls = call.Load()
			assert.Equal(t, oldIndex, w.alias())
			assert.NotContains(t, w.srv.IndexNames(), newIndex)
			a.end()
			w.checkTruth(oldIndex)
		})
	}
}

// Schedule: a process is stopped, another aborts the rebuild, the first one resumes.
func TestARunnerThatWasStoppedCannotMoveTheAliasAfterAnAbort(t *testing.T) {
	for _, line := range []string{string(stepSwapping), "alias"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			a := w.write("a", 1)
			m := w.runner(Options{Writers: []string{"a"}})
			var etag string
			m.r.line = at(line, func() {
				// The process is stopped here until Abort has ended.
				late, err := w.client.GetAlias(context.Background(), aliasName, nil)
				assert.NoError(t, err)
				done := make(chan error)
				go func() { done <- Abort(context.Background(), w.store, w.client, &AbortOptions{Logger: quiet}) }()
				assert.NoError(t, <-done)
				x, err := w.client.GetAlias(context.Background(), aliasName, nil)
				assert.NoError(t, err)
				etag = x.ETag
				// A new rebuild recreates the new index.
				_, err = w.client.CreateIndex(context.Background(), next(t), nil)
				assert.NoError(t, err)
				// The stopped process's request arrives now.
				late.Indexes = []string{newIndex}
				_, err = w.client.CreateOrUpdateAlias(context.Background(), late, nil)
				assert.ErrorIs(t, err, search.ErrPreconditionFailed, line)
			})
			require.ErrorIs(t, m.run(t.Context()), ErrTakenOver, line)
			x, err := w.client.GetAlias(t.Context(), aliasName, nil)
			require.NoError(t, err)
			assert.Equal(t, models.Alias{Name: aliasName, Indexes: []string{oldIndex}, ETag: etag}, x, line)
			a.end()
			w.checkTruth(oldIndex)
		})
	}
}

// stumbling answers one call of an index or alias with a 503. Its client repeats none.
type stumbling struct {
	m     *mortal
	on    atomic.Bool
	calls atomic.Int64
	at    int64
}

func (s *stumbling) Do(req *http.Request) (*http.Response, error) {
	if s.on.Load() && !strings.Contains(req.URL.Path, "/docs") && s.calls.Add(1) == s.at {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}
	return s.m.Do(req)
}

// stumbles lets the runner stumble at a call.
func (w *world) stumbles(m *mortal, at int64) *stumbling {
	s := &stumbling{m: m, at: at}
	c, err := search.NewIndexClientWithKey(w.srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: s, Retry: policy.RetryOptions{MaxRetries: -1}},
	})
	require.NoError(w.t, err)
	m.r.client = c
	return s
}

func TestOneErrorOfTheServiceEndsNoRebuildThatHasFilledItsIndex(t *testing.T) {
	for _, anew := range []bool{false, true} {
		for n, calls := int64(1), int64(1); n <= calls && !t.Failed(); n += int64(testkit.Cases(5, 1, 1)) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 20)
				a := w.write("a", 1)
				m := w.runner(Options{Writers: []string{"a"}})
				s := w.stumbles(m, n)
				m.r.line = at(string(stepCatchingUp), func() {
					if anew {
						w.noError(w.client.DeleteIndex(t.Context(), newIndex, nil))
						_, err := w.client.CreateIndex(t.Context(), next(t), nil)
						w.noError(err)
					}
					s.on.Store(true)
				})
				if assert.NoError(t, m.run(t.Context()), "%v %d", anew, n) {
					assert.Equal(t, newIndex, w.alias())
				}
				for _, closed := range m.r.report.Closed {
					assert.LessOrEqual(t, closed, closedLimit)
				}
				calls = s.calls.Load()
				a.end()
				w.checkTruth(newIndex)
			})
		}
	}
}

func TestOneErrorOfTheServiceEndsNoAbort(t *testing.T) {
	for n, calls := int64(1), int64(1); n <= calls && !t.Failed(); n++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			a := w.write("a", 1)
			m := w.runner(Options{Writers: []string{"a"}})
			m.r.line = func(line string) error {
				if line == "alias moved" {
					return errors.New("enough")
				}
				return nil
			}
			require.Error(t, m.run(t.Context()))
			aborting := w.runner(Options{})
			s := w.stumbles(aborting, n)
			s.on.Store(true)
			require.NoError(t, aborting.r.abort(t.Context()), n)
			assert.Equal(t, oldIndex, w.alias())
			assert.NotContains(t, w.srv.IndexNames(), newIndex)
			calls = s.calls.Load()
			a.end()
			w.checkTruth(oldIndex)
		})
	}
}

func TestAnAbortLeavesAnAliasThatSomebodyElseHasMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		_, err := w.client.CreateIndex(t.Context(), definition(t, otherIndex, "standard.lucene"), nil)
		require.NoError(t, err)
		m := w.runner(Options{})
		m.r.line = func(line string) error {
			if line == string(StepFilling) {
				return errors.New("enough")
			}
			return nil
		}
		w.opened(w.store)
		require.Error(t, m.run(t.Context()))
		w.moveAliasTo(otherIndex)
		require.ErrorIs(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}), ErrAliasMoved)
		assert.Equal(t, otherIndex, w.alias())
		assert.Contains(t, w.srv.IndexNames(), newIndex)
		assert.Equal(t, StepNone, w.record().Step)
	})
}
