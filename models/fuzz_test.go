package models_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func FuzzSearchIndexRoundTrip(f *testing.F) {
	for _, b := range recordedDefinitions(f) {
		f.Add(b)
	}
	f.Add([]byte(`{"fields":null,"analyzers":[{"@odata.type":7}],"@odata.context":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var index models.SearchIndex
		if json.Unmarshal(b, &index) != nil {
			return
		}
		once, err := json.Marshal(index)
		require.NoError(t, err)
		var again models.SearchIndex
		require.NoError(t, json.Unmarshal(once, &again))
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}

func FuzzDocument(f *testing.F) {
	for _, b := range recorded(f, "document_*.json") {
		f.Add(b)
	}
	f.Add([]byte(`{"a":1e999,"b":[-0,null,{"c":"INF"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d models.Document
		if json.Unmarshal(b, &d) != nil {
			return
		}
		once, err := json.Marshal(d)
		require.NoError(t, err)
		var again models.Document
		require.NoError(t, json.Unmarshal(once, &again))
		require.Equal(t, d, again)
		for field := range d {
			kinds := 0
			for _, err := range []error{
				second(d.String(field)), second(d.Bool(field)), second(d.Int64(field)), second(d.Object(field)), second(d.Objects(field)),
				second(d.Strings(field)), second(d.Bools(field)), second(d.Int64s(field)), second(d.Float64(field)), second(d.Float64s(field)),
				second(d.Vector(field)), second(d.Time(field)), second(d.Times(field)), second(d.GeographyPoint(field)), second(d.GeographyPoints(field)),
			} {
				if err == nil {
					kinds++
				} else {
					require.ErrorAs(t, err, new(*models.DocumentError))
				}
			}
			if list, ok := d[field].([]any); d[field] == nil || ok && len(list) > 0 && list[0] == nil {
				require.Zero(t, kinds, "a getter made something of null")
			}
		}
	})
}

func FuzzGeographyPoint(f *testing.F) {
	for _, s := range []string{
		`{"type":"Point","coordinates":[1,2]}`, `null`, `{"type":"Point","coordinates":[-180.0,90],"crs":{"type":"name","properties":{"name":"EPSG:4326"}}}`,
		`{"type":"Point","coordinates":[1e400,2]}`, `{"type":"Point","coordinates":[[1,2]]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var p models.GeographyPoint
		if json.Unmarshal(b, &p) != nil {
			require.Zero(t, p)
			return
		}
		out, err := json.Marshal(p)
		require.NoError(t, err, "a document that was read can be written")
		var again models.GeographyPoint
		require.NoError(t, json.Unmarshal(out, &again))
		require.Equal(t, p, again)
	})
}

func FuzzIndexDocumentsResult(f *testing.F) {
	for _, b := range recorded(f, "results_*.json") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r models.IndexDocumentsResult
		if json.Unmarshal(b, &r) != nil {
			return
		}
		out, err := json.Marshal(r)
		require.NoError(t, err)
		var again models.IndexDocumentsResult
		require.NoError(t, json.Unmarshal(out, &again))
		require.Equal(t, r, again)
	})
}

// Only raw JSON brings text into a batch that encoding/json has not produced.
func FuzzRawDocument(f *testing.F) {
	for _, b := range recorded(f, "document_*.json") {
		f.Add(b)
	}
	for _, s := range []string{`{}`, ` { } `, `null`, `[]`, `{"\u0040search.x":1}`, `{"a":"\ud800"}`, `{"id":"1","id":"2"}`, `{"a":1}}`, "{\"a\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	byName, err := models.KeyFieldByName[json.RawMessage]("id")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := models.AppendAction([]byte("x"), models.ActionTypeUpload, json.RawMessage(b))
		var doc map[string]json.RawMessage
		isObject := json.Unmarshal(b, &doc) == nil && doc != nil
		if err != nil {
			require.Equal(t, "x", string(out))
			if isObject && utf8.Valid(b) {
				require.ErrorIs(t, err, models.ErrReservedName)
			}
			return
		}
		require.True(t, isObject && utf8.Valid(b))
		var got map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(out[1:], &got))
		require.Equal(t, `"upload"`, string(got["@search.action"]))
		require.Len(t, got, len(doc)+1)
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, b))
		require.Equal(t, compact.String()[1:], string(bytes.TrimLeft(bytes.TrimPrefix(out[1:], []byte(`{"@search.action":"upload"`)), ",")))

		key, err := byName.Get(b)
		var want string
		if err == nil {
			require.NoError(t, json.Unmarshal(doc["id"], &want))
			require.Equal(t, want, key)
		}
	})
}
