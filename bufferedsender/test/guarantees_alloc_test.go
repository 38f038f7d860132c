//go:build !race

package test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Telemetry that nobody asked for must not be paid for by each document.
func TestTelemetryWithoutProvidersAllocatesNothingPerDocument(t *testing.T) {
	const docs = 1000
	fixed := models.IndexDocumentsResult{StatusCode: 200}
	batch := make([]sendertest.Hotel, docs)
	for i := range batch {
		batch[i].ID = fmt.Sprint("k-", i)
		fixed.Results = append(fixed.Results, models.IndexingResult{Key: batch[i].ID, Succeeded: true, StatusCode: 200})
	}
	perDocument := func(opts *sendertest.Options) float64 {
		s, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{Index: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) { return fixed, nil }}, opts)
		require.NoError(t, err)
		defer s.Close(t.Context())
		ctx := t.Context()
		return testing.AllocsPerRun(20, func() {
			if err := s.UploadDocuments(ctx, batch...); err != nil {
				t.Error(err)
			}
			if err := s.Flush(ctx); err != nil {
				t.Error(err)
			}
		}) / docs
	}
	// One for the encoded document, one for its place in the queue; the requests
	// make up the rest. A third would be telemetry.
	assert.Less(t, perDocument(&sendertest.Options{Logger: sendertest.NoLog}), 2.5)
}
