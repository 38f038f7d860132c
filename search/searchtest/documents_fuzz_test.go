package searchtest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

var batchSeeds = []string{
	`{"value":[]}`, `{"value":[{"id":"1"}]}`, `{"value":[{"@search.action":"delete","id":"1","s":"x"}]}`,
	`{"value":[{"id":"1","s":"a","b":true,"i":1,"l":2,"d":"NaN","t":"2020-01-01T00:00:00Z","g":{"type":"Point","coordinates":[1,2]},"c":{"x":"a","n":{"z":"b"}},"ss":["a"],"cs":[{"in":[{}]}],"v":[1,2,3]}]}`,
	`{"value":[{"id":"1","i":1.5}]}`, `{"value":[{"id":"1"}],"x":1}`, `{"value":[{"id":"1"},]}`, `{"value":null}`, "\ufeff{\"value\":[{\"id\":\"1\",\"@odata.type\":[[]]}]}",
	`{"value":[{"id":"1","g":{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"EPSG:4326"}}}}]}`,
}

// No input makes the parser panic. Accepted input is JSON that can be stored, merged and written again.
func FuzzBatch(f *testing.F) {
	for _, seed := range batchSeeds {
		f.Add([]byte(seed))
	}
	for _, value := range []string{``, `tru`, `1.5e+10`, `"\u00e9\ud83d\ude00"`, `"\ud800"`, "\"\xff\"", `[1,]`, `{"a":1 "b":2}`, "\x00", `"\`} {
		f.Add([]byte(`{"value":[{"id":"1","s":` + value + `}]}`))
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
			out := query.WholeDocument(sc, a.Data)
			require.True(t, json.Valid(out), "%s", out)
			merged := stored.MergeObjects(nil, sc.Fields, a.Data, a.Data)
			require.JSONEq(t, string(out), string(query.WholeDocument(sc, merged)), "merging a document into itself must not change it")
		}
	})
}
