package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// traced returns a rig that records its spans.
func traced(t *testing.T, opts sendertest.Options) (*sendertest.Rig, *tracetest.SpanRecorder, trace.Tracer) {
	spans := tracetest.NewSpanRecorder()
	limits := sdktrace.NewSpanLimits()
	limits.LinkCountLimit = -1 // the SDK's own limit would hide ours
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans), sdktrace.WithRawSpanLimits(limits))
	opts.TracerProvider = provider
	return sendertest.New(t, &opts), spans, provider.Tracer("the program's own")
}

// batches returns the spans of the sender.
func batches(spans *tracetest.SpanRecorder) (found []sdktrace.ReadOnlySpan) {
	for _, s := range spans.Ended() {
		if strings.Contains(s.InstrumentationScope().Name, "azsearch") {
			found = append(found, s)
		}
	}
	return found
}

func attributes(s sdktrace.ReadOnlySpan) map[string]string {
	values := map[string]string{}
	for _, a := range s.Attributes() {
		values[string(a.Key)] = a.Value.String()
	}
	return values
}

func TestSpansOneForEachRequest(t *testing.T) {
	t.Run("a span with the attributes of a database client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, _ := traced(t, sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}})
			r.Upload(sendertest.Hotels("k", 6)...)
			require.NoError(t, r.Sender.DeleteDocumentsByKey(t.Context(), "k-9"))
			require.NoError(t, r.Sender.MergeOrUploadDocuments(t.Context(), sendertest.Hotels("m", 2)...))
			require.NoError(t, r.Sender.MergeOrUploadDocuments(t.Context(), sendertest.Hotel{ID: "alone"}))
			require.NoError(t, r.Flush())
			got := batches(spans)
			require.Len(t, got, len(r.Requests()))
			require.Len(t, got, 4)
			for i, operation := range []string{"BATCH upload", "BATCH upload", "BATCH", ""} {
				s, have := got[i], attributes(got[i])
				assert.Equal(t, trace.SpanKindClient, s.SpanKind())
				assert.Equal(t, codes.Unset, s.Status().Code)
				assert.Equal(t, have["db.operation.name"]+" hotels", s.Name())
				for key, want := range map[string]string{
					"db.system.name": "azure.search", "db.collection.name": "hotels", "db.namespace": "searchtest", "db.response.status_code": "200",
					"server.address": "searchtest.search.windows.net", "azure.resource_provider.namespace": "Microsoft.Search",
				} {
					assert.Equal(t, want, have[key], key)
				}
				assert.NotEmpty(t, have["azure.service.request.id"])
				assert.NotContains(t, have, "server.port", "443 is not named")
				assert.NotContains(t, have, "error.type")
				if operation != "" {
					assert.Equal(t, operation, have["db.operation.name"])
					assert.Equal(t, "3", have["db.operation.batch.size"])
				} else {
					assert.NotContains(t, have, "db.operation.batch.size", "never 1")
				}
			}
		})
	})
	t.Run("a span with the error", func(t *testing.T) {
		for name, c := range map[string]struct {
			fault  searchtest.Fault
			status string
			kind   string
		}{
			"partly":     {searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Status: 400}}}, "207", ""},
			"throttled":  {searchtest.Fault{Count: 1, Status: 503}, "503", "503"},
			"refused":    {searchtest.Fault{Count: 1, Status: 403}, "403", "403"},
			"broken":     {searchtest.Fault{Count: 1, Cut: searchtest.CutBeforeCommit}, "", "?"},
			"incomplete": {searchtest.Fault{Count: 1, Body: searchtest.BodyMalformed}, "?", "?"},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r, spans, _ := traced(t, sendertest.Options{})
					r.Faults(c.fault)
					r.Upload(sendertest.Hotels("k", 3)...)
					r.Flush()
					s := batches(spans)[0]
					have := attributes(s)
					if c.status != "?" {
						assert.Equal(t, c.status, have["db.response.status_code"])
					}
					switch c.kind {
					case "":
					case "?":
						assert.NotEmpty(t, have["error.type"])
						assert.Equal(t, codes.Error, s.Status().Code)
					default:
						assert.Equal(t, c.kind, have["error.type"])
						assert.Equal(t, codes.Error, s.Status().Code)
					}
				})
			})
		}
	})
	t.Run("linked to the spans that added its actions", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, tracer := traced(t, sendertest.Options{})
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"s-5-0"}, Nth: 1, Status: 409}}})
			var want []trace.SpanID
			for i := range 10 {
				ctx, span := tracer.Start(t.Context(), "adding")
				require.NoError(t, r.Sender.UploadDocuments(ctx, sendertest.Hotels(fmt.Sprint("s-", i), 2)...))
				span.End()
				want = append(want, span.SpanContext().SpanID())
			}
			r.Upload(sendertest.Hotel{ID: "untraced"})
			require.NoError(t, r.Flush())
			got := batches(spans)
			require.Len(t, got, 2)
			linked := func(s sdktrace.ReadOnlySpan) map[trace.SpanID]bool {
				ids := map[trace.SpanID]bool{}
				for _, l := range s.Links() {
					assert.True(t, l.SpanContext.IsValid())
					ids[l.SpanContext.SpanID()] = true
				}
				return ids
			}
			assert.Len(t, linked(got[0]), 10)
			for _, id := range want {
				assert.True(t, linked(got[0])[id])
			}
			assert.Equal(t, map[trace.SpanID]bool{want[5]: true}, linked(got[1]), "the retry")
			assert.False(t, got[0].Parent().IsValid(), "the span belongs to none of them")
		})
	})
	t.Run("a span has at most 128 links, only to sampled spans", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, tracer := traced(t, sendertest.Options{})
			for i := range 300 {
				ctx, span := tracer.Start(t.Context(), "adding")
				require.NoError(t, r.Sender.UploadDocuments(ctx, sendertest.Hotel{ID: fmt.Sprint(i)}))
				span.End()
			}
			require.NoError(t, r.Flush())
			assert.Len(t, batches(spans)[0].Links(), 128)
			unsampled := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())).Tracer("")
			ctx, span := unsampled.Start(t.Context(), "adding")
			require.NoError(t, r.Sender.UploadDocuments(ctx, sendertest.Hotel{ID: "unsampled"}))
			span.End()
			require.NoError(t, r.Flush())
			assert.Empty(t, batches(spans)[1].Links())
		})
	})
	t.Run("a span that passes the trace on to the client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, _ := traced(t, sendertest.Options{})
			r.Respond(func(_ int, x *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				assert.True(t, trace.SpanContextFromContext(x.Context).IsValid())
				return next()
			})
			r.Upload(sendertest.Hotel{ID: "a"})
			require.NoError(t, r.Flush())
			assert.Len(t, batches(spans), 1)
		})
	})
	t.Run("a span without keys and contents", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, _ := traced(t, sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
			r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if n < 5 {
					return sendertest.Reply(req, 400, sendertest.ErrorBody("Cannot convert the literal 'SECRET' of document SECRET-0")), nil
				}
				return next()
			})
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400, Message: "SECRET"}}})
			for i := range 6 {
				r.Upload(sendertest.Hotel{ID: fmt.Sprint("SECRET-", i), Name: "SECRET"})
			}
			r.Flush()
			for _, s := range batches(spans) {
				text := s.Name() + s.Status().Description + fmt.Sprint(s.Attributes())
				for _, e := range s.Events() {
					text += e.Name + fmt.Sprint(e.Attributes)
				}
				assert.NotContains(t, text, "SECRET")
			}
		})
	})
	t.Run("the span ends also when Close gives up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, _ := traced(t, sendertest.Options{})
			r.Respond(sendertest.Hang)
			r.Upload(sendertest.Hotels("k", 3)...)
			require.Error(t, r.Sender.Close(sendertest.Within(t, time.Second)))
			require.Len(t, batches(spans), 1)
			assert.Equal(t, codes.Error, batches(spans)[0].Status().Code)
		})
	})
}

// linkedTo returns the spans to which a span is linked, in order.
func linkedTo(s sdktrace.ReadOnlySpan) (ids []trace.SpanID) {
	for _, l := range s.Links() {
		ids = append(ids, l.SpanContext.SpanID())
	}
	return ids
}

func TestSpanIsLinkedOnceToEachAddingSpan(t *testing.T) {
	// adding returns the context of a span, and its ID.
	adding := func(t *testing.T, tracer trace.Tracer) (context.Context, trace.SpanID) {
		ctx, span := tracer.Start(t.Context(), "adding")
		t.Cleanup(func() { span.End() })
		return ctx, span.SpanContext().SpanID()
	}
	t.Run("one span however many calls are made", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, tracer := traced(t, sendertest.Options{})
			a, idA := adding(t, tracer)
			b, idB := adding(t, tracer)
			for i := range 200 {
				require.NoError(t, r.Sender.UploadDocuments(a, sendertest.Hotel{ID: fmt.Sprint("a-", i)}))
				require.NoError(t, r.Sender.UploadDocuments(b, sendertest.Hotel{ID: fmt.Sprint("b-", i)}))
			}
			require.NoError(t, r.Flush())
			assert.Equal(t, []trace.SpanID{idA, idB}, linkedTo(batches(spans)[0]))
		})
	})
	t.Run("a link also to a folded action, not to a superseded one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, tracer := traced(t, sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: func(h sendertest.Hotel) int64 { return int64(h.Rooms) }}})
			var want []trace.SpanID
			for _, version := range []int{2, 3, 1} {
				ctx, id := adding(t, tracer)
				require.NoError(t, r.Sender.UploadDocuments(ctx, sendertest.Hotel{ID: "a", Rooms: version}))
				if version > 1 {
					want = append(want, id)
				}
			}
			require.NoError(t, r.Flush())
			require.EqualValues(t, 1, r.Sender.Stats().Superseded)
			require.EqualValues(t, 1, r.Sender.Stats().Folded)
			assert.Equal(t, want, linkedTo(batches(spans)[0]))
		})
	})
	t.Run("up to 128, folded ones too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, tracer := traced(t, sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}})
			for i := range 300 {
				ctx, _ := adding(t, tracer)
				require.NoError(t, r.Sender.UploadDocuments(ctx, sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: fmt.Sprint("b-", i)}))
			}
			require.NoError(t, r.Flush())
			assert.Len(t, batches(spans)[0].Links(), 128)
		})
	})
}

// linkWatch is a sampler that records the links at the start of a span.
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

// A sampler can keep spans linked to a kept trace only if it gets the links at the start.
func TestSpanHasItsLinksWhenItStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch := &linkWatch{}
		r := sendertest.New(t, &sendertest.Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSampler(watch))})
		ctx, span := sdktrace.NewTracerProvider().Tracer("").Start(t.Context(), "adding")
		require.NoError(t, r.Sender.UploadDocuments(ctx, sendertest.Hotel{ID: "a"}))
		require.NoError(t, r.Flush())
		require.Len(t, watch.links, 1)
		require.Len(t, watch.links[0], 1)
		assert.Equal(t, span.SpanContext().SpanID(), watch.links[0][0].SpanContext.SpanID())
	})
}

// By the conventions a request with one operation is not a batch.
func TestSpanOfOneActionIsNoBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, spans, _ := traced(t, sendertest.Options{})
		require.NoError(t, r.Sender.MergeOrUploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		require.NoError(t, r.Flush())
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
			return models.IndexDocumentsResult{}, errors.Join(errors.New("SECRET"), sendertest.StatusError(502))
		},
	} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				spans := tracetest.NewSpanRecorder()
				index := &sendertest.Indexer{Index: func(ctx context.Context, _ io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					return respond(ctx)
				}}
				s, err := bufferedsender.New(index, &sendertest.Options{
					TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)), Logger: sendertest.NoLog, RequestTimeout: time.Second,
				})
				require.NoError(t, err)
				require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
				require.Error(t, s.Close(sendertest.Within(t, 10*time.Second)))
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

// A reply is not an error of the request, whatever it says about single documents.
func TestSpanOfAReplyThatRefusesDocumentsIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, spans, _ := traced(t, sendertest.Options{})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400}}})
		r.Upload(sendertest.Hotels("k", 2)...)
		require.Error(t, r.Flush())
		s := batches(spans)[0]
		assert.Equal(t, "207", attributes(s)["db.response.status_code"])
		assert.NotContains(t, attributes(s), "error.type")
		assert.Equal(t, codes.Unset, s.Status().Code)
	})
}
