package encode_test

import (
	"encoding"
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"
)

// fill sets v to a value of at most this depth.
func (g *generator) fill(v reflect.Value, depth int) {
	if g.left--; g.left < 0 || depth < 0 || g.oneIn(40) {
		return // the zero value
	}
	if make, ok := makers[v.Type()]; ok {
		v.Set(reflect.ValueOf(make(g)))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(g.oneIn(2))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(g.int64())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(uint64(g.int64()))
	case reflect.Float32:
		v.SetFloat(float64(g.float32()))
	case reflect.Float64:
		v.SetFloat(g.float64())
	case reflect.String:
		v.SetString(g.text())
	case reflect.Struct:
		g.fillStruct(v, depth)
	case reflect.Array:
		for i := range v.Len() {
			g.fill(v.Index(i), depth-1)
		}
	case reflect.Slice:
		if n := g.n(6) - 1; n >= 0 { // else nil
			g.fillSlice(v, n, depth)
		}
	case reflect.Map:
		if n := g.n(6) - 1; n >= 0 {
			g.fillMap(v, n, depth)
		}
	case reflect.Pointer:
		if !g.oneIn(4) {
			v.Set(reflect.New(v.Type().Elem()).Convert(v.Type()))
			g.fill(v.Elem(), depth-1)
		}
	case reflect.Interface:
		g.fillInterface(v, depth)
	case reflect.Chan:
		if g.oneIn(2) {
			v.Set(reflect.MakeChan(reflect.ChanOf(reflect.BothDir, v.Type().Elem()), 0).Convert(v.Type()))
		}
	}
}

func (g *generator) fillStruct(v reflect.Value, depth int) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.CanSet():
			g.fill(f, depth-1)
		case f.Kind() == reflect.Struct && v.Type().Field(i).Anonymous:
			g.fillStruct(f, depth-1) // its exported fields can be set
		}
	}
}

func (g *generator) fillSlice(v reflect.Value, n, depth int) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		n *= 1 + g.n(9) // all lengths modulo 3
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n+g.n(3)))
	for i := range n {
		g.fill(v.Index(i), depth-1)
	}
}

// fillMap skips a key with the name of another one, because encoding/json writes such keys in any order.
func (g *generator) fillMap(v reflect.Value, n, depth int) {
	v.Set(reflect.MakeMapWithSize(v.Type(), n))
	names := map[string]bool{}
	for range n {
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		g.fill(k, 3)
		g.fill(e, depth-1)
		if name, ok := keyName(k); !ok || !names[name] {
			names[name] = true
			setMember(v, k, e)
		}
	}
}

// setMember ignores a key that is an interface with an invalid dynamic value, which Comparable does not always
// detect.
func setMember(v, k, e reflect.Value) {
	defer func() { _ = recover() }()
	v.SetMapIndex(k, e)
}

// keyName returns the name of a key with its own MarshalText.
func keyName(k reflect.Value) (name string, ok bool) {
	defer func() { _ = recover() }()
	if k.Kind() == reflect.String {
		return "", false
	}
	m, ok := k.Interface().(encoding.TextMarshaler)
	if !ok || k.Kind() == reflect.Pointer && k.IsNil() {
		return "", ok
	}
	text, err := m.MarshalText()
	return string(text), err == nil
}

// fillInterface puts a value, a pointer, or a nil pointer of any matching type into v.
func (g *generator) fillInterface(v reflect.Value, depth int) {
	if g.oneIn(6) {
		return
	}
	t := g.anyType(min(2, max(0, depth-1)))
	if v.NumMethod() > 0 {
		fits := func(t reflect.Type) bool { return t.Implements(v.Type()) || reflect.PointerTo(t).Implements(v.Type()) }
		all := slices.DeleteFunc(slices.Clone(named), func(t reflect.Type) bool { return !fits(t) })
		t = pick(g.choices, all)
	}
	p := reflect.New(t)
	switch {
	case g.oneIn(12):
		p = reflect.Zero(p.Type())
	default:
		g.fill(p.Elem(), depth-1)
	}
	switch {
	case t.Implements(v.Type()) && !p.IsNil() && !g.oneIn(3):
		v.Set(p.Elem())
	case p.Type().Implements(v.Type()):
		v.Set(p)
	}
}

// rawTexts are contents of a json.RawMessage; the last ones are not valid JSON.
var rawTexts = []string{
	`null`, `{}`, `[]`, `0`, `-0`, `1e5`, `true`, `""`, `"<&>"`, " \t\r\n{ \"a\" : [ 1 , 2.50 , { } ] , \"b\":null } \n", `"\u003c\/ \u00e9"`,
	"\"\u2028 raw \u2029\"", "\"\xff\xe2\x80\"", `{"dup":1,"dup":2}`, `[[[[]]]]`, `"sp ace"`, `1E+02`, `123456789012345678901234567890`, `{"@search.action":1}`,
	``, ` `, `nul`, `{`, `[1,]`, `{"a"}`, `01`, `1.`, `+1`, `"` + "\n" + `"`, `"\x"`, `1 2`, `{}}`, `'a'`, `NaN`, "\"\x00\"", `"\ud800"`, `"\u12"`, "\ufeff1",
}

var numberTexts = []string{
	"", "0", "-0", "1", "-12", "1.50", "1e5", "1E-5", "0.1e+10", "123456789012345678901234567890", "1e999",
	"-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "NaN", "Infinity", " 1", "1 ", "1e5.", "--1", "1_000", "null", `"1"`, "é",
}

// mostlyValid usually returns one of the first n texts.
func (g *generator) mostlyValid(texts []string, n int) string {
	if g.oneIn(30) {
		return pick(g.choices, texts)
	}
	return pick(g.choices, texts[:n])
}

// makers generates values of types whose fields reflect cannot set, or whose values must usually be valid.
var makers = map[reflect.Type]func(*generator) any{
	reflect.TypeFor[time.Time]():       func(g *generator) any { return g.time() },
	reflect.TypeFor[plainTime]():       func(g *generator) any { return plainTime(g.time()) },
	reflect.TypeFor[embedsTime]():      func(g *generator) any { return embedsTime{g.time()} },
	reflect.TypeFor[big.Int]():         func(g *generator) any { return *new(big.Int).Lsh(big.NewInt(g.int64()), uint(g.n(200))) },
	reflect.TypeFor[netip.Addr]():      func(g *generator) any { return pick(g.choices, addresses) },
	reflect.TypeFor[json.Number]():     func(g *generator) any { return json.Number(g.mostlyValid(numberTexts, 11)) },
	reflect.TypeFor[json.RawMessage](): func(g *generator) any { return g.raw() },
	reflect.TypeFor[givenJSON]():       func(g *generator) any { return givenJSON(g.mostlyValid(rawTexts, 19)) },
	reflect.TypeFor[embedsHiddenPtr](): func(g *generator) any {
		return embedsHiddenPtr{g.n(9), pick(g.choices, []*inner{nil, {A: 1, C: g.text(), D: new(int)}}), g.n(9)}
	},
	reflect.TypeFor[embedsHiddenTaggedPtr](): func(g *generator) any {
		return embedsHiddenTaggedPtr{pick(g.choices, []*inner{nil, {A: 1, C: g.text(), D: new(int)}})}
	},
	reflect.TypeFor[embedsSelf](): func(g *generator) any {
		return embedsSelf{pick(g.choices, []*embedsSelf{nil, {V: 1}, {&embedsSelf{nil, 2}, 1}}), g.n(9)}
	},
	reflect.TypeFor[embedsNumberPtr](): func(g *generator) any {
		n, l := Number(g.int64()), label(g.text())
		return pick(g.choices, []embedsNumberPtr{{}, {&n, nil}, {&n, &l}, {nil, &l}})
	},
	reflect.TypeFor[embedsHiddenIfc](): func(g *generator) any {
		return pick(g.choices, []embedsHiddenIfc{{}, {vString("x")}, {jvStruct{"x"}}})
	},
	reflect.TypeFor[unseen](): func(g *generator) any { return unseen{a: 1, b: "x", C: g.n(9)} },
}

var addresses = []netip.Addr{
	{}, netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::1"), netip.MustParseAddr("fe80::1%eth0"), netip.MustParseAddr("::ffff:1.2.3.4"),
}

func (g *generator) raw() json.RawMessage {
	switch g.n(12) {
	case 0:
		return nil
	case 1:
		return json.RawMessage(strings.Repeat("[", 20) + strings.Repeat(" ]\n", 20))
	}
	return json.RawMessage(g.mostlyValid(rawTexts, 19))
}
