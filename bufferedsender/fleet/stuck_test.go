package fleet

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An index that waits for a slot is only busy; one whose handler does not return meanwhile is not.
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
