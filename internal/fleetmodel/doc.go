// Package fleetmodel runs random programs against a fleet of senders in simulated time and compares with what was
// promised: for the tests of bufferedsender/fleet, which run some, and for internal/soak, which goes on for as long
// as it is given.
package fleetmodel
