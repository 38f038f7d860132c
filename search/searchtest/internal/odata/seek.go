package odata

import (
	"maps"
	"slices"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Above returns a lower bound, by bytes, of a text field in all matching documents: the greatest bound of the
// conditions joined by "and". The field is the top-level field with this ordinal; conditions with a normalizer do
// not count. ok is false if there is no such bound.
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

// Among returns values that include the field's value in every matching document: the shortest such list of the
// conditions joined by "and". Values are unordered and may repeat. The field is the top-level text field with this
// ordinal; conditions with a normalizer do not count. ok is false if there is no such list.
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

// Ascending reports whether the order is ascending by the bytes of one text field: the top-level field with this
// ordinal, without a normalizer.
func (o *Order) Ascending(ordinal int) bool {
	if len(o.keys) != 1 {
		return false
	}
	k := &o.keys[0]
	return k.kind == orderField && isField(k.path, ordinal) && k.typ == stored.String && k.normalize == nil && !k.descending
}
