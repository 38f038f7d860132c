package archtest

import (
	"go/types"
	"slices"
	"strings"
)

// ofAuthors are the packages whose options the author of a test sets, in the test: the emulated service, and a queue
// that ends with its process. What the program azsearch emulator lets be set of them are flags of a developer.
var ofAuthors = []string{"search/searchtest/...", "bufferedsender/queue/memqueue"}

// ofCalls are the structs whose fields are data of one call, that only the calling code has: the keys to flush.
var ofCalls = []string{"bufferedsender.FlushOptions"}

// Options returns the options that an operator of a program can meet, in its flags or its configuration: the fields of
// the exported structs "…Options" and Limits, outside of the packages of the service, that are numbers, texts, bools,
// durations or constants of a type, or lists of these. Functions, loggers and other parts are the programmer's, and so
// is what ofAuthors and ofCalls name.
func (u *Usage) Options(names []Name) (options []string) {
	for _, n := range names {
		if slices.Contains(ofService, n.Folder) || matchAny(ofAuthors, n.Folder) || slices.Contains(ofCalls, n.String()) || !strings.HasSuffix(n.Text, "Options") && n.Text != "Limits" {
			continue
		}
		p, err := u.importer.Import(Module + "/" + n.Folder)
		if err != nil {
			continue
		}
		obj, ok := p.Scope().Lookup(n.Text).(*types.TypeName)
		if !ok { // a method
			continue
		}
		s, ok := obj.Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for f := range s.Fields() {
			if f.Exported() && !f.Embedded() && canBeWritten(f.Type()) {
				options = append(options, n.String()+"."+f.Name())
			}
		}
	}
	return options
}

// canBeWritten reports whether values of a type can be written down.
func canBeWritten(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Slice:
		return canBeWritten(t.Elem())
	case *types.Array:
		return canBeWritten(t.Elem())
	}
	return false
}
