package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

var scannerSeeds = []string{
	``, ` `, `null`, `true`, `false`, `tru`, `0`, `-0`, `01`, `1.`, `1.5e+10`, `1e`, `-`, `.5`, `"a"`, `"a`, `"\u00e9\ud83d\ude00"`, `"\ud800"`, `"\x"`, `"\u12g4"`,
	"\"a\nb\"", "\"\xff\"", `{}`, `[]`, `{"a":1,"b":[1,2,{"c":null}]}`, `{"a":1,}`, `[1,]`, `{"a"}`, `{a:1}`, `[1 2]`, `{"a":1 "b":2}`, `1 2`, `{"a":1}}`, "\x00", `"\`, `"\u1`,
	`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"bbbbbbbbbbbbbbbbb"`, `"0123456\n"`, "\"01234567\x1f\"", " \t\r\n[ 1 , 2 ] ",
}

// The scanner accepts exactly what encoding/json accepts, and reads strings as it does.
func FuzzScanner(f *testing.F) {
	for _, seed := range scannerSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Scanner{Data: data}
		accepted := s.Skip(0) && s.AtEnd()
		if want := json.Valid(data); accepted != want {
			t.Fatalf("accepted %v, encoding/json %v (%s)", accepted, want, s.Failure)
		}
		if !accepted {
			return
		}
		s = Scanner{Data: data}
		if s.Peek() != '"' {
			return
		}
		raw, plain, ok := s.Quoted()
		require.True(t, ok)
		var want string
		require.NoError(t, json.Unmarshal(data, &want))
		require.Equal(t, want, string(AppendUnquoted(nil, raw)))
		if plain {
			require.Equal(t, want, string(raw))
		}
		// The written text is read back by encoding/json unchanged.
		var back string
		require.NoError(t, json.Unmarshal(reply.AppendString(nil, want), &back))
		require.Equal(t, want, back)
	})
}

func TestScannerAcceptsNestingAsDeepAsEncodingJSON(t *testing.T) {
	for _, depth := range []int{MaxNesting - 1, MaxNesting, MaxNesting + 1} {
		data := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		s := Scanner{Data: data}
		assert.Equal(t, json.Valid(data), s.Skip(0) && s.AtEnd(), "depth %d", depth)
	}
}

// The fast path handles eight bytes at a time and must stop at a quote, backslash, control character or high byte in
// any position.
func TestScannerFindsEverySpecialByteAtEveryPlace(t *testing.T) {
	for place := range 24 {
		for b := range 256 {
			text := bytes.Repeat([]byte{'x'}, 24)
			text[place] = byte(b)
			data := append(append([]byte{'"'}, text...), '"')
			s := Scanner{Data: data}
			if want := json.Valid(data); want != (s.Skip(0) && s.AtEnd()) {
				t.Fatalf("byte %#x at %d: encoding/json returned %v", b, place, want)
			}
		}
	}
}
