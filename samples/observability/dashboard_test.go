package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
	"github.com/go-azsearch/azsearch/search"
)

// notOnTheDashboard lists the instruments without a panel, each with a reason.
var notOnTheDashboard = map[string]string{}

// dashboard has the parts of dashboard.json that the tests read.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ UID string }
	Targets                  []struct{ RefID, Expr, LegendFormat string }
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	raw, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(raw, &d))
	require.NotEmpty(t, d.Panels)
	return d
}

// series is a Prometheus series name with its possible labels.
type series struct {
	instrument string
	counts     bool // it is a counter, so panels must show its rate
	labels     map[string]bool
}

// prometheusSeries returns all series of a sender and a client: their registered instruments with the attributes in
// their TELEMETRY.md. Tests of the two packages compare these with recorded metrics.
func prometheusSeries(t *testing.T) map[string]series {
	t.Helper()
	attributes := attributesOfTheManual(t)
	all := map[string]series{}
	for _, i := range registered(t) {
		own, known := attributes[i.name]
		require.True(t, known, "%s is not in TELEMETRY.md", i.name)
		labels := map[string]bool{"db_system_name": true, "azure_resource_provider_namespace": true, "db_collection_name": true, "db_namespace": true, "server_address": true}
		for _, a := range own {
			labels[prometheusLabel(a)] = true
		}
		name := prometheusName(i.name, i.unit, i.kind == "counter")
		if i.kind == "histogram" {
			all[name+"_sum"], all[name+"_count"] = series{i.name, true, labels}, series{i.name, true, labels}
			labels = maps.Clone(labels)
			labels["le"] = true
			all[name+"_bucket"] = series{i.name, true, labels}
			continue
		}
		all[name] = series{i.name, i.kind == "counter", labels}
	}
	return all
}

var (
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
	selector = regexp.MustCompile(`\b((?:azsearch|db_client)_\w+)(\{[^}]*\})?(\[[^\]]*\])?`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	legend   = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)
	word     = regexp.MustCompile(`\w+`)
)

func TestDashboardShowsMetricsThatASenderMakes(t *testing.T) {
	known := prometheusSeries(t)
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			where := p.Title + ": " + target.Expr
			available := map[string]bool{}
			found := selector.FindAllStringSubmatch(grouping.ReplaceAllString(target.Expr, ""), -1)
			assert.NotEmpty(t, found, where)
			for _, m := range found {
				s, ok := known[m[1]]
				if !assert.True(t, ok, "there is no metric %s in %s", m[1], where) {
					continue
				}
				maps.Copy(available, s.labels)
				for _, label := range matcher.FindAllStringSubmatch(m[2], -1) {
					assert.True(t, s.labels[label[1]], "%s has no label %s in %s", m[1], label[1], where)
				}
				assert.Contains(t, m[2], `db_collection_name=~"$index"`, where)
				assert.Contains(t, m[2], `db_namespace=~"$service"`, where)
				assert.Equal(t, s.counts, m[3] != "", "a rate needs a counter: %s in %s", m[1], where)
				if strings.HasPrefix(m[1], "db_client_") {
					assert.Contains(t, m[2], `db_system_name="azure.search"`, "other clients have this metric too: %s", where)
				}
			}
			grouped := map[string]bool{}
			for _, g := range grouping.FindAllStringSubmatch(target.Expr, -1) {
				for _, label := range word.FindAllString(g[1], -1) {
					grouped[label] = true
					assert.True(t, available[label], "no label %s in %s", label, where)
				}
			}
			for _, label := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				assert.True(t, grouped[label[1]], "the legend %q names a missing label in %s", target.LegendFormat, where)
			}
			for label := range grouped {
				assert.True(t, label == "le" || strings.Contains(target.LegendFormat, "{{"+label+"}}"), "the legend %q does not distinguish the series of %s", target.LegendFormat, where)
			}
			assert.Equal(t, strings.Count(target.Expr, "("), strings.Count(target.Expr, ")"), where)
		}
	}
	for _, v := range readDashboard(t).Templating.List {
		for _, m := range selector.FindAllStringSubmatch(v.Definition, -1) {
			assert.Contains(t, known, m[1], "variable %s", v.Name)
		}
	}
}

func TestEveryMetricIsOnTheDashboard(t *testing.T) {
	raw, err := json.Marshal(readDashboard(t).Panels)
	require.NoError(t, err)
	shown := map[string]bool{}
	for name, s := range prometheusSeries(t) {
		if regexp.MustCompile(`\b` + name + `\b`).Match(raw) {
			shown[s.instrument] = true
		}
	}
	for _, i := range registered(t) {
		reason, left := notOnTheDashboard[i.name]
		assert.NotEqual(t, left, shown[i.name], "%s: shown %t, left out %t", i.name, shown[i.name], left)
		assert.Equal(t, left, reason != "", i.name)
	}
}

func TestDashboardCanBeImported(t *testing.T) {
	d := readDashboard(t)
	assert.NotEmpty(t, d.UID)
	assert.NotEmpty(t, d.Title)
	assert.GreaterOrEqual(t, d.SchemaVersion, 36)
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	assert.Equal(t, []string{"datasource", "service", "index"}, variables)
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		assert.NotEmpty(t, p.Title)
		assert.False(t, ids[p.ID], "two panels have the id %d", p.ID)
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				assert.Less(t, x, 24, p.Title)
				assert.Empty(t, taken[[2]int{x, y}], "%s overlaps it", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		assert.NotEmpty(t, p.Description, p.Title)
		assert.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
		refs := map[string]bool{}
		for _, target := range p.Targets {
			assert.NotEmpty(t, target.LegendFormat, p.Title)
			assert.False(t, refs[target.RefID], p.Title)
			refs[target.RefID] = true
		}
		assert.NotEmpty(t, refs, p.Title)
	}
}

// The names are examples from the documentation of OpenTelemetry and Prometheus.
func TestNamesAreThoseOfPrometheus(t *testing.T) {
	assert.Equal(t, "http_server_request_duration_seconds", prometheusName("http.server.request.duration", "s", false))
	assert.Equal(t, "system_network_io_bytes_total", prometheusName("system.network.io", "By", true))
	assert.Equal(t, "system_disk_operations_total", prometheusName("system.disk.operations", "{operation}", true))
	assert.Equal(t, "azsearch_sender_queue_bytes", prometheusName("azsearch.sender.queue.bytes", "By", false), "the unit is there already")
	assert.Equal(t, "db_response_status_code", prometheusLabel("db.response.status_code"))

	known := prometheusSeries(t)
	_, page, found := strings.Cut(stagetest.Succeeds(t, program, nil).Out, "\n\n")
	require.True(t, found)
	lines := slices.Collect(strings.Lines(page))
	assert.Greater(t, len(lines), 40)
	for _, line := range lines {
		m := selector.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		assert.Contains(t, known, m[1])
		for _, label := range matcher.FindAllStringSubmatch(m[2], -1) {
			assert.True(t, known[m[1]].labels[label[1]], "%s has no label %s", m[1], label[1])
		}
	}
}

// attributesOfTheManual parses the tables of both TELEMETRY.md files.
func attributesOfTheManual(t *testing.T) map[string][]string {
	t.Helper()
	var manuals []byte
	for _, folder := range []string{"bufferedsender", "search"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", folder, "TELEMETRY.md"))
		require.NoError(t, err)
		manuals = append(manuals, raw...)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(manuals)) {
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| `") && len(cells) == 7 {
			unquoted := strings.ReplaceAll(cells[4], "`", "")
			all[strings.Trim(cells[1], " `")] = strings.Fields(unquoted)
		}
	}
	return all
}

// instrument is a registered instrument.
type instrument struct{ name, kind, unit string }

// registered returns the instruments of a sender and its client.
func registered(t *testing.T) []instrument {
	t.Helper()
	meters := &registry{}
	client, err := search.NewClientWithKey("https://example.search.windows.net", "readings", azcore.NewKeyCredential("key"), &search.ClientOptions{MeterProvider: meters})
	require.NoError(t, err)
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Reading]{MeterProvider: meters})
	require.NoError(t, err)
	require.NoError(t, sender.Close(t.Context()))
	require.NotEmpty(t, meters.instruments)
	return meters.instruments
}

// registry is a meter provider that records instruments.
type registry struct {
	noop.MeterProvider
	instruments []instrument
}

func (r *registry) Meter(string, ...metric.MeterOption) metric.Meter { return &notingMeter{r: r} }

type notingMeter struct {
	noop.Meter
	r *registry
}

func (m *notingMeter) note(name, kind, unit string) {
	m.r.instruments = append(m.r.instruments, instrument{name, kind, unit})
}

func (m *notingMeter) Int64Counter(name string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	c := metric.NewInt64CounterConfig(o...)
	m.note(name, "counter", c.Unit())
	return noop.Int64Counter{}, nil
}

func (m *notingMeter) Int64Histogram(name string, o ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	c := metric.NewInt64HistogramConfig(o...)
	m.note(name, "histogram", c.Unit())
	return noop.Int64Histogram{}, nil
}

func (m *notingMeter) Float64Histogram(name string, o ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	c := metric.NewFloat64HistogramConfig(o...)
	m.note(name, "histogram", c.Unit())
	return noop.Float64Histogram{}, nil
}

func (m *notingMeter) Int64ObservableUpDownCounter(name string, o ...metric.Int64ObservableUpDownCounterOption) (metric.Int64ObservableUpDownCounter, error) {
	c := metric.NewInt64ObservableUpDownCounterConfig(o...)
	m.note(name, "level", c.Unit())
	return noop.Int64ObservableUpDownCounter{}, nil
}

func (m *notingMeter) Int64ObservableGauge(name string, o ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	c := metric.NewInt64ObservableGaugeConfig(o...)
	m.note(name, "level", c.Unit())
	return noop.Int64ObservableGauge{}, nil
}

func (m *notingMeter) Float64ObservableGauge(name string, o ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	c := metric.NewFloat64ObservableGaugeConfig(o...)
	m.note(name, "level", c.Unit())
	return noop.Float64ObservableGauge{}, nil
}
