package models

import "encoding/json"

// UnknownComponent is an analyzer, tokenizer, filter or normalizer of a type
// that this library does not know. It is written back as it was read.
type UnknownComponent struct {
	// Type is its @odata.type.
	Type string `json:"@odata.type"`
	// Name is what the definition refers to it by.
	Name string `json:"name"`
	// AdditionalProperties are all its other members.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

func (UnknownComponent) analyzer() {}

func (UnknownComponent) tokenizer() {}

func (UnknownComponent) tokenFilter() {}

func (UnknownComponent) charFilter() {}

func (UnknownComponent) normalizer() {}
