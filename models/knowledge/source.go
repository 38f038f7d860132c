package knowledge

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/internal/object"
)

// Source is a knowledge source, to which bases refer. It is printed without its secrets.
type Source struct {
	// Name is the name by which bases refer to the source.
	Name string
	// Description is free text, also for language models.
	Description string
	// Parameters configure what the source reads; their Go type is the kind of the source. In JSON they are the members
	// "kind" and, for an AzureBlob, "azureBlobParameters".
	Parameters SourceParameters
	// CORSOptions allow scripts of other origins to upload files to a File source.
	CORSOptions *models.CORSOptions
	// EncryptionKey is a customer-managed key that encrypts the definition. It cannot be removed later.
	EncryptionKey *models.EncryptionKey
	// ETag is the version of the definition, in the service's notation with quotes.
	ETag string
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage
}

// sourceJSON is a Source without its parameters, whose member name depends on the kind.
type sourceJSON struct {
	Name                 string                     `json:"name"`
	Kind                 SourceKind                 `json:"kind"`
	Description          string                     `json:"description,omitzero"`
	CORSOptions          *models.CORSOptions        `json:"corsOptions,omitzero"`
	EncryptionKey        *models.EncryptionKey      `json:"encryptionKey,omitzero"`
	ETag                 string                     `json:"@odata.etag,omitzero"`
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// parametersOf returns the empty parameters of a kind, or nil if the kind is unknown.
func parametersOf(kind SourceKind) SourceParameters {
	for _, p := range []SourceParameters{SearchIndex{}, AzureBlob{}, OneLake{}, Web{}, SharePoint{}, SQL{}, File{}} {
		if p.kind() == kind {
			return p
		}
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (x Source) MarshalJSON() ([]byte, error) {
	out := sourceJSON{Name: x.Name, Description: x.Description, CORSOptions: x.CORSOptions, EncryptionKey: x.EncryptionKey, ETag: x.ETag, AdditionalProperties: x.AdditionalProperties}
	if x.Parameters != nil {
		out.Kind = x.Parameters.kind()
	}
	if parametersOf(out.Kind) != nil && !reflect.ValueOf(x.Parameters).IsZero() {
		parameters, err := json.Marshal(x.Parameters)
		if err != nil {
			return nil, err
		}
		out.AdditionalProperties = object.With(out.AdditionalProperties, string(out.Kind)+"Parameters", parameters)
	}
	return types.Encode(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *Source) UnmarshalJSON(b []byte) error {
	var in sourceJSON
	if err := types.Decode(b, &in); err != nil {
		return err
	}
	member := string(in.Kind) + "Parameters"
	var parameters SourceParameters = UnknownSource{in.Kind}
	if known := parametersOf(in.Kind); known != nil {
		v := reflect.New(reflect.TypeOf(known))
		if raw, there := in.AdditionalProperties[member]; there {
			if err := json.Unmarshal(raw, v.Interface()); err != nil {
				return fmt.Errorf("member %q: %w", member, err)
			}
			delete(in.AdditionalProperties, member)
		}
		parameters = v.Elem().Interface().(SourceParameters)
	}
	*x = Source{
		Name: in.Name, Description: in.Description, Parameters: parameters, CORSOptions: in.CORSOptions, EncryptionKey: in.EncryptionKey, ETag: in.ETag,
		AdditionalProperties: in.AdditionalProperties,
	}
	return nil
}
