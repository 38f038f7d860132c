package odata

import (
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// CompileSelect parses a $select. It returns the paths, each from the outermost field to the innermost; nil, meaning
// all fields, if text has a * or is empty. Its error is an [*Error].
func CompileSelect(text string, fields map[string]*stored.Field) ([][]*stored.Field, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	var paths [][]string
	all := false
	for {
		names, err := p.selectTerm()
		if err != nil {
			return nil, err
		}
		if names == nil {
			all = true
		} else {
			paths = append(paths, names)
		}
		if p.tok.kind != tokenComma {
			break
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if p.tok.kind != tokenEnd {
		return nil, refuse("Term '%s' is not valid in a $select or $expand expression.", text)
	}
	selected := make([][]*stored.Field, len(paths))
	for i, names := range paths {
		if selected[i], err = selectPath(names, fields); err != nil {
			return nil, err
		}
	}
	if all {
		return nil, nil
	}
	return selected, nil
}

// selectTerm parses one path, nil for *.
func (p *parser) selectTerm() ([]string, error) {
	if p.tok.kind == tokenStar {
		return nil, p.advance()
	}
	var names []string
	for {
		if p.tok.kind != tokenIdentifier {
			return nil, p.identifierExpected()
		}
		if strings.HasPrefix(p.text(), "$") {
			return nil, refuse("Found system token '%s' in select or expand clause '%s'.", p.text(), p.src)
		}
		name, err := p.dottedName()
		if err != nil {
			return nil, err
		}
		names = append(names, name)
		if p.tok.kind != tokenSlash {
			return names, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

// selectPath returns the fields on a path. Unlike in filters, a path may go through collections.
func selectPath(names []string, fields map[string]*stored.Field) ([]*stored.Field, error) {
	path := make([]*stored.Field, 0, len(names))
	typeName := documentType
	for _, name := range names {
		f, ok := fields[name]
		if !ok {
			return nil, noSuchProperty(name, typeName)
		}
		path, fields = append(path, f), f.ByName
		typeName = childType(typeName, f)
	}
	if f := path[len(path)-1]; !f.Retrievable && f.Type != stored.Complex {
		return nil, refuse("'%s' is not a retrievable field. Only fields marked as retrievable in the index can be used in $select.", strings.Join(names, "/"))
	}
	return path, nil
}
