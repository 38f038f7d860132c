package models_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
)

func digest(t require.TestingT, document string, fields ...string) string {
	d, err := models.DigestOf([]byte(document), fields...)
	require.NoError(t, err, document)
	return d
}

func TestDocumentsThatAreWrittenDifferentlyHaveOneDigest(t *testing.T) {
	for name, same := range map[string][]string{
		"order and space":           {`{"a":1,"b":{"c":2,"d":3}}`, ` { "b" : {"d":3,"c":2}, "a":1 } `},
		"values without content":    {`{}`, `{"a":null}`, `{"a":[]}`, `{"a":{}}`, `{"a":{"b":null,"c":[]}}`, `{"@odata.x":1}`},
		"nothing in a list":         {`{"a":[{"b":null,"c":1},{}]}`, `{"a":[{"c":1},{"d":[]}]}`},
		"numbers":                   {`{"a":1000}`, `{"a":1e3}`, `{"a":1000.0}`, `{"a":10.0E+2}`},
		"zero":                      {`{"a":0}`, `{"a":-0}`, `{"a":-0.0}`, `{"a":0e9}`},
		"integers that floats have": {`{"a":9007199254740994}`, `{"a":9.007199254740994E+15}`},
		"floats without a fraction": {`{"a":36028797018963970}`, `{"a":3.602879701896397E+16}`, `{"a":36028797018963970.0}`},
		"times":                     {`{"a":"2024-05-06T07:08:09Z"}`, `{"a":"2024-05-06T07:08:09.000Z"}`, `{"a":"2024-05-06T09:08:09+02:00"}`},
		"times below milliseconds":  {`{"a":"2024-05-06T07:08:09.1239999Z"}`, `{"a":"2024-05-06T07:08:09.123Z"}`},
		"times before 1970":         {`{"a":"1960-05-06T07:08:09.1239999Z"}`, `{"a":"1960-05-06T07:08:09.123Z"}`},
		"escapes":                   {`{"a":"<é>"}`, `{"a":"\u003c\u00e9\u003e"}`, `{"\u0061":"<\u00E9>"}`},
		"points": {
			`{"a":{"type":"Point","coordinates":[1,2]}}`,
			`{"a":{"coordinates":[1.0,2.0],"crs":{"type":"name","properties":{"name":"EPSG:4326"}},"type":"Point"}}`,
		},
		"annotations": {`{"a":1,"b":{"c":2}}`, `{"@search.score":1.5,"a":1,"b":{"@x":1,"c":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, other := range same[1:] {
				assert.Equal(t, digest(t, same[0]), digest(t, other), other)
			}
		})
	}
}

func TestDocumentsThatDifferHaveDifferentDigests(t *testing.T) {
	seen := map[string]string{}
	for _, document := range []string{
		`{}`, `{"a":""}`, `{"a":0}`, `{"a":false}`, `{"a":true}`, `{"a":1}`, `{"a":"1"}`, `{"b":1}`, `{"a":[1]}`, `{"a":[1,2]}`, `{"a":[2,1]}`,
		`{"a":[null]}`, `{"a":[[]],"b":1}`, `{"a":{"b":1}}`, `{"a":{"crs":1}}`, `{"a":-1}`, `{"a":1.5}`, `{"":1}`,
		`{"a":9007199254740992}`, `{"a":9007199254740993}`, `{"a":36028797018963968}`, `{"a":36028797018963970}`, `{"a":36028797018963969}`, `{"a":9223372036854775806}`, `{"a":9223372036854775807}`, `{"a":-9223372036854775808}`,
		`{"a":"2024-05-06T07:08:09.123Z"}`, `{"a":"2024-05-06T07:08:09.124Z"}`, `{"a":"2024-05-06"}`,
	} {
		d := digest(t, document)
		assert.Empty(t, seen[d], document)
		assert.Len(t, d, 32)
		seen[d] = document
	}
}

func TestADigestIsOfTheFieldsThatAreNamed(t *testing.T) {
	assert.Equal(t, digest(t, `{"a":1,"b":2}`), digest(t, `{"a":1,"b":2,"c":3}`, "b", "a"))
	assert.Equal(t, digest(t, `{"a":1}`), digest(t, `{"a":1,"c":3}`, "a", "b"), "a missing member is null")
	assert.NotEqual(t, digest(t, `{"a":1,"b":2}`, "a"), digest(t, `{"a":1,"b":2}`, "b"))
}

func TestOnlyAnObjectHasADigest(t *testing.T) {
	for _, document := range []string{``, `null`, `[]`, `1`, `{`, `{"a":}`, `{"a":1} {"a":2}`, `{"a":1}x`, `{"a":1}]`} {
		_, err := models.DigestOf([]byte(document))
		require.ErrorContains(t, err, "the document for a digest", document)
	}
	_, err := models.DigestOf([]byte(" {} \n"))
	require.NoError(t, err)
}

// Sources often pass documents through encoding/json, which must not change the digest.
func TestADigestSurvivesAnotherEncoder(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaves := []*rapid.Generator[any]{
			rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(), rapid.Just(any(nil)),
			rapid.SampledFrom([]string{"2024-05-06T07:08:09.5Z", "crs", "Point"}).AsAny(),
		}
		if depth > 0 {
			keys := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "type", "crs", "@x"}))
			leaves = append(leaves, rapid.SliceOfN(value(depth-1), 0, 3).AsAny(), rapid.MapOfN(keys, value(depth-1), 0, 3).AsAny())
		}
		return rapid.OneOf(leaves...)
	}
	rapid.Check(t, func(t *rapid.T) {
		document := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), value(2), 0, 5).Draw(t, "document")
		compact, err := json.Marshal(document)
		require.NoError(t, err)
		var wide bytes.Buffer
		require.NoError(t, json.Indent(&wide, compact, "", "\t"))
		require.Equal(t, digest(t, string(compact)), digest(t, wide.String()), fmt.Sprint(document))
		d := json.NewDecoder(bytes.NewReader(compact))
		d.UseNumber()
		var again map[string]any
		require.NoError(t, d.Decode(&again))
		var plain bytes.Buffer
		e := json.NewEncoder(&plain)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(again))
		require.Equal(t, digest(t, string(compact)), digest(t, plain.String()))
	})
}
