package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// collect returns one line per series of a reader, with the names that the Prometheus exporter uses. It omits the
// buckets of histograms and the labels that all series share.
func collect(ctx context.Context, reader sdkmetric.Reader) (string, error) {
	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		return "", err
	}
	var lines []string
	line := func(name string, set attribute.Set, value any) {
		lines = append(lines, fmt.Sprintf("%s%s %v\n", name, labels(set), value))
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			name := prometheusName(m.Name, m.Unit, false)
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				name = prometheusName(m.Name, m.Unit, data.IsMonotonic)
				for _, p := range data.DataPoints {
					line(name, p.Attributes, p.Value)
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					line(name, p.Attributes, p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					line(name, p.Attributes, p.Value)
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					line(name+"_sum", p.Attributes, p.Sum)
					line(name+"_count", p.Attributes, p.Count)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					line(name+"_sum", p.Attributes, p.Sum)
					line(name+"_count", p.Attributes, p.Count)
				}
			default:
				return "", fmt.Errorf("metric %s has an unknown type %T", m.Name, data)
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, ""), nil
}

func labels(set attribute.Set) string {
	var all []string
	for _, a := range set.ToSlice() {
		switch a.Key {
		case "azure.resource_provider.namespace", "db.collection.name", "db.namespace", "db.system.name", "server.address":
		default:
			all = append(all, fmt.Sprintf("%s=%q", prometheusLabel(string(a.Key)), a.Value.String()))
		}
	}
	if all == nil {
		return ""
	}
	return "{" + strings.Join(all, ",") + "}"
}

// prometheusName returns the Prometheus name of a metric: no dots, the unit as a suffix unless the name contains it,
// and "total" at the end of a counter.
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
