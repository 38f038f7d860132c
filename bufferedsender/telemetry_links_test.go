package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// linkedTo returns the spans that a span is linked to, in order.
func linkedTo(s sdktrace.ReadOnlySpan) (ids []trace.SpanID) {
	for _, l := range s.Links() {
		ids = append(ids, l.SpanContext.SpanID())
	}
	return ids
}

func TestSpanIsLinkedOnceToEachAddingSpan(t *testing.T) {
	// adding returns the context of a span, and its id.
	adding := func(t *testing.T, tracer trace.Tracer) (context.Context, trace.SpanID) {
		ctx, span := tracer.Start(t.Context(), "adding")
		t.Cleanup(func() { span.End() })
		return ctx, span.SpanContext().SpanID()
	}
	t.Run("however many calls it makes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, tracer := traced(t, hotelOptions{})
			a, idA := adding(t, tracer)
			b, idB := adding(t, tracer)
			for i := range 200 {
				require.NoError(t, r.sender.UploadDocuments(a, hotel{ID: fmt.Sprint("a-", i)}))
				require.NoError(t, r.sender.UploadDocuments(b, hotel{ID: fmt.Sprint("b-", i)}))
			}
			require.NoError(t, r.flush())
			assert.Equal(t, []trace.SpanID{idA, idB}, linkedTo(batches(spans)[0]))
		})
	})
	t.Run("also if its action was folded, not if it was superseded and did not travel", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, tracer := traced(t, hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: func(h hotel) int64 { return int64(h.Rooms) }}})
			var want []trace.SpanID
			for _, version := range []int{2, 3, 1} {
				ctx, id := adding(t, tracer)
				require.NoError(t, r.sender.UploadDocuments(ctx, hotel{ID: "a", Rooms: version}))
				if version > 1 {
					want = append(want, id)
				}
			}
			require.NoError(t, r.flush())
			require.EqualValues(t, 1, r.sender.Stats().Superseded)
			require.EqualValues(t, 1, r.sender.Stats().Folded)
			assert.Equal(t, want, linkedTo(batches(spans)[0]))
		})
	})
	t.Run("up to 128, folded ones too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, tracer := traced(t, hotelOptions{Folding: &bufferedsender.Folding[hotel]{}})
			for i := range 300 {
				ctx, _ := adding(t, tracer)
				require.NoError(t, r.sender.UploadDocuments(ctx, hotel{ID: "a"}, hotel{ID: fmt.Sprint("b-", i)}))
			}
			require.NoError(t, r.flush())
			assert.Len(t, batches(spans)[0].Links(), 128)
		})
	})
}

// linkWatch is a sampler that sees what there is when a span starts.
type linkWatch struct {
	mu    sync.Mutex
	links [][]trace.Link
}

func (w *linkWatch) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.links = append(w.links, slices.Clone(p.Links))
	return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
}

func (w *linkWatch) Description() string { return "sees links" }

// A sampler can keep the spans that belong to a trace which is kept only if it is
// told of the links at the start.
func TestSpanHasItsLinksWhenItStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch := &linkWatch{}
		r := newRig(t, &hotelOptions{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSampler(watch))})
		ctx, span := sdktrace.NewTracerProvider().Tracer("").Start(t.Context(), "adding")
		require.NoError(t, r.sender.UploadDocuments(ctx, hotel{ID: "a"}))
		require.NoError(t, r.flush())
		require.Len(t, watch.links, 1)
		require.Len(t, watch.links[0], 1)
		assert.Equal(t, span.SpanContext().SpanID(), watch.links[0][0].SpanContext.SpanID())
	})
}

// The conventions: what holds one operation is no batch.
func TestSpanOfOneActionIsNoBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, spans, _ := traced(t, hotelOptions{})
		require.NoError(t, r.sender.MergeOrUploadDocuments(t.Context(), hotel{ID: "a"}))
		require.NoError(t, r.flush())
		s := batches(spans)[0]
		assert.Equal(t, "mergeOrUpload hotels", s.Name())
		assert.Equal(t, "mergeOrUpload", attributes(s)["db.operation.name"])
		assert.NotContains(t, attributes(s), "db.operation.batch.size")
	})
}

func TestSpanSaysWhyThereWasNoReply(t *testing.T) {
	for kind, respond := range map[string]func(ctx context.Context) (models.IndexDocumentsResult, error){
		"timeout": func(ctx context.Context) (models.IndexDocumentsResult, error) {
			<-ctx.Done()
			return models.IndexDocumentsResult{}, fmt.Errorf("the request: %w", ctx.Err())
		},
		"connection": func(context.Context) (models.IndexDocumentsResult, error) {
			return models.IndexDocumentsResult{}, io.ErrUnexpectedEOF
		},
		"cancelled": func(context.Context) (models.IndexDocumentsResult, error) {
			return models.IndexDocumentsResult{}, fmt.Errorf("the request: %w", context.Canceled)
		},
		"malformed_reply": func(context.Context) (models.IndexDocumentsResult, error) {
			return models.IndexDocumentsResult{}, fmt.Errorf("SECRET: %w", models.ErrMalformedReply)
		},
		"502": func(context.Context) (models.IndexDocumentsResult, error) {
			return models.IndexDocumentsResult{}, errors.Join(errors.New("SECRET"), statusError(502))
		},
	} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				spans := tracetest.NewSpanRecorder()
				index := &fakeIndexer{func(ctx context.Context, _ io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					return respond(ctx)
				}}
				s, err := bufferedsender.New(index, &hotelOptions{
					TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)), Logger: silent, RequestTimeout: time.Second,
				})
				require.NoError(t, err)
				require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: "a"}))
				require.Error(t, s.Close(within(t, 10*time.Second)))
				require.NotEmpty(t, batches(spans))
				for _, span := range batches(spans)[:1] {
					assert.Equal(t, kind, attributes(span)["error.type"])
					assert.Equal(t, sdktrace.Status{Code: codes.Error, Description: kind}, span.Status())
					assert.Empty(t, span.Events(), "an event would hold the text of the error")
				}
			})
		})
	}
}

// What was answered is no error of the request, whatever the answer is about
// single documents.
func TestSpanOfAReplyThatRefusesDocumentsIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, spans, _ := traced(t, hotelOptions{})
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400}}})
		r.upload(hotels("k", 2)...)
		require.Error(t, r.flush())
		s := batches(spans)[0]
		assert.Equal(t, "207", attributes(s)["db.response.status_code"])
		assert.NotContains(t, attributes(s), "error.type")
		assert.Equal(t, codes.Unset, s.Status().Code)
	})
}
