// Package breaker stops requests to a service that fails, and detects when the service works again. The buffered sender
// has one [Breaker] per index; use it directly for your own requests.
// The package is stable.
//
// A breaker is Closed while the service works. It becomes Open on the n-th failure in a sliding time window unless most
// requests succeed anyway, on the n-th consecutive failure, or at once on a result that means that no other request
// will succeed either. While Open it refuses every request until its time is over. Then it becomes HalfOpen and allows
// exactly one request, the probe, whose result closes it or opens it again. An administrator can disable it and enable
// it again, and change its options while it is in use ([Breaker.SetOptions]).
//
//	permit, err := b.Allow()
//	if err != nil {
//		return err // an *OpenError: since when, until when, why
//	}
//	err = send(ctx)
//	permit.Done(breaker.Result{Outcome: outcomeOf(err), Err: err})
//
// # What the caller does
//
// A breaker does not interpret errors: the caller of [Permit.Done] classifies each result. It does not block: a refused
// caller subscribes and is notified of every change of state. The change from Open to HalfOpen comes from a timer of
// the breaker, so it wakes a queue that sends no requests.
//
// # What counts
//
// Requests in flight together fail together and count once: a failure of a request that was allowed before the last
// counted failure was reported does not count towards Options.Failures. (It is in Counts.Failures, and its Retry-After
// applies.) So 50 ms without a connection are one failure, whether one request was in flight or a hundred, and three
// consecutive waves of requests open the breaker. Successes count one by one: if requests are sent one after another,
// up to half may succeed while the breaker opens; with many in flight, almost none. A Trip always opens it, and a
// failed probe always opens it again.
//
// Results of requests that started before the last change of state are ignored, however late they come. If ten requests
// were in flight when the service failed, they open the breaker once, and the last one to time out does not open it
// again after it has closed.
//
// # How long it stays open
//
// It stays open for as long as the trouble has lasted, at least OpenFor (1 s) and at most MaxOpenFor (30 s), less a
// random share, and in any case until the latest time that a Retry-After asked for, at most MaxRetryAfter (10 min). A
// Retry-After never shortens the time. The trouble begins with the first failure since the last success, of any request
// in any state, and ends with the next success. Once the breaker is closed again, a late failure of a request from
// before does not begin trouble. Failures and Trips are treated the same.
//
// So the pauses between probes roughly double during an outage. After an outage the next probe comes within the
// outage's length or OpenFor, whichever is longer, but within MaxOpenFor (unless a Retry-After is longer): 50 ms
// without a connection cost at most a second, ten minutes at most half a minute. The breaker only knows results: a
// single failure, then an hour without requests, counts as an hour of trouble if the next request fails too.
//
// The rules are those of the fuse library for Erlang, on the state machine of github.com/sony/gobreaker, with
// deliberate differences:
//
//   - Failures: n opens on the n-th failure. A fuse of intensity n blows on the melt after the n-th.
//   - A fuse blows by the number of failures alone. Here failures must also be a certain share of the results, so that
//     a service that loses one reply in ten is not cut off half of the time.
//   - A fuse melts with every failure. Here failures of one wave count once.
//   - A fuse stays blown for a fixed time. Here the time grows with the outage.
//   - A fuse that heals allows all requests again. Here one probe goes first. This also replaces fuse's alarms, which
//     are cleared only after three checks in a row have found the fuse whole: Closed is reported after a request has
//     succeeded, not after a time.
//   - Any process can melt a fuse at any time. Here a failure belongs to an allowed request, and counts only for the
//     state in which it started.
//   - A fuse that is installed again with other options loses its melts. SetOptions keeps the failures. Both stay
//     disabled.
//   - There are no names, so nothing is removed, and no fault rate for tests: searchtest injects faults.
//
// The time of a failure is when Done is called. A failure exactly as old as the window is outside it.
package breaker
