package main

import (
	"math"
	"slices"
)

// spread is what several measurements of the same come to.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf returns the spread of values, all of it 0 if there are none. The
// median of an even number is the mean of the two in the middle.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return spread{Median: median, Min: sorted[0], Max: sorted[len(sorted)-1]}
}

// median is for what has only one column.
func median(values []float64) float64 { return spreadOf(values).Median }

// ratio returns a/b, or NaN where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
