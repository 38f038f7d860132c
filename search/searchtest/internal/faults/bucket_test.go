package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
)

// However often the capacity changes, requests take no more than a full bucket plus the refill at the rates in force.
func TestChangesOfCapacityNeverGiveMoreThanTheRates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Bucket
		now := time.Unix(0, 0)
		c := Capacity{DocumentsPerSecond: 100}
		b.Set(&c, now)
		filled, took := 100.0, 0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			passed := time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond
			now = now.Add(passed)
			filled += passed.Seconds() * c.DocumentsPerSecond
			if rapid.Bool().Draw(t, "change") {
				c.DocumentsPerSecond = rapid.Float64Range(1, 1000).Draw(t, "rate")
				c.Burst = time.Duration(rapid.Int64Range(1e6, 5e9).Draw(t, "burst"))
				b.Set(&c, now)
			}
			n, _ := b.take(make([]batch.Action, rapid.IntRange(1, 500).Draw(t, "actions")), now)
			took += n
			// The extra one is for a bucket smaller than a document.
			require.LessOrEqual(t, float64(took), filled+1)
		}
	})
}
