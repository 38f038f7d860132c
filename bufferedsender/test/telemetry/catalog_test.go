package telemetry

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// instrumentList is a meter provider that records which instruments are created.
type instrumentList struct {
	noop.MeterProvider
	instruments []instrument
}

type instrument struct{ name, kind, unit, text string }

func (c *instrumentList) Meter(string, ...metric.MeterOption) metric.Meter {
	return &listingMeter{c: c}
}

// describes are the common methods of the options of all instruments.
type describes interface {
	Unit() string
	Description() string
}

func (c *instrumentList) note(name, kind string, d describes) {
	c.instruments = append(c.instruments, instrument{name, kind, d.Unit(), d.Description()})
}

// listingMeter overrides the methods that a sender calls or may call later.
type listingMeter struct {
	noop.Meter
	c *instrumentList
}

func (m *listingMeter) Int64Counter(name string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	c := metric.NewInt64CounterConfig(o...)
	m.c.note(name, "counter", &c)
	return m.Meter.Int64Counter(name, o...)
}

func (m *listingMeter) Int64Histogram(name string, o ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	c := metric.NewInt64HistogramConfig(o...)
	m.c.note(name, "histogram", &c)
	return m.Meter.Int64Histogram(name, o...)
}

func (m *listingMeter) Float64Histogram(name string, o ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	c := metric.NewFloat64HistogramConfig(o...)
	m.c.note(name, "histogram", &c)
	return m.Meter.Float64Histogram(name, o...)
}

func (m *listingMeter) Int64ObservableUpDownCounter(name string, o ...metric.Int64ObservableUpDownCounterOption) (metric.Int64ObservableUpDownCounter, error) {
	c := metric.NewInt64ObservableUpDownCounterConfig(o...)
	m.c.note(name, "up-down counter", &c)
	return m.Meter.Int64ObservableUpDownCounter(name, o...)
}

func (m *listingMeter) Int64ObservableGauge(name string, o ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	c := metric.NewInt64ObservableGaugeConfig(o...)
	m.c.note(name, "gauge", &c)
	return m.Meter.Int64ObservableGauge(name, o...)
}

func (m *listingMeter) Int64ObservableCounter(name string, o ...metric.Int64ObservableCounterOption) (metric.Int64ObservableCounter, error) {
	c := metric.NewInt64ObservableCounterConfig(o...)
	m.c.note(name, "counter", &c)
	return m.Meter.Int64ObservableCounter(name, o...)
}

func (m *listingMeter) Float64ObservableGauge(name string, o ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	c := metric.NewFloat64ObservableGaugeConfig(o...)
	m.c.note(name, "gauge", &c)
	return m.Meter.Float64ObservableGauge(name, o...)
}

// instrumentsOfASender returns the instruments that New creates.
func instrumentsOfASender(t *testing.T) []instrument {
	t.Helper()
	c := &instrumentList{}
	s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{MeterProvider: c})
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))
	return c.instruments
}

// instrumentsWithAQueue returns the instruments that New creates with a durable queue, those of the queue included.
func instrumentsWithAQueue(t *testing.T) []instrument {
	t.Helper()
	c := &instrumentList{}
	q, err := memqueue.New(nil)
	require.NoError(t, err)
	s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{MeterProvider: c, Queue: q})
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))
	return c.instruments
}

func (m *listingMeter) Float64ObservableCounter(name string, o ...metric.Float64ObservableCounterOption) (metric.Float64ObservableCounter, error) {
	c := metric.NewFloat64ObservableCounterConfig(o...)
	m.c.note(name, "counter", &c)
	return m.Meter.Float64ObservableCounter(name, o...)
}

// instrumentsOfAFleet returns the instruments of a fleet, without those of its senders.
func instrumentsOfAFleet(t *testing.T) []instrument {
	t.Helper()
	c := &instrumentList{}
	f, err := fleet.New(fleet.From(func(string) (*sendertest.Indexer, error) { return &sendertest.Indexer{}, nil }, nil), &fleet.Options{MeterProvider: c})
	require.NoError(t, err)
	require.NoError(t, f.Close(t.Context()))
	return c.instruments
}

// shorter returns a name as readings have it.
func shorter(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "azsearch.sender."), "db.client.")
}

func TestEveryMetricHasAMovement(t *testing.T) {
	for _, i := range instrumentsOfASender(t) {
		moved := false
		for _, m := range movements {
			for name := range m.want {
				name, _, _ = strings.Cut(name, "{")
				moved = moved || name == shorter(i.name)
			}
		}
		assert.True(t, moved, "no case covers %s", i.name)
	}
}

// The rules of OpenTelemetry's naming conventions that a program can check.
func TestMetricNamesFollowTheConventions(t *testing.T) {
	legal := regexp.MustCompile(`^(azsearch\.sender|azsearch\.queue|azsearch\.pool|azsearch\.fleet|db\.client)(\.[a-z][a-z0-9]*(_[a-z0-9]+)*)+$`)
	all := append(instrumentsWithAQueue(t), instrumentsOfAFleet(t)...)
	for _, i := range all {
		assert.Regexp(t, legal, i.name)
		assert.Regexp(t, `^(s|By|\{[a-z]+\})$`, i.unit, "unit of %s", i.name)
		assert.NotContains(t, i.name, "total", "exporters add it")
		assert.Regexp(t, `^[A-Z0-9].*\.$`, i.text)
		for _, j := range all {
			assert.False(t, strings.HasPrefix(j.name, i.name+"."), "%s is also the namespace of %s", i.name, j.name)
		}
		if i.unit == "s" {
			assert.Regexp(t, `(duration|delay|age|interval)$`, i.name)
		}
	}
}

// TELEMETRY.md must list exactly the metrics that exist.
func TestManualNamesTheMetricsOfSendersAndFleets(t *testing.T) {
	manual := metricsOfTheManual(t)
	var names []string
	for _, i := range append(instrumentsWithAQueue(t), instrumentsOfAFleet(t)...) {
		names = append(names, i.name)
		row, ok := manual[i.name]
		if assert.True(t, ok, "%s is not in TELEMETRY.md", i.name) {
			assert.Equal(t, []string{i.kind, i.unit, i.text}, []string{row.kind, row.unit, row.text}, i.name)
		}
	}
	for name := range manual {
		assert.Contains(t, names, name, "TELEMETRY.md lists an unknown metric")
	}
}

func TestManualNamesTheValuesOfAttributes(t *testing.T) {
	raw, err := os.ReadFile("../../TELEMETRY.md")
	require.NoError(t, err)
	values := []string{"completed", "failed", "unsent", "written", "lost", "connection", "timeout", "cancelled", "abandoned", "malformed_reply", "panic", "ok", "invalid_key", "too_large", "not_encodable"}
	for state := events.HealthStateHealthy; state <= events.HealthStateClosed; state++ {
		values = append(values, strings.NewReplacer(" ", "_", "-", "_").Replace(state.String()))
	}
	for _, typ := range []models.ActionType{models.ActionTypeUpload, models.ActionTypeMerge, models.ActionTypeMergeOrUpload, models.ActionTypeDelete} {
		values = append(values, string(typ))
	}
	for _, value := range values {
		assert.Contains(t, string(raw), "`"+value+"`")
	}
	for state := breaker.Closed; state <= breaker.Disabled; state++ {
		assert.Contains(t, string(raw), fmt.Sprintf("%d %s", state, state))
		assert.Contains(t, string(raw), "`"+strings.ReplaceAll(state.String(), "-", "_")+"`")
	}
}

type manualRow struct {
	instrument
	attributes string // without the common ones
}

// metricsOfTheManual parses the table.
func metricsOfTheManual(t *testing.T) map[string]manualRow {
	t.Helper()
	raw, err := os.ReadFile("../../TELEMETRY.md")
	require.NoError(t, err)
	rows := map[string]manualRow{}
	for _, line := range strings.Split(string(raw), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		if len(cells) != 5 || !strings.HasPrefix(line, "| `") {
			continue
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "`", "")
		}
		attributes := strings.Fields(cells[3])
		slices.Sort(attributes)
		row := manualRow{instrument{cells[0], cells[1], cells[2], cells[4]}, strings.Join(attributes, " ")}
		require.NotContains(t, rows, row.name, fmt.Sprint("twice: ", row.name))
		rows[row.name] = row
	}
	return rows
}

func TestMetricsSayHowLongActionsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdkmetric.NewManualReader()
		sender, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{
			AutoFlushInterval: 10 * time.Second, Limits: bufferedsender.Limits{MaxInFlight: 3}, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		})
		require.NoError(t, err)
		read := func(name string) metricdata.Aggregation {
			var all metricdata.ResourceMetrics
			require.NoError(t, reader.Collect(t.Context(), &all))
			for _, scope := range all.ScopeMetrics {
				for _, m := range scope.Metrics {
					if m.Name == "azsearch.sender."+name {
						return m.Data
					}
				}
			}
			return nil
		}
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		time.Sleep(4 * time.Second)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "b"}))
		synctest.Wait()
		age, ok := read("queue.oldest_age").(metricdata.Gauge[float64])
		require.True(t, ok)
		assert.InDelta(t, 4, age.DataPoints[0].Value, 0.001)
		limit, ok := read("concurrency.limit").(metricdata.Sum[int64])
		require.True(t, ok)
		assert.EqualValues(t, 3, limit.DataPoints[0].Value)
		assert.Nil(t, read("item.wait.duration"), "nothing was sent")

		time.Sleep(7 * time.Second)
		age, ok = read("queue.oldest_age").(metricdata.Gauge[float64])
		require.True(t, ok)
		assert.Zero(t, age.DataPoints[0].Value)
		waits, ok := read("item.wait.duration").(metricdata.Histogram[float64])
		require.True(t, ok)
		assert.EqualValues(t, 2, waits.DataPoints[0].Count)
		assert.InDelta(t, 10+6, waits.DataPoints[0].Sum, 0.001)
		require.NoError(t, sender.Close(t.Context()))
	})
}
