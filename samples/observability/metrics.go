package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// metricsHandler serves what a reader collects in the text format of Prometheus.
// It knows the kinds of metrics that a sender has and no more: a program uses
// the exporter go.opentelemetry.io/otel/exporters/prometheus, which makes the
// same names.
func metricsHandler(reader sdkmetric.Reader) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, err := collect(r.Context(), reader)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(page)
	})
}

func collect(ctx context.Context, reader sdkmetric.Reader) ([]byte, error) {
	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		return nil, err
	}
	var page bytes.Buffer
	for _, scope := range all.ScopeMetrics {
		slices.SortFunc(scope.Metrics, func(a, b metricdata.Metrics) int { return cmp.Compare(a.Name, b.Name) })
		for _, m := range scope.Metrics {
			if err := write(&page, m); err != nil {
				return nil, err
			}
		}
	}
	return page.Bytes(), nil
}

// write writes all series of one metric.
func write(page *bytes.Buffer, m metricdata.Metrics) error {
	name, kind, rows := prometheusName(m.Name, m.Unit, false), "gauge", ""
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		if data.IsMonotonic {
			name, kind = prometheusName(m.Name, m.Unit, true), "counter"
		}
		rows = numbers(name, data.DataPoints)
	case metricdata.Gauge[int64]:
		rows = numbers(name, data.DataPoints)
	case metricdata.Gauge[float64]:
		rows = numbers(name, data.DataPoints)
	case metricdata.Histogram[int64]:
		kind, rows = "histogram", histograms(name, data.DataPoints)
	case metricdata.Histogram[float64]:
		kind, rows = "histogram", histograms(name, data.DataPoints)
	default:
		return fmt.Errorf("%s is of a kind that this program does not know: %T", m.Name, data)
	}
	help := strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(m.Description)
	fmt.Fprintf(page, "# HELP %s %s\n# TYPE %s %s\n%s", name, help, name, kind, rows)
	return nil
}

func numbers[N int64 | float64](name string, points []metricdata.DataPoint[N]) string {
	var rows strings.Builder
	for _, p := range points {
		fmt.Fprintf(&rows, "%s%s %s\n", name, labels(p.Attributes, ""), number(p.Value))
	}
	return rows.String()
}

func histograms[N int64 | float64](name string, points []metricdata.HistogramDataPoint[N]) string {
	var rows strings.Builder
	for _, p := range points {
		below := uint64(0)
		for i, n := range p.BucketCounts {
			below += n
			bound := "+Inf"
			if i < len(p.Bounds) {
				bound = number(p.Bounds[i])
			}
			fmt.Fprintf(&rows, "%s_bucket%s %d\n", name, labels(p.Attributes, bound), below)
		}
		fmt.Fprintf(&rows, "%s_sum%s %s\n%s_count%s %d\n", name, labels(p.Attributes, ""), number(p.Sum), name, labels(p.Attributes, ""), p.Count)
	}
	return rows.String()
}

func number[N int64 | float64](n N) string { return strconv.FormatFloat(float64(n), 'g', -1, 64) }

// labels writes attributes, and the upper bound of a bucket if there is one.
func labels(set attribute.Set, bound string) string {
	var all []string
	for _, a := range set.ToSlice() {
		all = append(all, prometheusLabel(string(a.Key))+"="+quoted(a.Value.String()))
	}
	if bound != "" {
		all = append(all, "le="+quoted(bound))
	}
	if all == nil {
		return ""
	}
	return "{" + strings.Join(all, ",") + "}"
}

func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// prometheusName is the name that Prometheus knows a metric by: without dots,
// with the unit unless it is there, and with "total" at the end of a counter.
func prometheusName(name, unit string, counter bool) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' })
	units := map[string]string{"s": "seconds", "By": "bytes"}
	if suffix := units[unit]; suffix != "" && !slices.Contains(words, suffix) {
		words = append(words, suffix)
	}
	if counter {
		words = append(words, "total")
	}
	return strings.Join(words, "_")
}

func prometheusLabel(key string) string { return strings.ReplaceAll(key, ".", "_") }
