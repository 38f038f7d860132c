package fold_test

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// The reference implements the rules of the package documentation a second time, on encoding/json and decoded values.

// refValue is a JSON value: members for an object, text for anything else.
type refValue struct {
	kind    byte // '{', '[', 'n' or 'v'
	members []refMember
	text    string
}

type refMember struct {
	name  string
	value refValue
}

func (v refValue) find(name string) (found []refValue) {
	for _, m := range v.members {
		if m.name == name {
			found = append(found, m.value)
		}
	}
	return found
}

func (v refValue) empty() bool { return v.kind == '{' && len(v.members) == 0 }

// hollow reports whether an object contains an {} or an annotation.
func (v refValue) hollow() bool {
	for _, m := range v.members {
		if strings.Contains(m.name, "@") || m.value.empty() || m.value.hollow() {
			return true
		}
	}
	return false
}

// wellFormed reports whether an object can be merged.
func (v refValue) wellFormed() bool {
	for _, m := range v.members {
		if strings.Contains(m.name, "@") || len(v.find(m.name)) > 1 {
			return false
		}
	}
	return true
}

// refFold returns the expected result of Actions for actions to be merged. ok is false if Actions must refuse.
func refFold(aType models.ActionType, a []byte, bType models.ActionType, b []byte) (doc refValue, ok bool) {
	x, xOK := refAction(aType, a)
	y, yOK := refAction(bType, b)
	if !xOK || !yOK {
		return refValue{}, false
	}
	return refMerge(aType, x, y)
}

func refMerge(typ models.ActionType, a, b refValue) (out refValue, ok bool) {
	if !a.wellFormed() || !b.wellFormed() {
		return out, false
	}
	out = refValue{kind: '{'}
	for _, m := range a.members {
		if other := b.find(m.name); len(other) == 1 {
			if m.value, ok = refBoth(typ, m.value, other[0]); !ok {
				return out, false
			}
		}
		out.members = append(out.members, m)
	}
	for _, m := range b.members {
		if len(a.find(m.name)) > 0 {
			continue
		}
		if typ != models.ActionTypeMerge && (m.value.empty() || m.value.hollow()) {
			return out, false
		}
		out.members = append(out.members, m)
	}
	return out, true
}

func refBoth(typ models.ActionType, x, y refValue) (out refValue, ok bool) {
	switch {
	case x.kind == '{' && y.kind == '{':
		switch {
		case y.empty():
			return x, true
		case x.empty():
			return y, typ == models.ActionTypeMerge || !y.hollow()
		}
		return refMerge(typ, x, y)
	case y.kind == 'n':
		return y, true
	case x.kind == 'n' && y.kind == '{':
		return y, typ == models.ActionTypeUpload && !y.empty() && !y.hollow()
	}
	return y, x.kind == 'n' || x.kind == y.kind
}

// refAction reads an action and removes its type.
func refAction(typ models.ActionType, text []byte) (doc refValue, ok bool) {
	var compact bytes.Buffer
	if !json.Valid(text) || json.Compact(&compact, text) != nil || !bytes.Equal(text, compact.Bytes()) {
		return refValue{}, false
	}
	r := refReader{dec: json.NewDecoder(bytes.NewReader(text)), text: string(text)}
	r.dec.UseNumber()
	doc, ok = r.value(1)
	// Actions requires the type at the very beginning and without escapes.
	if !ok || !strings.HasPrefix(r.text, `{"@search.action":"`+string(typ)+`"`) {
		return refValue{}, false
	}
	doc.members = append([]refMember(nil), doc.members[1:]...) // nil if none is left
	return doc, true
}

type refReader struct {
	dec  *json.Decoder
	text string
}

// value reads the next value. depth counts the enclosing objects and arrays, including the value.
func (r *refReader) value(depth int) (v refValue, ok bool) {
	start := r.dec.InputOffset()
	token, err := r.dec.Token()
	if err != nil {
		return v, false
	}
	delimiter, _ := token.(json.Delim)
	v.kind, ok = 'v', true
	switch {
	case token == nil:
		v.kind = 'n'
	case delimiter == '{':
		v.kind = '{'
		for r.dec.More() {
			name, err := r.dec.Token()
			if err != nil {
				return v, false
			}
			value, valueOK := r.value(depth + 1)
			ok = ok && valueOK
			v.members = append(v.members, refMember{name.(string), value})
		}
	case delimiter == '[':
		v.kind = '['
		for r.dec.More() {
			_, valueOK := r.value(depth + 1)
			ok = ok && valueOK
		}
	}
	if delimiter != 0 {
		ok = ok && depth <= 64
		if _, err := r.dec.Token(); err != nil { // the closing one
			return v, false
		}
	}
	if v.kind != '{' {
		v.text = strings.TrimLeft(r.text[start:r.dec.InputOffset()], ",:")
	}
	return v, ok
}
