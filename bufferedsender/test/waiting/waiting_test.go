package waiting

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// waitInterval is the default of Waiting.Interval.
const waitInterval = 5 * time.Millisecond

func TestWaitReturnsResultsInTheOrderGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxInFlight: 4}})
		r.Upload(sendertest.Hotel{ID: "there", Rooms: 1})
		require.NoError(t, r.Flush())
		r.Faults(searchtest.Fault{Results: searchtest.ResultsShuffled, Documents: []searchtest.DocumentFault{{Keys: []string{"c", "g"}, Nth: 1, Status: 409}}})
		r.Respond(sendertest.Seconds(func(n int, _ *sendertest.Request) float64 { return float64(10 - n) })) // later requests are faster
		results, err := r.Sender.IndexDocumentsAndWait(t.Context(),
			[]sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "a"}), models.MergeAction(sendertest.Hotel{ID: "there", Rooms: 2}), models.UploadAction(sendertest.Hotel{ID: "c"}),
				models.UploadAction(sendertest.Hotel{ID: "a", Rooms: 2}), models.DeleteAction(sendertest.Hotel{ID: "nothing"}), models.MergeOrUploadAction(sendertest.Hotel{ID: "f"}),
				models.UploadAction(sendertest.Hotel{ID: "g"}), models.DeleteAction(sendertest.Hotel{ID: "there"}), models.MergeAction(sendertest.Hotel{ID: "c", Rooms: 3})}, nil)
		require.NoError(t, err)
		var got []string
		for _, result := range results {
			got = append(got, fmt.Sprint(result.Key, " ", result.StatusCode, " ", result.Succeeded))
		}
		assert.Equal(t, []string{"a 201 true", "there 200 true", "c 201 true", "a 200 true", "nothing 200 true", "f 201 true", "g 201 true", "there 200 true", "c 200 true"}, got)
	})
	t.Run("none for none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			results, err := r.Sender.IndexDocumentsAndWait(t.Context(), nil, nil)
			require.NoError(t, err)
			assert.Empty(t, results)
		})
	})
	t.Run("after the callbacks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			slow := l.Handlers()
			slow.ActionCompleted = func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {
				time.Sleep(time.Second)
				l.Note("reported")
			}
			r := sendertest.New(t, &sendertest.Options{Handlers: slow})
			_, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("k", 5)), nil)
			require.NoError(t, err)
			assert.Len(t, l.Notes("reported"), 5)
		})
	})
}

func TestWaitSaysWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Retry: sendertest.RetryAtOnce})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Status: 400, Message: "bad document"}, {Keys: []string{"k-3"}, Status: 409}}})
		results, err := r.Sender.IndexDocumentsAndWait(t.Context(), append(sendertest.Uploads(sendertest.Hotels("k", 5)), models.MergeAction(sendertest.Hotel{ID: "missing"})), nil)
		failure := sendertest.WaitError(t, err)
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
		assert.Equal(t, []string{"k-1", "k-3", "missing"}, failed, "failures are in the order of the call")
		assert.Equal(t, 4, failure.Errors[1].Attempts)
		var one *bufferedsender.ActionError
		require.ErrorAs(t, err, &one)
		assert.ErrorContains(t, err, "3 actions failed")
		require.NoError(t, r.Flush(), "the call has reported them")
		require.NoError(t, r.Close(), "Close does not report it either")
	})
	t.Run("a whole request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(sendertest.Always(403, sendertest.ErrorBody("no")))
			results, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("k", 3)), nil)
			assert.Equal(t, 3, sendertest.WaitError(t, err).Failed)
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
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
		ctx, cancel := context.WithTimeoutCause(t.Context(), 25*time.Second, cause)
		defer cancel()
		results, err := r.Sender.IndexDocumentsAndWait(ctx, sendertest.Uploads(sendertest.Hotels("k", 8)), nil)
		assert.Equal(t, 25*time.Second, r.Now())
		require.ErrorIs(t, err, cause)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		failure := sendertest.WaitError(t, err)
		assert.Equal(t, 2, failure.Unknown, "two actions are in a request")
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
		require.NoError(t, r.Flush())
		assert.Equal(t, 30*time.Second, r.Now(), "the request continues to its end")
		assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 6)), r.Indexed(), "withdrawn actions are not sent")
		assert.Len(t, r.Requests(), 3)
	})
	t.Run("a wait for room ends too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBufferedActions: 3}})
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
			results, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, 15*time.Second), sendertest.Uploads(sendertest.Hotels("k", 8)), nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			sendertest.RequireAccepted(t, err, 6)
			assert.Len(t, results, 6, "results of the accepted actions")
			assert.Equal(t, 3, sendertest.WaitError(t, err).Unknown, "the actions in the request")
			assert.Zero(t, sendertest.WaitError(t, err).Withdrawn)
			require.NoError(t, r.Flush())
			assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 6)), r.Indexed())
		})
	})
}

func TestAWaitThatIsNotAcceptedAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		actions := sendertest.Uploads(sendertest.Hotels("k", 5))
		actions[3].Document.ID = "not a key"
		results, err := r.Sender.IndexDocumentsAndWait(t.Context(), actions, nil)
		sendertest.RequireAccepted(t, err, 3)
		var illegal *keys.InvalidKeyError
		require.ErrorAs(t, err, &illegal)
		failure := sendertest.WaitError(t, err)
		assert.Zero(t, failure.Failed)
		assert.Zero(t, failure.Withdrawn)
		require.Len(t, results, 3, "results of the actions before it")
		for _, result := range results {
			assert.True(t, result.Succeeded, "the call waited for these results")
		}
		assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 3)), r.Indexed())
	})
	t.Run("the first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			results, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{models.UploadAction(sendertest.Hotel{}), models.UploadAction(sendertest.Hotel{ID: "k"})}, nil)
			sendertest.RequireAccepted(t, err, 0)
			assert.Empty(t, results)
			assert.Empty(t, r.Requests())
		})
	})
	t.Run("the accepted part fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(sendertest.RefuseKeys("k-1"))
			actions := sendertest.Uploads(sendertest.Hotels("k", 5))
			actions[3].Type = "replace"
			results, err := r.Sender.IndexDocumentsAndWait(t.Context(), actions, nil)
			sendertest.RequireAccepted(t, err, 3)
			assert.Equal(t, 1, sendertest.WaitError(t, err).Failed)
			assert.Len(t, results, 3)
			require.NoError(t, r.Flush(), "the call has reported it")
		})
	})
	t.Run("a full buffer refuses with DisableAutoFlush", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{DisableAutoFlush: true, Limits: bufferedsender.Limits{MaxBufferedActions: 3}})
			r.Upload(sendertest.Hotels("old", 3)...)
			_, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("k", 2)), nil)
			require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
			sendertest.RequireAccepted(t, err, 0)
			require.NoError(t, r.Flush())
		})
	})
}

func TestAWaitInsideACallbackIsRefused(t *testing.T) {
	for name := range fiveHandlers(nil) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *sendertest.Rig
				var once sync.Once
				var results []models.IndexingResult
				var err error
				opts := &sendertest.Options{Handlers: fiveHandlers(func(ctx context.Context) error {
					once.Do(func() {
						results, err = r.Sender.IndexDocumentsAndWait(ctx, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "inside"})}, nil)
					})
					return nil
				})[name]}
				r = sendertest.New(t, opts)
				r.Faults(sendertest.RefuseKeys("bad"))
				r.Upload(sendertest.Hotel{ID: "good"}, sendertest.Hotel{ID: "bad"})
				_ = r.Flush()
				require.ErrorIs(t, err, bufferedsender.ErrInCallback)
				sendertest.RequireAccepted(t, err, 0)
				_ = sendertest.WaitError(t, err)
				assert.Empty(t, results)
				assert.Equal(t, []string{"good"}, r.Indexed(), "no other action was accepted")
			})
		})
	}
}

func TestWaitAndClose(t *testing.T) {
	t.Run("a sender that is closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			require.NoError(t, r.Close())
			results, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("k", 2)), nil)
			require.ErrorIs(t, err, bufferedsender.ErrClosed)
			sendertest.RequireAccepted(t, err, 0)
			assert.Empty(t, results)
		})
	})
	t.Run("Close sends it at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Waiting: bufferedsender.Waiting{Interval: time.Hour}})
			call := sendertest.Later(func() error {
				_, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("k", 2)), nil)
				return err
			})
			synctest.Wait()
			require.NoError(t, r.Close())
			require.NoError(t, <-call)
			assert.Zero(t, r.Now())
		})
	})
	t.Run("a Close that gives up ends the waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
			r.Respond(sendertest.Hang)
			call := sendertest.Later(func() error {
				results, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("k", 3)), nil)
				assert.Len(t, results, 3)
				return err
			})
			synctest.Wait()
			require.Error(t, r.Sender.Close(sendertest.Within(t, time.Second)))
			err := <-call
			require.ErrorIs(t, err, bufferedsender.ErrClosed)
			failure := sendertest.WaitError(t, err)
			assert.Equal(t, 3, failure.Failed)
			assert.True(t, failure.Errors[0].Unknown)
			assert.False(t, failure.Errors[2].Unknown)
			assert.Equal(t, time.Second, r.Now())
		})
	})
	t.Run("a callback that is stuck", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			r := sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { <-release }}})
			r.Abandoned = true
			call := sendertest.Later(func() error {
				_, err := r.Sender.IndexDocumentsAndWait(context.Background(), sendertest.Uploads(sendertest.Hotels("k", 3)), nil)
				return err
			})
			time.Sleep(time.Minute)
			sendertest.StillRunning(t, call, "the call")
			limited := sendertest.Later(func() error {
				_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, time.Second), sendertest.Uploads(sendertest.Hotels("more", 1)), nil)
				return err
			})
			require.ErrorIs(t, <-limited, context.DeadlineExceeded)
			answer := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second)))
			assert.True(t, answer.CallbackStuck)
			err := <-call
			require.ErrorIs(t, err, bufferedsender.ErrClosed, "Close does not leave the caller behind")
			assert.Equal(t, 3, sendertest.WaitError(t, err).Unknown)
			assert.Zero(t, sendertest.WaitError(t, err).Withdrawn+sendertest.WaitError(t, err).Failed)
			close(release)
			synctest.Wait()
		})
	})
}

func TestWaitIntervalBoundsTheWaitForOthers(t *testing.T) {
	for _, c := range []struct {
		option, wait time.Duration
	}{{0, waitInterval}, {50 * time.Millisecond, 50 * time.Millisecond}, {-1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Waiting: bufferedsender.Waiting{Interval: c.option}})
			r.Upload(sendertest.Hotel{ID: "in-no-hurry"})
			time.Sleep(time.Second)
			_, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k"})}, nil)
			require.NoError(t, err)
			assert.Equal(t, time.Second+c.wait, r.Now())
		})
	}
	t.Run("a full batch goes at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Waiting: bufferedsender.Waiting{Interval: time.Hour}, Limits: bufferedsender.Limits{MaxBatchActions: 3}})
			_, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("k", 3)), nil)
			require.NoError(t, err)
			assert.Zero(t, r.Now())
		})
	})
	t.Run("counted from the first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Waiting: bufferedsender.Waiting{Interval: 100 * time.Millisecond}})
			var calls []<-chan error
			for i := range 8 {
				calls = append(calls, sendertest.Later(func() error {
					_, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: fmt.Sprint("k-", i)})}, nil)
					return err
				}))
				time.Sleep(30 * time.Millisecond)
			}
			for _, call := range calls {
				require.NoError(t, <-call)
			}
			for _, x := range r.Requests()[:2] {
				assert.LessOrEqual(t, x.At, 250*time.Millisecond, "later calls do not postpone the request")
			}
			assert.Equal(t, 100*time.Millisecond, r.Requests()[0].At)
			assert.Len(t, r.Requests()[0].Keys, 4)
		})
	})
	t.Run("whatever the timer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: -1})
			_, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k"})}, nil)
			require.NoError(t, err)
			assert.Equal(t, waitInterval, r.Now())
		})
	})
	t.Run("a Flush ends the interval", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, off := range []bool{false, true} {
				r := sendertest.New(t, &sendertest.Options{DisableAutoFlush: off, Waiting: bufferedsender.Waiting{Interval: time.Hour}})
				call := sendertest.Later(func() error {
					_, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k"})}, nil)
					return err
				})
				synctest.Wait()
				require.NoError(t, r.Flush())
				require.NoError(t, <-call)
				assert.Zero(t, r.Now())
			}
		})
	})
}

func TestWaitAcrossRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
		r.Faults(searchtest.Fault{Count: 2, Status: 503}, searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Nth: 1, Status: 422}}})
		results, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("k", 3)), nil)
		require.NoError(t, err)
		for _, result := range results {
			assert.Equal(t, 201, result.StatusCode)
		}
		assert.Greater(t, r.Now(), 30*time.Second)
	})
}

// An error with two reasons must show both.
func TestAWaitErrorNamesTheContextAndTheRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{RequestTimeout: -1})
		r.Respond(sendertest.Hang)
		_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, time.Second), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "a"}), models.UploadAction(sendertest.Hotel{ID: "not a key"})}, nil)
		assert.Equal(t, time.Second, r.Now())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		sendertest.RequireAccepted(t, err, 1)
		assert.Equal(t, 1, sendertest.WaitError(t, err).Unknown)
		assert.False(t, errors.Is(err, context.Canceled))
	})
}
