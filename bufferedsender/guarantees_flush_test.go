package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flushFailures returns how many failures the error of a Flush reports.
func flushFailures(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var failed *bufferedsender.FlushError
	require.ErrorAs(t, err, &failed)
	require.Len(t, failed.Errors, min(failed.Count, 100))
	return failed.Count
}

// refuseKeys makes the service refuse the documents whose keys match.
func refuseKeys(patterns ...string) searchtest.Fault {
	return searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: patterns, Status: 400, Message: "refused"}}}
}

func TestG7FlushReturnsAfterCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func() { time.Sleep(time.Second) }
		told := 0
		r := newRig(t, &hotelOptions{Handlers: hotelHandlers{
			ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) { slow(); told++ },
			ActionFailed:    func(context.Context, *events.ActionFailed[hotel]) { slow(); told++ },
		}})
		r.faults(refuseKeys("k-9"))
		r.upload(hotels("k", 10)...)
		require.Error(t, r.flush())
		assert.Equal(t, 10, told)
		assert.Equal(t, 10*time.Second, r.now())
	})
}

func TestG7FlushSendsAtOnceWhateverTheOptions(t *testing.T) {
	for name, opts := range map[string]hotelOptions{
		"defaults": {}, "without timer": {AutoFlushInterval: -1}, "without auto-flush": {DisableAutoFlush: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &opts)
			require.NoError(t, r.flush(), "nothing to flush")
			assert.Empty(t, r.requests())
			r.upload(append(hotels("k", 5), hotels("k", 2)...)...)
			require.NoError(t, r.flush())
			assert.Zero(t, r.now(), name)
			assert.Len(t, r.requests(), 2, "two actions of one key take two requests")
			assert.Zero(t, r.sender.PendingActionCount())
		})
	}
}

func TestG7FlushDoesNotWaitForLaterAdditions(t *testing.T) {
	t.Run("that are not answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 5}})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second), Count: 1}, searchtest.Fault{Delay: searchtest.Duration(50 * time.Second)})
			r.upload(hotels("early", 3)...)
			go func() {
				time.Sleep(time.Second)
				r.upload(hotels("late", 20)...)
				r.upload(hotels("early", 3)...) // also not the later actions of its keys
			}()
			require.NoError(t, r.flush())
			assert.Equal(t, 10*time.Second, r.now())
			assert.Len(t, r.seen("completed"), 3)
			require.NoError(t, r.flush())
			assert.Len(t, r.seen("completed"), 26)
		})
	})
	t.Run("of callers who never stop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxBufferedActions: 50}})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(time.Second)})
			ctx, stop := context.WithCancel(t.Context())
			var callers sync.WaitGroup
			for c := range 3 {
				callers.Go(func() {
					for i := 0; r.sender.UploadDocuments(ctx, hotel{ID: fmt.Sprint("c", c, "-", i)}) == nil; i++ {
					}
				})
			}
			time.Sleep(500 * time.Millisecond)
			for range 3 {
				before := r.now()
				require.NoError(t, r.flush())
				assert.LessOrEqual(t, r.now()-before, 6*time.Second, "50 buffered actions are five requests of a second, and one under way")
			}
			stop()
			callers.Wait()
		})
	})
}

// A failure is reported by every Flush that was waiting for it, and by no other.
func TestEveryFlushReportsTheFailuresThatItWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 2}})
		// Never at the same time as one of the calls.
		r.faults(searchtest.Fault{Delay: searchtest.Duration(1037 * time.Millisecond), Documents: []searchtest.DocumentFault{{Keys: []string{"*3"}, Status: 400}}})
		var flushes sync.WaitGroup
		var mu sync.Mutex
		reported := make([][]string, 40)
		for i := range reported {
			flushes.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				docs := hotels(fmt.Sprint("f", i), 5) // one of them fails
				r.upload(docs...)
				err := r.flush()
				var failed *bufferedsender.FlushError
				require.ErrorAs(t, err, &failed)
				require.Len(t, failed.Errors, failed.Count)
				ends := map[string]bool{}
				for _, e := range r.seen("completed", "failed") {
					ends[e.key] = true
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
		for _, e := range r.seen("failed") {
			failedAt[e.key] = e.at
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
		require.NoError(t, r.flush())
		require.NoError(t, r.close())
	})
}

func TestG7FlushReportsFailures(t *testing.T) {
	t.Run("with a count and the first hundred", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 40}})
			r.faults(refuseKeys("bad-*"))
			r.upload(hotels("good", 10)...)
			r.upload(hotels("bad", 250)...)
			err := r.flush()
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
			require.NoError(t, r.flush(), "no failure is reported twice")
			require.NoError(t, r.close(), "nor by Close")
		})
	})
	t.Run("that happened before it was called", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.faults(refuseKeys("bad-*"))
			r.upload(hotels("bad", 3)...)
			time.Sleep(2 * time.Minute)
			require.Len(t, r.seen("failed"), 3)
			assert.Equal(t, 3, flushFailures(t, r.flush()))
		})
	})
	t.Run("of what was accepted before it, not of later additions", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 2}})
			r.respond(func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if x.keys[0] == "slow-0" {
					time.Sleep(20 * time.Second)
				}
				return next()
			})
			r.faults(refuseKeys("bad-*", "slow-1"))
			r.upload(hotels("slow", 2)...)
			first := make(chan error, 1)
			go func() { first <- r.flush() }()
			synctest.Wait()
			r.upload(hotels("bad", 2)...)
			time.Sleep(time.Second)
			require.Len(t, r.seen("failed"), 2, "the later ones have failed already")
			var failed *bufferedsender.FlushError
			require.ErrorAs(t, <-first, &failed)
			assert.Equal(t, 20*time.Second, r.now())
			require.Len(t, failed.Errors, 1)
			assert.Equal(t, "slow-1", failed.Errors[0].Key)
			assert.Equal(t, 2, flushFailures(t, r.flush()))
		})
	})
	t.Run("which a Flush that gave up has not reported", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
			r.respond(func(n int, _ *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				time.Sleep(time.Duration(n-1) * 10 * time.Second)
				return next()
			})
			r.faults(refuseKeys("bad-*"))
			r.upload(hotels("bad", 4)...)
			require.ErrorIs(t, r.sender.Flush(within(t, time.Second)), context.DeadlineExceeded)
			require.Len(t, r.seen("failed"), 2)
			assert.Equal(t, 4, flushFailures(t, r.flush()))
		})
	})
	t.Run("which a Flush that gave up in the last moment has not reported", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Handlers: hotelHandlers{ActionFailed: func(context.Context, *events.ActionFailed[hotel]) { time.Sleep(10 * time.Second) }}})
			r.faults(refuseKeys("bad-*"))
			r.upload(hotels("bad", 3)...)
			require.ErrorIs(t, r.sender.Flush(within(t, 25*time.Second)), context.DeadlineExceeded) // amid the last callback
			assert.Equal(t, 25*time.Second, r.now())
			assert.Equal(t, 3, flushFailures(t, r.flush()))
		})
	})
	t.Run("which a Flush that gave up when all was settled has not reported", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: hotelHandlers{ActionSent: func(_ context.Context, e *events.ActionSent[hotel]) {
				if e.Key == "later-0" {
					time.Sleep(10 * time.Second) // the failures are told, and Flush is not yet
				}
			}}})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second), Documents: []searchtest.DocumentFault{{Keys: []string{"bad-*"}, Status: 400}}})
			r.upload(hotels("bad", 3)...)
			synctest.Wait()
			gaveUp := make(chan error, 1)
			go func() { gaveUp <- r.sender.Flush(within(t, 15*time.Second)) }()
			synctest.Wait()
			r.upload(hotels("later", 3)...)
			require.ErrorIs(t, <-gaveUp, context.DeadlineExceeded)
			assert.Equal(t, 3, flushFailures(t, r.flush()))
		})
	})
	t.Run("and those of retries that ran out", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Status: 409}}})
			r.upload(hotels("k", 3)...)
			var failed *bufferedsender.FlushError
			require.ErrorAs(t, r.flush(), &failed)
			assert.Equal(t, 1, failed.Count)
			assert.Equal(t, 4, failed.Errors[0].Attempts)
			assert.True(t, failed.Errors[0].Exhausted)
		})
	})
}

func TestG7NilMeansThatEverythingIsInTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 3}, Retry: retry.Options{MaxRetries: 30}})
		r.faults(searchtest.Fault{Every: 3, Status: 503, RetryAfter: searchtest.Duration(time.Second)},
			searchtest.Fault{Every: 4, Cut: searchtest.CutBeforeCommit},
			searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Ratio: 0.3, Status: 422}}})
		for round := range 10 {
			docs := hotels(fmt.Sprint("r", round), 37)
			r.upload(docs...)
			require.NoError(t, r.flush())
			for _, d := range docs {
				_, stored := r.srv.Document("hotels", d.ID)
				require.True(t, stored, "%s after Flush", d.ID)
			}
		}
	})
}

func TestG7FlushWaitsThroughAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(searchtest.Fault{Count: 1, Status: 503, RetryAfter: searchtest.Duration(30 * time.Second)})
		r.upload(hotels("k", 3)...)
		require.NoError(t, r.flush())
		assert.Equal(t, 30*time.Second, r.now())
		assert.Len(t, r.requests(), 2)
	})
}

func TestG7FlushReturnsWhenCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
		r.respond(hang)
		r.upload(hotels("k", 5)...)
		flushed := make(chan error, 1)
		go func() { flushed <- r.sender.Flush(context.Background()) }()
		synctest.Wait()
		closed := r.sender.Close(within(t, 3*time.Second))
		var close *bufferedsender.CloseError
		require.ErrorAs(t, closed, &close)
		synctest.Wait()
		select {
		case err := <-flushed:
			require.Error(t, err, "nothing is in the index")
			assert.ErrorIs(t, err, bufferedsender.ErrClosed)
			assert.Equal(t, 3*time.Second, r.now())
		default:
			t.Fatal("Flush waits on")
		}
		assert.Same(t, closed, r.sender.Flush(t.Context()), "after Close it returns what Close returned")
	})
	t.Run("and adds up with it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
			r.respond(func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if n == 1 {
					return reply(req, 404, refusal("no")), nil
				}
				return hang(n, x, req, next)
			})
			r.upload(hotels("k", 5)...) // two fail, two hang, one waits
			flushed := make(chan error, 1)
			go func() { flushed <- r.sender.Flush(context.Background()) }()
			synctest.Wait()
			require.NoError(t, r.sender.IndexDocuments(t.Context(), models.UploadAction(hotel{ID: "later"})))
			var closed *bufferedsender.CloseError
			require.True(t, errors.As(r.sender.Close(within(t, time.Second)), &closed))
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
