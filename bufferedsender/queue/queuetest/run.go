package queuetest

import (
	"slices"
	"testing"
)

// Run runs the suite against a back end: one subtest for each promise of the contract.
func Run(t *testing.T, b Backend) {
	for _, p := range promises() {
		if p.needs == nil || p.needs(b) {
			t.Run(p.name, func(t *testing.T) {
				b.Run(t, p.config, func(t *testing.T, h *Harness) { p.test(newTrial(t, h), b) })
			})
		}
	}
}

// promise is a test of the suite.
type promise struct {
	name   string
	needs  func(Backend) bool // nil: all back ends
	config Config
	test   func(c *trial, b Backend)
}

// of returns a promise for all back ends.
func of(name string, test func(c *trial)) promise {
	return promise{name: name, test: func(c *trial, _ Backend) { test(c) }}
}

// promises returns the suite, by subject.
func promises() []promise {
	return slices.Concat(
		argumentPromises(), emptyPromises(),
		appendPromises(), repeatPromises(), foldPromises(),
		orderPromises(), reservePromises(),
		settlePromises(), leasePromises(),
		suspectPromises(), parkedPromises(),
		settledPromises(), statsPromises(), adminPromises(),
		limitPromises(), parkedLimits(), bigPromises(), watchPromises(),
		closePromises(), concurrentPromises(), durablePromises(), sharedPromises(),
	)
}
