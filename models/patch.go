package models

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// Patch is a document for a merge, in which "leave it", "make it null" and "make
// it zero" are three different things. In a struct they are not: every field is
// sent and so overwritten, or, with omitempty, can never become zero.
//
//	p := models.NewPatch("hotelId", "7")
//	p.Set("rating", 0)         // {"rating":0}
//	p.Clear("description")     // {"description":null}
//	p.In("address").Set("city", "Oslo") // {"address":{"city":"Oslo"}}, the rest of the address stays
//	// every other field stays as it is
//
// A list is always replaced as a whole. The key has to be in every patch; it is
// read from there by KeyFieldByName. A Patch marshals like the map it is, names
// in alphabetical order, so that the same patch is always the same bytes.
//
// The zero value is ready to use. A Patch is not safe for concurrent use.
type Patch struct {
	fields Document
}

// NewPatch returns a patch of the document with the given key.
func NewPatch(keyField, key string) *Patch {
	return new(Patch).Set(keyField, key)
}

// Set makes the field value. It returns p.
func (p *Patch) Set(field string, value any) *Patch {
	if p.fields == nil {
		p.fields = Document{}
	}
	p.fields[field] = value
	return p
}

// Clear makes the field null, or an empty list if it is one. It returns p.
func (p *Patch) Clear(field string) *Patch { return p.Set(field, nil) }

// Keep takes the field out of the patch, so that it stays as it is. It returns p.
func (p *Patch) Keep(field string) *Patch {
	delete(p.fields, field)
	return p
}

// In returns the patch of the fields of a complex field, which belongs to p. What
// p said about the field before is gone, unless it was such a patch.
func (p *Patch) In(field string) *Patch {
	if inner, ok := p.fields[field].(*Patch); ok {
		return inner
	}
	inner := new(Patch)
	p.Set(field, inner)
	return inner
}

// Fields returns the names of the fields that the patch says something about, in
// alphabetical order.
func (p *Patch) Fields() []string { return slices.Sorted(maps.Keys(p.fields)) }

// Get returns the value of a field: nil and true if it is to become null, nil
// and false if the patch says nothing about it.
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
	out, err := appendValue(nil, fields) // which says why not
	if _, broken := notUTF8(reflect.ValueOf(fields), ""); err == nil && broken {
		return nil, errNotUTF8
	}
	return out, err
}

// maxNesting is how deep patches may be inside each other. The service stops at
// ten.
const maxNesting = 1000

// flat returns the fields with the patches in them replaced by theirs. Left to
// encoding/json, each would be encoded by a call of MarshalJSON inside another,
// and a patch that contains itself would end the process.
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

// UnmarshalJSON implements json.Unmarshaler. The patch then says about every
// member what the JSON says, numbers being json.Number. Objects are values, not
// what In returns.
func (p *Patch) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &p.fields)
}
