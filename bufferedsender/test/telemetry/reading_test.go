package telemetry

import (
	"context"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// reading has all metrics at a moment: the value of counters and levels, the number of measurements of histograms.
// Names and attributes are short: "items.settled{action=upload,outcome=failed,status_code=400}".
type reading map[string]float64

// commonAttributes are the attributes that every metric of a sender has.
var commonAttributes = map[string]bool{
	"db.system.name": true, "db.collection.name": true, "db.namespace": true, "server.address": true, "server.port": true,
	"azure.resource_provider.namespace": true,
}

func readMetrics(t *testing.T, reader *sdkmetric.ManualReader) reading {
	t.Helper()
	values := reading{}
	eachPoint(t, reader, func(p point) {
		values[shorter(p.name)+ownAttributes(t, p.name, p.attributes)] += p.value
	})
	return values
}

// point is a data point of any kind of metric.
type point struct {
	name       string
	attributes attribute.Set
	value      float64 // number of measurements of a histogram
	sum        float64 // of a histogram
	counter    bool
}

// eachPoint calls f with each data point of each metric.
func eachPoint(t *testing.T, reader *sdkmetric.ManualReader, f func(point)) {
	t.Helper()
	var collected metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &collected))
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					f(point{name: m.Name, attributes: p.Attributes, value: float64(p.Value), counter: data.IsMonotonic})
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					f(point{name: m.Name, attributes: p.Attributes, value: float64(p.Value)})
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					f(point{name: m.Name, attributes: p.Attributes, value: p.Value})
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					f(point{name: m.Name, attributes: p.Attributes, value: float64(p.Count), sum: float64(p.Sum)})
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					f(point{name: m.Name, attributes: p.Attributes, value: float64(p.Count), sum: p.Sum})
				}
			default:
				require.Fail(t, "unexpected kind of metric", "%T of %s", data, m.Name)
			}
		}
	}
}

// noteAttributes adds the attributes of each metric to seen, without the common ones.
func noteAttributes(t *testing.T, reader *sdkmetric.ManualReader, seen map[string]map[string]bool) {
	t.Helper()
	eachPoint(t, reader, func(p point) {
		if seen[p.name] == nil {
			seen[p.name] = map[string]bool{}
		}
		for _, a := range p.attributes.ToSlice() {
			if !commonAttributes[string(a.Key)] {
				seen[p.name][string(a.Key)] = true
			}
		}
	})
}

// ownAttributes formats the attributes that are not common, without their namespaces. It checks that all common ones
// are present.
func ownAttributes(t *testing.T, name string, set attribute.Set) string {
	t.Helper()
	var own []string
	missing := maps.Clone(commonAttributes)
	delete(missing, "server.port") // 443 is omitted
	for _, a := range set.ToSlice() {
		key := string(a.Key)
		delete(missing, key)
		if !commonAttributes[key] {
			own = append(own, key[strings.LastIndex(key, ".")+1:]+"="+a.Value.String())
		}
	}
	assert.Empty(t, missing, "attributes of %s", name)
	if own == nil {
		return ""
	}
	return "{" + strings.Join(own, ",") + "}"
}

// since returns the changed values with their differences.
func (now reading) since(before reading) reading {
	moved := reading{}
	for name, value := range now {
		if by := value - before[name]; by != 0 {
			moved[name] = by
		}
	}
	for name, value := range before {
		if _, still := now[name]; !still && value != 0 {
			moved[name] = -value
		}
	}
	return moved
}

// somehow is a change by any amount.
var somehow = math.Inf(1)

// perhaps is an optional change.
var perhaps = math.NaN()

// together adds readings.
func together(parts ...reading) reading {
	sum := reading{}
	for _, part := range parts {
		for name, by := range part {
			sum[name] += by
		}
	}
	maps.DeleteFunc(sum, func(_ string, by float64) bool { return by == 0 })
	return sum
}

// accepts returns the changes when n actions are accepted.
func accepts(n float64) reading {
	return reading{"items.added": n, "queue.items": n, "queue.bytes": somehow}
}

// oneRequest returns the changes by a request with a reply. first of its actions are sent for the first time.
func oneRequest(first float64, attributes string) reading {
	return reading{"batch.items": 1, "batch.bytes": 1, "item.wait.duration": first, "operation.duration{" + attributes + "}": 1}
}

// settles returns the changes when n uploads settle.
func settles(n float64, outcome, status string) reading {
	return reading{
		"items.settled{action=upload,outcome=" + outcome + ",status_code=" + status + "}": n,
		"item.settle.duration{outcome=" + outcome + "}":                                   n,
	}
}

// becomes returns the changes when the health state changes.
func becomes(from, to string) reading {
	return reading{"health.changes{health=" + to + "}": 1, "health.state{health=" + from + "}": -1, "health.state{health=" + to + "}": 1}
}
