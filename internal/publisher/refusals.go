package publisher

import (
	"errors"
	"sync/atomic"
)

// refusals finds out that the index is the cause when the service refuses items:
// so many different keys in a row for the same reason, with none applied in
// between. If one that is sent then is applied all the same it was the items, and is
// for a minute: a thousand bad ones in a row must not hold the others again and
// again. It is pure data.
type refusals struct {
	reason string
	keys   map[string]struct{} // at most manyKeys
	last   instant             // one was refused
	tried  int                 // probes refused since there were many
	seen   uint64              // what was accepted after this item came when the index was suspected, and none of it was tried
	// loop.gate.others when the last one was refused after many.
	othersThen uint64

	itemsOwn string  // a reason that is up to the items
	until    instant // then

	innocent map[string]instant // traits that are not the cause until then
}

// applied notes that an item of a request that left then was applied.
func (r *refusals) applied(left, now instant) {
	if r.many() {
		if left < r.last {
			return // before the index was changed, perhaps
		}
		r.itemsOwn, r.until = r.reason, later(now, trustFor)
	}
	r.keys, r.tried = nil, 0
}

// refused notes that an item was refused.
func (r *refusals) refused(reason, key string, now instant) {
	if reason == r.itemsOwn && now < r.until {
		return
	}
	if r.reason != reason || r.keys == nil {
		r.reason, r.keys, r.tried = reason, make(map[string]struct{}), 0
	}
	if r.last = now; !r.many() {
		r.keys[key] = struct{}{}
	}
}

func (r *refusals) many() bool { return len(r.keys) >= manyKeys }

// IndexError says that the service refuses one item after the other for one reason,
// so that the index is held to be the cause and not the items. ErrShut is in its
// chain.
type IndexError struct {
	Reason string
	Err    error // of the last request, or nil
	Probe  bool  // that request was a probe

	released atomic.Bool // see Apart
	apart    bool
}

// Apart reports whether the item that has the error is held apart for the reason, until the service takes one of
// those that are.
func (e *IndexError) Apart() bool { return e.apart && !e.released.Load() }

func (e *IndexError) Error() string {
	const text = "one document after the other is refused for the same reason, the index may be the cause: "
	if e.Err != nil {
		return text + e.Err.Error()
	}
	return text + e.Reason
}

// Unwrap returns Err.
func (e *IndexError) Unwrap() error { return e.Err }

// Is reports whether target is ErrShut.
func (e *IndexError) Is(target error) bool { return target == ErrShut }

// judgeIndex reads what a reply says about the index. It runs before the gate is
// notified, because if the index is the cause the gate is to shut.
func (l *loop[V, R]) judgeIndex(f *flight[V, R]) {
	if l.p.config.Gate == nil || f.reply.Service == ServiceRefuses || f.reply.Split && len(f.refs) > 1 {
		return
	}
	if f.group != nil && f.reply.Trait != nil {
		return // one of those that are held apart for it, see refusedFor
	}
	now := l.p.now()
	for i := range f.reply.Results {
		switch result := &f.reply.Results[i]; {
		case result.Next == Complete && !result.Ignored && !result.Bare:
			l.refusals.applied(f.left, now)
		case len(f.reply.Named) > 1 && l.pending.at(f.refs[i]).applied != l.budget.traffic.applied:
			// Named with others while something else was applied: it is the item.
		case result.Next == Fail && result.Reason != "":
			l.refusals.refused(result.Reason, f.batch.Items[i].Key, now)
		}
	}
	reason := lastReason(f.reply.Results)
	if reason == "" {
		return
	}
	// While the gate is shut for it only one that is applied proves the contrary. It may
	// be another publisher's refusals that have shut it.
	var shut *IndexError
	probe := f.permit != nil && f.permit.Probe() && errors.As(l.gate.shut, &shut)
	switch {
	case probe && shut.Reason != reason: // it is its own fault; another one is to try
		f.reply.Service = ServiceUnclear
	case probe, l.refusals.many() && l.refusals.reason == reason:
		f.reply.Service = ServiceRefuses
		f.refusal = &IndexError{Reason: reason, Err: f.reply.Err, Probe: probe}
		l.refusals.othersThen = l.gate.others
		if l.refusals.many() && l.gate.shut == nil {
			l.refusals.seen = l.pending.newest
		}
		if probe {
			l.refusals.tried++
		}
	}
}

// fresh returns the classes, as bits, in which an item waits that came in after the index was
// suspected: it is not one of those that are refused, so it is tried at once.
func (l *loop[V, R]) fresh() uint64 {
	newest := l.limits().newest
	if l.pending.newest <= l.refusals.seen || newest <= l.refusals.seen || !errors.As(l.gate.shut, new(*IndexError)) {
		return 0
	}
	return l.pending.since(l.refusals.seen, newest)
}

// exonerate notes that the gate has been opened because the service has applied an
// item of another publisher: then the index is not the cause.
func (l *loop[V, R]) exonerate() {
	if now := l.p.now(); l.refusals.many() && l.gate.others > l.refusals.othersThen {
		l.refusals.applied(now, now)
	}
}

// lastReason returns why the last of the items was refused that were refused or
// applied, "" if it was not refused.
func lastReason[R any](results []Result[R]) string {
	for i := len(results) - 1; i >= 0; i-- {
		if results[i].Next != Requeue {
			return results[i].Reason
		}
	}
	return ""
}
