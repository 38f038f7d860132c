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
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWithdrawTakesBackWhatIsNotInARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o outcomes
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
		r.respond(seconds(func(int, *exchange) float64 { return 10 }))
		for i := range 6 {
			r.add(models.UploadAction(hotel{ID: fmt.Sprint("k-", i)}).WithTag(i).WithCallback(o.note))
		}
		r.add(models.UploadAction(hotel{ID: "k-5", Rooms: 9}).WithTag(6).WithCallback(o.note)) // behind one that is taken back
		synctest.Wait()
		flushed := later(r.flush)
		synctest.Wait()
		n := r.sender.Withdraw(func(key string, tag any) bool { return tag != 2 && tag != 6 })
		assert.Equal(t, 3, n, "k-3 to k-5: the first two are in a request")
		assert.Equal(t, 10*time.Second, r.now(), "it waits for that request")
		assert.True(t, o.one(t, 0).Completed())
		for tag := 3; tag <= 5; tag++ {
			got := o.one(t, tag)
			assert.Equal(t, models.ReasonWithdrawn, got.Reason)
			assert.ErrorIs(t, got.Err, bufferedsender.ErrWithdrawn)
			assert.False(t, got.Unknown)
		}
		assert.Equal(t, 3, flushFailures(t, <-flushed))
		assert.Len(t, r.indexed(), 4)
		assert.Equal(t, 9, r.roomsOf("k-5"))
		assert.Equal(t, []bool{false, false}, r.sender.Contains("k-3", "k-5"))
	})
	t.Run("and what is retried later may have been applied", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, guarded(t))
			r.respond(reset)
			r.upload(hotels("k", 3)...)
			flushed := later(r.flush)
			time.Sleep(time.Minute)
			assert.Equal(t, 3, r.sender.Withdraw(func(string, any) bool { return true }))
			assert.Equal(t, 3, flushFailures(t, <-flushed))
			assert.True(t, r.failure("k-0").Unknown)
			before := len(r.requests())
			time.Sleep(time.Hour)
			assert.Len(t, r.requests(), before)
		})
	})
	t.Run("and what is in a request is not sent again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, guarded(t))
			r.respond(func(int, *exchange, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
				time.Sleep(10 * time.Second)
				return nil, errReset
			})
			r.upload(hotels("k", 3)...)
			flushed := later(r.flush)
			time.Sleep(time.Second)
			assert.Zero(t, r.sender.Withdraw(func(string, any) bool { return true }))
			assert.Equal(t, 10*time.Second, r.now())
			assert.Equal(t, 3, flushFailures(t, <-flushed))
			assert.Equal(t, models.ReasonWithdrawn, r.failure("k-0").Reason)
			assert.True(t, r.failure("k-0").Unknown)
			assert.Len(t, r.requests(), 1)
		})
	})
}

func TestWithdrawDuringACloseThatGivesUpSaysHowMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}})
		r.respond(hang)
		r.upload(hotels("k", 4)...)
		synctest.Wait()
		withdrawn := later(func() int { return r.sender.Withdraw(func(string, any) bool { return true }) })
		synctest.Wait()
		require.EqualValues(t, 3, r.sender.Stats().Failed)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = r.sender.Close(ctx)
		assert.Equal(t, 3, <-withdrawn)
	})
}
