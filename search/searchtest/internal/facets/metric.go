package facets

import (
	"math"
	"strconv"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Metric is a statistic of the values of a field. It counts values, not documents: a document with three values adds
// three.
type Metric string

// The metrics, by their names in replies.
const (
	Sum         Metric = "sum"
	Average     Metric = "avg"
	Minimum     Metric = "min"
	Maximum     Metric = "max"
	Cardinality Metric = "cardinality" // number of different values
)

// Figure is the result of a metric. Without values only Sum and Cardinality are Known, and are 0.
type Figure struct {
	Metric Metric
	Value  float64
	Known  bool
}

// maxPrecision is the maximum precisionThreshold, the number of values up to which the service counts exactly. This
// package always counts exactly.
const maxPrecision = 40_000

// setMetric sets one of the parameters for metrics.
func (f *Facet) setMetric(key, value string) (err error) {
	switch key {
	case "metric":
		f.kind = byMetric
		switch f.metric = Metric(value); f.metric {
		case Cardinality:
		case Sum, Average, Minimum, Maximum:
			if f.field.Type != stored.Int32 && f.field.Type != stored.Int64 && f.field.Type != stored.Double {
				return refuse("The metric '%s' is only supported for fields of numbers. Field '%s' is of type '%s'.", value, f.Name, f.field.TypeName())
			}
		default:
			return f.invalid(key, value, "one of 'sum', 'avg', 'min', 'max' and 'cardinality'")
		}
	case "default":
		f.missing = new(float64)
		if *f.missing, err = strconv.ParseFloat(value, 64); err != nil || math.IsNaN(*f.missing) || math.IsInf(*f.missing, 0) {
			return f.invalid(key, value, "a number")
		}
	case "precisionThreshold":
		if n, err := strconv.Atoi(value); err != nil || n < 0 || n > maxPrecision {
			return f.invalid(key, value, "a whole number from 0 to "+strconv.Itoa(maxPrecision))
		}
	}
	return nil
}

// checkMetric returns an error for an invalid combination of parameters.
func (f *Facet) checkMetric(given map[string]bool) error {
	for _, other := range []string{"count", "sort", "values", "interval"} {
		if given["metric"] && given[other] {
			return refuse("The parameters 'metric' and '%s' cannot be combined in a facet specification. Field: '%s'.", other, f.Name)
		}
	}
	if given["default"] && (f.kind != byMetric || f.metric == Cardinality) {
		return refuse("The parameter 'default' can only be combined with the metrics 'sum', 'avg', 'min' and 'max'. Field: '%s'.", f.Name)
	}
	if given["precisionThreshold"] && (f.kind != byMetric || f.metric != Cardinality) {
		return refuse("The parameter 'precisionThreshold' can only be combined with the metric 'cardinality'. Field: '%s'.", f.Name)
	}
	return nil
}

// IsMetric reports whether the facet has one figure instead of buckets. A field may have several metrics, in the
// order of the request.
func (f *Facet) IsMetric() bool { return f.kind == byMetric }

// statistics are the inputs of all metrics except Cardinality.
type statistics struct {
	n             int
	sum, min, max float64
}

func (s *statistics) add(v float64) {
	if s.n == 0 {
		s.min, s.max = v, v
	}
	s.n++
	s.sum += v
	s.min, s.max = min(s.min, v), max(s.max, v)
}

// figure returns the result of the metric.
func (c *Counter) figure() Figure {
	f := Figure{Metric: c.facet.metric, Known: c.statistics.n > 0}
	switch f.Metric {
	case Cardinality:
		f.Value, f.Known = float64(len(c.tallies)), true
	case Sum:
		f.Value, f.Known = c.statistics.sum, true
	case Average:
		f.Value = c.statistics.sum / float64(max(c.statistics.n, 1))
	case Minimum:
		f.Value = c.statistics.min
	case Maximum:
		f.Value = c.statistics.max
	}
	return f
}
