package encode

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// BenchmarkFloats encodes a vector of random numbers, which prevents branch prediction, and strconv encodes the same
// vector for comparison.
func BenchmarkFloats(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var narrow [1536]float32
	var wide [1536]float64
	for i := range wide {
		narrow[i], wide[i] = float32(random.NormFloat64()*0.03), random.Float64()*100
	}
	var s state
	var buf []byte
	for _, c := range []struct {
		name  string
		write func()
	}{
		{"float32", func() {
			for _, f := range narrow {
				buf = appendFloat32(&s, buf[:0], f)
			}
		}},
		{"float32, strconv", func() {
			for _, f := range narrow {
				buf = strconv.AppendFloat(buf[:0], float64(f), 'f', -1, 32)
			}
		}},
		{"float64", func() {
			for _, f := range wide {
				buf = appendFloat64(&s, buf[:0], f)
			}
		}},
		{"float64, strconv", func() {
			for _, f := range wide {
				buf = strconv.AppendFloat(buf[:0], f, 'f', -1, 64)
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.write()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(wide)), "ns/number")
		})
	}
}
