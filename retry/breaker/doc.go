// Package breaker is for code that must stop sending to a service that does not
// work, and find out by itself when it works again. The buffered sender keeps
// one [Breaker] for an index; use it directly around requests of your own.
// The package is stable.
//
// A breaker is Closed while all is well. It becomes Open on the n-th failure in
// a sliding window of time unless most requests succeed all the same, or on the
// n-th in a row, or at once on a result that says that no other request will
// succeed either. Open, it refuses every request until its time is up. Then it
// becomes HalfOpen and lets exactly one request through, the probe, whose result
// closes it or opens it again. An administrator can take it out of service
// (Disabled) and put it back, and change its options while it is in use ([Breaker.SetOptions]).
//
//	permit, err := b.Allow()
//	if err != nil {
//		return err // an *OpenError: since when, until when, why
//	}
//	err = send(ctx)
//	permit.Done(breaker.Result{Outcome: outcomeOf(err), Err: err})
//
// # What it does not do by itself
//
// A breaker does not know errors: whoever calls [Permit.Done] says what a result
// means. It does not wait: a refused caller subscribes and is notified of every
// change of state. The move from Open to HalfOpen comes from a timer of the
// breaker's own, so that a queue that has stopped asking is woken.
//
// # What counts
//
// What was in flight together fails together, and counts once: a failure of a
// request that was let through before the last counted failure was reported is
// not counted towards Failures (it is in Counts.Failures, and its
// Retry-After is remembered). So 50 ms without a connection are one failure
// whether one request was in flight or a hundred, and three waves of requests
// one after the other open the breaker. Successes are counted one by one: up to half of
// the requests that are sent one after the other may succeed while it opens, and
// with many in flight next to none. A Trip always opens it, and a failed probe
// always opens it again.
//
// Results of requests that started before the last change of state are ignored,
// whatever they say and however late they come: ten requests that were under
// way when the service died open the breaker once, and the last of them to time
// out does not open it again after it has healed.
//
// # How long it stays open
//
// As long as the trouble has lasted so far, but at least OpenFor (1 s) and at
// most MaxOpenFor (30 s), less a random share; and in any case until the latest
// moment that a Retry-After asked for, for MaxRetryAfter (10 min) at the
// most. A Retry-After never shortens the time. The trouble began with the
// first failure since the last success, of any request and in any state, and
// ends with the next success; only a late failure begins none once the breaker
// is closed again. Failures and Trips follow the same schedule.
//
// So the pauses between probes double, more or less, while an outage lasts, and
// when it is over a probe goes within the length of the outage or OpenFor,
// whichever is longer, and within MaxOpenFor (a Retry-After apart): 50 ms
// without a connection cost a second at most, ten minutes half a minute. The
// length of an outage is what the breaker could see of it: a single failure that
// no success followed for an hour, because nobody sent anything, counts as an
// hour of trouble if the next request fails too.
//
// The rules are those of the fuse library for Erlang, on the state machine of
// github.com/sony/gobreaker, with differences that are meant:
//
//   - Failures: n opens on the n-th failure. A fuse of intensity n blows on the
//     melt after the n-th.
//   - A fuse is blown by the number of failures alone. Here they must also be a
//     share of the results, so that a service of which one reply in ten is lost
//     is not left alone half of the time.
//   - A fuse melts with every failure. Here those of one wave count once.
//   - A fuse stays blown for the same time whatever happened. Here the time grows
//     with the outage.
//   - A fuse that heals lets everything through again; here one probe goes
//     first. This is also what there is instead of fuse's alarms, which are
//     cleared only when three looks in a row have found the fuse whole: Closed is
//     reported when a request has succeeded, not when a time is over.
//   - A fuse is melted by anybody at any time; here a failure belongs to a
//     request that was let through, and counts only for the state it started in.
//   - A fuse that is installed anew with other options forgets its melts;
//     SetOptions keeps the failures. Both keep it disabled.
//   - There are no names, so nothing is removed, and no rate of faults for tests:
//     searchtest injects those where they happen.
//
// The moment of a failure is when Done is called. A failure that is exactly as
// old as the window is outside it.
package breaker
