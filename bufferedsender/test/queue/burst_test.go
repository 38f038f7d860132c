package queue

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// Many concurrent callers with large documents use only part of the buffer's bytes, also while they wait for a queue
// that does not reply.
func TestABurstOfLargeDocumentsIsNotEncodedAtOnce(t *testing.T) {
	for _, withAQueue := range []bool{false, true} {
		t.Run(fmt.Sprint("with a queue ", withAQueue), func(t *testing.T) {
			withQueue(t, nil, func(q *queued) {
				opts := sendertest.Options{Logger: sendertest.NoLog, Handlers: sendertest.Handlers{
					ActionAdded: func(context.Context, *events.ActionAdded[sendertest.Hotel]) error {
						time.Sleep(time.Millisecond) // all of them are encoding
						return nil
					},
				}}
				gone := make(chan struct{})
				if withAQueue {
					opts.Queue = &faulty{Queue: q.queue, append: func(call queue.Call, next func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
						<-gone
						return next(call)
					}}
				}
				s, err := bufferedsender.New(sendertest.NewClient(q, q.service), &opts)
				require.NoError(t, err)
				s.Pause()
				large := strings.Repeat("x", 1<<20)
				ctx, cancel := context.WithCancel(q.Context())
				for i := range 500 {
					go func() { _ = s.UploadDocuments(ctx, sendertest.Hotel{ID: fmt.Sprint(i), Name: large}) }()
				}
				time.Sleep(time.Minute)
				stats := s.Stats()
				assert.LessOrEqual(t, stats.BlockedBytes, int64(32<<20))
				assert.Greater(t, stats.BlockedProducers, 400)
				cancel()
				close(gone)
				synctest.Wait()
				_ = s.Close(sendertest.Within(q.T, time.Millisecond))
			})
		})
	}
}
