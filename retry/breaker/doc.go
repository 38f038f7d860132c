// Package breaker is for code that must stop sending to a service that does not
// work, and find out by itself when it works again. The buffered sender keeps
// one [Breaker] for an index; use it directly around requests of your own.
//
// A breaker is Closed while all is well. It becomes Open on the n-th failure in
// a sliding window of time unless most requests succeed all the same, or on the
// n-th in a row, or at once on a result that says that no other request will
// succeed either. Open, it refuses every
// request until its time is up or the service's Retry-After is, if that is
// later. Then it becomes HalfOpen and lets exactly one request through, the
// probe, whose result closes it or opens it again. An administrator can take it
// out of service (Disabled) and put it back.
//
//	pass, err := b.Allow()
//	if err != nil {
//		return err // an *OpenError: since when, until when, why
//	}
//	err = send(ctx)
//	pass.Done(breaker.Result{Outcome: outcomeOf(err), Err: err})
//
// # What it does not do by itself
//
// A breaker does not know errors: whoever calls [Pass.Done] says what a result
// means. It does not wait: a refused caller subscribes and is told of every
// change of state. The move from Open to HalfOpen comes from a timer of the
// breaker's own, so that a queue that has stopped asking is woken.
//
// # What counts
//
// Results of requests that started before the last change of state are ignored,
// whatever they say and however late they come: ten requests that were under
// way when the service died open the breaker once, and the last of them to time
// out does not open it again after it has healed.
//
// The rules are those of the fuse library for Erlang, on the state machine of
// github.com/sony/gobreaker, with differences that are meant:
//
//   - Failures: n opens on the n-th failure. A fuse of intensity n blows on the
//     melt after the n-th.
//   - A fuse is blown by the number of failures alone. Here they must also be a
//     share of the results, so that a service of which one reply in ten is lost
//     is not left alone half of the time.
//   - A fuse that heals lets everything through again; here one probe goes
//     first. This is also what there is instead of fuse's alarms, which are
//     cleared only when three looks in a row have found the fuse whole: Closed is
//     told when a request has succeeded, not when a time is over.
//   - A fuse is melted by anybody at any time; here a failure belongs to a
//     request that was let through, and counts only for the state it started in.
//   - There are no names, so nothing is installed anew or removed, and no rate
//     of faults for tests: searchtest injects those where they happen.
//
// The moment of a failure is when Done is called. A failure that is exactly as
// old as the window is outside it.
package breaker
