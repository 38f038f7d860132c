package shape

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// maxDefinitionNesting is the maximum depth of the JSON of a definition. Complex fields may
// have ten levels, with two levels of JSON each. Deeper JSON is refused without reading it.
const maxDefinitionNesting = 64

// Members is a JSON object with its members in their order.
type Members struct {
	Names  []string
	Values []any
}

// Get returns a member, nil for none.
func (m *Members) Get(name string) any {
	if m == nil {
		return nil
	}
	if i := slices.Index(m.Names, name); i >= 0 {
		return m.Values[i]
	}
	return nil
}

// Parser reads a definition for one api-version.
type Parser struct {
	Version apiversion.Version
	body    string // name of the body in messages of old versions: "index"
}

// NewParser returns a parser. body is the name of the body in messages of old versions, such as "index".
func NewParser(body string, version apiversion.Version) *Parser {
	return &Parser{Version: version, body: body}
}

// Read reads the JSON of a body as an object of a shape.
func (p *Parser) Read(body []byte, sh *Shape) (*Object, *reply.Error) {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	tree, err := ReadJSON(dec, 0)
	if err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("there is something after the end of the object")
		}
	}
	if err != nil {
		return nil, p.unreadable("Invalid JSON. " + Fault(err))
	}
	root, ok := tree.(*Members)
	if !ok {
		return nil, p.wrongNode(tree, "StartObject")
	}
	return p.Object(root, sh)
}

// ReadJSON reads one value as nil, bool, string, json.Number, []any or *Members.
func ReadJSON(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth >= maxDefinitionNesting {
		return nil, errors.New("objects and arrays nest too deep")
	}
	switch delim {
	case '{':
		out := &Members{}
		for dec.More() {
			token, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name, _ := token.(string)
			if slices.Contains(out.Names, name) {
				return nil, fmt.Errorf("there are two properties named '%s' in one object", name)
			}
			value, err := ReadJSON(dec, depth+1)
			if err != nil {
				return nil, err
			}
			out.Names = append(out.Names, name)
			out.Values = append(out.Values, value)
		}
		_, err := dec.Token()
		return out, err
	case '[':
		out := []any{}
		for dec.More() {
			value, err := ReadJSON(dec, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		_, err := dec.Token()
		return out, err
	}
	return nil, fmt.Errorf("'%s' was not expected", delim)
}

// Fault returns the text of err without names of Go packages.
func Fault(err error) string {
	var syntax *json.SyntaxError
	var unfit *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "The text ends before the value does."
	case errors.As(err, &syntax):
		return "There is a syntax error at position " + strconv.FormatInt(syntax.Offset, 10) + "."
	case errors.As(err, &unfit):
		return "A value of the kind " + unfit.Value + " cannot be there."
	}
	return strings.ToUpper(err.Error()[:1]) + err.Error()[1:] + "."
}

// Object converts a JSON object to an object of a shape.
func (p *Parser) Object(in *Members, sh *Shape) (*Object, *reply.Error) {
	out := &Object{Shape: sh, Values: make([]any, len(sh.Members)), Given: make([]bool, len(sh.Members))}
	for i := range sh.Members {
		out.Values[i] = sh.Members[i].Default
	}
	for n, name := range in.Names {
		value := in.Values[n]
		i := sh.Index(name)
		if i < 0 && strings.Contains(name, "@") {
			continue // annotations are allowed everywhere, so that a client can send a definition that it received
		}
		if i < 0 && sh.Open {
			if out.Others == nil {
				out.Others = &Members{}
			}
			out.Others.Names, out.Others.Values = append(out.Others.Names, name), append(out.Others.Values, value)
			continue
		}
		if i < 0 || !p.Version.Has(sh.Members[i].Needs) {
			return nil, p.unknownMember(name, value, sh)
		}
		if value == nil {
			continue // null means the default
		}
		fitted, err := p.value(value, &sh.Members[i], sh)
		if err != nil {
			return nil, err
		}
		out.Values[i], out.Given[i] = fitted, true
	}
	for i := range sh.Members {
		if m := &sh.Members[i]; m.Required && p.Version.Has(m.Needs) && !out.Given[i] {
			return nil, p.Refuse("MissingRequiredProperty", "The property '"+m.Name+"' of type '"+p.typeName(sh)+"' is required and cannot be null.")
		}
	}
	return out, nil
}

// value converts one JSON value to a value of a member.
func (p *Parser) value(in any, m *Property, around *Shape) (any, *reply.Error) {
	switch m.Kind {
	case KindAny:
		return in, nil
	case KindStrings, KindObjects:
		list, ok := in.([]any)
		if !ok {
			return nil, p.wrongNode(in, "StartArray")
		}
		element := *m
		element.Kind = kindString
		if m.Kind == KindObjects {
			element.Kind = kindObject
		}
		out := make([]any, len(list))
		for i, v := range list {
			if v == nil {
				return nil, p.unreadable("A null value was found in the collection property '" + m.Name + "', which does not allow null values.")
			}
			fitted, err := p.value(v, &element, around)
			if err != nil {
				return nil, err
			}
			out[i] = fitted
		}
		return out, nil
	case kindObject:
		members, ok := in.(*Members)
		if !ok {
			return nil, p.wrongNode(in, "StartObject")
		}
		sh, err := p.variant(members, m)
		if err != nil {
			return nil, err
		}
		return p.Object(members, sh)
	case KindWeights, KindHeaders:
		members, ok := in.(*Members)
		if !ok {
			return nil, p.wrongNode(in, "StartObject")
		}
		element := Property{Name: m.Name, Kind: kindDouble}
		if m.Kind == KindHeaders {
			element.Kind = kindString
		}
		out := &Pairs{Names: members.Names}
		for _, v := range members.Values {
			fitted, err := p.value(v, &element, around)
			if err != nil {
				return nil, err
			}
			out.Values = append(out.Values, fitted)
		}
		return out, nil
	}
	return p.primitive(in, m)
}

// primitive converts a string, boolean or number.
func (p *Parser) primitive(in any, m *Property) (any, *reply.Error) {
	switch in.(type) {
	case []any, *Members:
		return nil, p.wrongNode(in, "PrimitiveValue")
	}
	switch m.Kind {
	case kindString:
		s, ok := in.(string)
		if !ok {
			return nil, p.WrongType(in, "Edm.String")
		}
		if m.enum != nil && !slices.Contains(m.enum, s) {
			return nil, p.Refuse("InvalidPropertyValue", "The value '"+s+"' of the property '"+m.Name+"' is not valid. Supported values are: "+strings.Join(m.enum, ", ")+".")
		}
		return s, nil
	case kindBool:
		if b, ok := in.(bool); ok {
			return b, nil
		}
		return nil, p.WrongType(in, "Edm.Boolean")
	case kindInt:
		if n, ok := in.(json.Number); ok {
			if i, ok := integer(n); ok {
				return json.Number(strconv.FormatInt(i, 10)), p.bounds(float64(i), n, m)
			}
		}
		return nil, p.WrongType(in, "Edm.Int32")
	default:
		if n, ok := in.(json.Number); ok {
			if f, ok := finite(n); ok {
				return n, p.bounds(f, n, m)
			}
		}
		return nil, p.WrongType(in, "Edm.Double")
	}
}

// bounds checks a number against the limits of its member.
func (p *Parser) bounds(f float64, n json.Number, m *Property) *reply.Error {
	if !m.bounded || f >= m.min && f <= m.max {
		return nil
	}
	return p.Refuse("InvalidPropertyValue", fmt.Sprintf("The value '%s' of the property '%s' is not valid: it must be between %v and %v.", n, m.Name, m.min, m.max))
}

// variant returns the shape of an object with variants.
func (p *Parser) variant(in *Members, m *Property) (*Shape, *reply.Error) {
	if m.variants == nil {
		return m.Shape(), nil
	}
	var name string
	if i := slices.Index(in.Names, "@odata.type"); i >= 0 {
		name, _ = in.Values[i].(string)
	}
	if name == "" {
		return nil, p.unreadable(p.parameter() + " : A resource without a type name was found, but no expected type was specified. To allow entries without type information, the expected type must also be specified when the model is specified.")
	}
	if sh, ok := m.variants[name]; ok && p.Version.Has(sh.Needs) {
		return sh, nil
	}
	return nil, p.unreadable("A resource with type name '" + strings.TrimPrefix(name, "#") + "' was found, but the model does not define that type for the property '" + m.Name + "'.")
}

// typeName returns the full name of the type of a shape.
func (p *Parser) typeName(sh *Shape) string { return ResourceType(p.Version, sh.TypeName) }

// unknownMember refuses an unknown member. The service has one message for primitive values
// and one for objects and arrays.
func (p *Parser) unknownMember(name string, value any, sh *Shape) *reply.Error {
	switch value.(type) {
	case []any, *Members:
		return p.unreadable("Cannot find nested property '" + name + "' on the resource type '" + p.typeName(sh) + "'.")
	}
	return p.unreadable("The property '" + name + "' does not exist on type '" + p.typeName(sh) + "'. Make sure to only use property names that are defined by the type.")
}

func (p *Parser) wrongNode(found any, expected string) *reply.Error {
	node := "PrimitiveValue"
	switch found.(type) {
	case []any:
		node = "StartArray"
	case *Members:
		node = "StartObject"
	}
	return p.unreadable("An unexpected '" + node + "' node was found when reading from the JSON reader. A '" + expected + "' node was expected.")
}

// WrongType refuses a value that is not of the type of its member.
func (p *Parser) WrongType(found any, expected string) *reply.Error {
	text := "null"
	if found != nil {
		text = fmt.Sprint(found)
	}
	return p.unreadable("Cannot convert the literal '" + text + "' to the expected type '" + expected + "'.")
}

// Coded reports whether errors of this version have codes and details. They are empty in
// recordings of 2019-05-06 and 2020-06-30, and set in errors that users of later versions
// report.
func (p *Parser) Coded() bool { return p.Version.Has(apiversion.CodedErrors) }

// parameter returns the name of the request body in messages. It changed in the version that
// introduced codes.
func (p *Parser) parameter() string {
	if p.Coded() {
		return "definition"
	}
	return p.body
}

// unreadable refuses a body of the wrong type. It never has a code.
func (p *Parser) unreadable(reason string) *reply.Error {
	if !p.Coded() {
		return reply.InvalidRequest(reason)
	}
	return &reply.Error{Status: http.StatusBadRequest, Message: "The request is invalid. Details: " + reason}
}

// Refuse refuses a definition that breaks a rule.
func (p *Parser) Refuse(code, reason string) *reply.Error {
	if !p.Coded() {
		return reply.InvalidRequest(p.parameter() + " : " + reason)
	}
	return &reply.Error{
		Status:  http.StatusBadRequest,
		Code:    "InvalidRequestParameter",
		Message: "The request is invalid. Details: " + p.parameter() + " : " + reason,
		Details: []reply.Detail{{Code: code, Message: reason + " Parameters: " + p.parameter()}},
	}
}

// RefuseFirst refuses a definition because of the first fault that the service detects without
// running an indexer. It returns nil if there is none.
func (p *Parser) RefuseFirst(faults []refusal.Fault) *reply.Error {
	for _, f := range faults {
		switch {
		case f.Service != "" && f.Code != "":
			return p.Refuse(f.Code, f.Service)
		case f.Service != "":
			return &reply.Error{Status: http.StatusBadRequest, Message: f.Service}
		}
	}
	return nil
}

// Deny refuses a change of an index that an update cannot make.
func (p *Parser) Deny(code, reason string) *reply.Error {
	e := &reply.Error{Status: http.StatusBadRequest, Message: reason}
	if p.Coded() {
		e.Code, e.Details = "OperationNotAllowed", []reply.Detail{{Code: code, Message: reason}}
	}
	return e
}

// ResourceType returns the name of a type of the service. It contains the version of the
// request: Microsoft.Azure.Search.V2023_10_01_Preview.IndexResult.
func ResourceType(version apiversion.Version, name string) string {
	text := cmp.Or(version.String(), apiversion.Default)
	return "Microsoft.Azure.Search.V" + strings.ReplaceAll(text, "-", "_") + "." + name
}
