package batch

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// What the service's JSON reader says about values that do not fit the field
// that they are for. All of these refuse the whole request.

// malformed is the refusal of a body that is not JSON.
func (p *Parser) malformed() *reply.Error {
	return parseError("The request body is not valid JSON: " + p.Failure + ".")
}

// node is the JSON reader's name for what stands at the current position.
func (p *Parser) node() string {
	switch p.Peek() {
	case '{':
		return "StartObject"
	case '[':
		return "StartArray"
	}
	return "PrimitiveValue"
}

// unexpectedNode refuses a value of the wrong shape for a single-valued field.
func (p *Parser) unexpectedNode(f *stored.Field, found string) *reply.Error {
	if !p.Skip(p.Depth) {
		return p.malformed()
	}
	return parseError(fmt.Sprintf("An unexpected '%s' node was found for property named '%s' when reading from the JSON reader. A 'PrimitiveValue' node was expected.", found, f.Name))
}

// unexpectedContents refuses a value of the wrong shape for a complex field or
// a collection.
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

// cannotConvert refuses a scalar of the wrong type or out of its range. Users have
// reported the words, in which the service does not say what field it is.
func (p *Parser) cannotConvert(f *stored.Field, literal string) *reply.Error {
	return parseError(fmt.Sprintf("Cannot convert the literal '%s' to the expected type '%s'.", literal, f.Type))
}

// badPoint refuses a value for an Edm.GeographyPoint.
func (p *Parser) badPoint(f *stored.Field, why string) *reply.Error {
	return parseError(fmt.Sprintf("The value of the property '%s' is not a valid value of type 'Edm.GeographyPoint': %s.", f.Name, why))
}

// containsEPSG4326 reports whether crs, a JSON value, names the one coordinate
// reference system that the service knows.
func containsEPSG4326(crs []byte) bool {
	// Clients write it one way; anything else may take its time.
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
