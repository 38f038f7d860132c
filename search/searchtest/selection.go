package searchtest

import (
	"net/http"
	"strings"

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
func parseSelection(sc *schema, text string) (*selection, *serviceError) {
	out := &selection{fields: make(map[*stored.Field]*selection)}
	all := false
	for path := range strings.SplitSeq(text, ",") {
		path = strings.TrimSpace(path)
		if path == "*" {
			all = true
			continue
		}
		if err := out.add(sc, path); err != nil {
			return nil, err
		}
	}
	if all {
		return nil, nil
	}
	return out, nil
}

// add puts the field at path into the selection.
func (s *selection) add(sc *schema, path string) *serviceError {
	byName := sc.byName
	names := strings.Split(path, "/")
	for i, name := range names {
		f, ok := byName[name]
		if !ok {
			return invalidExpression("Could not find a property named '"+name+"' on type 'search.document'.", "$select")
		}
		if !f.Retrievable && f.Type != stored.Complex {
			return invalidExpression("The property '"+path+"' is not retrievable. Only retrievable fields can be selected.", "$select")
		}
		sub, chosen := s.fields[f]
		switch last := i == len(names)-1; {
		case last:
			s.fields[f] = nil
		case chosen && sub == nil: // the whole field is selected already
			return nil
		case !chosen:
			sub = &selection{fields: make(map[*stored.Field]*selection)}
			s.fields[f] = sub
			fallthrough
		default:
			s, byName = sub, f.ByName
		}
	}
	return nil
}

// invalidExpression is the refusal of an OData expression in a parameter.
func invalidExpression(why, parameter string) *serviceError {
	return &serviceError{
		status:  http.StatusBadRequest,
		message: "Invalid expression: " + why + "\r\nParameter name: " + parameter,
	}
}
