package tuning_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// TestBatchesGetSmallerWhereTheirTimeGrowsFaster uses a service whose time grows with the square of a batch.
func TestBatchesGetSmallerWhereTheirTimeGrowsFaster(t *testing.T) {
	square := true
	w := newWorld(1, tuning.Adaptive(nil), tableBounds, 1, service{latency: func(_ *world, n, _ int) time.Duration {
		if !square {
			return 50 * time.Millisecond
		}
		return 10*time.Millisecond + time.Duration(n*n)*5*time.Microsecond
	}})
	w.run(time.Minute)
	best := 8 * 44 / 0.0197
	assert.Greater(t, w.span(40*time.Second, time.Minute).goodput, 0.9*best)
	square = false
	w.run(10 * time.Minute)
	assert.Equal(t, tableBounds.Max.BatchActions, w.senders[0].limits.BatchActions, "the service has recovered")
}

// TestBatchesStayFullWhereSmallOnesBringLess measures what the trials cost.
func TestBatchesStayFullWhereSmallOnesBringLess(t *testing.T) {
	for name, latency := range map[string]func(w *world, n, inService int) time.Duration{
		"the same for each size": fixedLatency(2*time.Second, 0.1),
		"proportional":           func(_ *world, n, _ int) time.Duration { return time.Duration(n) * 3 * time.Millisecond },
		"random": func(w *world, n, _ int) time.Duration {
			return time.Duration((0.5 + 1.5e-3*float64(n)) * w.random.ExpFloat64() * 1e9)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				share, _ := against(seed, service{latency: latency}, tableBounds, 0, 20*time.Minute)
				assert.Greater(t, share, 0.9, "of the documents that fixed limits sent")
			}
		})
	}
}
