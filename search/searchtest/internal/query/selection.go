package query

import (
	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// selection is which fields a reply shows: those in fields, and of a complex
// field those that its own selection names, or all of them if that is nil. A nil
// selection shows everything.
type selection struct {
	fields map[*stored.Field]*selection
	hidden bool // everything, and fields that are not retrievable too
}

// everything is the selection of inspection, which nothing is hidden from.
var everything = &selection{hidden: true}

// showsHidden reports whether a field that is not retrievable is shown.
func (s *selection) showsHidden() bool { return s != nil && s.hidden }

// bySubField reports whether single fields were asked for by name.
func (s *selection) bySubField() bool { return s != nil && !s.hidden }

// below returns whether f is shown, and the selection among its sub-fields.
func (s *selection) below(f *stored.Field) (*selection, bool) {
	if s == nil || s.hidden {
		return s, true
	}
	sub, ok := s.fields[f]
	return sub, ok
}

// parseSelection reads the value of $select: * or paths, separated by commas.
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

// add puts the field at the end of a path into the selection.
func (s *selection) add(path []*stored.Field) {
	for i, f := range path {
		sub, chosen := s.fields[f]
		switch {
		case i == len(path)-1:
			s.fields[f] = nil
		case chosen && sub == nil: // the whole field is selected already
			return
		case !chosen:
			sub = &selection{fields: make(map[*stored.Field]*selection)}
			s.fields[f] = sub
		}
		s = sub
	}
}
