package bufferedsender

import "time"

// bound is how much longer a request may last because of its actions, if there is a bound: a key may be leased, by
// the feed or by the caller that has added the action.
type bound struct {
	left    time.Duration
	limited bool
	now     time.Time // the same for all leases of the feed: a clock can be slow
}

// see takes an action in, with what was folded into it.
func (b *bound) see(it *item) {
	b.add(&it.Value)
	for i := range it.Parts {
		b.add(&it.Parts[i].Value)
	}
}

func (b *bound) add(v *payload) {
	var left time.Duration
	switch h := v.from.holding; {
	case h != nil:
		if b.now.IsZero() {
			b.now = time.Now()
		}
		left = h.terms.Until(&h.lasts, b.now)
	case v.own != nil && v.own.until != nil:
		left = v.own.until()
	default:
		return
	}
	if !b.limited || left < b.left {
		b.left, b.limited = left, true
	}
}
