package bufferedsender

import "time"

// until returns how much longer a request with an action may last, if there is a bound: its key is leased, by the feed
// or by whoever has added it.
func (v *payload) until() (left time.Duration, limited bool) {
	switch h := v.from.holding; {
	case h != nil:
		return h.terms.Until(&h.lasts, time.Now()), true
	case v.own != nil && v.own.until != nil:
		return v.own.until(), true
	}
	return 0, false
}

// bound is how much longer a request may last because of its actions, if they have bounds.
type bound struct {
	left    time.Duration
	limited bool
}

// see takes an action in, with what was folded into it.
func (b *bound) see(it *item) {
	one := func(v *payload) {
		if left, limited := v.until(); limited && (!b.limited || left < b.left) {
			*b = bound{left, true}
		}
	}
	one(&it.Value)
	for i := range it.Parts {
		one(&it.Parts[i].Value)
	}
}
