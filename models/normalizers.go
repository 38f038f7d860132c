package models

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// Normalizer is a normalizer that an index defines: CustomNormalizer or
// UnknownComponent.
type Normalizer interface{ normalizer() }

// CustomNormalizer puts a normalizer together from filters that keep a value one
// token. It takes api-version 2025-09-01.
type CustomNormalizer struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// TokenFilters change the value, in this order.
	TokenFilters []TokenFilterName `json:"tokenFilters,omitzero"`
	// CharFilters change the value before that, in this order.
	CharFilters []CharFilterName `json:"charFilters,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

func (CustomNormalizer) normalizer() {}

var normalizerTypes = []object.Type{
	component[CustomNormalizer]("CustomNormalizer"),
}
