package odata

import (
	"maps"
	"slices"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Above returns what a text field of documents that pass is at least, by its bytes: the greatest bound of the
// conditions that all must hold. The field is at the top level, with this ordinal, and has no normalizer. ok is false
// if the filter says nothing of the kind.
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
		ok = isField(p.path, ordinal) && p.normalize == nil && (p.op == opGreater || p.op == opGreaterOrEqual)
		bound = p.value
	}
	return bound, ok
}

// Among returns values of which a text field of documents that pass has one, by its bytes: the fewest that a
// condition leaves which must hold. They come in no order, and may come twice. The field is at the top level, with
// this ordinal, and has no normalizer. ok is false if the filter says nothing of the kind.
func (f *Filter) Among(ordinal int) (values []string, ok bool) {
	return among(f.root, ordinal)
}

func among(p predicate, ordinal int) (values []string, ok bool) {
	switch p := p.(type) {
	case and:
		for _, term := range p {
			if some, found := among(term, ordinal); found && (!ok || len(some) < len(values)) {
				values, ok = some, true
			}
		}
	case or:
		for _, term := range p {
			some, found := among(term, ordinal)
			if !found {
				return nil, false
			}
			values, ok = append(values, some...), true
		}
	case *compareString:
		if isField(p.path, ordinal) && p.normalize == nil && p.op == opEqual {
			return []string{p.value}, true
		}
	case *oneOf:
		if isField(p.path, ordinal) && p.normalize == nil {
			return slices.Collect(maps.Keys(p.values)), true
		}
	}
	return values, ok
}

func isField(path []int, ordinal int) bool { return len(path) == 1 && path[0] == ordinal }

// Ascending reports whether it is the order of one text field, by its bytes: at the top level, with this ordinal,
// without a normalizer.
func (o *Order) Ascending(ordinal int) bool {
	if len(o.keys) != 1 {
		return false
	}
	k := &o.keys[0]
	return k.kind == orderField && isField(k.path, ordinal) && k.typ == stored.String && k.normalize == nil && !k.descending
}
