package outcomes

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

func TestWithdrawTakesBackWhatIsNotInARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o outcomes
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
		for i := range 6 {
			r.Add(models.UploadAction(sendertest.Hotel{ID: fmt.Sprint("k-", i)}).WithTag(i).WithCallback(o.note))
		}
		r.Add(models.UploadAction(sendertest.Hotel{ID: "k-5", Rooms: 9}).WithTag(6).WithCallback(o.note)) // behind one that is withdrawn
		synctest.Wait()
		flushed := sendertest.Later(r.Flush)
		synctest.Wait()
		n := r.Sender.Withdraw(func(key string, tag any) bool { return tag != 2 && tag != 6 })
		assert.Equal(t, 3, n, "k-3 to k-5: the first two are in a request")
		assert.Equal(t, 10*time.Second, r.Now(), "the call waits for that request")
		assert.True(t, o.one(t, 0).Completed())
		for tag := 3; tag <= 5; tag++ {
			got := o.one(t, tag)
			assert.Equal(t, models.ReasonWithdrawn, got.Reason)
			assert.ErrorIs(t, got.Err, bufferedsender.ErrWithdrawn)
			assert.False(t, got.Unknown)
		}
		assert.Equal(t, 3, sendertest.FlushFailures(t, <-flushed))
		assert.Len(t, r.Indexed(), 4)
		assert.Equal(t, 9, roomsOf(r, "k-5"))
		assert.Equal(t, []bool{false, false}, r.Sender.Contains("k-3", "k-5"))
	})
	t.Run("retried actions may have been applied", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, sendertest.WithBreaker(t))
			r.Respond(sendertest.BreakConnection)
			r.Upload(sendertest.Hotels("k", 3)...)
			flushed := sendertest.Later(r.Flush)
			time.Sleep(time.Minute)
			assert.Equal(t, 3, r.Sender.Withdraw(func(string, any) bool { return true }))
			assert.Equal(t, 3, sendertest.FlushFailures(t, <-flushed))
			assert.True(t, r.Failure("k-0").Unknown)
			before := len(r.Requests())
			time.Sleep(time.Hour)
			assert.Len(t, r.Requests(), before)
		})
	})
	t.Run("withdrawn actions of a request are not sent again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, sendertest.WithBreaker(t))
			r.Respond(func(int, *sendertest.Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
				time.Sleep(10 * time.Second)
				return nil, sendertest.ErrReset
			})
			r.Upload(sendertest.Hotels("k", 3)...)
			flushed := sendertest.Later(r.Flush)
			time.Sleep(time.Second)
			assert.Zero(t, r.Sender.Withdraw(func(string, any) bool { return true }))
			assert.Equal(t, 10*time.Second, r.Now())
			assert.Equal(t, 3, sendertest.FlushFailures(t, <-flushed))
			assert.Equal(t, models.ReasonWithdrawn, r.Failure("k-0").Reason)
			assert.True(t, r.Failure("k-0").Unknown)
			assert.Len(t, r.Requests(), 1)
		})
	})
}

func TestWithdrawDuringACloseThatGivesUpSaysHowMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}})
		r.Respond(sendertest.Hang)
		r.Upload(sendertest.Hotels("k", 4)...)
		synctest.Wait()
		withdrawn := sendertest.Later(func() int { return r.Sender.Withdraw(func(string, any) bool { return true }) })
		synctest.Wait()
		require.EqualValues(t, 3, r.Sender.Stats().Failed)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = r.Sender.Close(ctx)
		assert.Equal(t, 3, <-withdrawn)
	})
}
