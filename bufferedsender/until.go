package bufferedsender

import "time"

// lasting reports whether an action, and what was folded into it, may still be in a request
// that takes at least so long: whoever has leased its key may have said until when.
func lasting(it *item, atLeast time.Duration) bool {
	atLeast = max(atLeast, 1)
	for i := range it.Parts {
		if until := it.Parts[i].Value.until(); until != nil && until() < atLeast {
			return false
		}
	}
	until := it.Value.until()
	return until == nil || until() >= atLeast
}

// untilOf returns how long a request with these actions may take, if there is a bound.
func untilOf(b *batch) (limit time.Duration, limited bool) {
	see := func(v *payload) {
		until := v.until()
		if until == nil {
			return
		}
		if left := until(); !limited || left < limit {
			limit, limited = left, true
		}
	}
	for i := range b.Items {
		see(&b.Items[i].Value)
		for j := range b.Items[i].Parts {
			see(&b.Items[i].Parts[j].Value)
		}
	}
	return limit, limited
}

func (p *payload) until() func() time.Duration {
	if p.own == nil {
		return nil
	}
	return p.own.until
}
