// Package object is for the packages of models: it writes and reads the objects
// of definitions and replies.
//
// Every object keeps the members it does not know, so that reading a definition
// and writing it back drops nothing that a newer service put there. Encode and
// Decode do this for all of them:
//
//   - a field with the tag option omitzero is left out when it is its zero value,
//     so nil and absent are the same; without the option it is always written,
//     and a nil list as an empty one: the service refuses a null, and says what is
//     missing from an empty list;
//   - a member that no field stands for lands in AdditionalProperties, and
//     what is in AdditionalProperties is written after the fields, in the order
//     of the names. A field that is written wins over a member of its name, so
//     AdditionalProperties can also force an explicit null;
//   - the tag `empty:"…"` has the JSON that a zero value is written as;
//   - names are compared exactly, unlike encoding/json does;
//   - "@odata.context", which is about the answer that an object came in, is dropped;
//   - the discriminator of a type of a union comes first and from its Go type.
//
// null and absent mean the same to the service in a definition, and a null of a
// known member is not written back. Secrets are an exception, by `empty:"null"`: the service
// returns none, and an update takes null as unchanged, and "" as a new one.
//
// The methods of a package's objects are generated: go generate in its folder runs methods, which
// writes those that the package does not have for each struct with AdditionalProperties.
package object

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

const additionalProperties = "AdditionalProperties"

// own are the types whose methods are those of this package, so that what holds them need not call
// their methods. It is written by Own, in the initialization of the packages of models.
var own = map[reflect.Type]bool{}

// Own says that the UnmarshalJSON of the type of each value is Decode.
func Own(values ...any) {
	for _, v := range values {
		own[reflect.TypeOf(v)] = true
	}
}

// plan is how the objects of a type are read and written.
type plan struct {
	discriminator
	fields []field
	index  map[string]int // of fields, by name
	more   []int          // the place of AdditionalProperties
}

type field struct {
	encode.Field
	empty  string // the JSON of a zero value
	decode decoder
}

var plans sync.Map // reflect.Type → *plan

func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan)
	}
	p := &plan{discriminator: discriminators[t], index: map[string]int{}}
	for i, f := range encode.FieldsOf(t) {
		p.index[f.Name] = i
		p.fields = append(p.fields, field{f, t.FieldByIndex(f.Index).Tag.Get("empty"), decoderOf(f.Type)})
	}
	if more, has := t.FieldByName(additionalProperties); has {
		p.more = more.Index
	}
	known, _ := plans.LoadOrStore(t, p)
	return known.(*plan)
}

// Encode returns the JSON of x, a struct whose MarshalJSON this is.
func Encode(x any) ([]byte, error) {
	v := reflect.ValueOf(x)
	p := planOf(v.Type())
	out := []byte{'{'}
	written := map[string]bool{}
	if p.member != "" {
		written[p.member] = true
		var err error
		if out, err = appendMember(out, p.member, p.value); err != nil {
			return nil, err
		}
	}
	for _, f := range p.fields {
		fv := f.Value(v)
		if f.OmitZero && fv.IsZero() {
			continue
		}
		if fv.Kind() == reflect.Slice && fv.IsNil() {
			fv = reflect.MakeSlice(fv.Type(), 0, 0)
		}
		value := fv.Interface()
		if f.empty != "" && fv.IsZero() {
			value = json.RawMessage(f.empty)
		}
		var err error
		if out, err = appendMember(out, f.Name, value); err != nil {
			return nil, err
		}
		written[f.Name] = true
	}
	more, _ := v.FieldByIndex(p.more).Interface().(map[string]json.RawMessage)
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if written[name] {
			continue
		}
		var err error
		if out, err = appendMember(out, name, more[name]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendMember(dst []byte, name string, value any) ([]byte, error) {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst, err := appendValue(dst, name)
	if err == nil {
		dst, err = appendValue(append(dst, ':'), value)
	}
	if err != nil {
		return nil, fmt.Errorf("member %q: %w", name, err)
	}
	return dst, nil
}

// appendValue writes v without the escapes that encoding/json has for HTML.
func appendValue(dst []byte, v any) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// With returns a copy of more with a further member.
func With(more map[string]json.RawMessage, name string, value json.RawMessage) map[string]json.RawMessage {
	more = maps.Clone(more)
	if more == nil {
		more = map[string]json.RawMessage{}
	}
	more[name] = value
	return more
}
