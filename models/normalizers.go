package models

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// Normalizer is a normalizer defined in an index: CustomNormalizer or UnknownComponent.
type Normalizer interface{ normalizer() }

// CustomNormalizer combines filters that keep the value a single token. It needs api-version 2025-09-01.
type CustomNormalizer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// TokenFilters modify the value after CharFilters, in this order.
	TokenFilters []TokenFilterName `json:"tokenFilters,omitzero"`
	// CharFilters modify the value first, in this order.
	CharFilters []CharFilterName `json:"charFilters,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

func (CustomNormalizer) normalizer() {}

var normalizerTypes = []object.Type{
	component[CustomNormalizer]("CustomNormalizer"),
}
