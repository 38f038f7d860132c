package models

import (
	"encoding/json"
	"strings"
)

// SynonymFormatSolr is the only format of synonym maps.
const SynonymFormatSolr = "solr"

// SynonymMap holds rules that expand the queries on fields whose SearchField.SynonymMaps name it. A change takes
// effect at once, because the rules do not affect what is indexed.
type SynonymMap struct {
	// Name is the name by which fields refer to the map.
	Name string `json:"name"`
	// Format is SynonymFormatSolr. "" is written as SynonymFormatSolr too.
	Format string `json:"format" empty:"\"solr\""`
	// Synonyms are the rules:
	//
	//	USA, United States      all mean the same
	//	Wash., WA => Washington one side is searched for by the other
	//	# a comment
	//
	// A backslash escapes a comma, => and itself.
	Synonyms SynonymRules `json:"synonyms"`
	// EncryptionKey is a customer-managed key that encrypts the map in addition to the service's own key. It cannot be
	// removed later.
	EncryptionKey *EncryptionKey `json:"encryptionKey,omitzero"`
	// ETag is the version of the map, in the service's notation with quotes.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SynonymRules are the rules of a synonym map. In JSON they are one text with a rule per line; empty lines are
// dropped.
type SynonymRules []string

// MarshalJSON implements json.Marshaler.
func (r SynonymRules) MarshalJSON() ([]byte, error) {
	return appendString(nil, strings.Join(r, "\n")), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *SynonymRules) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	*r = nil
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			*r = append(*r, line)
		}
	}
	return nil
}
