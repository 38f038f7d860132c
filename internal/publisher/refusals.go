package publisher

import (
	"errors"
	"sync/atomic"
)

// refusals detects that the index is the cause when the service refuses items: manyKeys different keys in a row for the
// same reason, with none applied in between. If an item sent after that is applied, the items were the cause, and count
// as such for a minute, so that a thousand bad ones in a row do not stop the others again and again. It is pure data.
type refusals struct {
	reason      string
	keys        map[string]struct{} // at most manyKeys
	last        instant             // last refusal
	tried       int                 // probes refused since there were many
	seen        uint64              // items accepted after this one arrived after the index was suspected, and none of them was tried
	probedFresh bool                // the last probe carried such an item
	// loop.gate.others at the last refusal after many.
	othersThen uint64

	itemsOwn string  // a reason caused by the items
	until    instant // end of validity of itemsOwn

	innocent map[string]instant // by trait: until when it does not count as a cause
}

// applied records that an item of a request sent at left was applied.
func (r *refusals) applied(left, now instant) {
	if r.many() {
		if left < r.last {
			return // possibly before the index was changed
		}
		r.itemsOwn, r.until = r.reason, later(now, trustFor)
	}
	r.keys, r.tried = nil, 0
}

// refused records that an item was refused.
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

// IndexError means that the service refuses one item after the other for one reason, so that the index is probably the
// cause, not the items. It wraps ErrShut.
type IndexError struct {
	Reason string
	Err    error // of the last request, or nil
	Probe  bool  // that request was a probe

	released atomic.Bool // see Apart
	apart    bool
}

// Apart reports whether the item with this error is still set apart. It no longer is after the service has accepted one
// of the items set apart for the reason.
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

// judgeIndex extracts what a reply says about the index. It runs before the gate is notified, because the gate must
// shut if the index is the cause.
func (l *loop[V, R]) judgeIndex(f *flight[V, R]) {
	if l.p.config.Gate == nil || f.reply.Service == ServiceRefuses || f.reply.Split && len(f.refs) > 1 {
		return
	}
	if f.group != nil && f.reply.Trait != nil {
		return // set apart for this trait, see refusedFor
	}
	now := l.p.now()
	for i := range f.reply.Results {
		switch result := &f.reply.Results[i]; {
		case result.Next == Complete && !result.Ignored && !result.Bare:
			l.refusals.applied(f.left, now)
		case len(f.reply.Named) > 1 && l.pending.at(f.refs[i]).applied != l.budget.traffic.applied:
			// Named with others while something else was applied: the item is the cause.
		case result.Next == Fail && result.Reason != "":
			l.refusals.refused(result.Reason, f.batch.Items[i].Key, now)
		}
	}
	reason := lastReason(f.reply.Results)
	if reason == "" {
		return
	}
	// While the gate is shut for this reason, only an applied item proves the contrary. The refusals of another publisher
	// may have shut it.
	var shut *IndexError
	probe := f.permit != nil && f.permit.Probe() && errors.As(l.gate.shut, &shut)
	switch {
	case probe && shut.Reason != reason: // its own fault; another one should be tried
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

// fresh returns the bit set of classes with a waiting item that arrived after the index was suspected. It has not been
// refused, so it is tried at once.
func (l *loop[V, R]) fresh() uint64 {
	newest := l.limits().newest
	if l.pending.newest <= l.refusals.seen || newest <= l.refusals.seen || !errors.As(l.gate.shut, new(*IndexError)) {
		return 0
	}
	return l.pending.since(l.refusals.seen, newest)
}

// skipsFresh reports whether the next probe leaves fresh items to an early one. Otherwise a steady arrival of items
// that are refused would keep all older ones from being tried.
func (l *loop[V, R]) skipsFresh() bool { return l.refusals.probedFresh && !l.gate.early }

// exonerate records that the gate has opened because the service applied an item of another publisher: the index is not
// the cause.
func (l *loop[V, R]) exonerate() {
	if now := l.p.now(); l.refusals.many() && l.gate.others > l.refusals.othersThen {
		l.refusals.applied(now, now)
	}
}

// lastReason returns the reason of the last item that was refused or applied; "" if that item was applied or has no
// reason, or if there is none.
func lastReason[R any](results []Result[R]) string {
	for i := len(results) - 1; i >= 0; i-- {
		if results[i].Next != Requeue {
			return results[i].Reason
		}
	}
	return ""
}
