package test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func text(n int) string { return strings.Repeat("x", n) }

// The loop sleeps until it is told that a batch is full; it must be told by
// bytes too, and must not be woken by every single document.

func TestFullInBytesIsSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &sendertest.Indexer{}
		sender, err := bufferedsender.New(index, &sendertest.Options{MaxBatchBytes: 10_000, AutoFlushInterval: time.Hour})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "small"}))
		synctest.Wait()
		assert.Zero(t, index.Requests(), "waits for a full batch")
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "large", Name: text(9_930)}))
		synctest.Wait()
		assert.EqualValues(t, 1, index.Requests(), "the first no longer fits beside the second")
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestFullInActionsIsSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &sendertest.Indexer{}
		sender, err := bufferedsender.New(index, &sendertest.Options{MaxBatchActions: 700, AutoFlushInterval: time.Hour})
		require.NoError(t, err)
		for i := range 1400 {
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "k" + number(i)}))
			if i%97 == 0 {
				synctest.Wait() // let the loop sleep now and then
			}
		}
		synctest.Wait()
		assert.EqualValues(t, 2, index.Requests())
		assert.Zero(t, sender.PendingActionCount())
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestAFullBufferIsSentEvenIfItFillsNoBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &sendertest.Indexer{}
		sender, err := bufferedsender.New(index, &sendertest.Options{
			MaxBatchActions: 1000, MaxBufferedActions: 10, AutoFlushInterval: -1,
		})
		require.NoError(t, err)
		for i := range 25 {
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "k" + number(i)}), "somebody waits for room, so it is made")
		}
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestRequestsInFlightMultiplyThroughputAndKeepOrder(t *testing.T) {
	const docs, batch, delay = 4000, 100, 100 * time.Millisecond
	for _, inFlight := range []int{1, 4, 8} {
		synctest.Test(t, func(t *testing.T) {
			index := &sendertest.Indexer{Delay: delay}
			sender, err := bufferedsender.New(index, &sendertest.Options{MaxBatchActions: batch, MaxInFlight: inFlight})
			require.NoError(t, err)
			began := time.Now()
			for i := range docs {
				require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "k" + number(i)}))
			}
			require.NoError(t, sender.Close(t.Context()))
			assert.Equal(t, time.Duration(docs/batch/inFlight)*delay, time.Since(began), "%d in flight", inFlight)
			assert.EqualValues(t, docs/batch, index.Requests())
		})
	}
}

// number is a number as a key.
func number(i int) string { return strconv.Itoa(i) }
