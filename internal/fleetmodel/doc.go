// Package fleetmodel runs random programs against a fleet of senders in simulated time and checks the promises of the
// fleet. It is for the tests of bufferedsender/fleet, which run a few programs, and for internal/soak, which runs them
// for a given time.
package fleetmodel
