package facets

import (
	"math"
	"strconv"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Metric is a figure about the values of a field. Unlike a bucket it is made of
// values, not of documents: one with three values adds three.
type Metric string

// The metrics, by their members in replies.
const (
	Sum         Metric = "sum"
	Average     Metric = "avg"
	Minimum     Metric = "min"
	Maximum     Metric = "max"
	Cardinality Metric = "cardinality" // how many different values there are
)

// Figure is what a metric has come to. It is not Known without values, for which
// only Sum and Cardinality have one: 0.
type Figure struct {
	Metric Metric
	Value  float64
	Known  bool
}

// maxPrecision is the largest number of values below which the service counts
// different ones exactly. Here it always does.
const maxPrecision = 40_000

// setMetric sets one of the parameters that metrics have.
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

// checkMetric refuses combinations of parameters.
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

// IsMetric reports whether the facet has one figure in the place of buckets. A
// field may have several of these, in the order in which they were asked for.
func (f *Facet) IsMetric() bool { return f.kind == byMetric }

// statistics are what all metrics but Cardinality are made of.
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

// figure returns what has come of a metric.
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
