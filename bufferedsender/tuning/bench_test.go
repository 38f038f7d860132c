package tuning_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// observations are those of a service that regularly refuses something.
func observations(every int) func() tuning.Observation {
	now, n := time.Duration(0), 0
	return func() tuning.Observation {
		n++
		now += 70 * time.Millisecond
		o := tuning.Observation{Now: now, Started: now - 50*time.Millisecond, Actions: 100, Bytes: 65_000, Done: 100, InFlight: 2, Backlog: 1000}
		if every > 0 && n%every == 0 {
			o.Done, o.Throttled = 60, 40
		}
		return o
	}
}

func BenchmarkObserve(b *testing.B) {
	for name, every := range map[string]int{"unlimited": 0, "throttled": 100} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			c := tuning.Adaptive(nil).New(usualBounds)
			next := observations(every)
			for b.Loop() {
				c.Observe(next())
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	p := tuning.Adaptive(nil)
	for b.Loop() {
		p.New(usualBounds)
	}
}

func TestObserveAllocatesNothing(t *testing.T) {
	for _, every := range []int{0, 10} {
		c := tuning.Adaptive(nil).New(usualBounds)
		next := observations(every)
		assert.Zero(t, testing.AllocsPerRun(1000, func() { c.Observe(next()) }))
	}
}
