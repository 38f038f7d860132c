package breaker_test

import (
	"strconv"
	"testing"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

// The cost of a breaker for one request, which takes milliseconds.
func BenchmarkAllowDone(b *testing.B) {
	b.Run("closed", func(b *testing.B) {
		c, _ := breaker.New(nil)
		b.ReportAllocs()
		for b.Loop() {
			if p, err := c.Allow(); err == nil {
				p.Done(breaker.Result{})
			}
		}
	})
	b.Run("closed/parallel", func(b *testing.B) {
		c, _ := breaker.New(nil)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if p, err := c.Allow(); err == nil {
					p.Done(breaker.Result{})
				}
			}
		})
	})
	b.Run("refused", func(b *testing.B) {
		c, _ := breaker.New(nil)
		c.Disable()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Allow(); err == nil {
				b.Fatal("not refused")
			}
		}
	})
}

// The cost of one change for each subscriber, and of subscribing and cancelling among many. A fleet may share one
// breaker between the senders of all its indexes, and closes them all at once.
func BenchmarkSubscribers(b *testing.B) {
	for _, n := range []int{100, 10_000, 40_000} {
		setUp := func() (c *breaker.Breaker, cancels []func()) {
			c, _ = breaker.New(nil)
			for range n {
				cancels = append(cancels, c.Subscribe(func(breaker.Change) {}))
			}
			return c, cancels
		}
		b.Run("change/"+strconv.Itoa(n), func(b *testing.B) {
			c, _ := setUp()
			b.ReportAllocs()
			for b.Loop() {
				c.Disable()
				c.Enable()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*n*b.N), "ns/notified")
		})
		b.Run("cancel/"+strconv.Itoa(n), func(b *testing.B) {
			c, cancels := setUp()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				cancels[i]()
				cancels[i] = c.Subscribe(func(breaker.Change) {})
				i = (i + 7919) % n
			}
		})
	}
}
