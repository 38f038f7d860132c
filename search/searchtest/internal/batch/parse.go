// Package batch parses the body of an index-documents request into actions, with documents in stored form. It has the
// service's messages about invalid actions, and writes the outcome of each action.
package batch

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/wire"
)

// Action is one action of a request, checked and ready to apply.
type Action struct {
	Type models.ActionType
	Key  string
	Size int // bytes of the action in the request

	// Data is the document in stored form, nil for a delete. Data of an upload may be kept.
	// Data of a merge is in memory of the parser, because most merges read it only once.
	Data []byte

	// ItemError is an error of the document that the service finds only while indexing. Only
	// this action fails, with status 400.
	ItemError string
}

// Parser parses the body of an index-documents request into actions. It checks, types and
// stores in one pass, without allocating a value for each member. A Parser is reused for
// later requests; the comment of Actions says which results stay valid.
type Parser struct {
	wire.Scanner
	Schema  *schema.Index
	version apiversion.Version
	Limits

	Actions []Action  // the slice is reused; keys and the data of uploads are not
	surplus int       // number of actions after the maximum
	refused []refused // actions that break a rule
	merges  []byte    // the data of merges

	// State of the current document:
	Buf       []byte // its stored form, as far as it was read
	key       string
	hasKey    bool
	itemError string
	elements  int      // number of objects in complex collections
	Depth     int      // number of open objects and arrays
	seen      []uint64 // bit sets of the ordinals already read, one for each open object
	name      []byte   // decoded property name or literal
}

// Parse reads the whole body.
func (p *Parser) Parse() *reply.Error {
	if bytesHaveBOM(p.Data) {
		p.Pos = 3
	}
	if p.Peek() != '{' {
		if p.AtEnd() {
			return p.noActions()
		}
		p.Fail("an object was expected")
		return p.malformed()
	}
	p.Pos++
	p.Depth = 1
	found := false
	for first := true; ; first = false {
		if p.Peek() == '}' && first {
			p.Pos++
			break
		}
		if p.Peek() != '"' {
			p.Fail("a property name was expected")
			return p.malformed()
		}
		raw, plain, ok := p.Quoted()
		if !ok || !p.Expect(':') {
			return p.malformed()
		}
		if !plain {
			raw = p.unquoted(raw)
		}
		switch {
		case string(raw) == "value":
			if found {
				return parseError("Multiple parameters with the name 'value' were found in the request payload.")
			}
			found = true
			if err := p.Value(); err != nil {
				return err
			}
		case len(raw) > 0 && raw[0] == '@':
			if !p.Skip(p.Depth) {
				return p.malformed()
			}
		default:
			return parseError(fmt.Sprintf("The parameter '%s' in the request payload is not a valid parameter for the operation 'search.index'.", raw))
		}
		if c := p.Peek(); c == '}' {
			p.Pos++
			break
		} else if c != ',' {
			p.Fail("a comma or the end of the object was expected")
			return p.malformed()
		}
		p.Pos++
	}
	if !p.AtEnd() {
		p.Fail("more than one value was found")
		return p.malformed()
	}
	if len(p.Actions) == 0 {
		return p.noActions()
	}
	if len(p.Actions) > p.MaxActions {
		return p.tooManyActions()
	}
	return nil
}

// Value reads the array of actions. Like the service, it names all actions that break a rule, but only the first error
// of the JSON reader.
func (p *Parser) Value() *reply.Error {
	switch p.Peek() {
	case '[':
	case 'n':
		if !p.Literal("null") {
			return p.malformed()
		}
		return nil
	default:
		if !p.Skip(p.Depth) {
			return p.malformed()
		}
		return parseError("The parameter 'value' must be a collection.")
	}
	p.Pos++
	p.Depth++
	defer func() { p.Depth-- }()
	if p.Peek() == ']' {
		p.Pos++
		return nil
	}
	for {
		// One action too many is enough to refuse the request, after the rest was checked
		// to be JSON.
		if len(p.Actions) > p.MaxActions {
			if !p.Skip(p.Depth) {
				return p.malformed()
			}
			p.surplus++
		} else if err := p.action(); err != nil {
			return err
		}
		switch p.Peek() {
		case ',':
			p.Pos++
		case ']':
			p.Pos++
			return p.refusal()
		default:
			p.Fail("a comma or the end of the array was expected")
			return p.malformed()
		}
	}
}

// action reads one action. Its type and its key may be anywhere among the members: some SDKs
// write @search.action first, others last.
func (p *Parser) action() *reply.Error {
	if c := p.Peek(); c != '{' {
		return p.unexpectedValue("StartObject")
	}
	start := p.Pos
	p.Buf, p.seen = p.Buf[:0], p.seen[:0]
	p.hasKey, p.itemError, p.elements = false, "", 0
	a := Action{Type: models.ActionTypeUpload}
	if err := p.object(p.Schema.Fields, p.Schema.ByName, &a.Type); err != nil {
		return err
	}
	if !p.hasKey || p.key == "" {
		p.noKey()
	} else {
		p.checkKey(p.key)
	}
	if len(p.refused) > 0 { // only for the positions of further actions
		p.Actions = append(p.Actions, a)
		return nil
	}
	a.Key, a.Size = p.key, p.Pos-start
	if a.Type != models.ActionTypeDelete {
		if p.elements > MaxComplexElements {
			p.itemError = TooManyElements(a.Key, p.elements)
		}
		a.ItemError = p.itemError
		document := p.Buf
		if p.KeysOnly {
			key, _ := stored.FindMember(document, p.Schema.Key.Ordinal)
			document = key.Whole
		}
		if a.Type == models.ActionTypeUpload {
			a.Data = append(make([]byte, 0, len(document)), document...)
		} else {
			start := len(p.merges)
			p.merges = append(p.merges, document...)
			a.Data = p.merges[start:len(p.merges):len(p.merges)]
		}
	}
	p.Actions = append(p.Actions, a)
	return nil
}

// object reads an object whose members are fields and appends its stored form.
// typ receives @search.action; it is nil below the top level.
func (p *Parser) object(fields []*stored.Field, byName map[string]*stored.Field, typ *models.ActionType) *reply.Error {
	p.Pos++
	p.Depth++
	sets := len(p.seen)
	for range (len(fields) + 63) / 64 {
		p.seen = append(p.seen, 0)
	}
	defer func() {
		p.seen = p.seen[:sets]
		p.Depth--
	}()
	if p.Peek() == '}' {
		p.Pos++
		return nil
	}
	for next := 0; ; {
		if p.Peek() != '"' {
			p.Fail("a property name was expected")
			return p.malformed()
		}
		raw, plain, ok := p.Quoted()
		if !ok || !p.Expect(':') {
			return p.malformed()
		}
		if !plain {
			raw = p.unquoted(raw)
		}
		// Members usually have the order of the definition.
		var f *stored.Field
		if next < len(fields) && string(raw) == fields[next].Name {
			f = fields[next]
			next++
		} else if f = byName[string(raw)]; f != nil {
			next = 0
			for fields[next] != f {
				next++
			}
			next++
		}
		if f == nil {
			if err := p.notAField(raw, typ); err != nil {
				return err
			}
		} else {
			set, bit := &p.seen[sets+f.Ordinal/64], uint64(1)<<(f.Ordinal%64)
			if *set&bit != 0 {
				return parseError("Multiple properties with the name '" + f.Name + "' were detected in a resource or a complex value. In OData, duplicate property names are not allowed.")
			}
			*set |= bit
			if err := p.member(f, typ != nil); err != nil {
				return err
			}
		}
		switch p.Peek() {
		case ',':
			p.Pos++
		case '}':
			p.Pos++
			return nil
		default:
			p.Fail("a comma or the end of the object was expected")
			return p.malformed()
		}
	}
}

// unquoted returns the value of a string with escapes. It is valid until the next call.
func (p *Parser) unquoted(raw []byte) []byte {
	p.name = wire.AppendUnquoted(p.name[:0], raw)
	return p.name
}

// notAField reads the value of a member that is not a field: @search.action, an annotation,
// which is ignored as in the service, or an unknown name.
func (p *Parser) notAField(name []byte, typ *models.ActionType) *reply.Error {
	if string(name) == "@search.action" && typ != nil {
		return p.actionType(typ)
	}
	if bytes.IndexByte(name, '@') >= 0 {
		if !p.Skip(p.Depth) {
			return p.malformed()
		}
		return nil
	}
	if c := p.Peek(); c == '[' || c == '{' { // the service has another message for these, see unknownMember
		return parseError(fmt.Sprintf("Cannot find nested property '%s' on the resource type 'search.documentFields'.", name))
	}
	return parseError(fmt.Sprintf("The property '%s' does not exist on type 'search.documentFields' or is not present in the API version '%s'. Make sure to only use property names that are defined by the type.", name, p.version))
}

// actionType reads the value of @search.action.
func (p *Parser) actionType(typ *models.ActionType) *reply.Error {
	if c := p.Peek(); c == 'n' {
		if !p.Literal("null") {
			return p.malformed()
		}
		return nil
	} else if c != '"' {
		return p.unexpectedValue("PrimitiveValue")
	}
	raw, plain, ok := p.Quoted()
	if !ok {
		return p.malformed()
	}
	if !plain {
		raw = p.unquoted(raw)
	}
	switch string(raw) {
	case "upload":
		*typ = models.ActionTypeUpload
	case "merge":
		*typ = models.ActionTypeMerge
	case "mergeOrUpload":
		*typ = models.ActionTypeMergeOrUpload
	case "delete":
		*typ = models.ActionTypeDelete
	default:
		p.refuseAction(fmt.Sprintf("The value '%s' is not a valid @search.action. Valid values are: upload, merge, mergeOrUpload, delete.", raw), "")
	}
	return nil
}

// member reads the value of a field and appends it.
func (p *Parser) member(f *stored.Field, top bool) *reply.Error {
	var body int
	p.Buf, body = stored.OpenMember(p.Buf, f.Ordinal)
	if p.Peek() == 'n' {
		if !p.Literal("null") {
			return p.malformed()
		}
		if f.Key && top {
			p.key, p.hasKey = "", true
		}
		if !f.Collection {
			stored.NullMember(p.Buf, body) // a collection is never null, but empty
		}
		return nil
	}
	var err *reply.Error
	switch {
	case f.Collection:
		err = p.collection(f)
	case f.Type == stored.Complex:
		err = p.complex(f)
	default:
		err = p.scalar(f)
	}
	if err != nil {
		return err
	}
	stored.CloseMember(p.Buf, body)
	if f.Key && top {
		p.key, p.hasKey = string(p.Buf[body:]), true
	}
	return nil
}

// complex reads an object and appends its members.
func (p *Parser) complex(f *stored.Field) *reply.Error {
	if p.Peek() != '{' {
		return p.unexpectedContents(f, "'StartObject' node or 'PrimitiveValue' node with null value")
	}
	return p.object(f.Fields, f.ByName, nil)
}

// collection reads an array and appends its elements.
func (p *Parser) collection(f *stored.Field) *reply.Error {
	if p.Peek() != '[' {
		return p.unexpectedContents(f, "'StartArray' node")
	}
	p.Pos++
	p.Depth++
	defer func() { p.Depth-- }()
	size, n := f.Type.Size(), 0
	if p.Peek() == ']' {
		p.Pos++
		p.checkDimensions(f, 0)
		return nil
	}
	for ; ; n++ {
		if p.Peek() == 'n' {
			if !p.Literal("null") {
				return p.malformed()
			}
			return p.nullElement(f)
		}
		start := len(p.Buf)
		if size == 0 {
			p.Buf = append(p.Buf, 0, 0, 0, 0)
		}
		var err *reply.Error
		if f.Type == stored.Complex {
			p.elements++
			err = p.complex(f)
		} else {
			err = p.scalar(f)
		}
		if err != nil {
			return err
		}
		if size == 0 {
			binary.LittleEndian.PutUint32(p.Buf[start:], uint32(len(p.Buf)-start-4))
		}
		switch p.Peek() {
		case ',':
			p.Pos++
		case ']':
			p.Pos++
			p.checkDimensions(f, n+1)
			return nil
		default:
			p.Fail("a comma or the end of the array was expected")
			return p.malformed()
		}
	}
}
