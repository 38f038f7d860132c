// Package tuning is for programs that do not know how much a search service
// takes, or that share it with others: it lets a buffered sender find out.
// The package is experimental: its API may change in any release.
//
// A [Policy] is an option of a sender. It makes a [Controller], which is notified of
// every request that has ended and says how large the next ones may be, how many
// may be under way, and how far apart they start.
//
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{
//		Limits: bufferedsender.Limits{MaxInFlight: 8},
//		Tuning: tuning.Adaptive(nil),
//	})
//
// [Adaptive] searches for the rate that the service takes, in requests, documents or
// bytes, between one document or request every ten seconds and what the sender's
// options allow. [Fixed] is for those who
// know the numbers, or measure.
//
// When replies take long it is the number of requests in flight that counts: at 100 ms
// a request, documents a second grow with it as far as the machine goes (go test -run
// '^$' -bench InFlight ./bufferedsender). Adaptive slows down when the service throttles
// or its latency grows, and speeds up again; documents that are refused one by one for a
// reason that no rate changes do not slow it down. It is not the default, because
// against a service without a limit it is as good as fixed limits and not better. The
// test TuningTable prints the comparison for 33 services, with real senders; DESIGN.md
// shows one for 135 in simulated time (go test ./bufferedsender/tuning -run
// '^TestTable$' -update).
//
// A controller is a pure state machine: time is passed in, and the same
// observations lead to the same pace. So a policy of one's own can be tested
// without waiting, as the simulation in this package's tests does.
package tuning
