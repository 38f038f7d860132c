package tuning_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// tableRow is a service of testdata/table.txt: its unit of capacity, its way of refusing, and the factor of its
// capacity after a minute and a half.
type tableRow struct {
	unit       string
	reply      string // "207", "429", "429, 1 s"
	change     float64
	senders    int
	retryAfter time.Duration
}

func tableRows() (all []tableRow) {
	for _, unit := range []string{"requests", "documents", "bytes"} {
		for _, reply := range []string{"207", "429", "429, 1 s", "429, 5 s"} {
			if unit == "requests" && reply == "207" {
				continue
			}
			for _, change := range []float64{1, 0.5, 2, 10} {
				for _, senders := range []int{1, 4, 50} {
					r := tableRow{unit: unit, reply: reply, change: change, senders: senders}
					r.retryAfter = map[string]time.Duration{"429, 1 s": time.Second, "429, 5 s": 5 * time.Second}[reply]
					all = append(all, r)
				}
			}
		}
	}
	for _, senders := range []int{1, 4, 50} {
		all = append(all, tableRow{unit: "slow by size", reply: "-", change: 1, senders: senders})
	}
	return all
}

const (
	tableChange = 90 * time.Second
	tableSize   = 500 // mean document size in bytes; sizes vary by half
)

// tableBounds are the limits of each sender.
var tableBounds = tuning.Bounds{Max: tuning.Pace{BatchActions: 1000, BatchBytes: 16_000_000, InFlight: 8}}

// capacity is in documents a second, large enough for a share of each sender.
func (r tableRow) capacity() float64 {
	switch r.unit {
	case "requests":
		return 1000 * r.rate()
	case "bytes":
		return r.rate() / tableSize
	case "slow by size":
		return 8 * 1000 / 0.51 // eight at once, each 10 ms plus half a millisecond a document
	}
	return r.rate()
}

func (r tableRow) rate() float64 {
	switch r.unit {
	case "requests":
		return map[int]float64{1: 5, 4: 30, 50: 500}[r.senders]
	case "bytes":
		return 2000 * tableSize
	}
	return 2000
}

func (r tableRow) service() service {
	s := service{whole: r.reply != "207", retryAfter: r.retryAfter, latency: fixedLatency(50*time.Millisecond, 0.1)}
	switch r.unit {
	case "requests":
		s.requests = bucket{rate: r.rate(), burst: 1}
	case "documents":
		s.documents = bucket{rate: r.rate(), burst: 1}
	case "bytes":
		s.bytes = bucket{rate: r.rate(), burst: 1}
	case "slow by size":
		s.latency = func(_ *world, actions, inService int) time.Duration {
			return time.Duration(float64(10*time.Millisecond+time.Duration(actions)*500*time.Microsecond) * max(1, float64(inService)/8))
		}
	}
	return s
}

// tableResult is a row's outcome: soon covers seconds 10 to 20 after the start (or the change), steady seconds 10 to
// 90. Goodput is a share of the capacity.
type tableResult struct {
	soon, steady span
}

func (r tableRow) run(seed uint64, policy tuning.Policy, bounds tuning.Bounds) (got tableResult) {
	w := newWorld(seed, policy, bounds, r.senders, r.service())
	for _, s := range w.senders {
		s.bytes, s.uneven = tableSize, true
	}
	from, capacity := time.Duration(0), r.capacity()
	if r.change != 1 {
		w.run(tableChange)
		from, capacity = tableChange, capacity*r.change
		for _, b := range []*bucket{&w.service.requests, &w.service.documents, &w.service.bytes} {
			if b.rate > 0 {
				b.set(w.now, b.rate*r.change)
			}
		}
	}
	w.run(from + 90*time.Second)
	got.soon, got.steady = w.span(from+10*time.Second, from+20*time.Second), w.span(from+10*time.Second, from+90*time.Second)
	got.soon.goodput /= capacity
	got.steady.goodput /= capacity
	return got
}

// bestFixed is the goodput of the best fixed limits of a grid, as a share of the capacity.
func (r tableRow) bestFixed(seed uint64) (best float64) {
	for _, actions := range []int{10, 100, 1000} {
		for _, inFlight := range []int{1, 8} {
			bounds := tableBounds
			bounds.Max.BatchActions, bounds.Max.InFlight = actions, inFlight
			best = max(best, r.run(seed, tuning.Fixed(), bounds).steady.goodput)
		}
	}
	return best
}

// mean runs a row with three seeds. It returns the extremes of the shares.
func (r tableRow) mean() tableResult {
	const seeds = 3
	mean := tableResult{steady: span{least: math.Inf(1)}}
	for seed := range uint64(seeds) {
		got := r.run(seed, tuning.Adaptive(nil), tableBounds)
		mean.soon.goodput += got.soon.goodput / seeds
		mean.steady.goodput += got.steady.goodput / seeds
		mean.steady.throttled += got.steady.throttled / seeds
		mean.steady.least, mean.steady.most = min(mean.steady.least, got.steady.least), max(mean.steady.most, got.steady.most)
	}
	return mean
}

func (r tableRow) line() string {
	mean := r.mean()
	shares, fixed := "", ""
	if r.senders > 1 {
		shares = fmt.Sprintf("%.2f–%.2f", mean.steady.least, mean.steady.most)
	}
	if r.senders < 50 {
		fixed = fmt.Sprintf("%.0f %%", 100*r.bestFixed(0))
	}
	if r.senders == 1 {
		worst := math.Inf(1)
		for seed := range uint64(100) {
			worst = min(worst, r.run(seed, tuning.Adaptive(nil), tableBounds).steady.goodput)
		}
		shares = fmt.Sprintf("%.0f %%", 100*worst)
	}
	asking := ""
	if r.unit != "slow by size" {
		asking = fmt.Sprintf("%.0f %%", 100*oracles()[r.retryAfter][r.change])
	}
	change := map[float64]string{1: "", 0.5: "halved", 2: "doubled", 10: "ten-fold"}[r.change]
	return fmt.Sprintf("| %s | %s | %s | %d | %.0f %% | %.0f %% | %.1f %% | %s | %s | %s |\n", r.unit, r.reply, change, r.senders,
		100*mean.soon.goodput, 100*mean.steady.goodput, 100*mean.steady.throttled, shares, fixed, asking)
}

// TestTable compares some rows with testdata/table.txt. With -update,
//
//	go test ./bufferedsender/tuning -run '^TestTable$' -update
//
// it runs all rows and writes the table, in some minutes.
func TestTable(t *testing.T) {
	if flag.Lookup("update").Value.String() == "true" {
		writeTable(t)
		return
	}
	for _, r := range []tableRow{
		{unit: "requests", reply: "429", change: 1, senders: 1},
		{unit: "requests", reply: "429", change: 1, senders: 4},
		{unit: "requests", reply: "429", change: 2, senders: 4},
		{unit: "documents", reply: "207", change: 10, senders: 4},
		{unit: "documents", reply: "429", change: 0.5, senders: 4},
		{unit: "bytes", reply: "429", change: 1, senders: 1},
		{unit: "documents", reply: "429", change: 1, senders: 50},
		{unit: "documents", reply: "429, 5 s", change: 0.5, senders: 4, retryAfter: 5 * time.Second},
	} {
		got := r.mean()
		assert.Greater(t, got.soon.goodput, 0.85, "ten seconds after, %+v", r)
		assert.Greater(t, got.steady.goodput, 0.9, "%+v", r)
		assert.Less(t, got.steady.throttled, 0.06, "%+v", r)
	}
}

func writeTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("| counted | refused by | change | senders | 10 s after | later | refused | worst seed, or shares | best fixed | oracle |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range tableRows() {
		b.WriteString(r.line())
	}
	require.NoError(t, os.WriteFile("testdata/table.txt", []byte(b.String()), 0o644))
}
