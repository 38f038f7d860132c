package encode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// intsOnly returns a generated struct type of ints and embedded structs of ints, so that no value hides a field.
func intsOnly(g *generator, depth int) reflect.Type {
	fields := make([]reflect.StructField, 0, 7)
	for i := range g.n(8) {
		f := reflect.StructField{Name: g.fieldName(i), Type: reflect.TypeFor[int]()}
		if g.oneIn(2) {
			f.Tag = reflect.StructTag(fmt.Sprintf("json:%q", pick(g.choices, tagNames)))
		}
		if depth > 0 && g.oneIn(3) {
			f.Name, f.Anonymous = fmt.Sprint("E", i), true
			if f.Type = intsOnly(g, depth-1); g.oneIn(2) {
				f.Type = pick(g.choices, g.embeds)
			}
			if g.oneIn(3) {
				f.Type = reflect.PointerTo(f.Type)
			}
		}
		fields = append(fields, f)
	}
	t := reflect.StructOf(fields)
	g.embeds = append(slices.Clip(g.embeds), t, t, t)
	return t
}

// setEmbedded sets pointers to embedded structs, so that their fields are written.
func setEmbedded(v reflect.Value, depth int) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !v.Type().Field(i).Anonymous {
			continue
		}
		if f.Kind() == reflect.Pointer && depth > 0 {
			f.Set(reflect.New(f.Type().Elem()))
			f = f.Elem()
		}
		if f.Kind() == reflect.Struct {
			setEmbedded(f, depth-1)
		}
	}
}

// member is a member of a JSON object.
type member struct{ name, value string }

func membersOf(t *testing.T, object []byte) []member {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(object))
	_, err := dec.Token()
	require.NoError(t, err)
	var members []member
	for dec.More() {
		name, err := dec.Token()
		require.NoError(t, err)
		var value json.RawMessage
		require.NoError(t, dec.Decode(&value))
		members = append(members, member{name.(string), string(value)})
	}
	return members
}

// FieldsOf returns the fields that encoding/json writes, in its order, with their positions.
func TestFieldsOfIsWhatIsWritten(t *testing.T) {
	embeds := slices.DeleteFunc(slices.Clone(embeddable), func(t reflect.Type) bool {
		return t.Kind() != reflect.Struct || t == reflect.TypeFor[Inner]() || t == reflect.TypeFor[embedsHidden]() // they have omitempty
	})
	for seed := range uint64(testkit.Cases(500, 3000, 3000)) {
		g := newGenerator(randomChoices(seed))
		g.embeds = embeds
		typ := intsOnly(g, 3)
		v := reflect.New(typ).Elem()
		setEmbedded(v, 8)
		fields := encode.FieldsOf(typ)
		for i, f := range fields {
			if at := v.FieldByIndex(f.Index); at.Kind() == reflect.Int {
				at.SetInt(int64(i))
			}
		}
		written, err := reference(v.Interface())
		require.NoError(t, err)
		var want, got []string
		for i, m := range membersOf(t, written) {
			want = append(want, m.name)
			if m.value[0] != '{' {
				require.Equal(t, fmt.Sprint(i), m.value, "seed %d, %.1000v: another field is at that place", seed, typ)
			}
		}
		for _, f := range fields {
			got = append(got, f.Name)
		}
		require.Equal(t, want, got, "seed %d, %.1000v", seed, typ)
		checkWritten(t, v.Interface())
	}
}
