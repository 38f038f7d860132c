package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func uploads(docs []hotel) (actions []hotelAction) {
	for _, doc := range docs {
		actions = append(actions, models.UploadAction(doc))
	}
	return actions
}

// waitError returns the *WaitError that an error of IndexDocumentsAndWait is.
func waitError(t *testing.T, err error) *bufferedsender.WaitError {
	t.Helper()
	var e *bufferedsender.WaitError
	require.ErrorAs(t, err, &e)
	return e
}

func TestPressureWaitReturnsResultsInTheOrderGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxInFlight: 4}})
		r.upload(hotel{ID: "there", Rooms: 1})
		require.NoError(t, r.flush())
		r.faults(searchtest.Fault{Results: searchtest.ResultsShuffled, Documents: []searchtest.DocumentFault{{Keys: []string{"c", "g"}, Nth: 1, Status: 409}}})
		r.respond(seconds(func(n int, _ *exchange) float64 { return float64(10 - n) })) // later requests are faster
		results, err := r.sender.IndexDocumentsAndWait(t.Context(),
			models.UploadAction(hotel{ID: "a"}), models.MergeAction(hotel{ID: "there", Rooms: 2}), models.UploadAction(hotel{ID: "c"}),
			models.UploadAction(hotel{ID: "a", Rooms: 2}), models.DeleteAction(hotel{ID: "nothing"}), models.MergeOrUploadAction(hotel{ID: "f"}),
			models.UploadAction(hotel{ID: "g"}), models.DeleteAction(hotel{ID: "there"}), models.MergeAction(hotel{ID: "c", Rooms: 3}))
		require.NoError(t, err)
		var got []string
		for _, result := range results {
			got = append(got, fmt.Sprint(result.Key, " ", result.StatusCode, " ", result.Succeeded))
		}
		assert.Equal(t, []string{"a 201 true", "there 200 true", "c 201 true", "a 200 true", "nothing 200 true", "f 201 true", "g 201 true", "there 200 true", "c 200 true"}, got)
	})
	t.Run("none for none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			results, err := r.sender.IndexDocumentsAndWait(t.Context())
			require.NoError(t, err)
			assert.Empty(t, results)
		})
	})
	t.Run("after the callbacks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			slow := l.handlers()
			slow.ActionCompleted = func(context.Context, *events.ActionCompleted[hotel]) { time.Sleep(time.Second); l.note("told") }
			r := newRig(t, &hotelOptions{Handlers: slow})
			_, err := r.sender.IndexDocumentsAndWait(t.Context(), uploads(hotels("k", 5))...)
			require.NoError(t, err)
			assert.Len(t, l.told("told"), 5)
		})
	})
}

func TestPressureWaitSaysWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Retry: atOnce})
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Status: 400, Message: "bad document"}, {Keys: []string{"k-3"}, Status: 409}}})
		results, err := r.sender.IndexDocumentsAndWait(t.Context(), append(uploads(hotels("k", 5)), models.MergeAction(hotel{ID: "missing"}))...)
		failure := waitError(t, err)
		require.Len(t, results, 6)
		for i, want := range []int{201, 400, 201, 409, 201, 404} {
			assert.Equal(t, want, results[i].StatusCode, "%d", i)
			assert.Equal(t, want == 201, results[i].Succeeded)
		}
		assert.Equal(t, "bad document", results[1].ErrorMessage)
		assert.Equal(t, 3, failure.Failed)
		assert.Zero(t, failure.Withdrawn)
		assert.NoError(t, failure.Err)
		require.Len(t, failure.Errors, 3)
		var failed []string
		for _, e := range failure.Errors {
			failed = append(failed, e.Key)
		}
		assert.Equal(t, []string{"k-1", "k-3", "missing"}, failed, "in the order of the call")
		assert.Equal(t, 4, failure.Errors[1].Attempts)
		var one *bufferedsender.ActionError
		require.ErrorAs(t, err, &one)
		assert.ErrorContains(t, err, "3 actions failed")
		require.NoError(t, r.flush(), "the call has reported them")
		require.NoError(t, r.close(), "Close neither")
	})
	t.Run("a whole request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.respond(always(403, refusal("no")))
			results, err := r.sender.IndexDocumentsAndWait(t.Context(), uploads(hotels("k", 3))...)
			assert.Equal(t, 3, waitError(t, err).Failed)
			require.Len(t, results, 3)
			for i, result := range results {
				assert.Equal(t, fmt.Sprint("k-", i), result.Key)
				assert.Equal(t, 403, result.StatusCode)
				assert.False(t, result.Succeeded)
			}
		})
	})
}

func TestAWaitWhoseContextEndsWithdrawsWhatIsNotSettled(t *testing.T) {
	cause := errors.New("my own cause")
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
		r.respond(seconds(func(int, *exchange) float64 { return 10 }))
		ctx, cancel := context.WithTimeoutCause(t.Context(), 25*time.Second, cause)
		defer cancel()
		results, err := r.sender.IndexDocumentsAndWait(ctx, uploads(hotels("k", 8))...)
		assert.Equal(t, 25*time.Second, r.now())
		require.ErrorIs(t, err, cause)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		failure := waitError(t, err)
		assert.Equal(t, 2, failure.Unknown, "they are in a request")
		assert.Equal(t, 2, failure.Withdrawn)
		assert.Zero(t, failure.Failed)
		require.Len(t, failure.Errors, 4)
		for i, e := range failure.Errors {
			assert.Equal(t, fmt.Sprint("k-", 4+i), e.Key)
			assert.Equal(t, i < 2, e.Unknown, e.Key)
			assert.Equal(t, models.ReasonWithdrawn, e.Reason)
			require.ErrorIs(t, e, bufferedsender.ErrWithdrawn)
		}
		require.Len(t, results, 8)
		for i, result := range results {
			assert.Equal(t, fmt.Sprint("k-", i), result.Key)
			assert.Equal(t, map[bool]int{true: 201, false: 0}[i < 4], result.StatusCode, "%d", i)
		}
		synctest.Wait()
		require.NoError(t, r.flush())
		assert.Equal(t, 30*time.Second, r.now(), "the request goes on to its end")
		assert.Equal(t, ids(hotels("k", 6)), r.indexed(), "and what was withdrawn is not sent")
		assert.Len(t, r.requests(), 3)
	})
	t.Run("also for room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBufferedActions: 3}})
			r.respond(seconds(func(int, *exchange) float64 { return 10 }))
			results, err := r.sender.IndexDocumentsAndWait(within(t, 15*time.Second), uploads(hotels("k", 8))...)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			refused(t, err, 6)
			assert.Len(t, results, 6, "of the accepted ones")
			assert.Equal(t, 3, waitError(t, err).Unknown, "those in the request")
			assert.Zero(t, waitError(t, err).Withdrawn)
			require.NoError(t, r.flush())
			assert.Equal(t, ids(hotels("k", 6)), r.indexed())
		})
	})
}

func TestPressureWaitThatIsNotAcceptedAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		actions := uploads(hotels("k", 5))
		actions[3].Document.ID = "not a key"
		results, err := r.sender.IndexDocumentsAndWait(t.Context(), actions...)
		refused(t, err, 3)
		var illegal *keys.InvalidKeyError
		require.ErrorAs(t, err, &illegal)
		failure := waitError(t, err)
		assert.Zero(t, failure.Failed)
		assert.Zero(t, failure.Withdrawn)
		require.Len(t, results, 3, "of those before it")
		for _, result := range results {
			assert.True(t, result.Succeeded, "and they were waited for")
		}
		assert.Equal(t, ids(hotels("k", 3)), r.indexed())
	})
	t.Run("the first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			results, err := r.sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(hotel{}), models.UploadAction(hotel{ID: "k"}))
			refused(t, err, 0)
			assert.Empty(t, results)
			assert.Empty(t, r.requests())
		})
	})
	t.Run("and fails too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.faults(refuseKeys("k-1"))
			actions := uploads(hotels("k", 5))
			actions[3].Type = "replace"
			results, err := r.sender.IndexDocumentsAndWait(t.Context(), actions...)
			refused(t, err, 3)
			assert.Equal(t, 1, waitError(t, err).Failed)
			assert.Len(t, results, 3)
			require.NoError(t, r.flush(), "the call has reported it")
		})
	})
	t.Run("with DisableAutoFlush a full buffer refuses", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{DisableAutoFlush: true, Limits: bufferedsender.Limits{MaxBufferedActions: 3}})
			r.upload(hotels("old", 3)...)
			_, err := r.sender.IndexDocumentsAndWait(t.Context(), uploads(hotels("k", 2))...)
			require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
			refused(t, err, 0)
			require.NoError(t, r.flush())
		})
	})
}

func TestPressureWaitInsideACallback(t *testing.T) {
	for name := range fiveHandlers(nil) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *rig
				var once sync.Once
				var results []models.IndexingResult
				var err error
				opts := &hotelOptions{Handlers: fiveHandlers(func(ctx context.Context) error {
					once.Do(func() { results, err = r.sender.IndexDocumentsAndWait(ctx, models.UploadAction(hotel{ID: "inside"})) })
					return nil
				})[name]}
				r = newRig(t, opts)
				r.faults(refuseKeys("bad"))
				r.upload(hotel{ID: "good"}, hotel{ID: "bad"})
				_ = r.flush()
				require.ErrorIs(t, err, bufferedsender.ErrInCallback)
				refused(t, err, 0)
				_ = waitError(t, err)
				assert.Empty(t, results)
				assert.Equal(t, []string{"good"}, r.indexed(), "nothing was accepted")
			})
		})
	}
}

func TestPressureWaitAndClose(t *testing.T) {
	t.Run("a sender that is closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			require.NoError(t, r.close())
			results, err := r.sender.IndexDocumentsAndWait(t.Context(), uploads(hotels("k", 2))...)
			require.ErrorIs(t, err, bufferedsender.ErrClosed)
			refused(t, err, 0)
			assert.Empty(t, results)
		})
	})
	t.Run("Close sends it at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Waiting: bufferedsender.Waiting{Interval: time.Hour}})
			call := later(func() error {
				_, err := r.sender.IndexDocumentsAndWait(t.Context(), uploads(hotels("k", 2))...)
				return err
			})
			synctest.Wait()
			require.NoError(t, r.close())
			require.NoError(t, <-call)
			assert.Zero(t, r.now())
		})
	})
	t.Run("a Close that gives up ends the waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
			r.respond(hang)
			call := later(func() error {
				results, err := r.sender.IndexDocumentsAndWait(t.Context(), uploads(hotels("k", 3))...)
				assert.Len(t, results, 3)
				return err
			})
			synctest.Wait()
			require.Error(t, r.sender.Close(within(t, time.Second)))
			err := <-call
			require.ErrorIs(t, err, bufferedsender.ErrClosed)
			failure := waitError(t, err)
			assert.Equal(t, 3, failure.Failed)
			assert.True(t, failure.Errors[0].Unknown)
			assert.False(t, failure.Errors[2].Unknown)
			assert.Equal(t, time.Second, r.now())
		})
	})
	t.Run("a callback that is stuck", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			r := newRig(t, &hotelOptions{Handlers: hotelHandlers{ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) { <-release }}})
			r.unstopped = true
			call := later(func() error {
				_, err := r.sender.IndexDocumentsAndWait(context.Background(), uploads(hotels("k", 3))...)
				return err
			})
			time.Sleep(time.Minute)
			still(t, call, "the call")
			limited := later(func() error {
				_, err := r.sender.IndexDocumentsAndWait(within(t, time.Second), uploads(hotels("more", 1))...)
				return err
			})
			require.ErrorIs(t, <-limited, context.DeadlineExceeded)
			answer := closeError(t, r.sender.Close(within(t, time.Second)))
			assert.True(t, answer.CallbackStuck)
			err := <-call
			require.ErrorIs(t, err, bufferedsender.ErrClosed, "Close does not leave the caller behind")
			assert.Equal(t, 3, waitError(t, err).Unknown)
			assert.Zero(t, waitError(t, err).Withdrawn+waitError(t, err).Failed)
			close(release)
			synctest.Wait()
		})
	})
}

func TestPressureWaitIntervalBoundsTheWaitForOthers(t *testing.T) {
	for _, c := range []struct {
		option, wait time.Duration
	}{{0, bufferedsender.DefaultWaitInterval}, {50 * time.Millisecond, 50 * time.Millisecond}, {-1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Waiting: bufferedsender.Waiting{Interval: c.option}})
			r.upload(hotel{ID: "in-no-hurry"})
			time.Sleep(time.Second)
			_, err := r.sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(hotel{ID: "k"}))
			require.NoError(t, err)
			assert.Equal(t, time.Second+c.wait, r.now())
		})
	}
	t.Run("a full batch goes at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Waiting: bufferedsender.Waiting{Interval: time.Hour}, Limits: bufferedsender.Limits{MaxBatchActions: 3}})
			_, err := r.sender.IndexDocumentsAndWait(t.Context(), uploads(hotels("k", 3))...)
			require.NoError(t, err)
			assert.Zero(t, r.now())
		})
	})
	t.Run("counted from the first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Waiting: bufferedsender.Waiting{Interval: 100 * time.Millisecond}})
			var calls []<-chan error
			for i := range 8 {
				calls = append(calls, later(func() error {
					_, err := r.sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(hotel{ID: fmt.Sprint("k-", i)}))
					return err
				}))
				time.Sleep(30 * time.Millisecond)
			}
			for _, call := range calls {
				require.NoError(t, <-call)
			}
			for _, x := range r.requests()[:2] {
				assert.LessOrEqual(t, x.at, 250*time.Millisecond, "not put off by those who come later")
			}
			assert.Equal(t, 100*time.Millisecond, r.requests()[0].at)
			assert.Len(t, r.requests()[0].keys, 4)
		})
	})
	t.Run("whatever the timer says", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{AutoFlushInterval: -1})
			_, err := r.sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(hotel{ID: "k"}))
			require.NoError(t, err)
			assert.Equal(t, bufferedsender.DefaultWaitInterval, r.now())
		})
	})
	t.Run("and a Flush before it is over ends it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, off := range []bool{false, true} {
				r := newRig(t, &hotelOptions{DisableAutoFlush: off, Waiting: bufferedsender.Waiting{Interval: time.Hour}})
				call := later(func() error {
					_, err := r.sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(hotel{ID: "k"}))
					return err
				})
				synctest.Wait()
				require.NoError(t, r.flush())
				require.NoError(t, <-call)
				assert.Zero(t, r.now())
			}
		})
	})
}

func TestPressureWaitAcrossRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
		r.faults(searchtest.Fault{Count: 2, Status: 503}, searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Nth: 1, Status: 422}}})
		results, err := r.sender.IndexDocumentsAndWait(t.Context(), uploads(hotels("k", 3))...)
		require.NoError(t, err)
		for _, result := range results {
			assert.Equal(t, 201, result.StatusCode)
		}
		assert.Greater(t, r.now(), 30*time.Second)
	})
}
