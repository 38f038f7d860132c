package query

import (
	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// selection is the set of fields in a reply, each with the selection of its sub-fields. A nil
// selection contains all retrievable fields.
type selection struct {
	fields map[*stored.Field]*selection
	hidden bool // all fields, including those that are not retrievable
}

// everything is the selection of inspection: all fields.
var everything = &selection{hidden: true}

// showsHidden reports whether the selection contains fields that are not retrievable.
func (s *selection) showsHidden() bool { return s != nil && s.hidden }

// bySubField reports whether the selection names single fields.
func (s *selection) bySubField() bool { return s != nil && !s.hidden }

// below reports whether the selection contains f, and returns that of its sub-fields.
func (s *selection) below(f *stored.Field) (*selection, bool) {
	if s == nil || s.hidden {
		return s, true
	}
	sub, ok := s.fields[f]
	return sub, ok
}

// parseSelection reads the value of $select: * or paths separated by commas.
func parseSelection(sc *schema.Index, text string) (*selection, *reply.Error) {
	paths, err := odata.CompileSelect(text, sc.ByName)
	if err != nil {
		return nil, reply.InvalidExpression(err.Error(), "$select")
	}
	if paths == nil {
		return nil, nil
	}
	out := &selection{fields: make(map[*stored.Field]*selection)}
	for _, path := range paths {
		out.add(path)
	}
	return out, nil
}

// add adds the field at the end of a path.
func (s *selection) add(path []*stored.Field) {
	for i, f := range path {
		sub, chosen := s.fields[f]
		switch {
		case i == len(path)-1:
			s.fields[f] = nil
		case chosen && sub == nil: // the whole field is already selected
			return
		case !chosen:
			sub = &selection{fields: make(map[*stored.Field]*selection)}
			s.fields[f] = sub
		}
		s = sub
	}
}
