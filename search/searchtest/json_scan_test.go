package searchtest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/wire"
)

var scannerSeeds = []string{
	``, ` `, `null`, `true`, `false`, `tru`, `0`, `-0`, `01`, `1.`, `1.5e+10`, `1e`, `-`, `.5`, `"a"`, `"a`, `"\u00e9\ud83d\ude00"`, `"\ud800"`, `"\x"`, `"\u12g4"`,
	"\"a\nb\"", "\"\xff\"", `{}`, `[]`, `{"a":1,"b":[1,2,{"c":null}]}`, `{"a":1,}`, `[1,]`, `{"a"}`, `{a:1}`, `[1 2]`, `{"a":1 "b":2}`, `1 2`, `{"a":1}}`, "\x00", `"\`, `"\u1`,
	`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"bbbbbbbbbbbbbbbbb"`, `"0123456\n"`, "\"01234567\x1f\"", " \t\r\n[ 1 , 2 ] ",
}

// The scanner accepts exactly what encoding/json accepts, and reads strings as
// it does.
func FuzzScanner(f *testing.F) {
	for _, seed := range scannerSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := wire.Scanner{Data: data}
		accepted := s.Skip(0) && s.AtEnd()
		if want := json.Valid(data); accepted != want {
			t.Fatalf("accepted %v, encoding/json %v (%s)", accepted, want, s.Failure)
		}
		if !accepted {
			return
		}
		s = wire.Scanner{Data: data}
		if s.Peek() != '"' {
			return
		}
		raw, plain, ok := s.Quoted()
		require.True(t, ok)
		var want string
		require.NoError(t, json.Unmarshal(data, &want))
		require.Equal(t, want, string(wire.AppendUnquoted(nil, raw)))
		if plain {
			require.Equal(t, want, string(raw))
		}
		// And what goes out is read back by encoding/json as the same text.
		var back string
		require.NoError(t, json.Unmarshal(reply.AppendString(nil, want), &back))
		require.Equal(t, want, back)
	})
}

func TestScannerAcceptsNestingAsDeepAsEncodingJSON(t *testing.T) {
	for _, depth := range []int{wire.MaxNesting - 1, wire.MaxNesting, wire.MaxNesting + 1} {
		data := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		s := wire.Scanner{Data: data}
		assert.Equal(t, json.Valid(data), s.Skip(0) && s.AtEnd(), "depth %d", depth)
	}
}

// A quote, a backslash, a control character or a high byte ends the fast part of
// a string wherever among its eight bytes it stands.
func TestScannerFindsEverySpecialByteAtEveryPlace(t *testing.T) {
	for place := range 24 {
		for b := range 256 {
			text := bytes.Repeat([]byte{'x'}, 24)
			text[place] = byte(b)
			data := append(append([]byte{'"'}, text...), '"')
			s := wire.Scanner{Data: data}
			if want := json.Valid(data); want != (s.Skip(0) && s.AtEnd()) {
				t.Fatalf("byte %#x at %d: encoding/json says %v", b, place, want)
			}
		}
	}
}

var batchSeeds = []string{
	`{"value":[]}`, `{"value":[{"id":"1"}]}`, `{"value":[{"@search.action":"delete","id":"1","s":"x"}]}`,
	`{"value":[{"id":"1","s":"a","b":true,"i":1,"l":2,"d":"NaN","t":"2020-01-01T00:00:00Z","g":{"type":"Point","coordinates":[1,2]},"c":{"x":"a","n":{"z":"b"}},"ss":["a"],"cs":[{"in":[{}]}],"v":[1,2,3]}]}`,
	`{"value":[{"id":"1","i":1.5}]}`, `{"value":[{"id":"1"}],"x":1}`, `{"value":[{"id":"1"},]}`, `{"value":null}`, "\ufeff{\"value\":[{\"id\":\"1\",\"@odata.type\":[[]]}]}",
	`{"value":[{"id":"1","g":{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"EPSG:4326"}}}}]}`,
}

// Whatever is sent, the parser does not panic; what it takes is JSON, and can be
// stored, merged and written again.
func FuzzBatch(f *testing.F) {
	for _, seed := range batchSeeds {
		f.Add([]byte(seed))
	}
	for _, seed := range scannerSeeds {
		f.Add([]byte(`{"value":[{"id":"1","s":` + seed + `}]}`))
	}
	sc, fault := schema.Compile([]byte(everyType), latest)
	require.Nil(f, fault)
	opts := (*Options)(nil).withDefaults()
	f.Fuzz(func(t *testing.T, data []byte) {
		p := batch.NewParser(data, sc, latest, opts.limits())
		defer p.Release()
		if fault := p.Parse(); fault != nil {
			require.Equal(t, 400, fault.Status)
			return
		}
		require.True(t, json.Valid(bytes.TrimPrefix(data, []byte("\ufeff"))))
		require.NotEmpty(t, p.Actions)
		for _, a := range p.Actions {
			require.NotEmpty(t, a.Key)
			if a.Data == nil {
				continue
			}
			out := wholeDocument(sc, a.Data)
			require.True(t, json.Valid(out), "%s", out)
			merged := stored.MergeObjects(nil, sc.Fields, a.Data, a.Data)
			require.JSONEq(t, string(out), string(wholeDocument(sc, merged)), "merging a document into itself must not change it")
		}
	})
}
