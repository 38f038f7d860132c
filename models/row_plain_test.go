package models_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// digestByMaps is the original models.DigestOf on encoding/json. Databases and backups contain its digests.
func digestByMaps(document []byte, fields ...string) (string, error) {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var all map[string]any
	err := d.Decode(&all)
	if err == nil && all == nil {
		err = errors.New("it is null, and not an object")
	}
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is something behind the object")
		}
	}
	if err != nil {
		return "", fmt.Errorf("the document for a digest: %w", err)
	}
	if len(fields) > 0 {
		for name := range all {
			if !slices.Contains(fields, name) {
				delete(all, name)
			}
		}
	}
	text, err := json.Marshal(plainByMaps(all))
	if err != nil {
		return "", fmt.Errorf("the document for a digest: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

func plainByMaps(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			field = plainByMaps(field)
			if field == nil || name[:min(1, len(name))] == "@" || name == "crs" && v["type"] == "Point" {
				delete(v, name)
				continue
			}
			v[name] = field
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = plainByMaps(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && !changesAsFloat(v, f) {
			if f == 0 {
				return json.Number("0") // not -0
			}
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	case string:
		if t, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return t.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
		}
	}
	return value
}

func changesAsFloat(n json.Number, f float64) bool {
	_, err := n.Int64()
	return err == nil && strconv.FormatFloat(f, 'f', -1, 64) != n.String()
}

func FuzzDigestsStayTheSame(f *testing.F) {
	for _, document := range []string{
		`{}`, ` {"b":1,"a":[1,null,{}],"c":{"x":[],"y":null}} `, `{"a":1,"a":null}`, `{"a":{"b":1},"a":{"c":2}}`, `{"type":"Point","crs":1}`, `{"a":{"crs":{"x":1},"type":"Point"}}`,
		`{"a":1e6,"b":1000000,"c":999999,"d":-0,"e":1E400,"f":9007199254740993,"g":-12,"h":0.10}`, `{"a":"2024-05-06T09:08:09.1239+02:00","b":"2024-05-06T3:08:09Z","c":"2024\u002d05-06T07:08:09Z"}`,
		"{\"a\":\"<é>\u2028\x7f\",\"\\u0061b\":\"\\ud800 \\n\",\"\xff\":\"\xc3\"}", `{"@a":1,"\u0040b":2,"type":"Point","crs":2}`, `{"id":"1","type":null,"crs":[false,true,null]}`, `null`, `[]`, `{"a":1}x`, ``, `{`,
	} {
		f.Add(document, "")
		f.Add(document, "a")
	}
	f.Fuzz(func(t *testing.T, document, field string) {
		var fields []string
		if field != "" {
			fields = []string{field, "crs"}
		}
		want, wrong := digestByMaps([]byte(document), fields...)
		got, err := models.DigestOf([]byte(document), fields...)
		require.Equal(t, wrong == nil, err == nil, "%v, %v", wrong, err)
		assert.Equal(t, want, got)
	})
}

// TestDigestsSeeEachCharacter puts characters that encoding/json changes at each of the eight places read at once.
func TestDigestsSeeEachCharacter(t *testing.T) {
	for _, special := range []string{"<", ">", "&", "=", "'", "\\u0041", "\\\"", "é", "\u2028", "\xff", "\x7f"} {
		for place := range 17 {
			document := []byte(`{"a":"` + strings.Repeat("x", place) + special + strings.Repeat("y", 16) + `"}`)
			want, err := digestByMaps(document)
			require.NoError(t, err)
			got, err := models.DigestOf(document)
			require.NoError(t, err)
			assert.Equal(t, want, got, "%s", document)
		}
	}
}

func BenchmarkDigestOf(b *testing.B) {
	document, err := json.Marshal(map[string]any{
		"@search.score": 1, "id": "00000017", "name": "Hotel", "description": string(bytes.Repeat([]byte("close to the river and quiet at night "), 12)), "tags": []string{"pool", "wifi"},
		"rating": 4.5, "rooms": 120, "opened": "2024-05-06T07:08:09Z", "address": map[string]any{"city": "Delft", "location": map[string]any{"type": "Point", "coordinates": []float64{4.35, 52.01}}},
	})
	require.NoError(b, err)
	b.SetBytes(int64(len(document)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := models.DigestOf(document); err != nil {
			b.Fatal(err)
		}
	}
}
