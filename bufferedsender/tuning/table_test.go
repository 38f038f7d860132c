package tuning_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
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

// bestFixed is the goodput of the best fixed limits of a grid, as a share of the capacity. 50 senders have one request
// in flight each: more are only refused.
func (r tableRow) bestFixed(seed uint64) (best float64) {
	for _, actions := range []int{10, 100, 1000} {
		for _, inFlight := range []int{1, 8} {
			if r.senders == 50 && inFlight > 1 {
				continue
			}
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

// tableLine is a line of the table.
type tableLine struct {
	tableRow
	tableResult
	worst float64 // share of the capacity with the worst seed; of one sender
	fixed float64 // share of the best fixed limits
}

func (r tableRow) line() tableLine {
	l := tableLine{tableRow: r, tableResult: r.mean(), worst: math.Inf(1), fixed: r.bestFixed(0)}
	if r.senders == 1 {
		for seed := range uint64(100) {
			l.worst = min(l.worst, r.run(seed, tuning.Adaptive(nil), tableBounds).steady.goodput)
		}
	}
	return l
}

// percent is a share as the table shows it.
func percent(share float64) int { return int(math.Round(100 * share)) }

// missed names the targets that a row does not reach, with a star if no sender can: to find within 10 s that the
// capacity has grown it has to ask every 10 s, and then waits four of 14 s.
func (l tableLine) missed() string {
	var all []string
	soon := "10 s"
	if l.senders == 1 && l.change > 1 && l.retryAfter > 2*time.Second {
		soon += "*"
	}
	for name, is := range map[string]bool{
		soon:      percent(l.soon.goodput) < 90,
		"refused": l.steady.throttled >= 0.0305,
		"shares":  l.senders > 1 && (l.steady.least < 0.595 || l.steady.most >= 1.405),
		"fixed":   percent(l.steady.goodput) < percent(l.fixed)-5,
	} {
		if is {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func (l tableLine) String() string {
	shares, asking := fmt.Sprintf("%.2f–%.2f", l.steady.least, l.steady.most), ""
	if l.senders == 1 {
		shares = fmt.Sprintf("%d %%", percent(l.worst))
	}
	if l.unit != "slow by size" {
		asking = fmt.Sprintf("%d %%", percent(oracles()[l.retryAfter][l.change]))
	}
	change := map[float64]string{1: "", 0.5: "halved", 2: "doubled", 10: "ten-fold"}[l.change]
	return fmt.Sprintf("| %s | %s | %s | %d | %d %% | %d %% | %.1f %% | %s | %d %% | %s | %s |", l.unit, l.reply, change, l.senders,
		percent(l.soon.goodput), percent(l.steady.goodput), 100*l.steady.throttled, shares, percent(l.fixed), asking, l.missed())
}

// TestTable compares all rows with testdata/table.txt, and prints those that miss a target. With -update,
//
//	go test ./bufferedsender/tuning -run '^TestTable$' -update
//
// it writes the table and its summary in DESIGN.md, in some minutes.
func TestTable(t *testing.T) {
	if flag.Lookup("update").Value.String() == "true" {
		writeTable(t)
		return
	}
	text, err := os.ReadFile("testdata/table.txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[2:]
	require.Len(t, lines, len(tableRows()))
	for i, r := range tableRows() {
		if testing.Short() && r.senders == 50 {
			continue
		}
		cells := strings.Split(lines[i], " | ")
		number := func(cell int) (n float64) {
			_, err := fmt.Sscanf(cells[cell], "%f %%", &n)
			require.NoError(t, err, lines[i])
			return n / 100
		}
		listed := strings.TrimSuffix(cells[10], " |")
		if listed != "" {
			t.Log(lines[i])
		}
		got := tableLine{tableRow: r, tableResult: r.mean()}
		for _, name := range strings.Split(got.missed(), ", ") {
			assert.Contains(t, listed, name, "a target that %+v does not reach", r)
		}
		assert.Greater(t, got.soon.goodput, number(4)-0.03, "ten seconds after, %+v", r)
		assert.Greater(t, got.steady.goodput, number(5)-0.03, "%+v", r)
		assert.Less(t, got.steady.throttled, number(6)+0.01, "%+v", r)
	}
}

const (
	tableHead  = "| counted | refused by | change | senders | 10 s after | later | refused | worst seed, or shares | best fixed | oracle | missed |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
	tableBegin = "<!-- of the table -->\n"
	tableEnd   = "<!-- end -->\n"
)

func writeTable(t *testing.T) {
	var all []tableLine
	var b strings.Builder
	b.WriteString(tableHead)
	for _, r := range tableRows() {
		l := r.line()
		all = append(all, l)
		fmt.Fprintln(&b, l)
	}
	require.NoError(t, os.WriteFile("testdata/table.txt", []byte(b.String()), 0o644))
	text, err := os.ReadFile("DESIGN.md")
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	require.True(t, found && ended)
	require.NoError(t, os.WriteFile("DESIGN.md", []byte(before+tableBegin+summary(all)+tableEnd+after), 0o644))
}

// summary has the worst figures of 1/4/50 senders, and the number of their rows that miss each target.
func summary(all []tableLine) string {
	var b strings.Builder
	b.WriteString("|refused by|10 s after|later|refused|shares|miss 10 s|refused|shares|fixed|\n|---|---|---|---|---|---|---|---|---|\n")
	for _, reply := range []string{"207", "429", "429, 1 s", "429, 5 s"} {
		cells := make([][]string, 8)
		for _, senders := range []int{1, 4, 50} {
			soon, later, refused, least, most, missed := math.Inf(1), math.Inf(1), 0.0, math.Inf(1), 0.0, [4]int{}
			for _, l := range all {
				if l.reply != reply || l.senders != senders {
					continue
				}
				soon, later, refused = min(soon, l.soon.goodput), min(later, l.steady.goodput), max(refused, l.steady.throttled)
				least, most = min(least, l.steady.least), max(most, l.steady.most)
				for i, target := range []string{"10 s", "refused", "shares", "fixed"} {
					if strings.Contains(l.missed(), target) {
						missed[i]++
					}
				}
			}
			for i, cell := range []string{fmt.Sprint(percent(soon)), fmt.Sprint(percent(later)), fmt.Sprintf("%.1f", 100*refused), fmt.Sprintf("%.2f–%.2f", least, most)} {
				cells[i] = append(cells[i], cell)
				cells[4+i] = append(cells[4+i], fmt.Sprint(missed[i]))
			}
		}
		fmt.Fprintf(&b, "|%s|", reply)
		for _, c := range cells {
			b.WriteString(strings.Join(c, "/") + "|")
		}
		b.WriteString("\n")
	}
	return b.String()
}
