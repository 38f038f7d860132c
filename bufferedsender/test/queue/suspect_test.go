package queue

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// reserving counts reservations.
type reserving struct {
	queue.Queue
	keys atomic.Int64
}

func (r *reserving) Reserve(ctx context.Context, w queue.Want) ([]queue.Lease, error) {
	leases, err := r.Queue.Reserve(ctx, w)
	r.keys.Add(int64(len(leases)))
	return leases, err
}

// The index lacks a property of all documents. Its probes become rarer, and a key is reserved for each, not again and
// again between two of them. The call that waits ends with the reason.
func TestAKeyIsReservedOncePerProbeWhileTheIndexRefusesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, err := memqueue.New(nil)
		require.NoError(t, err)
		q, requests := &reserving{Queue: memory}, atomic.Int64{}
		s, err := bufferedsender.New(&sendertest.Indexer{Delay: 20 * time.Millisecond, Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			requests.Add(1)
			all, err := sendertest.AcceptAll(ctx, body)
			for i := range all.Results {
				all.Results[i].Succeeded, all.Results[i].StatusCode = false, 400
				all.Results[i].ErrorMessage = "The property 'rooms' does not exist on type 'search.documentFields'."
			}
			return all, err
		}}, &sendertest.Options{Queue: q, Logger: sendertest.NoLog})
		require.NoError(t, err)
		var actions []sendertest.Action
		for _, doc := range sendertest.Hotels("k", 200) {
			actions = append(actions, models.UploadAction(doc))
		}
		_, err = s.IndexDocumentsAndWait(sendertest.Within(t, time.Minute), actions, nil)
		require.ErrorContains(t, err, "the index may be the cause")
		require.ErrorContains(t, err, "The property 'rooms' does not exist")
		time.Sleep(10 * time.Second)
		keys, sent := q.keys.Load(), requests.Load()
		time.Sleep(time.Minute)
		assert.LessOrEqual(t, requests.Load()-sent, int64(20))
		assert.LessOrEqual(t, q.keys.Load()-keys, requests.Load()-sent+2)
		_ = s.Close(sendertest.Within(t, time.Second))
	})
}
