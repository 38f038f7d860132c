// Package measure is what the benchmarks measure with: what a process uses, and
// what several measurements of the same come to.
package measure

import (
	"math"
	"slices"
)

// Spread is what several measurements of the same come to.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// SpreadOf returns the spread of values, all of it 0 if there are none. The
// median of an even number is the mean of the two in the middle.
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

// Median is for what has only one column.
func Median(values []float64) float64 { return SpreadOf(values).Median }

// Ratio returns a/b, or NaN where there is nothing to divide by.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
