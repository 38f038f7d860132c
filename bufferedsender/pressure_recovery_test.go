package bufferedsender_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The one test of the breaker with real connections and a real clock: the
// service dies in the middle of the load, stays dead until the breaker is open
// and a probe has failed, and comes back when nobody adds or flushes anything.
func TestFUSEAServiceThatDiesAndComesBackFindsTheQueueDrainingByItself(t *testing.T) {
	const documents, keys = 4000, 900 // several versions of each key
	srv := searchtest.NewServer(&searchtest.Options{KeepContents: true})
	require.NoError(t, srv.CreateIndex(hotelIndex))
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	defer func() { assert.NoError(t, srv.Close()) }()
	address := strings.TrimPrefix(srv.URL(), "http://")
	var reached atomic.Int64
	half := make(chan struct{})
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(2 * time.Millisecond)}}})

	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey), nil)
	require.NoError(t, err)
	b := steadyBreaker(t, &breaker.Options{OpenFor: 50 * time.Millisecond})
	type outcome struct {
		completed, failed int
		order             []any
	}
	var mu sync.Mutex
	outcomes, settled := map[string]*outcome{}, 0
	all := make(chan struct{})
	note := func(key string, tag any, f func(*outcome)) {
		mu.Lock()
		defer mu.Unlock()
		o := outcomes[key]
		if o == nil {
			o = &outcome{}
			outcomes[key] = o
		}
		f(o)
		o.order = append(o.order, tag)
		if settled++; settled == documents {
			close(all)
		}
	}
	sender, err := bufferedsender.New(client, &hotelOptions{
		Limits:            bufferedsender.Limits{MaxBatchActions: 20, MaxInFlight: 4, MaxBufferedActions: documents},
		AutoFlushInterval: 5 * time.Millisecond,
		Outage:            bufferedsender.Hold{Breaker: b},
		Retry:             retry.Options{Delay: 5 * time.Millisecond, MaxDelay: 20 * time.Millisecond},
		Logger:            mute,
		Handlers: events.Handlers[hotel]{
			ActionCompleted: func(_ context.Context, e *events.ActionCompleted[hotel]) {
				note(e.Key, e.Action.Tag, func(o *outcome) { o.completed++ })
				if reached.Add(1) == documents/3 {
					close(half)
				}
			},
			ActionFailed: func(_ context.Context, e *events.ActionFailed[hotel]) {
				note(e.Key, e.Action.Tag, func(o *outcome) { o.failed++ })
			},
		},
	})
	require.NoError(t, err)
	defer func() { assert.NoError(t, sender.Close(within(t, 10*time.Second))) }()
	opened, healed := make(chan struct{}, 1000), make(chan struct{}, 1000)
	defer b.Subscribe(func(c breaker.Change) {
		switch c.To {
		case breaker.Open:
			opened <- struct{}{}
		case breaker.Closed:
			healed <- struct{}{}
		}
	})()

	ctx := within(t, 20*time.Second)
	stopped := make(chan error, 1)
	go func() {
		<-half
		stopped <- srv.StopListening()
	}()
	wanted := map[string][]any{}
	for i := range documents {
		key := fmt.Sprint("k-", i%keys)
		wanted[key] = append(wanted[key], i)
		require.NoError(t, sender.IndexDocuments(ctx, uploadTagged(key, i)))
	}
	for range 2 { // it opens, and again after a probe in vain
		select {
		case <-opened:
		case <-ctx.Done():
			require.Fail(t, "the breaker has not opened")
		}
	}
	require.NoError(t, <-stopped)
	pending := sender.PendingActionCount()
	require.NotZero(t, pending, "the service died under load")
	heldOpen(t, sender.Flush(within(t, time.Millisecond)))
	require.NoError(t, srv.Listen(address))
	select { // no new traffic, no Flush
	case <-all:
	case <-ctx.Done():
		require.Fail(t, "the queue has not drained", "%d of %d pending, %+v", sender.PendingActionCount(), pending, sender.Health())
	}
	select {
	case <-healed:
	case <-ctx.Done():
		require.Fail(t, "the breaker has not closed")
	}
	require.NoError(t, sender.Flush(ctx), "nothing has failed")
	assert.Equal(t, breaker.Closed, b.Status().State)

	mu.Lock()
	defer mu.Unlock()
	stats := sender.Stats()
	assert.EqualValues(t, documents, stats.Accepted)
	assert.EqualValues(t, documents, stats.Completed)
	require.Len(t, outcomes, keys)
	for key, o := range outcomes {
		assert.Zero(t, o.failed, key)
		assert.Equal(t, wanted[key], o.order, "outcomes of %s", key)
		var stored hotel
		raw, _ := srv.Document("hotels", key)
		require.NoError(t, json.Unmarshal(raw, &stored))
		assert.Equal(t, wanted[key][len(wanted[key])-1], stored.Rooms, "%s in the index", key)
		newest := -1 // never an older version after a newer one, not even for a moment
		for _, change := range srv.History("hotels", key) {
			var sent hotel
			require.NoError(t, json.Unmarshal(change.Document, &sent))
			assert.GreaterOrEqual(t, sent.Rooms, newest, "%s went back in time", key)
			newest = sent.Rooms
		}
	}
}
