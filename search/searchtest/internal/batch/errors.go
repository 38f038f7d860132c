package batch

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// The messages of the service's JSON reader about values that do not fit their field. Each
// refuses the whole request.

// malformed returns the refusal of a body that is not JSON.
func (p *Parser) malformed() *reply.Error {
	return parseError("The request body is not valid JSON: " + p.Failure + ".")
}

// node returns the JSON reader's name for the value at the current position.
func (p *Parser) node() string {
	switch p.Peek() {
	case '{':
		return "StartObject"
	case '[':
		return "StartArray"
	}
	return "PrimitiveValue"
}

// unexpectedNode refuses a value of the wrong kind for a field with a single value.
func (p *Parser) unexpectedNode(f *stored.Field, found string) *reply.Error {
	if !p.Skip(p.Depth) {
		return p.malformed()
	}
	return parseError(fmt.Sprintf("An unexpected '%s' node was found for property named '%s' when reading from the JSON reader. A 'PrimitiveValue' node was expected.", found, f.Name))
}

// unexpectedContents refuses a value of the wrong kind for a complex field or a collection.
func (p *Parser) unexpectedContents(f *stored.Field, expected string) *reply.Error {
	found := p.node()
	if !p.Skip(p.Depth) {
		return p.malformed()
	}
	return parseError(fmt.Sprintf("A node of type '%s' was read from the JSON reader when trying to read the contents of the property '%s'; however, a %s was expected.", found, f.Name, expected))
}

// unexpectedValue refuses a value that belongs to no field.
func (p *Parser) unexpectedValue(expected string) *reply.Error {
	found := p.node()
	if !p.Skip(p.Depth) {
		return p.malformed()
	}
	return parseError(fmt.Sprintf("An unexpected '%s' node was found when reading from the JSON reader. A '%s' node was expected.", found, expected))
}

// nullElement refuses a null among the elements of a collection.
func (p *Parser) nullElement(f *stored.Field) *reply.Error {
	typ := f.Type.String()
	if f.Type == stored.Complex {
		typ = "search.complex." + f.Name
	}
	return parseError(fmt.Sprintf("A null value was found for the property named '%s', which has the expected type '%s[Nullable=False]'. The expected type '%s[Nullable=False]' does not allow null values.", f.Name, typ, typ))
}

// cannotConvert refuses a scalar of the wrong type or out of range. The message was reported
// by users; it does not name the field.
func (p *Parser) cannotConvert(f *stored.Field, literal string) *reply.Error {
	return parseError(fmt.Sprintf("Cannot convert the literal '%s' to the expected type '%s'.", literal, f.Type))
}

// badPoint refuses a value for an Edm.GeographyPoint.
func (p *Parser) badPoint(f *stored.Field, why string) *reply.Error {
	return parseError(fmt.Sprintf("The value of the property '%s' is not a valid value of type 'Edm.GeographyPoint': %s.", f.Name, why))
}

// containsEPSG4326 reports whether crs, a JSON value, names the only coordinate reference
// system of the service.
func containsEPSG4326(crs []byte) bool {
	// Clients write one form; other forms may be slow.
	if string(crs) == `{"type":"name","properties":{"name":"EPSG:4326"}}` {
		return true
	}
	var v struct {
		Properties struct {
			Name string `json:"name"`
		} `json:"properties"`
	}
	return json.Unmarshal(crs, &v) == nil && v.Properties.Name == "EPSG:4326"
}

func bytesHaveBOM(data []byte) bool { return bytes.HasPrefix(data, []byte("\ufeff")) }
