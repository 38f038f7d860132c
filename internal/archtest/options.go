package archtest

import (
	"go/types"
	"slices"
	"strings"
)

// ofAuthors are the packages whose options are set by the author of a test in its code: the emulator, and the queue
// in memory. Some of them are flags of azsearch emulator, for developers.
var ofAuthors = []string{"search/searchtest/...", "bufferedsender/queue/memqueue"}

// ofCalls are structs whose fields are data of one call, such as the keys to flush.
var ofCalls = []string{"bufferedsender.FlushOptions"}

// Options returns the options that an operator may set by flags or configuration: the fields of exported structs
// named …Options or Limits, outside the packages of the service, that are numbers, strings, bools, durations or
// typed constants, or lists of these. It leaves out functions, loggers and other parts, ofAuthors and ofCalls.
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

// canBeWritten reports whether values of a type can be written in a configuration.
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
