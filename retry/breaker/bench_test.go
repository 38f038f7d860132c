package breaker_test

import (
	"testing"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

// What a breaker adds to one request, which takes milliseconds.
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
