package bufferedsender_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// points returns the value of each data point of a metric, a histogram's count,
// by its attributes.
func points(t *testing.T, reader *sdkmetric.ManualReader, name string) map[attribute.Set]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &all))
	values := map[attribute.Set]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					values[p.Attributes] += p.Value
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					values[p.Attributes] += int64(p.Count)
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					values[p.Attributes] += int64(p.Count)
				}
			default:
				require.Fail(t, "unexpected kind of metric", "%T of %s", data, name)
			}
		}
	}
	return values
}

// by adds up points that have the same value of an attribute.
func by(values map[attribute.Set]int64, key string) map[string]int64 {
	sums := map[string]int64{}
	for set, n := range values {
		v, _ := set.Value(attribute.Key(key))
		sums[v.String()] += n
	}
	return sums
}

func TestMetricsAddUpToTheOutcomes(t *testing.T) {
	for name, script := range faultScripts {
		t.Run("when "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 2}})
				r.faults(script...)
				r.upload(hotels("k", 60)...)
				require.NoError(t, r.sender.DeleteDocumentsByKey(t.Context(), "k-1", "k-2"))
				r.flush()
				s := r.sender.Stats()
				const prefix = "azsearch.sender."
				settled := points(t, r.reader, prefix+"items.settled")
				outcomes := by(settled, "azsearch.outcome")
				var all int64
				for outcome, n := range outcomes {
					all += n
					assert.NotEmpty(t, outcome)
				}
				assert.Equal(t, s.Completed, outcomes["completed"])
				assert.Equal(t, s.Failed, all-outcomes["completed"])
				assert.EqualValues(t, 62, by(points(t, r.reader, prefix+"items.added"), "")[""])
				assert.EqualValues(t, 62, all)
				assert.Equal(t, map[string]int64{"upload": 60, "delete": 2}, by(settled, "azsearch.action"))
				statuses := map[string]int64{}
				for _, e := range r.seen("failed") {
					var failure *bufferedsender.ActionError
					require.ErrorAs(t, e.err, &failure)
					statuses[fmt.Sprint(failure.Status)]++
				}
				for status, n := range statuses {
					assert.GreaterOrEqual(t, by(settled, "db.response.status_code")[status], n, "status %s", status)
				}
				sum := func(name string) (n int64) {
					for _, v := range points(t, r.reader, name) {
						n += v
					}
					return n
				}
				assert.Equal(t, s.Retries, sum(prefix+"items.retried"))
				assert.Equal(t, s.Requests, sum("db.client.operation.duration"))
				assert.Equal(t, s.Requests, sum(prefix+"batch.items"))
				assert.Equal(t, s.Requests, sum(prefix+"batch.bytes"))
				assert.EqualValues(t, 62, sum(prefix+"item.settle.duration"))
				assert.Zero(t, sum(prefix+"queue.items"))
				assert.Zero(t, sum(prefix+"queue.bytes"))
			})
		})
	}
	t.Run("and tell what waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.upload(hotels("k", 7)...)
			for set, n := range points(t, r.reader, "azsearch.sender.queue.items") {
				assert.EqualValues(t, 7, n)
				index, _ := set.Value("db.collection.name")
				assert.Equal(t, "hotels", index.AsString())
			}
			require.NoError(t, r.close())
			assert.Empty(t, points(t, r.reader, "azsearch.sender.queue.items"), "a closed sender reports nothing more")
		})
	})
	t.Run("and name no key and no content", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"SECRET-1"}, Status: 400, Message: "SECRET"}}})
			r.upload(hotel{ID: "SECRET-0", Name: "SECRET"}, hotel{ID: "SECRET-1", Name: "SECRET"})
			r.flush()
			var all metricdata.ResourceMetrics
			require.NoError(t, r.reader.Collect(t.Context(), &all))
			raw, err := json.Marshal(all)
			require.NoError(t, err)
			assert.NotContains(t, string(raw), "SECRET")
		})
	})
}

// traced is a rig whose spans are recorded.
func traced(t *testing.T, opts hotelOptions) (*rig, *tracetest.SpanRecorder, trace.Tracer) {
	spans := tracetest.NewSpanRecorder()
	limits := sdktrace.NewSpanLimits()
	limits.LinkCountLimit = -1 // the SDK's own limit would hide ours
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans), sdktrace.WithRawSpanLimits(limits))
	opts.TracerProvider = provider
	return newRig(t, &opts), spans, provider.Tracer("the program's own")
}

// batches are the spans of the sender.
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
	t.Run("with the attributes of a database client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, _ := traced(t, hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}})
			r.upload(hotels("k", 6)...)
			require.NoError(t, r.sender.DeleteDocumentsByKey(t.Context(), "k-9"))
			require.NoError(t, r.sender.MergeOrUploadDocuments(t.Context(), hotels("m", 2)...))
			require.NoError(t, r.sender.MergeOrUploadDocuments(t.Context(), hotel{ID: "alone"}))
			require.NoError(t, r.flush())
			got := batches(spans)
			require.Len(t, got, len(r.requests()))
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
	t.Run("with what went wrong", func(t *testing.T) {
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
					r, spans, _ := traced(t, hotelOptions{})
					r.faults(c.fault)
					r.upload(hotels("k", 3)...)
					r.flush()
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
			r, spans, tracer := traced(t, hotelOptions{})
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"s-5-0"}, Nth: 1, Status: 409}}})
			var want []trace.SpanID
			for i := range 10 {
				ctx, span := tracer.Start(t.Context(), "adding")
				require.NoError(t, r.sender.UploadDocuments(ctx, hotels(fmt.Sprint("s-", i), 2)...))
				span.End()
				want = append(want, span.SpanContext().SpanID())
			}
			r.upload(hotel{ID: "untraced"})
			require.NoError(t, r.flush())
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
			assert.False(t, got[0].Parent().IsValid(), "it belongs to none of them")
		})
	})
	t.Run("but not to more than 128, and not to those that are not sampled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, tracer := traced(t, hotelOptions{})
			for i := range 300 {
				ctx, span := tracer.Start(t.Context(), "adding")
				require.NoError(t, r.sender.UploadDocuments(ctx, hotel{ID: fmt.Sprint(i)}))
				span.End()
			}
			require.NoError(t, r.flush())
			assert.Len(t, batches(spans)[0].Links(), 128)
			unsampled := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())).Tracer("")
			ctx, span := unsampled.Start(t.Context(), "adding")
			require.NoError(t, r.sender.UploadDocuments(ctx, hotel{ID: "unsampled"}))
			span.End()
			require.NoError(t, r.flush())
			assert.Empty(t, batches(spans)[1].Links())
		})
	})
	t.Run("which hands the trace on to the client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, _ := traced(t, hotelOptions{})
			r.respond(func(_ int, x *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				assert.True(t, trace.SpanContextFromContext(x.ctx).IsValid())
				return next()
			})
			r.upload(hotel{ID: "a"})
			require.NoError(t, r.flush())
			assert.Len(t, batches(spans), 1)
		})
	})
	t.Run("without keys and contents", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, _ := traced(t, hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
			r.respond(func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if n < 5 {
					return reply(req, 400, refusal("Cannot convert the literal 'SECRET' of document SECRET-0")), nil
				}
				return next()
			})
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400, Message: "SECRET"}}})
			for i := range 6 {
				r.upload(hotel{ID: fmt.Sprint("SECRET-", i), Name: "SECRET"})
			}
			r.flush()
			for _, s := range batches(spans) {
				text := s.Name() + s.Status().Description + fmt.Sprint(s.Attributes())
				for _, e := range s.Events() {
					text += e.Name + fmt.Sprint(e.Attributes)
				}
				assert.NotContains(t, text, "SECRET")
			}
		})
	})
	t.Run("that ends also when Close gives up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, spans, _ := traced(t, hotelOptions{})
			r.respond(hang)
			r.upload(hotels("k", 3)...)
			require.Error(t, r.sender.Close(within(t, time.Second)))
			require.Len(t, batches(spans), 1)
			assert.Equal(t, codes.Error, batches(spans)[0].Status().Code)
		})
	})
}
