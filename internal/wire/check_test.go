package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// compareText compares with encoding/json: whether a text is valid, the position of the error, and the compact form.
func compareText(text []byte) error {
	var want bytes.Buffer
	valid := json.Valid(text)
	if err := json.Compact(&want, text); (err == nil) != valid {
		return fmt.Errorf("encoding/json contradicts itself: %t, %w", valid, err)
	}
	var whole json.RawMessage
	var wrong *json.SyntaxError
	errors.As(json.Unmarshal(text, &whole), &wrong)
	switch at, ok := wire.Check(text); {
	case ok != valid:
		return fmt.Errorf("valid is %t, but Check returned %t at %d", valid, ok, at)
	case ok && at != len(text):
		return fmt.Errorf("valid, and Check stopped at %d of %d", at, len(text))
	case ok, at == len(text) && wrong.Offset == int64(at): // it ends too early
	case int64(at) != wrong.Offset-1:
		return fmt.Errorf("Check returned %d, encoding/json %d: %w", at, wrong.Offset-1, wrong)
	}
	for _, spare := range []int{0, 4096} {
		before := bytes.Clone(text)
		dst := newDst(spare)
		got, ok := wire.Compact(dst, text)
		switch {
		case !bytes.Equal(text, before):
			return fmt.Errorf("Compact has changed its input to %s", clip(text, firstDifference(text, before)))
		case ok != valid:
			return fmt.Errorf("valid is %t, but Compact returned %t", valid, ok)
		case string(dst) != prefix || !bytes.HasPrefix(got, dst) || !ok && len(got) != len(dst):
			return fmt.Errorf("Compact has not kept the previous content: %s", clip(got, 0))
		case ok && !bytes.Equal(got[len(dst):], want.Bytes()):
			at := firstDifference(got[len(dst):], want.Bytes())
			return fmt.Errorf("at byte %d\nencoding/json: %s\nCompact:       %s", at, clip(want.Bytes(), at), clip(got[len(dst):], at))
		}
	}
	return nil
}

// texts cover all of JSON.
var texts = []string{
	`{"a":"b","n":[1,-0,0.5,1e9,1E+09,-12.75e-3,12345678901234567890],"t":true,"f":false,"z":null,"o":{"":{}},"l":[[],[[]]]}`,
	" { \"a\" : \"b c\" ,\t\"n\" : [ 1 , 2\r\n] ,\n\"o\" : { } , \"l\" : [ ] , \"t\" : true } \n",
	`{"escapes":"\"\\\/\b\f\n\r\t\u0041\uD800\udfff\u2028","\u0040search.x":"\\"}`,
	"{\"é\":\"日本語 <&> \u2028\u2029 \xff\xe2\x80\",\"long\":\"0123456789abcdef0123456789abcdef\"}",
	`"string"`, `-1.5e10`, `0`, `true`, `null`, `[]`, `{}`, ` `, ``, "\ufeff{}", "{\"a\":\"\x00\"}", "{\"a\":\"\x1f\x20\x7f\x80\"}",
	`{"id":"1","x":nope}`, `01`, `-`, `1.`, `.5`, `+1`, `1e`, `1e+`, `0x1`, `NaN`, `Infinity`, `'a'`, `{a:1}`, `{"a" 1}`, `[1,]`, `{"a":1,}`, `[,]`, `{,}`,
	`{"a":1]`, `[1}`, `{"a":[1}]`, `1 2`, `{} {}`, `"\x"`, `"\u12g4"`, `"\u123`, `"`, `"\`, `tru`, `truf`, `nul `, `falsey`, "[1,\v2]", "\u00a0{}", `{"a"::1}`, `[[[[`, `{"a":{"b":[{`,
}

// Every text is tried complete, truncated at each position, and with each byte replaced by, or preceded by, a
// significant one.
func TestTextsAreCheckedAndCompactedAsByEncodingJSON(t *testing.T) {
	const bytesThatMeanSomething = "\x00 \n\v\"\\/{}[]:,019-+.eEtfnua\x1f\x7f\x80\xe2\xff"
	tried := 0
	try := func(parts ...string) {
		text := strings.Join(parts, "")
		require.NoErrorf(t, compareText([]byte(text)), "%q", text)
		tried++
	}
	for _, text := range texts {
		try(text)
		for i := range len(text) {
			try(text[:i])
			try(text[i:])
			for _, c := range []byte(bytesThatMeanSomething) {
				try(text[:i], string([]byte{c}), text[i:])
				try(text[:i], string([]byte{c}), text[i+1:])
			}
		}
	}
	require.Greater(t, tried, 30_000)
}

// The scan reads eight bytes at once, and must find the end of a string, an escape or a control character in any
// position.
func TestEndOfAStringIsFoundAtAnyPlace(t *testing.T) {
	for _, within := range []string{"a", "é", "\xff", "\x7f", " ", "\u2028", "\x80"} {
		for _, special := range []string{`"`, `\"`, `\\`, `\u00e9`, `\x`, "\n", "\x1f", "\x00"} {
			for before := range 20 {
				for after := range 20 {
					text := `"` + strings.Repeat(within, before) + special + strings.Repeat(within, after) + `"`
					require.NoErrorf(t, compareText([]byte(text)), "%q", text)
					text = `["` + strings.Repeat(within, before) + special + `,` + strings.Repeat(within, after) + `"]`
					require.NoErrorf(t, compareText([]byte(text)), "%q", text)
				}
			}
		}
	}
}

// Brackets are stored 64 in a word: they must match at each depth, across words.
func TestBracketsMatchAtEveryDepth(t *testing.T) {
	for _, depth := range []int{1, 63, 64, 65, 127, 128, 129, 200, 1000, 9_999, 10_000, 10_001, 10_064, 20_000} {
		var open, closed strings.Builder
		kinds := make([]bool, depth)
		for i := range kinds {
			kinds[i] = i*i%7 < 3
			if kinds[i] {
				open.WriteString(`{"a": `)
			} else {
				open.WriteString(`[ `)
			}
		}
		for i := depth - 1; i >= 0; i-- {
			if kinds[i] {
				closed.WriteString(`, "b":1}`)
			} else {
				closed.WriteString(`,2]`)
			}
		}
		text := open.String() + "0" + closed.String()
		require.NoErrorf(t, compareText([]byte(text)), "%d levels", depth)
		require.NoErrorf(t, compareText([]byte(text+"]")), "%d levels, one bracket too many", depth)
		for _, at := range []int{0, len(closed.String()) / 3, len(closed.String()) / 2, len(closed.String()) - 1} {
			changed := []byte(text)
			end := open.Len() + 1 + at
			for changed[end] != ']' && changed[end] != '}' {
				end++
			}
			changed[end] ^= ']' ^ '}'
			require.NoErrorf(t, compareText(changed), "%d levels, one bracket of the other kind", depth)
		}
	}
}

func FuzzCompact(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Add([]byte(strings.Repeat("[", 130) + strings.Repeat("]", 130)))
	f.Add([]byte(strings.Repeat(`{"a":[`, 40) + `"x"` + strings.Repeat(`]}`, 40)))
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, compareText(text))
	})
}

const prefix = `{"before":1}<&é,`

// newDst returns a dst with the prefix and room for spare nonzero bytes, which reveal a reader of stale bytes.
func newDst(spare int) []byte {
	dst := bytes.Repeat([]byte{'~'}, len(prefix)+spare)
	copy(dst, prefix)
	return dst[:len(prefix)]
}

// firstDifference returns the first position at which two texts differ.
func firstDifference(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// clip quotes the 60 bytes before and after at.
func clip(b []byte, at int) string {
	return fmt.Sprintf("%q", b[max(0, at-60):min(len(b), at+60)])
}
