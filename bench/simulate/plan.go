package simulate

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// plan has the senders, their load, and the phases of the service.
type plan struct {
	processes int // each with real senders that share a pool; all run in this program
	senders   int // per process, each to its own index
	indexes   int
	capacity  float64 // documents per second that the service takes in total
	buffered  int     // maximum number of documents that a process buffers
	flush     time.Duration
	policy    tuning.Policy
	named     string // name of the policy
	seed      uint64
	procs     int
	phases    []phase
	settle    time.Duration // limit for settling everything at the end
}

// phase is a phase of the simulation. load and capacity are shares of plan.capacity.
type phase struct {
	name      string
	lasts     time.Duration
	load      float64
	capacity  float64 // 0: the service refuses connections
	kill      float64 // share of the processes that is killed at the start of the phase
	saturated bool    // the senders have more than the service takes, for all or part of the phase
}

// replaced is the share of the phase after which killed processes are replaced.
const replaced = 1.0 / 6

// hour returns the phases of the simulation, an hour long if minute is a minute.
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

// The indexes of phases in hour that figures use.
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
