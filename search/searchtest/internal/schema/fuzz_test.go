package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// No text causes a panic. A refusal is a 400 with a message; an accepted definition is echoed with the same meaning.
func FuzzCompileSchema(f *testing.F) {
	versions := append(apiversion.Versions(), apiversion.Of(""))
	for _, pattern := range []string{"testdata/requests/definitions/*.json", "testdata/recordings/testdata/*Index*.json", "testdata/recordings/testdata/py_hotel_schema.json"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(f, err)
			if len(data) < 2000 { // long inputs cost the engine time for minimizing
				f.Add(data, uint8(len(data)))
			}
		}
	}
	f.Add([]byte(vectorIndex(vectorField(`,"stored":false`))), uint8(5))
	f.Add([]byte(plain(`"semantic":{"configurations":[{"name":"a","prioritizedFields":{"titleField":{"fieldName":"title"}}}]},"corsOptions":{"allowedOrigins":["*"]}`)), uint8(5))
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		version := versions[int(n)%len(versions)]
		if reason := echoFault(body, version); reason != "" {
			t.Fatal(reason)
		}
	})
}

// echoFault describes what is wrong with the handling of a definition; "" means nothing.
func echoFault(body []byte, version apiversion.Version) string {
	sc, err := Compile(body, version)
	if err != nil {
		if err.Status != 400 || err.Message == "" {
			return fmt.Sprintf("refused with %d %q", err.Status, err.Message)
		}
		return ""
	}
	if !json.Valid(sc.Definition) {
		return "the echo is not JSON: " + string(sc.Definition)
	}
	again, err := Compile(sc.Definition, version)
	if err != nil {
		return fmt.Sprintf("the echo is refused: %v\n%s", err, sc.Definition)
	}
	if string(again.Definition) != string(sc.Definition) {
		return fmt.Sprintf("the echo of the echo is another:\n%s\n%s", sc.Definition, again.Definition)
	}
	if again.Name != sc.Name || again.Key.Name != sc.Key.Name || !reflect.DeepEqual(again.Fields, sc.Fields) {
		return "the echo means something else: " + string(sc.Definition)
	}
	return ""
}

// The test draws JSON definitions that are nearly valid, which random bytes hardly ever are.
func TestRandomFieldsAreRefusedOrEchoed(t *testing.T) {
	types := []string{"Edm.Decimal"}
	for typ := stored.String; typ <= stored.Byte; typ++ {
		types = append(types, typ.String(), "Collection("+typ.String()+")")
	}
	var drawField func(t *rapid.T, depth int) map[string]any
	drawField = func(t *rapid.T, depth int) map[string]any {
		f := map[string]any{
			"name": rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g1", "h_"}).Draw(t, "name"),
			"type": rapid.SampledFrom(types).Draw(t, "type"),
		}
		for _, name := range []string{"searchable", "filterable", "retrievable", "sortable", "facetable", "key", "stored"} {
			if rapid.IntRange(0, 9).Draw(t, name+"?") == 0 {
				f[name] = rapid.SampledFrom([]any{true, false, nil}).Draw(t, name)
			}
		}
		if strings.Contains(f["type"].(string), "Complex") && depth < 4 {
			var fields []any
			for range rapid.IntRange(1, 3).Draw(t, "sub-fields") {
				fields = append(fields, drawField(t, depth+1))
			}
			f["fields"] = fields
		}
		switch rapid.IntRange(0, 12).Draw(t, "more") {
		case 0:
			f["analyzer"] = rapid.SampledFrom([]any{"en.lucene", "simple", "none", nil}).Draw(t, "analyzer")
		case 1:
			f["indexAnalyzer"], f["searchAnalyzer"] = "simple", "stop"
		case 2:
			f["normalizer"] = "lowercase"
		case 3:
			f["synonymMaps"] = []string{"m"}
		case 4, 5, 6:
			f["dimensions"], f["vectorSearchProfile"], f["searchable"] = 16, "p", true
		case 7:
			f["dimensions"], f["vectorSearchProfile"], f["searchable"], f["vectorEncoding"] = 16, "q", true, "packedBit"
		}
		return f
	}
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		fields := []any{map[string]any{"name": "id", "type": "Edm.String", "key": true}}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			fields = append(fields, drawField(t, 1))
		}
		var vectors any
		require.NoError(t, json.Unmarshal([]byte("{"+vectorSearch+"}"), &vectors))
		body, err := json.Marshal(map[string]any{"name": "random", "fields": fields, "vectorSearch": vectors.(map[string]any)["vectorSearch"]})
		require.NoError(t, err)
		if reason := echoFault(body, apiversion.Latest()); reason != "" {
			t.Fatal(reason)
		}
		if _, serr := Compile(body, apiversion.Latest()); serr == nil {
			taken++
		}
	})
	require.Positive(t, taken, "all were refused: that tests little")
}
