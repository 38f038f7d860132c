package models

import (
	"encoding/json"
	"strings"
)

// SynonymFormatSolr is the only format of synonym maps.
const SynonymFormatSolr = "solr"

// SynonymMap holds rules that expand the queries of the fields that name it in
// SearchField.SynonymMaps. A change takes effect at once: nothing is indexed by
// it.
type SynonymMap struct {
	// Name is what fields refer to it by.
	Name string `json:"name"`
	// Format is SynonymFormatSolr, which is also what "" is written as.
	Format string `json:"format" empty:"\"solr\""`
	// Synonyms are the rules:
	//
	//	USA, United States      all mean the same
	//	Wash., WA => Washington one side is searched for by the other
	//	# a comment
	//
	// A backslash takes the meaning from a comma, from => and from itself.
	Synonyms SynonymRules `json:"synonyms"`
	// EncryptionKey is a key of the customer's to encrypt the map with, beside the
	// service's own. Once set it cannot be removed.
	EncryptionKey *EncryptionKey `json:"encryptionKey,omitzero"`
	// ETag is the version of the map, quotes included, as the service wrote it.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SynonymRules are the rules of a synonym map. In JSON they are one text with a rule a line;
// empty lines are left out.
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
