package bufferedsender_test

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowIndex accepts everything after a delay, and counts.
type slowIndex struct {
	delay    time.Duration
	requests atomic.Int64
}

func (s *slowIndex) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	s.requests.Add(1)
	var batch struct{ Value []modelDoc }
	if err := json.NewDecoder(body).Decode(&batch); err != nil {
		return models.IndexDocumentsResult{}, err
	}
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
		return models.IndexDocumentsResult{}, ctx.Err()
	}
	result := models.IndexDocumentsResult{StatusCode: 200}
	for _, d := range batch.Value {
		result.Results = append(result.Results, models.IndexingResult{Key: d.ID, Succeeded: true, StatusCode: 201})
	}
	return result, nil
}

func text(n int) *string {
	s := strings.Repeat("x", n)
	return &s
}

// The loop sleeps until it is told that a batch is full; it must be told by
// bytes too, and must not be woken by every single document.

func TestFullInBytesIsSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &slowIndex{}
		sender, err := bufferedsender.New(index, &bufferedsender.Options[modelDoc]{Limits: bufferedsender.Limits{MaxBatchBytes: 10_000}, AutoFlushInterval: time.Hour})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "small"}))
		synctest.Wait()
		assert.Zero(t, index.requests.Load(), "waits for a full batch")
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "large", A: text(9_930)}))
		synctest.Wait()
		assert.EqualValues(t, 1, index.requests.Load(), "the first no longer fits beside the second")
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestFullInActionsIsSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &slowIndex{}
		sender, err := bufferedsender.New(index, &bufferedsender.Options[modelDoc]{Limits: bufferedsender.Limits{MaxBatchActions: 700}, AutoFlushInterval: time.Hour})
		require.NoError(t, err)
		for i := range 1400 {
			require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "k" + number(i)}))
			if i%97 == 0 {
				synctest.Wait() // let the loop sleep now and then
			}
		}
		synctest.Wait()
		assert.EqualValues(t, 2, index.requests.Load())
		assert.Zero(t, sender.PendingActionCount())
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestAFullBufferIsSentEvenIfItFillsNoBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &slowIndex{}
		sender, err := bufferedsender.New(index, &bufferedsender.Options[modelDoc]{
			Limits:            bufferedsender.Limits{MaxBatchActions: 1000, MaxBufferedActions: 10},
			AutoFlushInterval: -1,
		})
		require.NoError(t, err)
		for i := range 25 {
			require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "k" + number(i)}), "somebody waits for room, so it is made")
		}
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestRequestsInFlightMultiplyThroughputAndKeepOrder(t *testing.T) {
	const docs, batch, delay = 4000, 100, 100 * time.Millisecond
	for _, inFlight := range []int{1, 4, 8} {
		synctest.Test(t, func(t *testing.T) {
			index := &slowIndex{delay: delay}
			sender, err := bufferedsender.New(index, &bufferedsender.Options[modelDoc]{Limits: bufferedsender.Limits{MaxBatchActions: batch, MaxInFlight: inFlight}})
			require.NoError(t, err)
			began := time.Now()
			for i := range docs {
				require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "k" + number(i)}))
			}
			require.NoError(t, sender.Close(t.Context()))
			assert.Equal(t, time.Duration(docs/batch/inFlight)*delay, time.Since(began), "%d in flight", inFlight)
			assert.EqualValues(t, docs/batch, index.requests.Load())
		})
	}
}

// number is a number as a key.
func number(i int) string { return strconv.Itoa(i) }
