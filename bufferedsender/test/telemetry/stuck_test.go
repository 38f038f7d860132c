package telemetry

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// A large deletion holds keys for longer than ten seconds, one after another.
func TestAHoldThatNothingWaitsForIsNoAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		over := make(chan struct{})
		held := sendertest.Later(func() error {
			return r.Sender.Raw().HoldKeys(t.Context(), []string{"a"}, func(context.Context, func(...models.RawAction) error) error {
				<-over
				return nil
			})
		})
		time.Sleep(time.Minute)
		require.NoError(t, r.Sender.Health().Err)
		r.Upload(sendertest.Hotel{ID: "a"})
		synctest.Wait()
		require.ErrorContains(t, r.Sender.Health().Err, "keys that wait for it: 1")
		close(over)
		require.NoError(t, <-held)
		require.NoError(t, r.Flush())
		assert.NoError(t, r.Sender.Health().Err)
	})
}

// A sender that is alone in its pool waits for its own requests.
func TestASlowServiceIsNotRoomThatOthersHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := pool.New(&pool.Options{BufferedActions: 10})
		require.NoError(t, err)
		member, err := p.Join("only")
		require.NoError(t, err)
		r := sendertest.NewOnService(t, &searchtest.Options{Latency: 12 * time.Second}, &sendertest.Options{Share: member, Limits: bufferedsender.Limits{MaxBatchActions: 5}})
		go func() { _ = r.Sender.UploadDocuments(t.Context(), sendertest.Hotels("h", 100)...) }()
		for range 60 {
			time.Sleep(time.Second)
			synctest.Wait()
			require.NoError(t, r.Sender.Health().Err)
		}
		require.NoError(t, r.Flush())
	})
}
