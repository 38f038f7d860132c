package convert

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

// Document is a converted record.
type Document struct {
	Key    string
	Action models.ActionType
	JSON   []byte // part of the slice that dst became
}

// Converter converts records. It is not safe for concurrent use.
type Converter struct {
	*Plan
	record  uint32
	seen    [][]uint32 // by object and field: the last record that had the field
	order   [][]int    // by object: the field order of the previous record
	key     string
	action  models.ActionType
	column  string
	unquote []byte
}

// NewConverter returns a converter for a plan.
func NewConverter(p *Plan) *Converter {
	c := &Converter{Plan: p, seen: make([][]uint32, p.objects), order: make([][]int, p.objects)}
	c.size(&p.top)
	return c
}

func (c *Converter) size(o *object) {
	c.seen[o.id], c.order[o.id] = make([]uint32, len(o.fields)), make([]int, 0, len(o.fields))
	for i := range o.fields {
		if o.fields[i].object != nil {
			c.size(o.fields[i].object)
		}
	}
}

// begin resets the state for a new record.
func (c *Converter) begin() { c.record++; c.key, c.action, c.column = "", c.Action, "" }

// end completes the document that begins at dst[start] and lacks its closing brace.
func (c *Converter) end(dst []byte, start int) (Document, *Problem) {
	switch {
	case c.key == "" && c.Key != "":
		return Document{}, &Problem{Kind: KindKey, Column: c.Key, Message: "missing or empty, and the key is made of it"}
	case c.key == "":
		return Document{}, &Problem{Kind: KindKey, Field: c.KeyField, Message: "the key is missing or empty"}
	}
	if c.action == models.ActionTypeDelete {
		dst = append(dst[:start], '{')
	}
	if c.action == models.ActionTypeDelete || c.Key != "" {
		if len(dst) > start+1 {
			dst = append(dst, ',')
		}
		dst = append(fmt.Appendf(dst, "%q:%q", c.KeyField, c.key), '}')
	} else {
		dst = append(dst, '}')
	}
	return Document{c.key, c.action, dst[start:]}, nil
}

// setKey sets the key of the document, after encoding it if encode is true.
func (c *Converter) setKey(key string, encode bool) *Problem {
	if encode && key != "" {
		key = keys.Encode(key)
	}
	if err := keys.Validate(key); err != nil && key != "" {
		message := err.Error()
		if !encode {
			message += "; -key COLUMN makes legal keys of a column"
		}
		return &Problem{Kind: KindKey, Field: c.KeyField, Message: message}
	}
	c.key = key
	return nil
}

var actions = []models.ActionType{models.ActionTypeUpload, models.ActionTypeMerge, models.ActionTypeMergeOrUpload, models.ActionTypeDelete}

// Action returns the action with the given name.
func Action(name string) (models.ActionType, error) {
	for _, a := range actions {
		if string(a) == name {
			return a, nil
		}
	}
	return "", fmt.Errorf("action %q is unknown; use upload, merge, mergeOrUpload or delete", name)
}

func (c *Converter) setAction(name []byte) *Problem {
	if len(name) == 0 {
		return nil
	}
	for _, a := range actions {
		if string(a) == string(name) {
			c.action = a
			return nil
		}
	}
	_, err := Action(string(name))
	return &Problem{Kind: KindAction, Column: c.column, Message: err.Error()}
}

// mark records that the current record has a field, and reports whether it had it already.
func (c *Converter) mark(o *object, i int, generation uint32) bool {
	twice := c.seen[o.id][i] == generation
	c.seen[o.id][i] = generation
	return twice
}

// JSON converts a JSON object, and appends the document to dst.
func (c *Converter) JSON(dst, record []byte) (Document, *Problem) {
	c.begin()
	if !utf8.Valid(record) {
		return Document{}, &Problem{Kind: KindUTF8, At: wire.FirstInvalid(record), Message: "the text is not UTF-8"}
	}
	start := len(dst)
	p := parser{Converter: c, src: record}
	p.space()
	if p.i == len(p.src) || p.src[p.i] != '{' {
		return Document{}, p.problem(KindSyntax, "not a JSON object")
	}
	dst, problem := p.document(dst)
	if problem == nil {
		if p.space(); p.i < len(p.src) {
			problem = p.problem(KindSyntax, "text behind the JSON object")
		}
	}
	if problem != nil {
		return Document{}, problem
	}
	return c.end(dst, start)
}

// textOf returns the contents of a JSON string, unescaped. The result is valid until the next call.
func (c *Converter) textOf(quoted []byte) []byte {
	inside := quoted[1 : len(quoted)-1]
	for _, b := range inside {
		if b == '\\' {
			s, _ := wire.Unquote(quoted)
			c.unquote = append(c.unquote[:0], s...)
			return c.unquote
		}
	}
	return inside
}
