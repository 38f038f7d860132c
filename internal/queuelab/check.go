package queuelab

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
)

// Program configures the schedules that Check makes.
type Program struct {
	// Schedules is the number of schedules. Defaults to 300.
	Schedules int
	// Steps is the number of calls and pauses in a schedule before it is drained. Defaults to 80.
	Steps int
	// Keys is the number of keys; calls about few keys collide often. Defaults to 6.
	Keys int
	// Seed is the seed of the first schedule; the others get the following numbers. Defaults to a random one. A failure
	// names the seed of its schedule; run it again with that seed and Schedules 1.
	Seed uint64
	// Spread takes keys of all shards. Reserve may then choose keys in any order, so its answers are not compared with
	// the model; only the checks without a model are made.
	Spread bool
}

// Check runs random schedules against a back end: adders repeat their calls; holders die before and after the documents
// are in the index, come back as zombies, extend, release, park and fold; time passes; and operators park, drop and
// pause. After each call Check compares the answer with that of a Model. It also checks without the model that a leased
// key is not leased to another holder, that the changes of a key come in the order of Append, and that no committed
// change comes again. At the end it drains the queue; then the index must have the last value of every key.
//
// It logs and returns how many schedules covered difficult cases. It stops at the first schedule that fails.
func Check(t *testing.T, b queuetest.Backend, p Program) Coverage {
	t.Helper()
	coverage, err := p.find(t, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(coverage)
	return coverage
}

// find runs schedules until one fails, and returns its error.
func (p Program) find(t *testing.T, b queuetest.Backend) (total Coverage, err error) {
	if p.Schedules == 0 {
		p.Schedules = 300
	}
	if p.Steps == 0 {
		p.Steps = 80
	}
	if p.Keys == 0 {
		p.Keys = 6
	}
	if p.Seed == 0 {
		p.Seed = rand.Uint64()>>32 + 1
	}
	for i := range p.Schedules {
		seed := p.Seed + uint64(i)
		b.Run(t, queuetest.Config{}, func(t *testing.T, h *queuetest.Harness) {
			w := newWorld(t, h, b, p, seed)
			err = w.run()
			total.Schedules++
			total.add(w.ledger.saw)
			if err != nil {
				err = fmt.Errorf("schedule %d, Program{Seed: %d, Schedules: 1, Steps: %d, Keys: %d, Spread: %v}: %w\n\t%s",
					i+1, seed, p.Steps, p.Keys, p.Spread, err, strings.Join(w.trace, "\n\t"))
			}
		})
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// Coverage counts the schedules that covered each case.
type Coverage struct {
	Schedules int
	// Overlaps counts schedules with a Reserve while records waited behind a leased key, where the published Ick lost
	// changes; Expiries those with an expired lease; Zombies those with an end of an expired lease; Crashes those with
	// a holder that died after documents were in the index and before its leases were settled; Redirtied those with an
	// Append to a leased key.
	Overlaps, Expiries, Zombies, Crashes, Redirtied int
}

func (c *Coverage) add(saw saw) {
	for counter, held := range map[*int]bool{
		&c.Overlaps: saw.overlap, &c.Expiries: saw.expiry, &c.Zombies: saw.zombie, &c.Crashes: saw.crash, &c.Redirtied: saw.redirtied,
	} {
		if held {
			*counter++
		}
	}
}

// shares returns the counts as fractions of all schedules.
func (c Coverage) shares() ([]string, []float64) {
	n := float64(max(1, c.Schedules))
	return []string{"overlap", "expiry", "zombie settle", "crash between confirm and settle", "re-dirty while reserved"},
		[]float64{float64(c.Overlaps) / n, float64(c.Expiries) / n, float64(c.Zombies) / n, float64(c.Crashes) / n, float64(c.Redirtied) / n}
}

// String returns the counts for the log.
func (c Coverage) String() string {
	s := fmt.Sprintf("%d schedules", c.Schedules)
	names, shares := c.shares()
	for i := range names {
		s += fmt.Sprintf(", %s %.0f %%", names[i], 100*shares[i])
	}
	return s
}

// AtLeast fails the test if one of the counts is below that fraction of all schedules.
func (c Coverage) AtLeast(t testing.TB, part float64) {
	t.Helper()
	names, shares := c.shares()
	for i := range names {
		if shares[i] < part {
			t.Errorf("only %.1f %% of %d schedules held: %s", 100*shares[i], c.Schedules, names[i])
		}
	}
}
