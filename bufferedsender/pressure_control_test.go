package bufferedsender_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPressurePauseHoldsAllSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 2}, AutoFlushInterval: time.Second})
		r.sender.Pause()
		r.upload(hotels("k", 5)...)
		time.Sleep(time.Hour)
		assert.Empty(t, r.requests(), "no full batch, no timer")
		r.sender.Pause()
		r.sender.Resume()
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(t, r.indexed(), 5, "one Resume ends any number of Pauses")
		assert.GreaterOrEqual(t, r.requests()[0].at, time.Hour)
	})
	t.Run("requests under way go on, what they leave waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Retry: atOnce})
			r.respond(func(n int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				time.Sleep(10 * time.Second)
				if n == 1 {
					return reply(req, 503, ""), nil
				}
				return next()
			})
			r.upload(hotels("k", 4)...)
			time.Sleep(time.Second)
			r.sender.Pause()
			time.Sleep(time.Minute)
			require.Len(t, r.requests(), 1)
			assert.Equal(t, 503, r.requests()[0].status, "it was not cut off")
			assert.Equal(t, 4, r.sender.PendingActionCount())
			r.sender.Resume()
			require.NoError(t, r.flush())
			assert.Equal(t, [][]string{{"k-0", "k-1"}, {"k-0", "k-1"}, {"k-2", "k-3"}}, keysOf(r.requests()))
		})
	})
	t.Run("actions are accepted as long as there is room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBufferedActions: 3}})
			r.sender.Pause()
			r.upload(hotels("k", 3)...)
			err := r.sender.UploadDocuments(within(t, time.Minute), hotel{ID: "k-3"})
			refused(t, err, 0)
			require.ErrorIs(t, err, bufferedsender.ErrPaused)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, bufferedsender.ErrCircuitOpen)
			blocked := later(func() error { return r.sender.UploadDocuments(within(t, time.Hour), hotel{ID: "k-3"}) })
			still(t, blocked, "the adding call")
			r.sender.Resume()
			require.NoError(t, <-blocked)
			require.NoError(t, r.flush())
			assert.Len(t, r.indexed(), 4)
		})
	})
	t.Run("Flush and IndexDocumentsAndWait wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.sender.Pause()
			r.upload(hotels("k", 3)...)
			err := r.sender.Flush(within(t, time.Minute))
			require.ErrorIs(t, err, bufferedsender.ErrPaused)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			results, err := r.sender.IndexDocumentsAndWait(within(t, time.Minute), models.UploadAction(hotel{ID: "w"}))
			require.ErrorIs(t, err, bufferedsender.ErrPaused)
			assert.Equal(t, 1, waitError(t, err).Withdrawn)
			assert.Len(t, results, 1)
			synctest.Wait() // or the Flush would wait for what was withdrawn, and report it
			flushed := later(r.flush)
			time.Sleep(time.Minute)
			still(t, flushed, "Flush")
			r.sender.Resume()
			require.NoError(t, <-flushed)
			assert.Equal(t, 3*time.Minute, r.now())
		})
	})
	t.Run("a Flush of nothing does not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.sender.Pause()
			require.NoError(t, r.flush())
			require.NoError(t, r.close())
		})
	})
	t.Run("Close waits for Resume", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.sender.Pause()
			r.upload(hotels("k", 3)...)
			closed := later(r.close)
			time.Sleep(time.Minute)
			still(t, closed, "Close")
			r.sender.Resume()
			require.NoError(t, <-closed)
			assert.Len(t, r.indexed(), 3)
		})
	})
	t.Run("and when its context ends says why it did not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.sender.Pause()
			r.upload(hotels("k", 3)...)
			err := r.sender.Close(within(t, time.Minute))
			assert.Equal(t, 3, closeError(t, err).Unsent)
			require.ErrorIs(t, err, bufferedsender.ErrPaused)
			require.ErrorIs(t, err, bufferedsender.ErrClosed)
			require.ErrorIs(t, r.failure("k-0"), bufferedsender.ErrPaused)
			r.sender.Resume()
			time.Sleep(time.Minute)
			assert.Empty(t, r.requests())
		})
	})
	t.Run("a paused sender probes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := steadyBreaker(t, nil)
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
			r.sicken(hotel{ID: "k"})
			r.sender.Pause()
			time.Sleep(time.Hour)
			assert.Len(t, r.requests(), 3)
			r.respond(nil)
			r.sender.Resume()
			require.NoError(t, r.flush())
			assert.Equal(t, time.Hour, r.now())
			assert.Equal(t, breaker.Closed, b.Status().State)
		})
	})
}

func TestPressureSetLimitsReturnsTheOldOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxBatchBytes: 10_000, MaxInFlight: 2, MaxBufferedActions: 100, MaxBufferedBytes: 100_000}})
		first := bufferedsender.Limits{MaxBatchActions: 10, MaxBatchBytes: 10_000, MaxInFlight: 2, MaxBufferedActions: 100, MaxBufferedBytes: 100_000}
		assert.Equal(t, first, r.sender.Limits())
		old, err := r.sender.SetLimits(bufferedsender.Limits{MaxInFlight: 1})
		require.NoError(t, err)
		assert.Equal(t, first, old)
		second := first
		second.MaxInFlight = 1
		assert.Equal(t, second, r.sender.Limits(), "0 leaves the others")
		old, err = r.sender.SetLimits(bufferedsender.Limits{MaxBatchActions: 5, MaxBatchBytes: 5000, MaxBufferedActions: 50, MaxBufferedBytes: 50_000})
		require.NoError(t, err)
		assert.Equal(t, second, old)
		assert.Equal(t, bufferedsender.Limits{MaxBatchActions: 5, MaxBatchBytes: 5000, MaxInFlight: 1, MaxBufferedActions: 50, MaxBufferedBytes: 50_000}, r.sender.Limits())
		old, err = r.sender.SetLimits(bufferedsender.Limits{})
		require.NoError(t, err)
		assert.Equal(t, r.sender.Limits(), old)
	})
}

func TestPressureSetLimitsRefusesEverythingAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10}})
		before := r.sender.Limits()
		old, err := r.sender.SetLimits(bufferedsender.Limits{MaxBatchActions: -1, MaxBatchBytes: 5, MaxInFlight: 5000, MaxBufferedActions: -3, MaxBufferedBytes: -4})
		require.Error(t, err)
		for _, name := range []string{"MaxBatchActions", "MaxBatchBytes", "MaxInFlight", "MaxBufferedActions", "MaxBufferedBytes"} {
			assert.ErrorContains(t, err, name)
		}
		assert.Equal(t, before, old)
		_, err = r.sender.SetLimits(bufferedsender.Limits{MaxBatchActions: 5, MaxInFlight: -1})
		require.Error(t, err)
		assert.Equal(t, before, r.sender.Limits(), "one bad number, nothing is changed")
		_, err = r.sender.SetLimits(bufferedsender.Limits{MaxBatchActions: bufferedsender.ServiceMaxBatchActions + 1})
		require.ErrorContains(t, err, "32000")
	})
}

func TestPressureSetLimitsCountsFromTheNextRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 1}})
		r.respond(seconds(func(int, *exchange) float64 { return 10 }))
		r.upload(hotels("k", 40)...)
		time.Sleep(time.Second)
		_, err := r.sender.SetLimits(bufferedsender.Limits{MaxBatchActions: 4})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		require.Len(t, r.requests(), 2)
		assert.Len(t, r.requests()[0].keys, 10, "the one under way is as it was")
		assert.Len(t, r.requests()[1].keys, 4)
		r.mu.Lock()
		r.opts.Limits.MaxInFlight = 3 // for the rig's own check
		r.mu.Unlock()
		_, err = r.sender.SetLimits(bufferedsender.Limits{MaxInFlight: 3, MaxBatchActions: 8})
		require.NoError(t, err)
		synctest.Wait()
		require.Len(t, r.requests(), 4, "two more slots, at once, without any call")
		assert.Equal(t, 3, r.sender.Stats().InFlight)
		for _, x := range r.requests()[2:4] {
			assert.Len(t, x.keys, 8)
		}
		_, err = r.sender.SetLimits(bufferedsender.Limits{MaxInFlight: 1})
		require.NoError(t, err)
		time.Sleep(10*time.Second + time.Millisecond)
		assert.Equal(t, 1, r.sender.Stats().InFlight, "fewer slots, once the requests under way have ended")
		require.NoError(t, r.flush())
		assert.Len(t, r.indexed(), 40)
	})
	t.Run("in bytes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 10_000}, AutoFlushInterval: -1})
			r.upload(sized("large", 8000), sized("a", 1000), sized("b", 1000))
			_, err := r.sender.SetLimits(bufferedsender.Limits{MaxBatchBytes: 2500})
			require.NoError(t, err)
			require.ErrorIs(t, r.sender.UploadDocuments(t.Context(), sized("too-large", 8000)), bufferedsender.ErrDocumentTooLarge)
			r.upload(sized("c", 1000))
			require.NoError(t, r.flush())
			assert.Equal(t, [][]string{{"large"}, {"a", "b"}, {"c"}}, keysOf(r.requests()), "what was accepted is sent, alone if need be")
			assert.Len(t, r.indexed(), 4)
		})
	})
	t.Run("a batch that is full now goes now", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 100}, AutoFlushInterval: -1})
			r.upload(hotels("k", 10)...)
			synctest.Wait()
			require.Empty(t, r.requests())
			_, err := r.sender.SetLimits(bufferedsender.Limits{MaxBatchActions: 10})
			require.NoError(t, err)
			synctest.Wait()
			assert.Len(t, r.indexed(), 10)
		})
	})
}

func TestPressureSetLimitsOfTheBuffer(t *testing.T) {
	for name, c := range map[string]struct{ low, high bufferedsender.Limits }{
		"in actions": {bufferedsender.Limits{MaxBufferedActions: 3}, bufferedsender.Limits{MaxBufferedActions: 12}},
		"in bytes":   {bufferedsender.Limits{MaxBufferedBytes: 3000}, bufferedsender.Limits{MaxBufferedBytes: 12_000}},
	} {
		t.Run("lowered below what is buffered "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBufferedActions: 12, MaxBufferedBytes: 12_000, MaxBatchActions: 2, MaxBatchBytes: 2500}})
				r.sender.Pause()
				for i := range 8 {
					r.upload(sized(fmt.Sprint("k-", i), 1000))
				}
				_, err := r.sender.SetLimits(c.low)
				require.NoError(t, err)
				assert.Equal(t, 8, r.sender.PendingActionCount(), "what is accepted stays accepted")
				require.ErrorIs(t, r.sender.TryIndexDocuments(models.UploadAction(sized("k-8", 1000))), bufferedsender.ErrBufferFull)
				blocked := later(func() error { return r.sender.UploadDocuments(within(t, time.Hour), sized("k-8", 1000)) })
				r.respond(seconds(func(int, *exchange) float64 { return 1 }))
				r.sender.Resume()
				time.Sleep(2500 * time.Millisecond)
				still(t, blocked, "a call with four still there and room for three")
				require.NoError(t, <-blocked)
				assert.Equal(t, 3*time.Second, r.now(), "two of three are there then")
				require.NoError(t, r.flush())
				assert.Len(t, r.indexed(), 9)
			})
		})
		t.Run("raised while adders wait "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBufferedActions: 12, MaxBufferedBytes: 12_000, MaxBatchActions: 2, MaxBatchBytes: 2500}})
				_, err := r.sender.SetLimits(c.low)
				require.NoError(t, err)
				r.sender.Pause()
				r.upload(sized("k-0", 990), sized("k-1", 990), sized("k-2", 990))
				var order []string
				var blocked []<-chan error
				for i := range 3 {
					blocked = append(blocked, later(func() error {
						err := r.sender.UploadDocuments(within(t, time.Hour), sized(fmt.Sprint("w-", i), 990))
						r.mu.Lock()
						defer r.mu.Unlock()
						order = append(order, fmt.Sprint("w-", i))
						return err
					}))
					synctest.Wait()
				}
				assert.Equal(t, 3, r.sender.Stats().BlockedAdders)
				_, err = r.sender.SetLimits(c.high)
				require.NoError(t, err)
				for _, b := range blocked {
					require.NoError(t, <-b)
				}
				assert.Zero(t, r.now(), "at once")
				assert.Zero(t, r.sender.Stats().BlockedAdders)
				r.sender.Resume()
				require.NoError(t, r.flush())
				var sent []string
				for _, x := range r.requests() {
					sent = append(sent, x.keys...)
				}
				require.Len(t, sent, 6)
				assert.Equal(t, []string{"k-0", "k-1", "k-2", "w-0"}, sent[:4], "first come, first served")
				// These two may have waited for their turn to encode, which came for both at once.
				assert.ElementsMatch(t, []string{"w-1", "w-2"}, sent[4:])
				assert.Len(t, order, 3)
			})
		})
	}
	t.Run("a waiting call whose document has become too large for the buffer does not wait for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBufferedBytes: 4000, MaxBatchBytes: 4000}})
			r.sender.Pause()
			r.upload(sized("k-0", 3000))
			blocked := later(func() error { return r.sender.UploadDocuments(within(t, time.Hour), sized("k-1", 3000)) })
			synctest.Wait()
			_, err := r.sender.SetLimits(bufferedsender.Limits{MaxBufferedBytes: 2000, MaxBatchBytes: 2000})
			require.NoError(t, err)
			r.sender.Resume()
			err = <-blocked
			assert.Less(t, r.now(), time.Minute+time.Second, "accepted or refused, but soon")
			if err != nil {
				require.ErrorIs(t, err, bufferedsender.ErrDocumentTooLarge)
			}
			require.NoError(t, r.flush())
		})
	})
}

func TestPressureControlsOfAClosedSenderDoNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		require.NoError(t, r.close())
		r.sender.Pause()
		r.sender.Resume()
		_, _ = r.sender.SetLimits(bufferedsender.Limits{MaxInFlight: 1})
		require.NoError(t, r.close())
		assert.ErrorIs(t, r.sender.UploadDocuments(t.Context(), hotel{ID: "k"}), bufferedsender.ErrClosed)
		assert.NoError(t, r.flush())
	})
}
