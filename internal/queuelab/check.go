package queuelab

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
)

// Program says what schedules Check makes.
type Program struct {
	// Schedules is how many. Defaults to 300.
	Schedules int
	// Steps is how many calls and pauses a schedule has before it is drained. Defaults to 80.
	Steps int
	// Keys is how many there are; few keys meet often. Defaults to 6.
	Keys int
	// Seed is that of the first schedule; the others follow. Defaults to a random one. A
	// failure names the seed of its schedule, which is found again with that and Schedules 1.
	Seed uint64
	// Spread has the keys be those of all shards. What Reserve chooses is then up to the back
	// end, so it is not compared with the model: what must never happen is looked for only.
	Spread bool
}

// Check puts a back end through random schedules: adders that repeat their calls, holders that die before and after
// the documents are in the index, that come back as zombies, that extend, release, park and fold, while time passes
// and people park, drop and pause. After each call it compares the answer with that of a Model, and checks what does
// not need one: nobody gets a key that somebody holds, the changes of a key come in the order of Append, and none
// that was committed comes again. At the end it drains the queue, and the index has to have the last value of
// everything.
//
// It logs how many schedules held what is hard, and returns it. It ends with the first
// schedule that fails.
func Check(t *testing.T, b queuetest.Backend, p Program) Coverage {
	t.Helper()
	coverage, err := p.find(t, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(coverage)
	return coverage
}

// find runs schedules until one fails, and returns why.
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

// Coverage counts schedules by what they held.
type Coverage struct {
	Schedules int
	// Overlaps held a Reserve while a leased key had something behind it: where the published
	// Ick lost changes. Expiries held a lease that ran out. Zombies held an end of a lease
	// that had run out. Crashes held a holder that died when documents were in the index and its leases not settled.
	// Redirtied held an Append to a leased key.
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

// shares are the counts as parts of all schedules.
func (c Coverage) shares() ([]string, []float64) {
	n := float64(max(1, c.Schedules))
	return []string{"overlap", "expiry", "zombie settle", "crash between confirm and settle", "re-dirty while reserved"},
		[]float64{float64(c.Overlaps) / n, float64(c.Expiries) / n, float64(c.Zombies) / n, float64(c.Crashes) / n, float64(c.Redirtied) / n}
}

// String says how many schedules held what.
func (c Coverage) String() string {
	s := fmt.Sprintf("%d schedules", c.Schedules)
	names, shares := c.shares()
	for i := range names {
		s += fmt.Sprintf(", %s %.0f %%", names[i], 100*shares[i])
	}
	return s
}

// AtLeast fails the test if one of the counts is less than that part of all schedules.
func (c Coverage) AtLeast(t testing.TB, part float64) {
	t.Helper()
	names, shares := c.shares()
	for i := range names {
		if shares[i] < part {
			t.Errorf("only %.1f %% of %d schedules held: %s", 100*shares[i], c.Schedules, names[i])
		}
	}
}
