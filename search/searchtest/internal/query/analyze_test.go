package query

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
)

// FuzzAnalyze: each request is refused or answered with JSON.
func FuzzAnalyze(f *testing.F) {
	versions := apiversion.Versions()
	for n, body := range []string{
		`{"text":"a b","analyzer":"simple"}`, `{"text":"a","tokenizer":"letter","tokenFilters":["lowercase"],"charFilters":["html_strip"]}`,
		`{"text":"a","normalizer":"lowercase"}`, `{"text":null}`, `{"text":"a","text":"b"}`, `[`,
	} {
		f.Add([]byte(body), uint8(n))
	}
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		version := versions[int(n)%len(versions)]
		sc, err := schema.Compile([]byte(`{"name":"small","fields":[{"name":"id","type":"Edm.String","key":true}]}`), version)
		require.Nil(t, err)
		reply, err := Analyze(sc, body, []byte{'{'}, version)
		if err != nil {
			require.Contains(t, []int{http.StatusBadRequest, http.StatusNotImplemented}, err.Status)
			require.NotEmpty(t, err.Message)
			return
		}
		require.True(t, json.Valid(reply), "%s", reply)
	})
}
