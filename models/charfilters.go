package models

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// CharFilter is a character filter defined in an index: MappingCharFilter, PatternReplaceCharFilter or
// UnknownComponent.
type CharFilter interface{ charFilter() }

// MappingCharFilter replaces characters according to a table. The longest match takes precedence.
type MappingCharFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Mappings are lines of the form "a=>b".
	Mappings []string `json:"mappings"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PatternReplaceCharFilter replaces the matches of a regular expression in the text.
type PatternReplaceCharFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Pattern is the regular expression, in the syntax of Java.
	Pattern string `json:"pattern"`
	// Replacement is the text that replaces a match; $1 is the first group.
	Replacement string `json:"replacement"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

func (MappingCharFilter) charFilter() {}

func (PatternReplaceCharFilter) charFilter() {}

var charFilterTypes = []object.Type{
	component[MappingCharFilter]("MappingCharFilter"),
	component[PatternReplaceCharFilter]("PatternReplaceCharFilter"),
}
