package models

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// CharFilter is a character filter that an index defines: MappingCharFilter,
// PatternReplaceCharFilter or UnknownComponent.
type CharFilter interface{ charFilter() }

// MappingCharFilter replaces characters by a table, the longest match first.
type MappingCharFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Mappings are lines of the form "a=>b".
	Mappings []string `json:"mappings"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PatternReplaceCharFilter replaces what a regular expression matches in the
// text.
type PatternReplaceCharFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Pattern is the regular expression, in the syntax of Java.
	Pattern string `json:"pattern"`
	// Replacement is the text to put in its place; $1 stands for the first
	// group.
	Replacement string `json:"replacement"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

func (MappingCharFilter) charFilter() {}

func (PatternReplaceCharFilter) charFilter() {}

var charFilterTypes = []object.Type{
	component[MappingCharFilter]("MappingCharFilter"),
	component[PatternReplaceCharFilter]("PatternReplaceCharFilter"),
}
