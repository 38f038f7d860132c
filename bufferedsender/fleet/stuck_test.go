package fleet

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// An index that waits for a slot is busy. If its handler also hangs, Health must name the handler.
func TestAHandlerThatHangsIsNamedAlsoWhileItsIndexWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newService("hotels"), &Options{Pool: &pool.Options{Expedited: 1, Shared: 1}})
		over := make(chan struct{})
		hotels := senderOf(t, f, "hotels", &bufferedsender.Options[hotel]{
			Limits:   bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2},
			Handlers: events.Handlers[hotel]{ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) { <-over }},
		})
		require.NoError(t, hotels.UploadDocuments(t.Context(), sendertest.Hotels("h", 5)...))
		time.Sleep(15 * time.Second)
		assert.Equal(t, events.HealthStateWaitingForSlot, f.Health().Indexes[0].State)
		require.ErrorContains(t, f.Health().Err(), "nothing is sent for 15s because of ActionCompleted")
		assert.Contains(t, f.Health().String(), "1 of 1 senders are not healthy")
		require.NoError(t, f.Health().Ready())
		close(over)
		time.Sleep(time.Second)
		require.NoError(t, f.Health().Err())
	})
}

// Indexes in an outage use all floors. An index that waits for one must report that, and so must the fleet.
func TestAnIndexThatWaitsForRoomThatOthersKeepSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		f := newFleet(t, s, &Options{Pool: &pool.Options{BufferedActions: 40, FloorActions: 10}})
		for i := range 5 {
			name := fmt.Sprint("sick-", i)
			s.answers(sendertest.StatusError(404), name)
			sick := senderOf(t, f, name, nil)
			go func() { _ = sick.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.Hotels("h", 20)...) }()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		well := senderOf(t, f, "well", nil)
		added := sendertest.Later(func() error {
			return well.UploadDocuments(sendertest.Within(t, 20*time.Second), sendertest.Hotels("h", 1)...)
		})
		time.Sleep(5 * time.Second)
		require.NoError(t, well.Health().Err)
		time.Sleep(7 * time.Second)
		require.ErrorContains(t, well.Health().Err, "adding calls wait for 12s for room that is shared")
		require.NoError(t, well.Health().Ready())
		require.ErrorContains(t, f.Health().Err(), `index "well": healthy: adding calls wait`)
		require.ErrorContains(t, <-added, "adding calls wait for 20s for room that is shared")
		require.NoError(t, well.Health().Err)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_ = f.Close(ended)
	})
}
