package outcomes

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// lease returns a models.RawAction.Until for actions that must not be in flight after end.
func lease(end time.Time) func() time.Duration {
	return func() time.Duration { return time.Until(end) }
}

func TestAnActionWhoseTimeIsUpIsNotSentAndItsNeighboursAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o outcomes
		r := sendertest.New(t, nil)
		r.Sender.Pause()
		end := time.Now().Add(10 * time.Second)
		for i, until := range []func() time.Duration{lease(end), nil} {
			a := rawUpload([]string{"leased", "free"}[i], `{"id":"`+[]string{"leased", "free"}[i]+`"}`)
			a.Tag, a.OnOutcome, a.Until = i, o.note, until
			require.NoError(t, r.Sender.Raw().Add(t.Context(), a))
		}
		time.Sleep(9500 * time.Millisecond) // less than a second is left
		r.Sender.Resume()
		_ = r.Flush()
		assert.Equal(t, models.ReasonWithdrawn, o.one(t, 0).Reason)
		assert.False(t, o.one(t, 0).Unknown)
		assert.True(t, o.one(t, 1).Completed())
		assert.Len(t, r.Indexed(), 1)
	})
}

func TestARequestIsCutWhenTheTimeOfAnActionIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		x := &sendertest.Indexer{Index: func(ctx context.Context, _ io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			began := time.Now()
			<-ctx.Done()
			took = time.Since(began)
			return models.IndexDocumentsResult{}, ctx.Err()
		}}
		sender, err := bufferedsender.New(x, &bufferedsender.Options[sendertest.Hotel]{AutoFlushInterval: time.Millisecond})
		require.NoError(t, err)
		var o outcomes
		a := rawUpload("leased", `{"id":"leased"}`)
		a.Tag, a.OnOutcome, a.Until = 0, o.note, lease(time.Now().Add(20*time.Second))
		require.NoError(t, sender.Raw().Add(t.Context(), a))
		time.Sleep(time.Minute)
		synctest.Wait() // Sleep does not order memory for the race detector
		assert.InDelta(t, 20, took.Seconds(), 0.1, "RequestTimeout is a minute")
		assert.Equal(t, models.ReasonWithdrawn, o.one(t, 0).Reason, "the action is not sent again")
		assert.True(t, o.one(t, 0).Unknown)
		require.NoError(t, sender.Close(t.Context()))
	})
}

// Until is called before each request, so an extended lease counts.
func TestATimeThatIsExtendedLetsAnActionBeSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o outcomes
		r := sendertest.New(t, nil)
		end := time.Now().Add(10 * time.Second)
		a := rawUpload("leased", `{"id":"leased"}`)
		a.Tag, a.OnOutcome, a.Until = 0, o.note, func() time.Duration { return time.Until(end) }
		r.Sender.Pause()
		require.NoError(t, r.Sender.Raw().Add(t.Context(), a))
		time.Sleep(9 * time.Second)
		end = time.Now().Add(time.Minute)
		r.Sender.Resume()
		require.NoError(t, r.Flush())
		assert.True(t, o.one(t, 0).Completed())
	})
}

func TestASenderWithAQueueRefusesUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := memqueue.New(nil)
		require.NoError(t, err)
		r := sendertest.New(t, &sendertest.Options{Queue: q, Outage: bufferedsender.Hold{}})
		a := rawUpload("leased", `{"id":"leased"}`)
		a.Until = lease(time.Now().Add(time.Hour))
		n, err := r.Sender.Raw().Offer(t.Context(), []models.RawAction{rawUpload("free", `{"id":"free"}`), a})
		require.ErrorContains(t, err, "its own leases")
		assert.Equal(t, 1, n)
		assert.True(t, r.Sender.Raw().Info().Queued)
	})
}

func TestWhatFeedsASenderLearnsWhatItIsLike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{RequestTimeout: 7 * time.Second, UnknownWait: -1, Limits: bufferedsender.Limits{MaxBufferedActions: 12}})
		info := r.Sender.Raw().Info()
		assert.Equal(t, "hotels", info.IndexName)
		assert.NotEmpty(t, info.Endpoint)
		info.IndexName, info.Endpoint = "", ""
		assert.Equal(t, models.SenderInfo{
			MaxBufferedActions: 12, MaxBufferedBytes: bufferedsender.DefaultMaxBufferedBytes, RequestTimeout: 7 * time.Second, UnknownWait: -1,
		}, info)
		require.NoError(t, r.Sender.Close(t.Context()))
		assert.True(t, r.Sender.Raw().Info().Closed)
	})
}

func TestAnOfferSaysHowManyWereAcceptedAndWhichWasRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		n, err := r.Sender.Raw().Offer(t.Context(), []models.RawAction{rawUpload("a", `{"id":"a"}`), rawUpload("b", `{"id":`), rawUpload("c", `{"id":"c"}`)})
		assert.Equal(t, 1, n)
		var about interface{ Rejected() bool }
		require.ErrorAs(t, err, &about)
		assert.True(t, about.Rejected())
		n, err = r.Sender.Raw().Offer(t.Context(), []models.RawAction{rawUpload("c", `{"id":"c"}`)})
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		require.NoError(t, r.Flush())
		assert.Len(t, r.Indexed(), 2)
	})
}
