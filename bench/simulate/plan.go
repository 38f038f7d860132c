package simulate

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// plan says who sends how much for how long, and what happens to the service.
type plan struct {
	processes int // real senders that share a pool, all in this program
	senders   int // of a process, each to an index of its own
	indexes   int
	capacity  float64 // documents a second that the service takes from all together
	buffered  int     // documents that a process buffers at the most
	flush     time.Duration
	policy    tuning.Policy
	named     string // the policy
	seed      uint64
	procs     int
	phases    []phase
	settle    time.Duration // how long everything may take to be settled at the end
}

// phase is a part of the simulated time. load and capacity are shares of plan.capacity.
type phase struct {
	name      string
	lasts     time.Duration
	load      float64
	capacity  float64 // 0: the service refuses connections
	kill      float64 // the share of the processes that is killed when the phase begins
	saturated bool    // there is more to send than the service takes, for the whole phase or a part
}

// replaced is for which part of its phase a killed process is missing.
const replaced = 1.0 / 6

// hour is what happens in the whole simulation, which lasts an hour, or as many parts of it.
func hour(minute time.Duration) []phase {
	return []phase{
		{name: "load 80 %", lasts: 8 * minute, load: 0.8, capacity: 1},
		{name: "outage", lasts: 10 * minute, load: 0.8},
		{name: "after it, 80 %", lasts: 8 * minute, load: 0.8, capacity: 1, saturated: true},
		{name: "load 120 %", lasts: 10 * minute, load: 1.2, capacity: 1, saturated: true},
		{name: "half the capacity, 80 %", lasts: 8 * minute, load: 0.8, capacity: 0.5, saturated: true},
		{name: "all of it again, 80 %", lasts: 10 * minute, load: 0.8, capacity: 1, saturated: true},
		{name: "a tenth killed, 80 %", lasts: 6 * minute, load: 0.8, capacity: 1, kill: 0.1},
	}
}

// The places of phases in hour that figures are about.
const (
	steady = iota
	outage
	afterOutage
	overloaded
	halved
	restored
	killed
)

func policyOf(name string, spacing time.Duration) (tuning.Policy, string, error) {
	switch name {
	case "adaptive":
		return tuning.Adaptive(&tuning.AdaptiveOptions{Spacing: spacing}), fmt.Sprintf("tuning.Adaptive, Spacing %v", spacing), nil
	case "fixed":
		return tuning.Fixed(), "tuning.Fixed", nil
	}
	return nil, "", fmt.Errorf("-policy %s: use adaptive or fixed", name)
}
