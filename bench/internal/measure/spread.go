// Package measure measures what a process uses, and summarizes repeated measurements.
package measure

import (
	"math"
	"slices"
)

// Spread summarizes repeated measurements.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// SpreadOf returns the spread of values, zero for none. The median of an even number of values is the mean of the
// middle two.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Spread{Median: median, Min: sorted[0], Max: sorted[len(sorted)-1]}
}

// Median returns the median of values.
func Median(values []float64) float64 { return SpreadOf(values).Median }

// Ratio returns a/b, or NaN if b is 0.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
