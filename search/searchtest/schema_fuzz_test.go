package searchtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzCompileSchema: no text panics, every refusal is a 400 that says something,
// and what is taken is echoed as a definition that means the same.
func FuzzCompileSchema(f *testing.F) {
	versions := []string{"2019-05-06", "2020-06-30", "2023-11-01", "2024-07-01", "2025-09-01", "2026-04-01", "2025-03-01-preview", ""}
	for _, pattern := range []string{"testdata/requests/definitions/*.json", "testdata/recordings/testdata/*Index*.json", "testdata/recordings/testdata/py_hotel_schema.json"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(data, uint8(len(data)))
		}
	}
	f.Add([]byte(vectorIndex(vectorField(`,"stored":false`))), uint8(5))
	f.Add([]byte(plain(`"semantic":{"configurations":[{"name":"a","prioritizedFields":{"titleField":{"fieldName":"title"}}}]},"corsOptions":{"allowedOrigins":["*"]}`)), uint8(5))
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		version := versions[int(n)%len(versions)]
		sc, err := compileSchema(body, version)
		if err != nil {
			if err.status != 400 || err.message == "" {
				t.Fatalf("refused with %d %q", err.status, err.message)
			}
			return
		}
		if !json.Valid(sc.definition) {
			t.Fatalf("the echo is not JSON: %s", sc.definition)
		}
		again, err := compileSchema(sc.definition, version)
		if err != nil {
			t.Fatalf("the echo is refused: %v\n%s", err, sc.definition)
		}
		if string(again.definition) != string(sc.definition) {
			t.Fatalf("the echo of the echo is another:\n%s\n%s", sc.definition, again.definition)
		}
		if again.name != sc.name || again.key.name != sc.key.name || !reflect.DeepEqual(again.fields, sc.fields) {
			t.Fatalf("the echo means something else: %s", sc.definition)
		}
	})
}
