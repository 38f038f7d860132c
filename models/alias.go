package models

import "encoding/json"

// Alias is a second name for an index. It works for documents and queries, but not for definitions. A change to
// another index takes effect within seconds. Until then requests may reach the previous index, so keep that for a
// while. An alias needs api-version 2026-04-01.
type Alias struct {
	// Name follows the rules for names of indexes, and must not be that of an index.
	Name string `json:"name"`
	// Indexes holds the name of the index, exactly one.
	Indexes []string `json:"indexes"`
	// ETag is the version of the alias, in the service's notation with quotes.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
