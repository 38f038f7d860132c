package vectors

import "math"

// Metric is a measure of similarity.
type Metric uint8

// The metrics of the service.
const (
	Cosine Metric = iota
	DotProduct
	Euclidean
	Hamming // for packed bits
)

var metricNames = map[string]Metric{
	"cosine": Cosine, "dotProduct": DotProduct, "euclidean": Euclidean, "hamming": Hamming,
}

// ParseMetric parses the name of a metric in a definition.
func ParseMetric(name string) (Metric, bool) {
	m, ok := metricNames[name]
	return m, ok
}

// score converts a measure to @search.score. For the cosine the service documents 1/(1+d) with the distance d =
// 1-cos. For the others it documents only the range from 0 to 1. They use the same formula with their own distances.
// The dot product equals the cosine for vectors of length 1; above 1 its score exceeds 1, so that a better match
// always scores higher.
func (m Metric) score(measure float64) float64 {
	switch m {
	case Cosine:
		return 1 / (2 - measure)
	case DotProduct:
		if measure > 1 {
			return 2 - 1/measure
		}
		return 1 / (2 - measure)
	}
	return 1 / (1 + measure)
}

// closeness returns a value for comparison: a higher value means nearer.
func (m Metric) closeness(query, row []float32) float32 {
	if m == Euclidean {
		return -squaredDistance(query, row)
	}
	return dot(query, row)
}

// exact returns the measure in double precision: cosine, dot product or distance.
func (m Metric) exact(query, row []float32) float64 {
	sum := 0.0
	if m == Euclidean {
		for i, q := range query {
			d := float64(q) - float64(row[i])
			sum += d * d
		}
		return math.Sqrt(sum)
	}
	squareQ, squareR := 0.0, 0.0
	for i, q := range query {
		r := row[i]
		sum += float64(q) * float64(r)
		squareQ += float64(q) * float64(q)
		squareR += float64(r) * float64(r)
	}
	if m == Cosine && sum != 0 {
		// Rows are normalized only to single precision.
		return max(-1, min(1, sum/math.Sqrt(squareQ*squareR)))
	}
	return sum
}

// dot returns the dot product. Eight independent sums avoid waiting for each addition.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	b = b[:len(a)]
	for len(a) >= 8 {
		x, y := a[:8:8], b[:8:8]
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))
}

// squaredDistance returns the square of the Euclidean distance.
func squaredDistance(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 4 {
		x, y := a[:4:4], b[:4:4]
		d0, d1, d2, d3 := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		d := x - b[i]
		s0 += d * d
	}
	return (s0 + s1) + (s2 + s3)
}
