package odata

import "github.com/go-azsearch/azsearch/search/searchtest/internal/stored"

// Above returns what a text field of documents that pass is at least, by its bytes: the greatest bound of the conditions that all
// must hold. The field is at the top level, with this ordinal, and has no normalizer. ok is false if the filter says nothing of the kind.
func (f *Filter) Above(ordinal int) (bound string, ok bool) {
	return above(f.root, ordinal)
}

func above(p predicate, ordinal int) (bound string, ok bool) {
	switch p := p.(type) {
	case and:
		for _, term := range p {
			if b, found := above(term, ordinal); found && (!ok || b > bound) {
				bound, ok = b, true
			}
		}
	case *compareString:
		ok = len(p.path) == 1 && p.path[0] == ordinal && p.normalize == nil && (p.op == opGreater || p.op == opGreaterOrEqual)
		bound = p.value
	}
	return bound, ok
}

// Ascending reports whether it is the order of one text field, by its bytes: at the top level, with this ordinal, without a normalizer.
func (o *Order) Ascending(ordinal int) bool {
	if len(o.keys) != 1 {
		return false
	}
	k := &o.keys[0]
	return k.kind == orderField && len(k.path) == 1 && k.path[0] == ordinal && k.typ == stored.String && k.normalize == nil && !k.descending
}
