package models

import "encoding/json"

// Alias is a second name for an index. Documents are written and found by it,
// definitions are not. Pointing it to another index takes effect in some
// seconds; until then requests may reach the index of before, so that one is
// better kept for a while. It takes api-version 2026-04-01.
type Alias struct {
	// Name follows the rules for names of indexes, and is not that of an index.
	Name string `json:"name"`
	// Indexes are the names of the indexes it stands for: exactly one.
	Indexes []string `json:"indexes"`
	// ETag is the version of the alias, quotes included, as the service wrote it.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
