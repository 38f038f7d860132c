package waiting

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestFlushReturnsAfterCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func() { time.Sleep(time.Second) }
		reported := 0
		r := sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{
			ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { slow(); reported++ },
			ActionFailed:    func(context.Context, *events.ActionFailed[sendertest.Hotel]) { slow(); reported++ },
		}})
		r.Faults(sendertest.RefuseKeys("k-9"))
		r.Upload(sendertest.Hotels("k", 10)...)
		require.Error(t, r.Flush())
		assert.Equal(t, 10, reported)
		assert.Equal(t, 10*time.Second, r.Now())
	})
}

func TestFlushSendsAtOnceWhateverTheOptions(t *testing.T) {
	for name, opts := range map[string]sendertest.Options{
		"defaults": {}, "without timer": {AutoFlushInterval: -1}, "without auto-flush": {DisableAutoFlush: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &opts)
			require.NoError(t, r.Flush(), "Flush has nothing to do")
			assert.Empty(t, r.Requests())
			r.Upload(append(sendertest.Hotels("k", 5), sendertest.Hotels("k", 2)...)...)
			require.NoError(t, r.Flush())
			assert.Zero(t, r.Now(), name)
			assert.Len(t, r.Requests(), 2, "two actions of one key take two requests")
			assert.Zero(t, r.Sender.Stats().PendingActions)
		})
	}
}

func TestFlushDoesNotWaitForLaterAdditions(t *testing.T) {
	t.Run("later additions without a reply", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 5}})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second), Count: 1}, searchtest.Fault{Delay: searchtest.Duration(50 * time.Second)})
			r.Upload(sendertest.Hotels("early", 3)...)
			go func() {
				time.Sleep(time.Second)
				r.Upload(sendertest.Hotels("late", 20)...)
				r.Upload(sendertest.Hotels("early", 3)...) // includes later actions of the same keys
			}()
			require.NoError(t, r.Flush())
			assert.Equal(t, 10*time.Second, r.Now())
			assert.Len(t, r.Events("completed"), 3)
			require.NoError(t, r.Flush())
			assert.Len(t, r.Events("completed"), 26)
		})
	})
	t.Run("additions of callers that never stop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxBufferedActions: 50}})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(time.Second)})
			ctx, stop := context.WithCancel(t.Context())
			var callers sync.WaitGroup
			for c := range 3 {
				callers.Go(func() {
					for i := 0; r.Sender.UploadDocuments(ctx, sendertest.Hotel{ID: fmt.Sprint("c", c, "-", i)}) == nil; i++ {
					}
				})
			}
			time.Sleep(500 * time.Millisecond)
			for range 3 {
				before := r.Now()
				require.NoError(t, r.Flush())
				assert.LessOrEqual(t, r.Now()-before, 6*time.Second, "50 buffered actions are five requests of a second, and one under way")
			}
			stop()
			callers.Wait()
		})
	})
}

// A failure is reported by exactly those Flush calls that waited for it.
func TestEveryFlushReportsTheFailuresThatItWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 2}})
		// Never at the same moment as one of the calls.
		r.Faults(searchtest.Fault{Delay: searchtest.Duration(1037 * time.Millisecond), Documents: []searchtest.DocumentFault{{Keys: []string{"*3"}, Status: 400}}})
		var flushes sync.WaitGroup
		var mu sync.Mutex
		reported := make([][]string, 40)
		for i := range reported {
			flushes.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				docs := sendertest.Hotels(fmt.Sprint("f", i), 5) // one of them fails
				r.Upload(docs...)
				err := r.Flush()
				var failed *bufferedsender.FlushError
				require.ErrorAs(t, err, &failed)
				require.Len(t, failed.Errors, failed.Count)
				ends := map[string]bool{}
				for _, e := range r.Events("completed", "failed") {
					ends[e.Key] = true
				}
				for _, d := range docs {
					assert.True(t, ends[d.ID], "Flush %d returned before %s was settled", i, d.ID)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, e := range failed.Errors {
					reported[i] = append(reported[i], e.Key)
				}
			})
		}
		flushes.Wait()
		failedAt := map[string]time.Duration{}
		for _, e := range r.Events("failed") {
			failedAt[e.Key] = e.At
		}
		require.Len(t, failedAt, 40)
		for i := range reported {
			var want []string
			for j := range i + 1 { // accepted before it, and settled after
				if key := fmt.Sprintf("f%d-3", j); failedAt[key] > time.Duration(i)*100*time.Millisecond {
					want = append(want, key)
				}
			}
			assert.ElementsMatch(t, want, reported[i], "Flush %d", i)
		}
		require.NoError(t, r.Flush())
		require.NoError(t, r.Close())
	})
}

func TestFlushReportsFailures(t *testing.T) {
	t.Run("the error has the count and the first hundred failures", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 40}})
			r.Faults(sendertest.RefuseKeys("bad-*"))
			r.Upload(sendertest.Hotels("good", 10)...)
			r.Upload(sendertest.Hotels("bad", 250)...)
			err := r.Flush()
			var failed *bufferedsender.FlushError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, 250, failed.Count)
			assert.Zero(t, failed.Unsent)
			require.Len(t, failed.Errors, 100)
			for i, e := range failed.Errors {
				assert.Equal(t, fmt.Sprint("bad-", i), e.Key)
				assert.Equal(t, 400, e.Status)
			}
			assert.ErrorContains(t, err, "250")
			assert.ErrorContains(t, err, "refused")
			var one *bufferedsender.ActionError
			assert.ErrorAs(t, err, &one)
			require.NoError(t, r.Flush(), "no failure is reported twice")
			require.NoError(t, r.Close(), "Close does not report it again")
		})
	})
	t.Run("failures before the call of Flush", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(sendertest.RefuseKeys("bad-*"))
			r.Upload(sendertest.Hotels("bad", 3)...)
			time.Sleep(2 * time.Minute)
			require.Len(t, r.Events("failed"), 3)
			assert.Equal(t, 3, sendertest.FlushFailures(t, r.Flush()))
		})
	})
	t.Run("failures of actions accepted before it, not of later ones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 2}})
			r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if x.Keys[0] == "slow-0" {
					time.Sleep(20 * time.Second)
				}
				return next()
			})
			r.Faults(sendertest.RefuseKeys("bad-*", "slow-1"))
			r.Upload(sendertest.Hotels("slow", 2)...)
			first := make(chan error, 1)
			go func() { first <- r.Flush() }()
			synctest.Wait()
			r.Upload(sendertest.Hotels("bad", 2)...)
			time.Sleep(time.Second)
			require.Len(t, r.Events("failed"), 2, "the later ones have failed already")
			var failed *bufferedsender.FlushError
			require.ErrorAs(t, <-first, &failed)
			assert.Equal(t, 20*time.Second, r.Now())
			require.Len(t, failed.Errors, 1)
			assert.Equal(t, "slow-1", failed.Errors[0].Key)
			assert.Equal(t, 2, sendertest.FlushFailures(t, r.Flush()))
		})
	})
	t.Run("failures that a Flush that gave up has not reported", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
			r.Respond(func(n int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				time.Sleep(time.Duration(n-1) * 10 * time.Second)
				return next()
			})
			r.Faults(sendertest.RefuseKeys("bad-*"))
			r.Upload(sendertest.Hotels("bad", 4)...)
			require.ErrorIs(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil), context.DeadlineExceeded)
			require.Len(t, r.Events("failed"), 2)
			assert.Equal(t, 4, sendertest.FlushFailures(t, r.Flush()))
		})
	})
	t.Run("failures that a Flush that gave up in the last moment has not reported", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{ActionFailed: func(context.Context, *events.ActionFailed[sendertest.Hotel]) { time.Sleep(10 * time.Second) }}})
			r.Faults(sendertest.RefuseKeys("bad-*"))
			r.Upload(sendertest.Hotels("bad", 3)...)
			require.ErrorIs(t, r.Sender.Flush(sendertest.Within(t, 25*time.Second), nil), context.DeadlineExceeded) // during the last callback
			assert.Equal(t, 25*time.Second, r.Now())
			assert.Equal(t, 3, sendertest.FlushFailures(t, r.Flush()))
		})
	})
	t.Run("failures that a Flush that gave up when all was settled has not reported", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: sendertest.Handlers{ActionSent: func(_ context.Context, e *events.ActionSent[sendertest.Hotel]) {
				if e.Key == "later-0" {
					time.Sleep(10 * time.Second) // the failures are reported, and Flush has not returned
				}
			}}})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second), Documents: []searchtest.DocumentFault{{Keys: []string{"bad-*"}, Status: 400}}})
			r.Upload(sendertest.Hotels("bad", 3)...)
			synctest.Wait()
			gaveUp := make(chan error, 1)
			go func() { gaveUp <- r.Sender.Flush(sendertest.Within(t, 15*time.Second), nil) }()
			synctest.Wait()
			r.Upload(sendertest.Hotels("later", 3)...)
			require.ErrorIs(t, <-gaveUp, context.DeadlineExceeded)
			assert.Equal(t, 3, sendertest.FlushFailures(t, r.Flush()))
		})
	})
	t.Run("failures of retries that ran out", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Status: 409}}})
			r.Upload(sendertest.Hotels("k", 3)...)
			var failed *bufferedsender.FlushError
			require.ErrorAs(t, r.Flush(), &failed)
			assert.Equal(t, 1, failed.Count)
			assert.Equal(t, 4, failed.Errors[0].Attempts)
			assert.True(t, failed.Errors[0].Exhausted)
		})
	})
}

func TestFlushReturnsNilIfEverythingIsInTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 3}, Retry: retry.Options{MaxRetries: 30}})
		r.Faults(searchtest.Fault{Every: 3, Status: 503, RetryAfter: searchtest.Duration(time.Second)},
			searchtest.Fault{Every: 4, Cut: searchtest.CutBeforeCommit},
			searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Ratio: 0.3, Status: 422}}})
		for round := range 10 {
			docs := sendertest.Hotels(fmt.Sprint("r", round), 37)
			r.Upload(docs...)
			require.NoError(t, r.Flush())
			for _, d := range docs {
				_, stored := r.Service.Document("hotels", d.ID)
				require.True(t, stored, "%s after Flush", d.ID)
			}
		}
	})
}

func TestFlushWaitsThroughAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{Count: 1, Status: 503, RetryAfter: searchtest.Duration(30 * time.Second)})
		r.Upload(sendertest.Hotels("k", 3)...)
		require.NoError(t, r.Flush())
		assert.Equal(t, 30*time.Second, r.Now())
		assert.Len(t, r.Requests(), 2)
	})
}

func TestFlushReturnsWhenCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
		r.Respond(sendertest.Hang)
		r.Upload(sendertest.Hotels("k", 5)...)
		flushed := make(chan error, 1)
		go func() { flushed <- r.Sender.Flush(context.Background(), nil) }()
		synctest.Wait()
		closed := r.Sender.Close(sendertest.Within(t, 3*time.Second))
		var close *bufferedsender.CloseError
		require.ErrorAs(t, closed, &close)
		synctest.Wait()
		select {
		case err := <-flushed:
			require.Error(t, err, "no document is in the index")
			assert.ErrorIs(t, err, bufferedsender.ErrClosed)
			assert.Equal(t, 3*time.Second, r.Now())
		default:
			t.Fatal("Flush still waits")
		}
		assert.Same(t, closed, r.Sender.Flush(t.Context(), nil), "after Close it returns what Close returned")
	})
	t.Run("the reports of Flush and Close add up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
			r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if n == 1 {
					return sendertest.Reply(req, 404, sendertest.ErrorBody("no")), nil
				}
				return sendertest.Hang(n, x, req, next)
			})
			r.Upload(sendertest.Hotels("k", 5)...) // two fail, two hang, one waits
			flushed := make(chan error, 1)
			go func() { flushed <- r.Sender.Flush(context.Background(), nil) }()
			synctest.Wait()
			require.NoError(t, r.Sender.IndexDocuments(t.Context(), models.UploadAction(sendertest.Hotel{ID: "later"})))
			var closed *bufferedsender.CloseError
			require.True(t, errors.As(r.Sender.Close(sendertest.Within(t, time.Second)), &closed))
			var failed *bufferedsender.FlushError
			require.ErrorAs(t, <-flushed, &failed)
			assert.Equal(t, 5, failed.Count)
			assert.Equal(t, 3, failed.Unsent)
			assert.Equal(t, 4, closed.Unsent+closed.Unknown)
			assert.Equal(t, 2, closed.Unknown)
			assert.Zero(t, closed.Failed, "the two were reported by Flush")
		})
	})
}

func TestEveryFailureIsReportedToWhoWaitedForItOrElseByClose(t *testing.T) {
	t.Run("two at once both get the failure", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 1 }))
			r.Faults(sendertest.RefuseKeys("bad"))
			r.Upload(sendertest.Hotel{ID: "bad"})
			first, second := sendertest.Later(r.Flush), sendertest.Later(r.Flush)
			assert.Equal(t, 1, sendertest.FlushFailures(t, <-first))
			assert.Equal(t, 1, sendertest.FlushFailures(t, <-second))
			require.NoError(t, r.Flush())
			require.NoError(t, r.Close())
		})
	})
	t.Run("failures that IndexDocumentsAndWait returned are not reported by Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(sendertest.RefuseKeys("bad"))
			_, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "bad"})}, nil)
			assert.Equal(t, 1, sendertest.WaitError(t, err).Failed)
			require.NoError(t, r.Close())
		})
	})
	t.Run("failures that no call waited for are reported by Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(sendertest.RefuseKeys("bad"))
			r.Upload(sendertest.Hotel{ID: "bad"})
			time.Sleep(2 * time.Minute)
			assert.Equal(t, 1, sendertest.CloseError(t, r.Close()).Failed)
		})
	})
}

func TestWhatIsTakenBackIsNoFailureOfTheNextFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Sender.Pause()
		r.Upload(sendertest.Hotels("k", 3)...)
		waiting := sendertest.Later(r.Flush)
		synctest.Wait()
		all := func(string, any) bool { return true }
		require.Equal(t, 3, r.Sender.Withdraw(all))
		var failed *bufferedsender.FlushError
		require.ErrorAs(t, <-waiting, &failed, "Flush was waiting for them")
		assert.Equal(t, 3, failed.Count)
		assert.Equal(t, 3, failed.Withdrawn)
		assert.Contains(t, failed.Error(), "3 actions failed, 3 of them withdrawn")
		r.Upload(sendertest.Hotels("k", 3)...)
		require.Equal(t, 3, r.Sender.Withdraw(all))
		assert.NoError(t, r.Flush(), "Withdraw has reported it")
		assert.EqualValues(t, 6, r.Sender.Stats().Withdrawn)
		assert.EqualValues(t, 6, r.Sender.Stats().Failed)
		assert.NoError(t, r.Close())
	})
}
