package models

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// Patch is a document for a merge that distinguishes unchanged, null and zero fields. A struct cannot: every field is
// sent and overwrites the stored one, or, with omitempty, can never become zero.
//
//	p := models.NewPatch("hotelId", "7")
//	p.Set("rating", 0)         // {"rating":0}
//	p.Clear("description")     // {"description":null}
//	p.In("address").Set("city", "Oslo") // {"address":{"city":"Oslo"}}, the rest of the address stays
//	// every other field stays as it is
//
// A list is always replaced as a whole. Every patch must contain the key, where KeyFieldByName reads it. A Patch is
// encoded like a map, with names in alphabetical order, so equal patches have equal bytes.
//
// The zero value is ready to use. A Patch is not safe for concurrent use.
type Patch struct {
	fields Document
}

// NewPatch returns a patch of the document with the given key.
func NewPatch(keyField, key string) *Patch {
	return new(Patch).Set(keyField, key)
}

// Set sets the field to value. It returns p.
func (p *Patch) Set(field string, value any) *Patch {
	if p.fields == nil {
		p.fields = Document{}
	}
	p.fields[field] = value
	return p
}

// Clear sets the field to null, or to an empty list if it is a list. It returns p.
func (p *Patch) Clear(field string) *Patch { return p.Set(field, nil) }

// Keep removes the field from the patch, so that a merge does not change it. It returns p.
func (p *Patch) Keep(field string) *Patch {
	delete(p.fields, field)
	return p
}

// In returns the patch for the fields of a complex field. It is part of p. It replaces a former value of the field,
// unless that was already a patch from In.
func (p *Patch) In(field string) *Patch {
	if inner, ok := p.fields[field].(*Patch); ok {
		return inner
	}
	inner := new(Patch)
	p.Set(field, inner)
	return inner
}

// Fields returns the names of the fields in the patch, in alphabetical order.
func (p *Patch) Fields() []string { return slices.Sorted(maps.Keys(p.fields)) }

// Get returns the value of a field: nil and true if the patch sets it to null, nil and false if the field is not in
// the patch.
func (p *Patch) Get(field string) (value any, ok bool) {
	value, ok = p.fields[field]
	return value, ok
}

// MarshalJSON implements json.Marshaler.
func (p Patch) MarshalJSON() ([]byte, error) {
	if p.fields == nil {
		return []byte("{}"), nil
	}
	fields, err := p.flat(0)
	if err != nil {
		return nil, err
	}
	if out, ok := encode.AppendDocument(nil, fields); ok {
		return out, nil
	}
	out, err := appendValue(nil, fields) // returns the error
	if _, broken := notUTF8(reflect.ValueOf(fields), ""); err == nil && broken {
		return nil, errNotUTF8
	}
	return out, err
}

// maxNesting is the largest depth of nested patches. The service allows ten levels.
const maxNesting = 1000

// flat returns the fields, with each nested patch replaced by its fields. encoding/json would call MarshalJSON
// recursively for nested patches, and a patch that contains itself would overflow the stack.
func (p Patch) flat(depth int) (Document, error) {
	if depth > maxNesting {
		return nil, errors.New("patches are nested too deep, or one contains itself")
	}
	fields, copied := p.fields, false
	for name, value := range p.fields {
		var inner Patch
		switch v := value.(type) {
		case Patch:
			inner = v
		case *Patch:
			if v == nil {
				continue
			}
			inner = *v
		default:
			continue
		}
		flat, err := inner.flat(depth + 1)
		if err != nil {
			return nil, err
		}
		if flat == nil {
			flat = Document{}
		}
		if !copied {
			fields, copied = maps.Clone(fields), true
		}
		fields[name] = flat
	}
	return fields, nil
}

// UnmarshalJSON implements json.Unmarshaler. The patch then sets every member of the JSON; numbers become
// json.Number. Objects become plain values, which In replaces.
func (p *Patch) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &p.fields)
}
