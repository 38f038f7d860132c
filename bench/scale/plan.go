package scale

import (
	"fmt"
	"time"
)

// step has the parameters of a run.
type step struct {
	documents int
	producers int
	inFlight  int
	latency   time.Duration
}

func (s step) String() string {
	return fmt.Sprintf("%s, %s, %d in flight, latency %v", named(s.documents, "document"), named(s.producers, "producer"), s.inFlight, s.latency)
}

// manyDocuments is the size above which a step runs once: one such run is long enough for stable figures.
const manyDocuments = 2_000_000

// turns returns the number of rounds in which the step runs.
func (s step) turns(rounds int) int {
	if s.documents > manyDocuments {
		return 1
	}
	return rounds
}

// quantity is the quantity that grows within a series.
type quantity string

const (
	documents quantity = "documents"
	producers quantity = "producers"
	inFlight  quantity = "requests in flight"
)

// series has the steps of one table.
type series struct {
	grows quantity
	fixed string // the constant quantities
	steps []step
}

// lone reports whether the series has one producer and one request in flight.
func (s *series) lone() bool { return s.steps[0].producers == 1 && s.steps[0].inFlight == 1 }

// The numbers of producers and requests in flight when more than one is wanted and another quantity grows.
const (
	busyProducers = 4
	busyInFlight  = 8
)

// plan returns the series that the package comment describes.
func (c *commandLine) plan() []*series {
	first, median := c.latencies[0], c.documents[len(c.documents)/2]
	var all []*series
	for _, with := range []step{{producers: 1, inFlight: 1}, {producers: busyProducers, inFlight: busyInFlight}} {
		s := &series{grows: documents, fixed: fmt.Sprintf("producers: %d, requests in flight: %d, latency: %v", with.producers, with.inFlight, first)}
		for _, n := range c.documents {
			s.steps = append(s.steps, step{n, with.producers, with.inFlight, first})
		}
		all = append(all, s)
	}
	s := &series{grows: producers, fixed: fmt.Sprintf("requests in flight: %d, latency: %v", busyInFlight, first)}
	for _, n := range c.producers {
		s.steps = append(s.steps, step{median, n, busyInFlight, first})
	}
	all = append(all, s)
	for _, latency := range c.latencies {
		s := &series{grows: inFlight, fixed: fmt.Sprintf("producers: %d, latency: %v", busyProducers, latency)}
		for _, n := range c.inFlight {
			total := median
			if latency > 0 {
				total = max(1, median/10) * n
			}
			s.steps = append(s.steps, step{total, busyProducers, n, latency})
		}
		all = append(all, s)
	}
	return all
}
