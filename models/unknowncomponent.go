package models

import "encoding/json"

// UnknownComponent is an analyzer, tokenizer, filter or normalizer of an unknown type. It is written back unchanged.
type UnknownComponent struct {
	// Type is the @odata.type of the component.
	Type string `json:"@odata.type"`
	// Name is the name of the component.
	Name string `json:"name"`
	// AdditionalProperties are all other members.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

func (UnknownComponent) analyzer() {}

func (UnknownComponent) tokenizer() {}

func (UnknownComponent) tokenFilter() {}

func (UnknownComponent) charFilter() {}

func (UnknownComponent) normalizer() {}
