package search

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/models"
)

// scope is the name of the instrumentation.
const scope = "github.com/go-azsearch/azsearch/search"

// The measured operations, by their names in metrics. Operations on definitions are not measured, because they are
// rare. IndexDocumentsRaw is not measured, because a BufferedSender has the same metric for the same requests.
const (
	measureSearch       = "SEARCH"
	measureSuggest      = "SUGGEST"
	measureAutocomplete = "AUTOCOMPLETE"
	measureLookup       = "LOOKUP"
	measureCount        = "COUNT"
	measurePing         = "PING"
	measureBatch        = "BATCH"
)

// The bounds of the histograms are those of OpenTelemetry's conventions, plus 0 to show queries without results.
var (
	durationBounds = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	rowBounds      = []float64{0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000}
)

// instruments are the metrics of all clients of a connection. TELEMETRY.md documents them; a test compares the two.
type instruments struct {
	duration metric.Float64Histogram
	rows     metric.Int64Histogram
	retries  metric.Int64Counter
}

func newInstruments(provider metric.MeterProvider) (*instruments, error) {
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	meter := provider.Meter(scope)
	duration, err1 := meter.Float64Histogram("db.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of operations on documents."), metric.WithExplicitBucketBoundaries(durationBounds...))
	rows, err2 := meter.Int64Histogram("db.client.response.returned_rows", metric.WithUnit("{row}"),
		metric.WithDescription("Results in a reply to a query."), metric.WithExplicitBucketBoundaries(rowBounds...))
	retries, err3 := meter.Int64Counter("azsearch.client.retries", metric.WithUnit("{request}"),
		metric.WithDescription("Requests that were sent again, by the reason of the failure."))
	return &instruments{duration, rows, retries}, errors.Join(err1, err2, err3)
}

// enabled reports whether at least one instrument is enabled. A global provider may be set at any time.
func (i *instruments) enabled(ctx context.Context) bool {
	return i.duration.Enabled(ctx) || i.rows.Enabled(ctx) || i.retries.Enabled(ctx)
}

// telemetry records the metrics of one Client. Attributes have few values: the index, but never a key, a filter or a
// search text.
type telemetry struct {
	*instruments
	common []attribute.KeyValue
	made   sync.Map // of outcome to the metric.MeasurementOption with its attributes
}

func newTelemetry(i *instruments, endpoint *url.URL, index string) *telemetry {
	service, _, _ := strings.Cut(endpoint.Hostname(), ".")
	t := &telemetry{instruments: i, common: []attribute.KeyValue{
		attribute.String("db.system.name", "azure.search"),
		attribute.String("azure.resource_provider.namespace", "Microsoft.Search"),
		attribute.String("db.collection.name", index),
		attribute.String("db.namespace", service),
		attribute.String("server.address", endpoint.Hostname()),
	}}
	if port, err := strconv.Atoi(endpoint.Port()); err == nil && port != 443 {
		t.common = append(t.common, attribute.Int("server.port", port))
	}
	return t
}

// outcome identifies a series: the attributes that measurements share.
type outcome struct {
	operation string
	status    int    // 0: left out
	errorType string // "": left out
}

// with returns the attributes of an outcome. They are cached, because there are few.
func (t *telemetry) with(o outcome) metric.MeasurementOption {
	if known, ok := t.made.Load(o); ok {
		return known.(metric.MeasurementOption) //nolint:forcetypeassert // there is nothing else in it
	}
	attrs := append([]attribute.KeyValue{attribute.String("db.operation.name", o.operation)}, t.common...)
	if o.status != 0 {
		attrs = append(attrs, attribute.String("db.response.status_code", strconv.Itoa(o.status)))
	}
	if o.errorType != "" {
		attrs = append(attrs, attribute.String("error.type", o.errorType))
	}
	option := metric.WithAttributeSet(attribute.NewSet(attrs...))
	t.made.Store(o, option)
	return option
}

// measurement is the measurement of one operation including its retries. nil means not measured. It is not safe for
// concurrent use.
type measurement struct {
	telemetry *telemetry
	operation string
	began     time.Time
	// The last attempt.
	sent   bool // an attempt was made; otherwise nothing is measured
	status int  // 0: no reply
	err    error
}

// begin starts the measurement of an operation, or returns nil if no instrument is enabled.
func (t *telemetry) begin(ctx context.Context, operation string) *measurement {
	if !t.enabled(ctx) {
		return nil
	}
	return &measurement{telemetry: t, operation: operation, began: time.Now()}
}

// attempt counts an attempt, and a retry if it is not the first.
func (m *measurement) attempt(ctx context.Context) {
	if m == nil {
		return
	}
	if m.sent {
		why := outcome{operation: m.operation, errorType: errorType(m.status, m.err)}
		m.telemetry.retries.Add(ctx, 1, m.telemetry.with(why))
	}
	m.sent = true
}

// attempted records the outcome of an attempt.
func (m *measurement) attempted(resp *http.Response, err error) {
	if m == nil {
		return
	}
	m.status, m.err = 0, err
	if err == nil {
		m.status = resp.StatusCode
	}
}

// unknownRows is the number of rows of operations that do not return a list.
const unknownRows = -1

// end records the operation, with its number of results or its error. An operation without an attempt is not
// recorded, nor is a dropped page.
func (m *measurement) end(ctx context.Context, rows int, err error) {
	if m == nil || !m.sent || err != nil && dropped(ctx) {
		return
	}
	o := outcome{operation: m.operation, status: m.status}
	if err != nil {
		o.errorType = errorType(m.status, err)
	}
	attributes := m.telemetry.with(o)
	m.telemetry.duration.Record(ctx, time.Since(m.began).Seconds(), attributes)
	if err == nil && rows != unknownRows {
		m.telemetry.rows.Record(ctx, int64(rows), attributes)
	}
}

// timeoutError is an error of the standard library that may be a time-out.
type timeoutError interface{ Timeout() bool }

// errorType returns the status, or a class of errors without a usable reply. The classes are those of a sender.
func errorType(status int, err error) string {
	timeout := timeoutError(nil)
	switch {
	case status >= 300:
		return strconv.Itoa(status)
	case errors.Is(err, context.Canceled): // also while the reply was read
		return "cancelled"
	case errors.As(err, &timeout) && timeout.Timeout(): // context.DeadlineExceeded is one
		return "timeout"
	case errors.Is(err, models.ErrMalformedReply):
		return "malformed_reply"
	case status == 0:
		return "connection"
	}
	return "misfit" // of a document and its Go type
}
