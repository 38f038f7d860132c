package publisher

import "slices"

// part is some of a batch that was refused or has failed.
type part struct {
	refs []ref
	due  instant
}

// split puts back a batch that was refused as a whole, as parts that are sent unchanged: merged with each other or
// anything else, they would be refused forever. named are the items that the service blamed. A service that names
// several has named all, so the others are one part and go first: applied ones prove that the index is not the cause. A
// single named item may be only the first that the service has found. The parts are sent before those of other batches,
// so that a guilty action, and enough of many, are found with few requests.
func (p *pending[V]) split(batch, named []ref) {
	is := make(map[ref]bool, len(named))
	for _, r := range named {
		is[r] = true
	}
	var blamed, others []ref
	for _, r := range batch {
		if is[r] {
			blamed = append(blamed, r)
		} else {
			others = append(others, r)
		}
	}
	var parts []part
	switch {
	case len(others) == 0 || len(blamed) == 0:
		for _, half := range p.divide(batch, 2) {
			parts = append(parts, part{refs: half})
		}
	case len(blamed) > 1:
		parts = []part{{refs: others}, {refs: blamed}}
	default:
		parts = []part{{refs: blamed}}
		for _, half := range p.divide(others, 2) {
			parts = append(parts, part{refs: half})
		}
	}
	p.parts = append(parts, p.parts...)
}

// divide cuts a batch into n pieces of about the same bytes, not of the same number of actions, so that one giant among
// small ones is isolated in a few steps.
func (p *pending[V]) divide(batch []ref, n int) (pieces [][]ref) {
	total := 0
	for _, r := range batch {
		total += len(p.at(r).item.Body)
	}
	for ; n > 1 && len(batch) > 1; n-- {
		cut, sum := 0, 0
		for cut < len(batch)-1 && (cut == 0 || sum+len(p.at(batch[cut]).item.Body) <= total/n) {
			sum += len(p.at(batch[cut]).item.Body)
			cut++
		}
		pieces = append(pieces, slices.Clone(batch[:cut]))
		batch, total = batch[cut:], total-sum
	}
	if len(batch) > 0 {
		pieces = append(pieces, slices.Clone(batch))
	}
	return pieces
}

// duePart returns the index of the next part of the class that is due, or -1.
func (p *pending[V]) duePart(class uint8) int {
	return slices.IndexFunc(p.parts, func(part part) bool { return part.due <= p.now && p.mostUrgent(part.refs) == class })
}

// dissolve puts back the actions of all parts one by one.
func (p *pending[V]) dissolve() {
	for _, part := range p.parts {
		for _, r := range part.refs {
			p.retry(r, part.due)
		}
	}
	p.parts = nil
}
