package searchtest

import (
	"bytes"
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
)

// maxDefinitionNesting is how deep the JSON of a definition may nest. Complex
// fields nest ten deep at most and take two levels each; what is deeper is
// refused before it is looked at.
const maxDefinitionNesting = 64

// jsonMembers is a JSON object with its members in their order.
type jsonMembers struct {
	names  []string
	values []any
}

// parser reads a definition for one api-version.
type parser struct {
	version apiversion.Version
	body    string // what old versions call the body in their messages: "index"
}

func newParser(body string, version apiversion.Version) *parser {
	return &parser{version: version, body: body}
}

// parseDefinition reads the JSON of an index definition and fills in what the
// service fills in. Whether the definition makes sense is validate's business.
func parseDefinition(body []byte, version apiversion.Version) (*indexDefinition, *serviceError) {
	p := newParser("index", version)
	index, err := p.read(body, &indexShape)
	if err != nil {
		return nil, err
	}
	def := &indexDefinition{parser: p, object: index, name: index.str("name")}
	def.complete()
	return def, nil
}

// read fits the JSON of a body to a shape.
func (p *parser) read(body []byte, sh *shape) (*object, *serviceError) {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	tree, err := readJSON(dec, 0)
	if err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("there is something after the end of the object")
		}
	}
	if err != nil {
		return nil, p.unreadable("Invalid JSON. " + jsonFault(err))
	}
	root, ok := tree.(*jsonMembers)
	if !ok {
		return nil, p.wrongNode(tree, "StartObject")
	}
	return p.object(root, sh)
}

// readJSON reads one value into nil, bool, string, json.Number, []any or
// *jsonMembers.
func readJSON(dec *json.Decoder, depth int) (any, error) {
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
		out := &jsonMembers{}
		for dec.More() {
			token, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name, _ := token.(string)
			if slices.Contains(out.names, name) {
				return nil, fmt.Errorf("there are two properties named '%s' in one object", name)
			}
			value, err := readJSON(dec, depth+1)
			if err != nil {
				return nil, err
			}
			out.names = append(out.names, name)
			out.values = append(out.values, value)
		}
		_, err := dec.Token()
		return out, err
	case '[':
		out := []any{}
		for dec.More() {
			value, err := readJSON(dec, depth+1)
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

// jsonFault is err in words that do not name a Go package.
func jsonFault(err error) string {
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

// object fits the members of a JSON object to a shape.
func (p *parser) object(in *jsonMembers, sh *shape) (*object, *serviceError) {
	out := &object{shape: sh, values: make([]any, len(sh.members)), given: make([]bool, len(sh.members))}
	for i := range sh.members {
		out.values[i] = sh.members[i].def
	}
	for n, name := range in.names {
		value := in.values[n]
		i := sh.index(name)
		if i < 0 && strings.Contains(name, "@") {
			continue // annotations are welcome everywhere: definitions are sent as they were got
		}
		if i < 0 && sh.open {
			if out.others == nil {
				out.others = &jsonMembers{}
			}
			out.others.names, out.others.values = append(out.others.names, name), append(out.others.values, value)
			continue
		}
		if i < 0 || !p.version.Has(sh.members[i].needs) {
			return nil, p.unknownMember(name, value, sh)
		}
		if value == nil {
			continue // null asks for the default
		}
		fitted, err := p.value(value, &sh.members[i], sh)
		if err != nil {
			return nil, err
		}
		out.values[i], out.given[i] = fitted, true
	}
	for i := range sh.members {
		if m := &sh.members[i]; m.required && p.version.Has(m.needs) && !out.given[i] {
			return nil, p.refuse("MissingRequiredProperty", "The property '"+m.name+"' of type '"+p.typeName(sh)+"' is required and cannot be null.")
		}
	}
	return out, nil
}

// value fits one JSON value to a member.
func (p *parser) value(in any, m *property, around *shape) (any, *serviceError) {
	switch m.kind {
	case kindAny:
		return in, nil
	case kindStrings, kindObjects:
		list, ok := in.([]any)
		if !ok {
			return nil, p.wrongNode(in, "StartArray")
		}
		element := *m
		element.kind = kindString
		if m.kind == kindObjects {
			element.kind = kindObject
		}
		out := make([]any, len(list))
		for i, v := range list {
			if v == nil {
				return nil, p.unreadable("A null value was found in the collection property '" + m.name + "', which does not allow null values.")
			}
			fitted, err := p.value(v, &element, around)
			if err != nil {
				return nil, err
			}
			out[i] = fitted
		}
		return out, nil
	case kindObject:
		members, ok := in.(*jsonMembers)
		if !ok {
			return nil, p.wrongNode(in, "StartObject")
		}
		sh, err := p.variant(members, m)
		if err != nil {
			return nil, err
		}
		return p.object(members, sh)
	case kindWeights, kindHeaders:
		members, ok := in.(*jsonMembers)
		if !ok {
			return nil, p.wrongNode(in, "StartObject")
		}
		element := property{name: m.name, kind: kindDouble}
		if m.kind == kindHeaders {
			element.kind = kindString
		}
		out := &pairs{names: members.names}
		for _, v := range members.values {
			fitted, err := p.value(v, &element, around)
			if err != nil {
				return nil, err
			}
			out.values = append(out.values, fitted)
		}
		return out, nil
	}
	return p.primitive(in, m)
}

// primitive fits a string, boolean or number.
func (p *parser) primitive(in any, m *property) (any, *serviceError) {
	switch in.(type) {
	case []any, *jsonMembers:
		return nil, p.wrongNode(in, "PrimitiveValue")
	}
	switch m.kind {
	case kindString:
		s, ok := in.(string)
		if !ok {
			return nil, p.wrongType(in, "Edm.String")
		}
		if m.enum != nil && !slices.Contains(m.enum, s) {
			return nil, p.refuse("InvalidPropertyValue", "The value '"+s+"' of the property '"+m.name+"' is not valid. Supported values are: "+strings.Join(m.enum, ", ")+".")
		}
		return s, nil
	case kindBool:
		if b, ok := in.(bool); ok {
			return b, nil
		}
		return nil, p.wrongType(in, "Edm.Boolean")
	case kindInt:
		if n, ok := in.(json.Number); ok {
			if i, ok := integer(n); ok {
				return json.Number(strconv.FormatInt(i, 10)), p.bounds(float64(i), n, m)
			}
		}
		return nil, p.wrongType(in, "Edm.Int32")
	default:
		if n, ok := in.(json.Number); ok {
			if f, ok := finite(n); ok {
				return n, p.bounds(f, n, m)
			}
		}
		return nil, p.wrongType(in, "Edm.Double")
	}
}

// bounds checks a number against the limits of its member.
func (p *parser) bounds(f float64, n json.Number, m *property) *serviceError {
	if !m.bounded || f >= m.min && f <= m.max {
		return nil
	}
	return p.refuse("InvalidPropertyValue", fmt.Sprintf("The value '%s' of the property '%s' is not valid: it must be between %v and %v.", n, m.name, m.min, m.max))
}

// variant finds the shape of an object of a member.
func (p *parser) variant(in *jsonMembers, m *property) (*shape, *serviceError) {
	if m.variants == nil {
		return m.shape(), nil
	}
	var name string
	if i := slices.Index(in.names, "@odata.type"); i >= 0 {
		name, _ = in.values[i].(string)
	}
	if name == "" {
		return nil, p.unreadable(p.parameter() + " : A resource without a type name was found, but no expected type was specified. To allow entries without type information, the expected type must also be specified when the model is specified.")
	}
	if sh, ok := m.variants[name]; ok && p.version.Has(sh.needs) {
		return sh, nil
	}
	return nil, p.unreadable("A resource with type name '" + strings.TrimPrefix(name, "#") + "' was found, but the model does not define that type for the property '" + m.name + "'.")
}

// typeName is the full name of a shape's type.
func (p *parser) typeName(sh *shape) string { return resourceType(p.version, sh.typeName) }

// unknownMember says it the way of the service, which knows two: one for plain
// values and one for objects and arrays.
func (p *parser) unknownMember(name string, value any, sh *shape) *serviceError {
	switch value.(type) {
	case []any, *jsonMembers:
		return p.unreadable("Cannot find nested property '" + name + "' on the resource type '" + p.typeName(sh) + "'.")
	}
	return p.unreadable("The property '" + name + "' does not exist on type '" + p.typeName(sh) + "'. Make sure to only use property names that are defined by the type.")
}

func (p *parser) wrongNode(found any, expected string) *serviceError {
	node := "PrimitiveValue"
	switch found.(type) {
	case []any:
		node = "StartArray"
	case *jsonMembers:
		node = "StartObject"
	}
	return p.unreadable("An unexpected '" + node + "' node was found when reading from the JSON reader. A '" + expected + "' node was expected.")
}

func (p *parser) wrongType(found any, expected string) *serviceError {
	text := "null"
	if found != nil {
		text = fmt.Sprint(found)
	}
	return p.unreadable("Cannot convert the literal '" + text + "' to the expected type '" + expected + "'.")
}

// coded reports whether the service of this version fills code and details of
// its errors: recordings of 2019-05-06 and 2020-06-30 have them empty, users of
// later versions report them filled.
func (p *parser) coded() bool { return p.version.Has(apiversion.CodedErrors) }

// parameter is what the service calls the body of the request in its messages.
// It changed together with the codes.
func (p *parser) parameter() string {
	if p.coded() {
		return "definition"
	}
	return p.body
}

// unreadable refuses a body that is not of the type it should be. It never has
// a code.
func (p *parser) unreadable(reason string) *serviceError {
	if !p.coded() {
		return invalidRequest(reason)
	}
	return &serviceError{status: http.StatusBadRequest, message: "The request is invalid. Details: " + reason}
}

// refuse refuses a definition that breaks a rule.
func (p *parser) refuse(code, reason string) *serviceError {
	if !p.coded() {
		return invalidRequest(p.parameter() + " : " + reason)
	}
	return &serviceError{
		status:  http.StatusBadRequest,
		code:    "InvalidRequestParameter",
		message: "The request is invalid. Details: " + p.parameter() + " : " + reason,
		details: []errorDetail{{code: code, message: reason + " Parameters: " + p.parameter()}},
	}
}

// refuseFirst refuses a definition by the first fault that the service finds before an
// indexer runs.
func (p *parser) refuseFirst(faults []refusal.Fault) *serviceError {
	for _, f := range faults {
		switch {
		case f.Service != "" && f.Code != "":
			return p.refuse(f.Code, f.Service)
		case f.Service != "":
			return &serviceError{status: http.StatusBadRequest, message: f.Service}
		}
	}
	return nil
}

// deny refuses a change of an index that an update cannot make.
func (p *parser) deny(code, reason string) *serviceError {
	e := &serviceError{status: http.StatusBadRequest, message: reason}
	if p.coded() {
		e.code, e.details = "OperationNotAllowed", []errorDetail{{code: code, message: reason}}
	}
	return e
}
