// Package object writes and reads the objects of definitions and replies, for the packages of models.
//
// Every object keeps its unknown members, so that reading a definition and writing it back loses nothing that a newer
// service added. Encode and Decode follow these rules:
//
//   - A field with the tag option omitzero is omitted if it is zero, so nil and absent are the same. A field without
//     the option is always written. A nil list is then written as an empty one: the service refuses null, but
//     explains what is missing in an empty list.
//   - A member without a field is stored in AdditionalProperties. AdditionalProperties are written after the fields,
//     in the order of their names. A written field takes precedence over a member of its name, so
//     AdditionalProperties can also force an explicit null for an omitted field.
//   - The tag `empty:"…"` holds the JSON for a zero value.
//   - Names are compared exactly, unlike in encoding/json.
//   - "@odata.context" is dropped, because it describes the reply in which an object arrived.
//   - The discriminator of a type of a union is written first. Its value follows from the Go type.
//
// The service treats null and absent the same in a definition, and a null of a known member is not written back.
// Secrets are an exception, with `empty:"null"`: the service does not return them, and in an update null means
// unchanged and "" a new value.
//
// The methods of a package's objects are generated: go generate in its folder runs the command methods, which writes
// missing methods for each struct with AdditionalProperties. They use the Package of their package, the variable types.
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

// Package holds the types of one package of models. They are registered when the first object is written or read, not
// during initialization: the linker then leaves them out of programs without such objects.
type Package struct {
	// Register calls Register for each union. It may be nil.
	Register func(*Package)
	// Objects returns a value of each type whose methods are Encode and Decode. They are called directly then.
	Objects func() []any

	once           sync.Once // for the maps, which are only read afterwards
	own            map[reflect.Type]bool
	unions         map[reflect.Type]*union
	discriminators map[reflect.Type]discriminator

	plans sync.Map // reflect.Type → *plan
}

// ready registers the types.
func (pkg *Package) ready() {
	pkg.once.Do(func() {
		pkg.own, pkg.unions, pkg.discriminators = map[reflect.Type]bool{}, map[reflect.Type]*union{}, map[reflect.Type]discriminator{}
		for _, v := range pkg.Objects() {
			pkg.own[reflect.TypeOf(v)] = true
		}
		if pkg.Register != nil {
			pkg.Register(pkg)
		}
	})
}

// plan holds the fields of a type of objects, for reading and writing.
type plan struct {
	discriminator
	fields []field
	index  map[string]int // of fields, by name
	more   []int          // index of AdditionalProperties
}

type field struct {
	encode.Field
	empty  string // the JSON of a zero value
	decode decoder
}

func (pkg *Package) planOf(t reflect.Type) *plan {
	if known, ok := pkg.plans.Load(t); ok {
		return known.(*plan)
	}
	p := &plan{discriminator: pkg.discriminators[t], index: map[string]int{}}
	for i, f := range encode.FieldsOf(t) {
		p.index[f.Name] = i
		p.fields = append(p.fields, field{f, t.FieldByIndex(f.Index).Tag.Get("empty"), pkg.decoderOf(f.Type)})
	}
	if more, has := t.FieldByName(additionalProperties); has {
		p.more = more.Index
	}
	known, _ := pkg.plans.LoadOrStore(t, p)
	return known.(*plan)
}

// Encode returns the JSON of the struct x. It implements MarshalJSON for x.
func (pkg *Package) Encode(x any) ([]byte, error) {
	pkg.ready()
	v := reflect.ValueOf(x)
	p := pkg.planOf(v.Type())
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

// appendValue appends the JSON of v without escaping for HTML.
func appendValue(dst []byte, v any) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// With returns a copy of more with one more member.
func With(more map[string]json.RawMessage, name string, value json.RawMessage) map[string]json.RawMessage {
	more = maps.Clone(more)
	if more == nil {
		more = map[string]json.RawMessage{}
	}
	more[name] = value
	return more
}
