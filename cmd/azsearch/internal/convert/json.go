package convert

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/shell"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
	"github.com/go-azsearch/azsearch/internal/wire"
)

// parser reads one JSON record, and checks its syntax while it converts.
type parser struct {
	*Converter
	src []byte
	i   int
}

func (p *parser) problem(kind, format string, args ...any) *Problem {
	return &Problem{Kind: kind, Column: p.column, At: p.i, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) space() {
	for p.i < len(p.src) && p.src[p.i] <= ' ' && (p.src[p.i] == ' ' || p.src[p.i] == '\n' || p.src[p.i] == '\r' || p.src[p.i] == '\t') {
		p.i++
	}
}

// malformed returns the problem with the syntax of the record.
func (p *parser) malformed() *Problem {
	var v any
	var syntax *json.SyntaxError
	at := p.i
	message := "not JSON"
	if err := json.Unmarshal(p.src, &v); errors.As(err, &syntax) {
		message, at = "not JSON: "+syntax.Error(), max(0, int(syntax.Offset)-1)
	}
	return &Problem{Kind: KindSyntax, At: at, Message: message}
}

// member reads a name and its colon. If the object ends instead, done is true.
func (p *parser) member(first bool) (name []byte, done, ok bool) {
	p.space()
	if p.i == len(p.src) {
		return nil, false, false
	}
	switch c := p.src[p.i]; {
	case c == '}':
		p.i++
		return nil, true, true
	case first:
	case c == ',':
		p.i++
		p.space()
	default:
		return nil, false, false
	}
	if p.i == len(p.src) || p.src[p.i] != '"' {
		return nil, false, false
	}
	end, ok := wire.StringEnd(p.src, p.i+1)
	if !ok {
		return nil, false, false
	}
	name = p.textOf(p.src[p.i:end])
	p.i = end
	p.space()
	if p.i == len(p.src) || p.src[p.i] != ':' {
		return nil, false, false
	}
	p.i++
	p.space()
	return name, false, p.i < len(p.src)
}

// document appends the members of the record that become fields, without the closing brace.
func (p *parser) document(dst []byte) ([]byte, *Problem) {
	p.i++
	dst = append(dst, '{')
	start := len(dst)
	o := &p.top
	order := p.order[o.id]
	position := 0
	for first := true; ; first = false {
		name, done, ok := p.member(first)
		if !ok {
			return dst, p.malformed()
		}
		if done {
			return dst, nil
		}
		t, known := target{}, false
		if position < len(order) && p.Key == "" && len(p.Map) == 0 && p.ActionColumn == "" && string(name) == o.fields[order[position]].name {
			t, known = target{field: order[position]}, true // same order as in the previous record
		} else if t, known = p.target(name); !known {
			p.column = string(name)
			return dst, p.problem(KindUnknown, "the index has no such field; -map %s renames it, -map %s leaves it out", shell.Word(string(name)+"=FIELD"), shell.Word(string(name)+"="))
		} else if t.field >= 0 {
			order = append(order[:min(position, len(order))], t.field)
			p.order[o.id] = order
		}
		if t.field >= 0 {
			position++
		}
		var problem *Problem
		if dst, problem = p.put(dst, start, name, t); problem != nil {
			if problem.Column == "" && (t.field < 0 || o.fields[t.field].name != string(name)) {
				problem.Column = string(name)
			}
			return dst, problem
		}
	}
}

// put appends one member of the record to its target.
func (p *parser) put(dst []byte, start int, name []byte, t target) ([]byte, *Problem) {
	if t.drop || t.action || t.key {
		from, column := p.i, string(name)
		raw, ok := p.skip()
		if !ok {
			return dst, p.malformed()
		}
		if t.action {
			p.column = column
			if string(raw) == "null" {
				return dst, nil
			}
			if raw[0] != '"' {
				return dst, p.problem(KindAction, "not a string")
			}
			if problem := p.setAction(p.textOf(raw)); problem != nil {
				return dst, problem
			}
			p.column = ""
			return dst, nil
		}
		if t.key && string(raw) != "null" {
			switch raw[0] {
			case '"':
				raw = p.textOf(raw)
			case '{', '[':
				return dst, &Problem{Kind: KindKey, Column: column, At: from, Message: "neither text nor a number, and the key is made of it"}
			}
			if problem := p.setKey(string(raw), true); problem != nil {
				return dst, problem
			}
		}
		if t.field < 0 {
			return dst, nil
		}
		p.i = from
	}
	f := &p.top.fields[t.field]
	if p.mark(&p.top, t.field, p.record) {
		return dst, &Problem{Kind: KindTwice, Field: f.name, At: p.i, Message: "the record has two values of it"}
	}
	if len(dst) > start {
		dst = append(dst, ',')
	}
	dst = append(dst, f.open...)
	from := len(dst)
	dst, problem := p.value(dst, f)
	if problem == nil && f.isKey && p.Key == "" {
		if key := dst[from:]; key[0] == '"' {
			problem = p.setKey(string(p.textOf(key)), false)
		}
	}
	return dst, problem
}

// skip checks a value and returns it without converting it.
func (p *parser) skip() (raw []byte, ok bool) {
	end := wire.ValueEnd(p.src, p.i)
	raw = p.src[p.i:min(max(end, p.i), len(p.src))]
	if _, ok := wire.Check(raw); !ok {
		return nil, false
	}
	p.i += len(raw)
	return raw, true
}

// nested appends the value of a complex field.
func (p *parser) nested(dst []byte, o *object, path string) ([]byte, *Problem) {
	p.i++
	dst = append(dst, '{')
	start := len(dst)
	var seen [8]uint64 // bit set of the first 512 fields
	for first := true; ; first = false {
		name, done, ok := p.member(first)
		switch {
		case !ok:
			return dst, p.malformed()
		case done:
			return append(dst, '}'), nil
		}
		i, known := o.byName[string(name)]
		if !known {
			if p.DropUnknown || len(name) > 0 && name[0] == '@' {
				if _, ok := p.skip(); !ok {
					return dst, p.malformed()
				}
				continue
			}
			return dst, &Problem{Kind: KindUnknown, Field: path + "/" + string(name), At: p.i, Message: "the index has no such field; -unknown drop leaves it out"}
		}
		f := &o.fields[i]
		if i < 512 && seen[i/64]&(1<<(i%64)) != 0 {
			return dst, &Problem{Kind: KindTwice, Field: path + "/" + f.name, At: p.i, Message: "the record has two values of it"}
		} else if i < 512 {
			seen[i/64] |= 1 << (i % 64)
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		var problem *Problem
		if dst, problem = p.value(append(dst, f.open...), f); problem != nil {
			if problem.Field != "" {
				problem.Field = path + "/" + problem.Field
			}
			return dst, problem
		}
	}
}

// value appends the value of a field.
func (p *parser) value(dst []byte, f *field) ([]byte, *Problem) {
	if !f.collection {
		return p.scalar(dst, f)
	}
	switch p.src[p.i] {
	case 'n':
		return p.scalar(dst, f)
	case '"':
		end, ok := wire.StringEnd(p.src, p.i+1)
		if !ok {
			return dst, p.malformed()
		}
		text := p.textOf(p.src[p.i:end])
		p.i = end
		return p.listOf(dst, f, append([]byte(nil), text...))
	case '[':
	default:
		return dst, &Problem{Kind: KindValue, Field: f.name, At: p.i, Message: fmt.Sprintf("not an array, and the field is %s", f.typ)}
	}
	at := p.i
	p.i++
	dst = append(dst, '[')
	n := 0
	for ; ; n++ {
		p.space()
		if p.i == len(p.src) {
			return dst, p.malformed()
		}
		if p.src[p.i] == ']' {
			p.i++
			break
		}
		if n > 0 {
			if p.src[p.i] != ',' {
				return dst, p.malformed()
			}
			p.i++
			if p.space(); p.i == len(p.src) {
				return dst, p.malformed()
			}
			dst = append(dst, ',')
		}
		if p.src[p.i] == 'n' {
			return dst, &Problem{Kind: KindValue, Field: f.name, At: p.i, Message: "null in a collection"}
		}
		var problem *Problem
		if dst, problem = p.scalar(dst, f); problem != nil {
			return dst, problem
		}
	}
	if f.dimensions > 0 && n != f.dimensions && f.typ.IsVector() && f.typ != "Collection(Edm.Byte)" {
		return dst, &Problem{Kind: KindValue, Field: f.name, At: at, Message: fmt.Sprintf("vector of %s, and the field has %s", amount.Of(n, "number"), amount.Of(f.dimensions, "dimension"))}
	}
	return append(dst, ']'), nil
}

// scalar appends one value of the type of f, or of its element type.
func (p *parser) scalar(dst []byte, f *field) ([]byte, *Problem) {
	at := p.i
	var end int
	var ok bool
	c := p.src[p.i]
	switch c {
	case '"':
		end, ok = wire.StringEnd(p.src, p.i+1)
	case 't':
		end, ok = wire.WordEnd(p.src, p.i, "true")
	case 'f':
		end, ok = wire.WordEnd(p.src, p.i, "false")
	case 'n':
		end, ok = wire.WordEnd(p.src, p.i, "null")
	case '{':
		if f.kind == complexValue {
			return p.nested(dst, f.object, f.name)
		}
		fallthrough
	case '[':
		raw, valid := p.skip()
		if !valid {
			return dst, p.malformed()
		}
		if f.kind == point && c == '{' {
			return appendPoint(dst, f, raw, at)
		}
		return dst, f.misfit(raw, at)
	default:
		if c != '-' && (c < '0' || c > '9') {
			return dst, p.malformed()
		}
		end, ok = wire.NumberEnd(p.src, p.i)
	}
	if !ok {
		return dst, p.malformed()
	}
	raw := p.src[at:end]
	p.i = end
	switch {
	case c == 'n':
		return append(dst, "null"...), nil
	case f.kind == text && c == '"':
		if i := jsontext.HalfCharacter(raw); i >= 0 {
			return dst, &Problem{Kind: KindUTF8, Field: f.name, At: at + i, Message: fmt.Sprintf("half of a character: %s without its other half", raw[i:i+6])}
		}
		return append(dst, raw...), nil
	case f.kind == text:
		return append(append(append(dst, '"'), raw...), '"'), nil
	case c == '"':
		return p.text(dst, f, p.textOf(raw), at)
	case f.kind == boolean && (c == 't' || c == 'f'):
		return append(dst, raw...), nil
	case c == 't' || c == 'f':
		return dst, f.misfit(raw, at)
	}
	return appendNumber(dst, f, raw, at)
}
