package searchtest

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// action is one action of a request, checked and ready to be applied.
type action struct {
	typ  models.ActionType
	key  string
	size int // bytes of the action in the request

	// data is the document in stored form, nil for a delete. That of an upload may
	// be kept; those of merges lie in memory of the parser, because most of them
	// are only read once.
	data []byte

	// itemError is what is wrong with the document that the service finds only
	// while indexing: it fails this action with status 400 and no other.
	itemError string
}

// batchParser turns the body of an index-documents request into actions: it
// checks, types and stores in one pass, without a value per member in between.
// A batchParser is reused from request to request; what it returned stays valid
// only as far as noted at actions.
type batchParser struct {
	scanner
	schema     *schema
	version    apiversion.Version
	maxActions int
	keysOnly   bool // Options.DiscardDocuments

	actions []action // the slice is reused, keys and the data of uploads are not
	surplus int      // actions behind those, which are only counted
	merges  []byte   // the data of merges

	// Of the document being read:
	buf       []byte // its stored form so far
	key       string
	hasKey    bool
	itemError string
	elements  int      // objects in complex collections
	depth     int      // objects and arrays that are open
	seen      []uint64 // bit sets of the ordinals met, one set per open object
	name      []byte   // decoded property name or literal
}

// parse reads the whole body.
func (p *batchParser) parse() *serviceError {
	if bytesHaveBOM(p.data) {
		p.pos = 3
	}
	if p.peek() != '{' {
		if p.atEnd() {
			return p.noActions()
		}
		p.fail("an object was expected")
		return p.malformed()
	}
	p.pos++
	p.depth = 1
	found := false
	for first := true; ; first = false {
		if p.peek() == '}' && first {
			p.pos++
			break
		}
		if p.peek() != '"' {
			p.fail("a property name was expected")
			return p.malformed()
		}
		raw, plain, ok := p.quoted()
		if !ok || !p.expect(':') {
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
			if err := p.value(); err != nil {
				return err
			}
		case len(raw) > 0 && raw[0] == '@':
			if !p.skip(p.depth) {
				return p.malformed()
			}
		default:
			return parseError(fmt.Sprintf("The parameter '%s' in the request payload is not a valid parameter for the operation 'search.index'.", raw))
		}
		if c := p.peek(); c == '}' {
			p.pos++
			break
		} else if c != ',' {
			p.fail("a comma or the end of the object was expected")
			return p.malformed()
		}
		p.pos++
	}
	if !p.atEnd() {
		p.fail("more than one value was found")
		return p.malformed()
	}
	if len(p.actions) == 0 {
		return p.noActions()
	}
	if len(p.actions) > p.maxActions {
		return p.tooManyActions()
	}
	return nil
}

// value reads the array of actions.
func (p *batchParser) value() *serviceError {
	switch p.peek() {
	case '[':
	case 'n':
		if !p.literal("null") {
			return p.malformed()
		}
		return nil
	default:
		if !p.skip(p.depth) {
			return p.malformed()
		}
		return parseError("The parameter 'value' must be a collection.")
	}
	p.pos++
	p.depth++
	defer func() { p.depth-- }()
	if p.peek() == ']' {
		p.pos++
		return nil
	}
	for {
		// One action too many is enough to refuse the request, but not before
		// the rest of it proved to be JSON.
		if len(p.actions) > p.maxActions {
			if !p.skip(p.depth) {
				return p.malformed()
			}
			p.surplus++
		} else if err := p.action(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return nil
		default:
			p.fail("a comma or the end of the array was expected")
			return p.malformed()
		}
	}
}

// action reads one action. Where among the members its type and its key stand
// does not matter: SDKs write @search.action first or last.
func (p *batchParser) action() *serviceError {
	if c := p.peek(); c != '{' {
		return p.unexpectedValue("StartObject")
	}
	start := p.pos
	p.buf, p.seen = p.buf[:0], p.seen[:0]
	p.hasKey, p.itemError, p.elements = false, "", 0
	a := action{typ: models.ActionTypeUpload}
	if err := p.object(p.schema.fields, p.schema.byName, &a.typ); err != nil {
		return err
	}
	position := len(p.actions)
	if !p.hasKey || p.key == "" {
		return p.noKey(position)
	}
	if err := p.checkKey(position, p.key); err != nil {
		return err
	}
	a.key, a.size = p.key, p.pos-start
	if a.typ != models.ActionTypeDelete {
		if p.elements > maxComplexElements {
			p.itemError = tooManyElements(a.key, p.elements)
		}
		a.itemError = p.itemError
		document := p.buf
		if p.keysOnly {
			key, _ := stored.FindMember(document, p.schema.key.Ordinal)
			document = key.Whole
		}
		if a.typ == models.ActionTypeUpload {
			a.data = append(make([]byte, 0, len(document)), document...)
		} else {
			start := len(p.merges)
			p.merges = append(p.merges, document...)
			a.data = p.merges[start:len(p.merges):len(p.merges)]
		}
	}
	p.actions = append(p.actions, a)
	return nil
}

// object reads an object whose members are fields and appends its stored form.
// typ receives @search.action; it is nil below the top level.
func (p *batchParser) object(fields []*stored.Field, byName map[string]*stored.Field, typ *models.ActionType) *serviceError {
	p.pos++
	p.depth++
	sets := len(p.seen)
	for range (len(fields) + 63) / 64 {
		p.seen = append(p.seen, 0)
	}
	defer func() {
		p.seen = p.seen[:sets]
		p.depth--
	}()
	if p.peek() == '}' {
		p.pos++
		return nil
	}
	for next := 0; ; {
		if p.peek() != '"' {
			p.fail("a property name was expected")
			return p.malformed()
		}
		raw, plain, ok := p.quoted()
		if !ok || !p.expect(':') {
			return p.malformed()
		}
		if !plain {
			raw = p.unquoted(raw)
		}
		// Members usually come in the order of the definition.
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
		switch p.peek() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return nil
		default:
			p.fail("a comma or the end of the object was expected")
			return p.malformed()
		}
	}
}

// unquoted returns the value of a string with escapes, until the next one.
func (p *batchParser) unquoted(raw []byte) []byte {
	p.name = appendUnquoted(p.name[:0], raw)
	return p.name
}

// notAField reads the value of a member that is no field: @search.action, an
// annotation, which the service ignores, or a mistake.
func (p *batchParser) notAField(name []byte, typ *models.ActionType) *serviceError {
	if string(name) == "@search.action" && typ != nil {
		return p.actionType(typ)
	}
	if bytes.IndexByte(name, '@') >= 0 {
		if !p.skip(p.depth) {
			return p.malformed()
		}
		return nil
	}
	if c := p.peek(); c == '[' || c == '{' { // which the service says in other words, see unknownMember
		return parseError(fmt.Sprintf("Cannot find nested property '%s' on the resource type 'search.documentFields'.", name))
	}
	return parseError(fmt.Sprintf("The property '%s' does not exist on type 'search.documentFields' or is not present in the API version '%s'. Make sure to only use property names that are defined by the type.", name, p.version))
}

// actionType reads the value of @search.action.
func (p *batchParser) actionType(typ *models.ActionType) *serviceError {
	if c := p.peek(); c == 'n' {
		if !p.literal("null") {
			return p.malformed()
		}
		return nil
	} else if c != '"' {
		return p.unexpectedValue("PrimitiveValue")
	}
	raw, plain, ok := p.quoted()
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
		return p.actionError(len(p.actions), fmt.Sprintf("The value '%s' is not a valid @search.action. Valid values are: upload, merge, mergeOrUpload, delete.", raw))
	}
	return nil
}

// member reads the value of a field and appends it.
func (p *batchParser) member(f *stored.Field, top bool) *serviceError {
	var body int
	p.buf, body = stored.OpenMember(p.buf, f.Ordinal)
	if p.peek() == 'n' {
		if !p.literal("null") {
			return p.malformed()
		}
		if f.Key && top {
			p.key, p.hasKey = "", true
		}
		if !f.Collection {
			stored.NullMember(p.buf, body) // a collection is never null, only empty
		}
		return nil
	}
	var err *serviceError
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
	stored.CloseMember(p.buf, body)
	if f.Key && top {
		p.key, p.hasKey = string(p.buf[body:]), true
	}
	return nil
}

// complex reads an object and appends its members.
func (p *batchParser) complex(f *stored.Field) *serviceError {
	if p.peek() != '{' {
		return p.unexpectedContents(f, "'StartObject' node or 'PrimitiveValue' node with null value")
	}
	return p.object(f.Fields, f.ByName, nil)
}

// collection reads an array and appends its elements.
func (p *batchParser) collection(f *stored.Field) *serviceError {
	if p.peek() != '[' {
		return p.unexpectedContents(f, "'StartArray' node")
	}
	p.pos++
	p.depth++
	defer func() { p.depth-- }()
	size, n := f.Type.Size(), 0
	if p.peek() == ']' {
		p.pos++
		return p.checkDimensions(f, 0)
	}
	for ; ; n++ {
		if p.peek() == 'n' {
			if !p.literal("null") {
				return p.malformed()
			}
			return p.nullElement(f)
		}
		start := len(p.buf)
		if size == 0 {
			p.buf = append(p.buf, 0, 0, 0, 0)
		}
		var err *serviceError
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
			binary.LittleEndian.PutUint32(p.buf[start:], uint32(len(p.buf)-start-4))
		}
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return p.checkDimensions(f, n+1)
		default:
			p.fail("a comma or the end of the array was expected")
			return p.malformed()
		}
	}
}
