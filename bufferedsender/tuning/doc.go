// Package tuning adapts the pace of a buffered sender to a search service with unknown or shared capacity. The package
// is experimental: its API may change in any release.
//
// A [Policy] is an option of a sender. It creates a [Controller], which observes every finished request and decides how
// large the next ones may be, how many may be in flight, and how far apart they start.
//
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{
//		Limits: bufferedsender.Limits{MaxInFlight: 8},
//		Tuning: tuning.Adaptive(nil),
//	})
//
// [Adaptive] searches for the rate that the service takes, in requests, documents or bytes. The rate is between one
// document or request every ten seconds and what the sender's options allow. [Fixed] is for known limits, and for
// measurements.
//
// With slow replies the number of requests in flight matters most: at 100 ms per request, documents per second grow
// with it up to the capacity of the machine (go test -run '^$' -bench InFlight ./bufferedsender). Adaptive slows down
// when the service throttles or its latency grows, and speeds up again. Single documents that are refused whatever the
// rate do not slow it down. It is not the default, because with an unlimited service it is only as good as fixed
// limits. The test TuningTable prints a comparison for 33 services, with real senders; DESIGN.md has one for 135 in
// simulated time (go test ./bufferedsender/tuning -run '^TestTable$' -update).
//
// A controller is a pure state machine: time is passed in, and the same observations result in the same pace. So your
// own policy can be tested without waiting, like those of this package.
package tuning
