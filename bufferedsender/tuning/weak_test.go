package tuning_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// TestServicesThatAreHarder has services with several limits, moving limits and small reserves, each with the share of
// the capacity that one and four senders get at least. With -v the test prints the figures of DESIGN.md.
func TestServicesThatAreHarder(t *testing.T) {
	lat := fixedLatency(50*time.Millisecond, 0.1)
	show := func(name string, atLeast, capacity float64, senders int, s service, during func(w *world)) {
		var g, th, early float64
		least := 9.0
		for seed := range uint64(3) {
			w := newWorld(seed, tuning.Adaptive(nil), tableBounds, senders, s)
			for _, x := range w.senders {
				x.bytes, x.uneven = tableSize, true
			}
			if during != nil {
				during(w)
			}
			w.run(120 * time.Second)
			got := w.span(10*time.Second, 120*time.Second)
			e := w.span(10*time.Second, 20*time.Second)
			g += got.goodput / capacity / 3
			early += e.goodput / capacity / 3
			th += got.throttled / 3
			least = min(least, got.least)
		}
		t.Logf("%-60s %d: soon %.0f %% later %.0f %% refused %.1f %% least %.2f", name, senders, 100*early, 100*g, 100*th, least)
		assert.Greater(t, g, atLeast, "%s, %d senders", name, senders)
	}
	for i, k := range []int{1, 4} {
		of := func(alone, four float64) float64 { return []float64{alone, four}[i] }
		show("requests 10/s and documents 2000/s, 429", of(0.77, 0.85), 2000, k, service{whole: true, requests: bucket{rate: 10, burst: 1}, documents: bucket{rate: 2000, burst: 1}, latency: lat}, nil)
		show("requests 3/s and documents 2000/s, 429", of(0.88, 0.71), 2000, k, service{whole: true, requests: bucket{rate: 3, burst: 1}, documents: bucket{rate: 2000, burst: 1}, latency: lat}, nil)
		show("requests 5/s 429 and documents 2000/s 207", of(0.94, 0.88), 2000, k, service{requests: bucket{rate: 5, burst: 1}, documents: bucket{rate: 2000, burst: 1}, latency: lat}, nil)
		show("requests 5/s, 429", of(0.94, 0.85), 5000, k, service{whole: true, requests: bucket{rate: 5, burst: 1}, latency: lat}, nil)
		show("strict documents 600/s, batch never larger than the reserve", of(0.95, 0.95), 600, k, service{whole: true, strict: true, documents: bucket{rate: 600, burst: 1}, latency: lat}, nil)
		for burst, least := range map[float64][2]float64{0.2: {of(0.68, 0.63), of(0.73, 0.58)}, 10: {0.95, 0.93}} {
			show(fmt.Sprintf("documents 2000/s, 429, reserve %v s", burst), least[0], 2000, k, service{whole: true, documents: bucket{rate: 2000, burst: burst}, latency: lat}, nil)
			show(fmt.Sprintf("requests 10/s, 429, reserve %v s", burst), least[1], 10000, k, service{whole: true, requests: bucket{rate: 10, burst: burst}, latency: lat}, nil)
		}
		moving := func(b func(w *world) *bucket, rate float64) func(w *world) {
			return func(w *world) {
				n := 0
				var move func()
				move = func() {
					n++
					f := 1.0
					if n%2 == 1 {
						f = 2
					}
					b(w).set(w.now, rate*f)
					w.after(7*time.Second, move)
				}
				w.after(7*time.Second, move)
			}
		}
		show("documents 2000/s or 4000/s, 207, changing every 7 s", of(0.86, 0.89), 3000, k, service{documents: bucket{rate: 2000, burst: 1}, latency: lat}, moving(func(w *world) *bucket { return &w.service.documents }, 2000))
		show("requests 10/s or 20/s, 429, changing every 7 s", of(0.84, 0.77), 15000, k, service{whole: true, requests: bucket{rate: 10, burst: 1}, latency: lat}, moving(func(w *world) *bucket { return &w.service.requests }, 10))
		show("sizes ten-fold every 7 s, bytes 1 MB/s, 429", of(0.42, 0.8), 1100, k, service{whole: true, bytes: bucket{rate: 1e6, burst: 1}, latency: lat}, func(w *world) {
			n := 0
			var move func()
			move = func() {
				n++
				for _, s := range w.senders {
					s.bytes = tableSize
					if n%2 == 1 {
						s.bytes = 10 * tableSize
					}
				}
				w.after(7*time.Second, move)
			}
			w.after(7*time.Second, move)
		})
		show("latency that grows with the square of the load, 8", of(0.71, 0.15), 80_000, k, service{latency: func(w *world, n, in int) time.Duration {
			return time.Duration(float64(50*time.Millisecond) * math.Max(1, float64(in*in)/16))
		}}, nil)
		show("latency with the square of the batch", of(0.87, 0.87), float64(8*k)*44/0.02, k, service{latency: func(w *world, n, in int) time.Duration {
			return 10*time.Millisecond + time.Duration(n*n)*5*time.Microsecond
		}}, nil)
	}
	show("requests 30/s, 429", 0.5, 30000, 50, service{whole: true, requests: bucket{rate: 30, burst: 1}, latency: lat}, nil)
}
