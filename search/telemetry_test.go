package search_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// measuredPoint is a data point; for a histogram value is the sum.
type measuredPoint struct {
	metric string
	set    attribute.Set
	value  float64 // number of measurements of a histogram
	sum    float64
}

func pointsOf(t *testing.T, reader *sdkmetric.ManualReader) (all []measuredPoint) {
	t.Helper()
	var collected metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &collected))
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					all = append(all, measuredPoint{metric: m.Name, set: p.Attributes, value: float64(p.Value)})
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					all = append(all, measuredPoint{m.Name, p.Attributes, float64(p.Count), float64(p.Sum)})
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					all = append(all, measuredPoint{m.Name, p.Attributes, float64(p.Count), p.Sum})
				}
			}
		}
	}
	return all
}

// commonAttributes are on every metric.
var commonAttributes = map[string]string{
	"db.system.name": "azure.search", "azure.resource_provider.namespace": "Microsoft.Search",
	"db.collection.name": "hotels", "db.namespace": "svc", "server.address": "svc.search.windows.net",
}

// measuredBy returns the series by a short name, such as "duration SEARCH 200".
func measuredBy(t *testing.T, reader *sdkmetric.ManualReader) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, p := range pointsOf(t, reader) {
		name := p.metric[strings.LastIndex(p.metric, ".")+1:]
		missing := maps.Clone(commonAttributes)
		for _, a := range p.set.ToSlice() {
			key := string(a.Key)
			if want, common := commonAttributes[key]; common {
				assert.Equal(t, want, a.Value.AsString(), key)
				delete(missing, key)
				continue
			}
			require.Contains(t, []string{"db.operation.name", "db.response.status_code", "error.type"}, key)
			name += " " + strings.TrimSuffix(key[strings.LastIndex(key, ".")+1:], "_code") + "=" + a.Value.AsString()
		}
		assert.Empty(t, missing, name)
		values[name] = p.value
		if name, found := strings.CutPrefix(name, "returned_rows "); found {
			values["rows "+name] = p.sum
			delete(values, "returned_rows "+name)
		}
	}
	return values
}

// measuredClient returns a client that sends to w, and a reader of its metrics.
func measuredClient(t testing.TB, w policy.Transporter) (*search.Client, *sdkmetric.ManualReader) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	opts := options(w)
	opts.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	return client, reader
}

// brokenBody fails with an unexpected end.
type brokenBody struct{ io.Reader }

func (b *brokenBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		err = errors.New("connection reset")
	}
	return n, err
}

func (b *brokenBody) Close() error { return nil }

func broken(text string) *http.Response {
	resp := response(200, "")
	resp.Body = &brokenBody{strings.NewReader(text)}
	return resp
}

func firstPage(ctx context.Context, c *search.Client) error {
	_, err := search.NewSearchPager[hotel](c, "secret words", &search.SearchOptions{Filter: search.Eq("hotelName", "secret filter")}).NextPage(ctx)
	return err
}

const (
	twoHotels     = `{"value":[{"@search.score":1,"hotelId":"secret-1"},{"@search.score":1,"hotelId":"secret-2"}]}`
	misfitHotel   = `{"value":[{"@search.score":1,"hotelId":3}]}`
	oneSuggestion = `{"value":[{"@search.text":"a","hotelId":"secret-1"}]}`
	oneCompletion = `{"value":[{"text":"a","queryPlusText":"b"}]}`
)

func TestClientMetricsMoveWhenAndOnlyWhenTheirThingHappens(t *testing.T) {
	type moves = map[string]float64
	uploads := func(ctx context.Context, c *search.Client) error {
		_, err := search.UploadDocuments(ctx, c, []hotel{{ID: "secret-1"}, {ID: "secret-2"}}, nil)
		return err
	}
	count := func(ctx context.Context, c *search.Client) error { _, err := c.DocumentCount(ctx, nil); return err }
	lookup := func(ctx context.Context, c *search.Client) error {
		_, err := search.GetDocument[hotel](ctx, c, "secret-1", nil)
		return err
	}
	cancelled := func(f func(context.Context, *search.Client) error) func(context.Context, *search.Client) error {
		return func(ctx context.Context, c *search.Client) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return f(ctx, c)
		}
	}
	lost := func(int, *http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	for name, c := range map[string]struct {
		answer *wire
		act    func(ctx context.Context, c *search.Client) error
		fails  bool
		want   moves
	}{
		"nothing happens": {act: func(context.Context, *search.Client) error { return nil }},
		"a query is answered": {
			answer: reply(200, twoHotels), act: firstPage,
			want: moves{"duration name=SEARCH status=200": 1, "rows name=SEARCH status=200": 2},
		},
		"a query finds nothing": {
			answer: reply(200, emptyOK), act: firstPage,
			want: moves{"duration name=SEARCH status=200": 1, "rows name=SEARCH status=200": 0},
		},
		"a query is answered in part": {
			answer: reply(206, twoHotels), act: firstPage,
			want: moves{"duration name=SEARCH status=206": 1, "rows name=SEARCH status=206": 2},
		},
		"a query has two pages": {
			answer: replies(response(200, `{"@search.nextPageParameters":{"search":"*","skip":2},"value":[{"@search.score":1,"hotelId":"1"}]}`), response(200, twoHotels)),
			act: func(ctx context.Context, c *search.Client) error {
				for _, err := range search.Search[hotel](ctx, c, "", nil) {
					if err != nil {
						return err
					}
				}
				return nil
			},
			want: moves{"duration name=SEARCH status=200": 2, "rows name=SEARCH status=200": 3},
		},
		"an index is scanned": {
			answer: reply(200, emptyOK),
			act: func(ctx context.Context, c *search.Client) error {
				for _, err := range search.ScanKeys(ctx, c, &search.ScanOptions{KeyField: "hotelId"}) {
					return err
				}
				return nil
			},
			want: moves{"duration name=SEARCH status=200": 1, "rows name=SEARCH status=200": 0},
		},
		"a query is refused": {
			answer: reply(400, `{"error":{"code":"","message":"secret filter"}}`), act: firstPage, fails: true,
			want: moves{"duration name=SEARCH status=400 type=400": 1},
		},
		"a query is impossible": {
			act: func(ctx context.Context, c *search.Client) error {
				_, err := search.NewSearchPager[hotel](c, "", &search.SearchOptions{Top: new(-1)}).NextPage(ctx)
				return err
			},
			fails: true,
		},
		"a query is sent again": {
			answer: replies(response(503, ""), response(429, ""), response(200, twoHotels)), act: firstPage,
			want: moves{
				"duration name=SEARCH status=200": 1, "rows name=SEARCH status=200": 2,
				"retries name=SEARCH type=503": 1, "retries name=SEARCH type=429": 1,
			},
		},
		"a query is given up": {
			answer: reply(503, ""), act: firstPage, fails: true,
			want: moves{"duration name=SEARCH status=503 type=503": 1, "retries name=SEARCH type=503": 3},
		},
		"a reply breaks off every time": {
			answer: &wire{answer: func(int, *http.Request) (*http.Response, error) { return broken(`{"value":[`), nil }}, act: firstPage, fails: true,
			want: moves{"duration name=SEARCH type=malformed_reply": 1, "retries name=SEARCH type=malformed_reply": 3},
		},
		"a reply breaks off once": {
			answer: replies(broken(`{"value":[`), response(200, twoHotels)), act: firstPage,
			want: moves{
				"duration name=SEARCH status=200": 1, "rows name=SEARCH status=200": 2, "retries name=SEARCH type=malformed_reply": 1,
			},
		},
		"a reply is not JSON": {
			answer: reply(200, "<html>"), act: firstPage, fails: true,
			want: moves{"duration name=SEARCH status=200 type=malformed_reply": 1},
		},
		"a document does not fit": {
			answer: reply(200, misfitHotel), act: firstPage, fails: true,
			want: moves{"duration name=SEARCH status=200 type=misfit": 1},
		},
		"the connection is lost": {
			answer: &wire{answer: lost}, act: firstPage, fails: true,
			want: moves{"duration name=SEARCH type=connection": 1, "retries name=SEARCH type=connection": 3},
		},
		"the context has ended": {
			answer: reply(200, twoHotels), act: cancelled(firstPage), fails: true,
			want: moves{"duration name=SEARCH type=cancelled": 1},
		},
		"the context ends in time": {
			answer: reply(200, twoHotels), fails: true,
			act: func(ctx context.Context, c *search.Client) error {
				ctx, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
				defer cancel()
				return firstPage(ctx, c)
			},
			want: moves{"duration name=SEARCH type=timeout": 1},
		},
		"suggestions": {
			answer: reply(200, oneSuggestion),
			act: func(ctx context.Context, c *search.Client) error {
				_, err := search.Suggest[hotel](ctx, c, "secret words", "sg", nil)
				return err
			},
			want: moves{"duration name=SUGGEST status=200": 1, "rows name=SUGGEST status=200": 1},
		},
		"completions": {
			answer: reply(200, oneCompletion),
			act: func(ctx context.Context, c *search.Client) error {
				_, err := c.Autocomplete(ctx, "secret words", "sg", nil)
				return err
			},
			want: moves{"duration name=AUTOCOMPLETE status=200": 1, "rows name=AUTOCOMPLETE status=200": 1},
		},
		"a document is read": {
			answer: reply(200, `{"hotelId":"secret-1"}`), act: lookup,
			want: moves{"duration name=LOOKUP status=200": 1},
		},
		"a document has no key": {
			act: func(ctx context.Context, c *search.Client) error {
				_, err := search.GetDocument[hotel](ctx, c, "", nil)
				return err
			},
			fails: true,
		},
		"there is no such document": {
			answer: reply(404, ""), act: lookup, fails: true,
			want: moves{"duration name=LOOKUP status=404 type=404": 1},
		},
		"a document that is read does not fit": {
			answer: reply(200, `{"hotelId":3}`), act: lookup, fails: true,
			want: moves{"duration name=LOOKUP status=200 type=misfit": 1},
		},
		"the reading of a document is broken off": {
			answer: &wire{answer: func(int, *http.Request) (*http.Response, error) { return broken(`{"hotelId`), nil }}, act: lookup, fails: true,
			want: moves{"duration name=LOOKUP type=connection": 1, "retries name=LOOKUP type=connection": 3},
		},
		"documents are counted":   {answer: reply(200, "7"), act: count, want: moves{"duration name=COUNT status=200": 1}},
		"a count is not a number": {answer: reply(200, "x"), act: count, fails: true, want: moves{"duration name=COUNT status=200 type=malformed_reply": 1}},
		"the service is pinged":   {answer: reply(200, "7"), act: func(ctx context.Context, c *search.Client) error { return c.Ping(ctx) }, want: moves{"duration name=PING status=200": 1}},
		"documents are uploaded": {
			answer: reply(200, `{"value":[{"key":"secret-1","status":true,"statusCode":201},{"key":"secret-2","status":true,"statusCode":201}]}`), act: uploads,
			want: moves{"duration name=BATCH status=200": 1},
		},
		"a document of two is refused": {
			answer: reply(207, `{"value":[{"key":"secret-1","status":true,"statusCode":201},{"key":"secret-2","status":false,"statusCode":400}]}`), act: uploads, fails: true,
			want: moves{"duration name=BATCH status=207": 1},
		},
		"a document cannot be sent": {
			act: func(ctx context.Context, c *search.Client) error {
				_, err := search.UploadDocuments(ctx, c, []hotel{{ID: "_"}}, nil)
				return err
			},
			fails: true,
		},
		"a batch is sent for a sender": {
			answer: reply(200, emptyOK),
			act: func(ctx context.Context, c *search.Client) error {
				_, err := c.IndexDocumentsRaw(ctx, newBody(emptyOK))
				return err
			},
		},
		"a definition is read": {
			answer: reply(200, `{"name":"hotels","fields":[{"name":"hotelId","type":"Edm.String","key":true}]}`),
			act:    func(ctx context.Context, c *search.Client) error { _, err := c.KeyFieldName(ctx); return err },
		},
	} {
		t.Run("when "+name, func(t *testing.T) {
			if c.answer == nil {
				c.answer = replies() // replies() panics when called
			}
			client, reader := measuredClient(t, c.answer)
			assert.Equal(t, c.fails, c.act(t.Context(), client) != nil)
			want := c.want
			if want == nil {
				want = moves{}
			}
			assert.Equal(t, want, measuredBy(t, reader))
			for _, p := range pointsOf(t, reader) {
				for _, a := range p.set.ToSlice() {
					assert.NotContains(t, a.Value.AsString(), "secret")
				}
			}
		})
	}
}

// The metric shows the end of the context between two attempts as the cause.
func TestAnOperationThatIsCancelledBetweenAttemptsIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client, reader := measuredClient(t, &wire{answer: func(int, *http.Request) (*http.Response, error) {
		cancel()
		return response(503, "", "Retry-After", "30"), nil
	}})
	require.ErrorIs(t, firstPage(ctx, client), context.Canceled)
	assert.Equal(t, map[string]float64{"duration name=SEARCH type=cancelled": 1}, measuredBy(t, reader))
}

func TestADurationLastsThroughRetries(t *testing.T) {
	client, reader := measuredClient(t, &wire{answer: func(n int, _ *http.Request) (*http.Response, error) {
		time.Sleep(10 * time.Millisecond)
		return response([]int{503, 200}[n], emptyOK), nil
	}})
	require.NoError(t, firstPage(t.Context(), client))
	for _, p := range pointsOf(t, reader) {
		if p.metric == "db.client.operation.duration" {
			assert.GreaterOrEqual(t, p.sum, 0.02)
		}
	}
}

func TestAGlobalProviderMayBeSetLater(t *testing.T) {
	before := otel.GetMeterProvider()
	defer otel.SetMeterProvider(before)
	client := newClient(t, reply(200, twoHotels))
	require.NoError(t, firstPage(t.Context(), client))
	reader := sdkmetric.NewManualReader()
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	require.NoError(t, firstPage(t.Context(), client))
	assert.Equal(t, map[string]float64{"duration name=SEARCH status=200": 1, "rows name=SEARCH status=200": 2}, measuredBy(t, reader))
}

// Dashboards join the metrics of client and sender by these attributes.
func TestAClientAndASenderNameTheServiceInTheSameWay(t *testing.T) {
	const applied = `{"value":[{"key":"1","status":true,"statusCode":200}]}`
	for _, endpoint := range []string{testEndpoint, "https://localhost:8443", "https://10.0.0.1"} {
		reader := sdkmetric.NewManualReader()
		opts := options(reply(200, applied))
		opts.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
		client, err := search.NewClientWithKey(endpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
		require.NoError(t, err)
		sender, err := bufferedsender.New(client, &bufferedsender.Options[hotel]{MeterProvider: opts.MeterProvider})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), hotel{ID: "1"}))
		require.NoError(t, sender.Close(t.Context()))
		_, err = search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}}, nil)
		require.NoError(t, err)
		var sets []attribute.Set
		for _, p := range pointsOf(t, reader) {
			if p.metric == "db.client.operation.duration" {
				assert.EqualValues(t, 1, p.value, "one of each: nothing is counted twice")
				sets = append(sets, p.set)
			}
		}
		require.Len(t, sets, 2)
		assert.Equal(t, sets[0].ToSlice(), sets[1].ToSlice())
	}
}

// noted is a provider that records the instruments created.
type noted struct {
	noop.MeterProvider
	made map[string]string
	fail error
}

func (n *noted) Meter(string, ...metric.MeterOption) metric.Meter { return &notingMeter{n: n} }

type notingMeter struct {
	noop.Meter
	n *noted
}

func (m *notingMeter) Float64Histogram(name string, o ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	c := metric.NewFloat64HistogramConfig(o...)
	m.n.made[name] = "| histogram | `" + c.Unit() + "` | " + c.Description()
	return noop.Float64Histogram{}, m.n.fail
}

func (m *notingMeter) Int64Histogram(name string, o ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	c := metric.NewInt64HistogramConfig(o...)
	m.n.made[name] = "| histogram | `" + c.Unit() + "` | " + c.Description()
	return noop.Int64Histogram{}, nil
}

func (m *notingMeter) Int64Counter(name string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	c := metric.NewInt64CounterConfig(o...)
	m.n.made[name] = "| counter | `" + c.Unit() + "` | " + c.Description()
	return noop.Int64Counter{}, nil
}

// TELEMETRY.md must list exactly the metrics of a client, with their descriptions.
func TestManualNamesTheMetricsOfAClient(t *testing.T) {
	raw, err := os.ReadFile("TELEMETRY.md")
	require.NoError(t, err)
	manual := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| `") && len(cells) == 7 {
			manual[strings.Trim(cells[1], " `")] = "|" + cells[2] + "|" + cells[3] + "| " + strings.TrimSpace(cells[5])
		}
	}
	n := &noted{made: map[string]string{}}
	_, err = search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), &search.ClientOptions{MeterProvider: n})
	require.NoError(t, err)
	assert.Equal(t, manual, n.made)
	for _, value := range []string{
		"SEARCH", "SUGGEST", "AUTOCOMPLETE", "LOOKUP", "COUNT", "PING", "BATCH",
		"connection", "timeout", "cancelled", "malformed_reply", "misfit",
	} {
		assert.Contains(t, string(raw), "`"+value+"`")
	}
}

func TestAMeterThatFailsIsReportedByTheConstructor(t *testing.T) {
	n := &noted{made: map[string]string{}, fail: errors.ErrUnsupported}
	_, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), &search.ClientOptions{MeterProvider: n})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

// BenchmarkQueryTelemetry measures a query with a reply of ten documents, with and without a provider.
func BenchmarkQueryTelemetry(b *testing.B) {
	answer := `{"value":[` + strings.Join(slices.Repeat([]string{`{"@search.score":1,"hotelId":"1"}`}, 10), ",") + `]}`
	for _, c := range []struct {
		name   string
		meters metric.MeterProvider
	}{
		{"without a provider", nil},
		{"with a provider", sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))},
	} {
		b.Run(c.name, func(b *testing.B) {
			opts := options(nil)
			opts.MeterProvider = c.meters
			opts.Transport = transporter(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(answer)), ContentLength: int64(len(answer))}, nil
			})
			client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := search.NewSearchPager[models.Document](client, "pool", nil).NextPage(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
