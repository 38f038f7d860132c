package waiting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestCloseAcceptsNothingMoreAndDrains(t *testing.T) {
	t.Run("everything, in partial batches, through retries and pauses", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, opts := range []sendertest.Options{{Limits: bufferedsender.Limits{MaxBatchActions: 10}}, {Limits: bufferedsender.Limits{MaxBatchActions: 10}, DisableAutoFlush: true}, {AutoFlushInterval: -1}} {
				r := sendertest.New(t, &opts)
				r.Faults(searchtest.Fault{Count: 1, Status: 429, RetryAfter: searchtest.Duration(30 * time.Second)},
					searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Ratio: 0.5, Status: 409}}})
				r.Upload(append(sendertest.Hotels("k", 25), sendertest.Hotels("k", 4)...)...)
				require.NoError(t, r.Close())
				assert.Len(t, r.Events("completed"), 29)
				assert.Len(t, r.Indexed(), 25)
			}
		})
	})
	t.Run("the door is shut while it drains", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second)})
			r.Upload(sendertest.Hotels("k", 3)...)
			go func() { assert.NoError(t, r.Close()) }()
			synctest.Wait()
			for name, add := range sendertest.AddingCalls(r, sendertest.Hotel{ID: "late"}) {
				err := add(t.Context())
				sendertest.RequireAccepted(t, err, 0)
				assert.ErrorIs(t, err, bufferedsender.ErrClosed, name)
			}
			assert.Zero(t, r.Now())
			require.NoError(t, r.Close())
			assert.Equal(t, 10*time.Second, r.Now())
			for name, add := range sendertest.AddingCalls(r, sendertest.Hotel{ID: "late"}) {
				assert.ErrorIs(t, add(t.Context()), bufferedsender.ErrClosed, name)
			}
			assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 3)), r.Indexed())
		})
	})
	t.Run("an unused sender closes at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			require.NoError(t, sendertest.New(t, nil).Sender.Close(ended), "no action is left unsent")
			require.NoError(t, sendertest.New(t, nil).Close())
		})
	})
}

func TestEveryCallerOfCloseGetsTheSameAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Respond(sendertest.Hang)
		r.Upload(sendertest.Hotels("k", 3)...)
		var mu sync.Mutex
		var answers []error
		var callers sync.WaitGroup
		for i := range 10 {
			callers.Go(func() {
				ctx := context.Background() // most have no deadline
				if i == 4 {
					ctx = sendertest.Within(t, 5*time.Second)
				}
				err := r.Sender.Close(ctx)
				assert.Equal(t, 5*time.Second, r.Now())
				mu.Lock()
				defer mu.Unlock()
				answers = append(answers, err)
			})
		}
		callers.Wait()
		answers = append(answers, r.Sender.Close(t.Context()), r.Sender.Flush(t.Context(), nil))
		for _, err := range answers {
			assert.Same(t, answers[0], err)
		}
		assert.Equal(t, 3, sendertest.CloseError(t, answers[0]).Unknown)
	})
}

func TestCloseDistinguishesUnsentUnknownAndFailed(t *testing.T) {
	// k-0 … k-9 are in a hanging request, the others wait.
	t.Run("documents in an interrupted request, and waiting ones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10}})
			r.Respond(func(_ int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				_, err := next() // it is applied, and the reply is late
				<-req.Context().Done()
				return nil, errors.Join(err, req.Context().Err())
			})
			r.Upload(sendertest.Hotels("k", 25)...)
			closed := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, 5*time.Second)))
			assert.Equal(t, 5*time.Second, r.Now())
			assert.Equal(t, []int{15, 10, 0}, []int{closed.Unsent, closed.Unknown, closed.Failed})
			assert.Len(t, closed.Errors, 25)
			assert.False(t, closed.CallbackStuck)
			require.Len(t, r.Events("failed"), 25, "the callbacks of all failures have run")
			for i, d := range sendertest.Hotels("k", 25) {
				failure := r.Failure(d.ID)
				assert.ErrorIs(t, failure, bufferedsender.ErrClosed)
				assert.Equal(t, i < 10, failure.Unknown, d.ID)
				assert.Equal(t, i < 10, r.Outcome(d.ID).Unknown, d.ID)
				assert.Equal(t, map[bool]int{true: 1, false: 0}[i < 10], failure.Attempts, d.ID)
			}
			before := len(r.Events())
			time.Sleep(time.Hour)
			assert.Len(t, r.Events(), before, "no callback after Close")
		})
	})
	for name, c := range map[string]struct {
		first   sendertest.Answer
		unknown bool
	}{
		"waiting to be sent again after a refusal":      {sendertest.Always(429, sendertest.ErrorBody("busy"), "Retry-After", "60"), false},
		"waiting to be sent again after half a refusal": {sendertest.Always(503, sendertest.ErrorBody("busy"), "Retry-After", "60"), true}, // it may have applied some
		"waiting to be sent again after a cut": {func(int, *sendertest.Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return nil, errors.New("connection reset by peer")
		}, true},
		"waiting to be sent again after a timeout":                    {sendertest.Hang, true},
		"waiting to be sent again after an answer that made no sense": {sendertest.Always(200, "<html>"), true},
		"waiting to be sent again after two attempts, the first a cut": {func(n int, _ *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			if n == 1 {
				return nil, io.ErrUnexpectedEOF
			}
			return sendertest.Reply(req, 429, sendertest.ErrorBody("busy"), "Retry-After", "60"), nil
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{RequestTimeout: 10 * time.Second, Retry: retry.Options{Delay: 30 * time.Second, Jitter: -1}})
				r.Respond(c.first)
				r.Upload(sendertest.Hotels("k", 4)...)
				go r.Flush()
				time.Sleep(35 * time.Second)
				closed := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Millisecond)))
				if c.unknown {
					assert.Equal(t, []int{0, 4, 0}, []int{closed.Unsent, closed.Unknown, closed.Failed})
				} else {
					assert.Equal(t, []int{4, 0, 0}, []int{closed.Unsent, closed.Unknown, closed.Failed})
				}
				assert.Equal(t, c.unknown, r.Failure("k-0").Unknown)
				assert.ErrorIs(t, r.Failure("k-0"), bufferedsender.ErrClosed)
			})
		})
	}
	t.Run("failures that no Flush has reported", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 60}})
			r.Faults(sendertest.RefuseKeys("bad-*", "old-*"))
			r.Upload(sendertest.Hotels("old", 2)...)
			require.Equal(t, 2, sendertest.FlushFailures(t, r.Flush()))
			r.Upload(sendertest.Hotels("bad", 150)...)
			err := r.Close()
			closed := sendertest.CloseError(t, err)
			assert.Equal(t, []int{0, 0, 150}, []int{closed.Unsent, closed.Unknown, closed.Failed})
			require.Len(t, closed.Errors, 100)
			assert.Equal(t, "bad-0", closed.Errors[0].Key)
			assert.ErrorContains(t, err, "150")
			var one *bufferedsender.ActionError
			require.ErrorAs(t, err, &one)
		})
	})
	t.Run("a ctx that had ended before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(sendertest.Hang)
			r.Upload(sendertest.Hotels("k", 4)...)
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			closed := sendertest.CloseError(t, r.Sender.Close(ended))
			assert.Equal(t, 4, closed.Unsent+closed.Unknown)
			if len(r.Requests()) > 0 { // one may have started between refusing new calls and giving up
				assert.Equal(t, 4, closed.Unknown)
			}
			assert.Zero(t, r.Now())
		})
	})
}

func TestCloseEndsEvenIfACallbackDoesNot(t *testing.T) {
	kinds := map[string]func(block func()) sendertest.Handlers{
		"ActionSent": func(block func()) (h sendertest.Handlers) {
			h.ActionSent = func(context.Context, *events.ActionSent[sendertest.Hotel]) { block() }
			return h
		},
		"ActionCompleted": func(block func()) (h sendertest.Handlers) {
			h.ActionCompleted = func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { block() }
			return h
		},
		"BatchCompleted": func(block func()) (h sendertest.Handlers) {
			h.BatchCompleted = func(context.Context, *events.Batch) { block() }
			return h
		},
		"ActionFailed": func(block func()) (h sendertest.Handlers) {
			h.ActionFailed = func(context.Context, *events.ActionFailed[sendertest.Hotel]) { block() }
			return h
		},
	}
	for name, handlers := range kinds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: handlers(func() { <-release })})
				r.Abandoned = true
				r.Faults(sendertest.RefuseKeys("k-1"))
				r.Upload(sendertest.Hotels("k", 5)...) // in two requests
				go r.Sender.Flush(context.Background(), nil)
				synctest.Wait()
				err := r.Sender.Close(sendertest.Within(t, 5*time.Second))
				assert.LessOrEqual(t, r.Now(), 8*time.Second)
				assert.GreaterOrEqual(t, r.Now(), 5*time.Second)
				closed := sendertest.CloseError(t, err)
				assert.True(t, closed.CallbackStuck)
				assert.ErrorIs(t, r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "late"}), bufferedsender.ErrClosed)
				s := r.CheckStats()
				assert.Zero(t, s.PendingActions, "Close has settled everything")
				assert.EqualValues(t, closed.Unsent+closed.Unknown, s.Unsent)
				close(release)
				synctest.Wait()
				assert.Same(t, err, r.Sender.Close(t.Context()))
				r.CheckAccounts()
				assert.EqualValues(t, closed.Unsent+closed.Unknown, r.Sender.Stats().Unsent, "the counts in the error of Close stay correct")
				// synctest fails the test if the sender's goroutine does not end now.
			})
		})
	}
}

func TestACloseThatLeavesACallbackBehindCountsOnlyNewFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10}, Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { <-release }}})
		r.Abandoned = true
		r.Faults(sendertest.RefuseKeys("old-*", "new-*"))
		r.Upload(sendertest.Hotels("old", 4)...)
		require.Equal(t, 4, sendertest.FlushFailures(t, r.Flush()))
		r.Upload(sendertest.Hotels("new", 3)...)
		time.Sleep(2 * time.Minute)
		r.Upload(sendertest.Hotel{ID: "stuck"})
		time.Sleep(2 * time.Minute)
		closed := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second)))
		assert.True(t, closed.CallbackStuck)
		assert.Equal(t, []int{0, 0, 3}, []int{closed.Unsent, closed.Unknown, closed.Failed}, "Flush has reported the others")
		close(release)
	})
}

func TestCloseEndsEvenIfTheIndexerDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		reported := 0
		sender, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			<-release // ignores ctx
			return sendertest.AcceptAll(ctx, body)
		}}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Handlers: sendertest.Handlers{
			ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { reported++ },
			ActionFailed:    func(context.Context, *events.ActionFailed[sendertest.Hotel]) { reported++ },
		}})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, sender)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotels("k", 5)...))
		began := time.Now()
		err = sender.Close(sendertest.Within(t, 5*time.Second))
		assert.LessOrEqual(t, time.Since(began), 8*time.Second)
		closed := sendertest.CloseError(t, err)
		assert.Equal(t, []int{3, 2, 0}, []int{closed.Unsent, closed.Unknown, closed.Failed})
		assert.Equal(t, 5, reported, "the callbacks of all failures have run")
		close(release)
		time.Sleep(time.Minute)
		assert.Equal(t, 5, reported, "the late answer changes nothing")
		assert.EqualValues(t, 5, sender.Stats().Unsent)
	})
}

func TestTheAccountsBalanceWheneverCloseGivesUp(t *testing.T) {
	for _, after := range []time.Duration{0, 1, time.Millisecond, 999 * time.Millisecond, time.Second, 1001 * time.Millisecond, 5 * time.Second} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxInFlight: 3, MaxBufferedActions: 30}})
				r.Faults(searchtest.Fault{Every: 4, Status: 503}, searchtest.Fault{Every: 5, Cut: searchtest.CutAfterCommit},
					searchtest.Fault{Delay: searchtest.Duration(500 * time.Millisecond), Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: 409}, {Ratio: 0.1, Status: 400}}})
				go func() { _ = r.Sender.UploadDocuments(context.Background(), sendertest.Hotels("k", 200)...) }()
				time.Sleep(time.Second)
				s := r.Sender.Stats()
				err := r.Sender.Close(sendertest.Within(t, after))
				if err == nil {
					assert.EqualValues(t, 0, s.PendingActions)
					return
				}
				closed, s := sendertest.CloseError(t, err), r.Sender.Stats()
				assert.EqualValues(t, s.Unsent, closed.Unsent+closed.Unknown)
				assert.EqualValues(t, s.Failed, closed.Failed)
				for key := range r.Service.Documents("hotels") {
					e := r.Outcome(key)
					assert.True(t, e.Kind == "completed" || e.Unknown, "%s is in the index, but reported as certainly not applied", key)
				}
			})
		})
	}
}

func TestTheLastAttemptCutByCloseIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := &sendertest.Options{}
		options.Retry.MaxRetries = -1
		sender, err := bufferedsender.New(&sendertest.Indexer{Delay: time.Hour}, options)
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var closed *bufferedsender.CloseError
		require.ErrorAs(t, sender.Close(ctx), &closed)
		assert.Equal(t, 1, closed.Unknown)
		assert.Zero(t, closed.Failed)
		assert.ErrorIs(t, closed, bufferedsender.ErrClosed)
		assert.Zero(t, sender.Stats().Pauses, "Close is not throttling")
	})
}

func TestACloseThatIsHeldSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Down(401)
		r.Upload(sendertest.Hotels("k", 3)...)
		err := r.Sender.Close(sendertest.Within(t, time.Minute))
		var closed *bufferedsender.CloseError
		require.ErrorAs(t, err, &closed)
		assert.ErrorIs(t, closed.Held, bufferedsender.ErrCircuitOpen)
		assert.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
		line, _, _ := strings.Cut(closed.Error(), "; first:")
		assert.Contains(t, line, "3 actions unsent (sending was suspended: ")
		assert.Contains(t, line, "HTTP 401")
		assert.Contains(t, r.Logs.String(), "level=WARN msg=\"azsearch: Close waiting: sending suspended")
		assert.NotContains(t, r.Logs.String(), "sending resumed")
	})
}

// This includes documents set apart while others pass.
func TestACloseSaysThatDocumentsWereHeldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(sendertest.LackingUntil(func() bool { return false }))
		r.Upload(append(sendertest.Hotels("new", 100), sendertest.RoomlessHotels("old", 100)...)...)
		err := r.Sender.Close(sendertest.Within(t, time.Minute))
		var closed *bufferedsender.CloseError
		require.ErrorAs(t, err, &closed)
		assert.Equal(t, 80, closed.Unsent)
		assert.Equal(t, 20, closed.Failed)
		assert.ErrorIs(t, closed.Held, bufferedsender.ErrCircuitOpen)
		assert.Contains(t, closed.Held.Error(), "'rooms'")
		assert.False(t, errors.As(closed.Held, new(*breaker.OpenError)), "the breaker is not the reason")
	})
}
