package searchtest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// FuzzSmallDefinitions: no body of a synonym map, an alias or an analyze request
// panics, every refusal is a 400 that says something, and what is taken is echoed as
// a definition that means the same.
func FuzzSmallDefinitions(f *testing.F) {
	versions := apiversion.Versions()
	for n, body := range []string{
		names, current, `{"text":"a b","analyzer":"simple"}`, `{"text":"a","tokenizer":"letter","tokenFilters":["lowercase"],"charFilters":["html_strip"]}`,
		`{"name":"m","format":"solr","synonyms":"a\\,b, c => d\n#x\n,","encryptionKey":{"keyVaultKeyName":"k","keyVaultUri":"u"}}`,
		`{"text":"a","normalizer":"lowercase"}`, `{"name":null}`, `{"name":"a","name":"b"}`, `[`,
	} {
		f.Add([]byte(body), uint8(n))
	}
	srv := NewServer(nil)
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		version := versions[int(n)%len(versions)]
		refused := func(err *serviceError) bool {
			if err != nil {
				require.Equal(t, http.StatusBadRequest, err.status)
				require.NotEmpty(t, err.message)
			}
			return err != nil
		}
		if m, err := parseSynonymMap(srv, body, version); !refused(err) {
			echo := m.appendDefinition(nil, version, "")
			again, err := parseSynonymMap(srv, echo, version)
			require.Nil(t, err, "%s", echo)
			require.Equal(t, string(echo), string(again.appendDefinition(nil, version, "")))
			require.Equal(t, m.rules, again.rules)
		}
		if a, err := parseAlias(srv, body, version); !refused(err) {
			echo := a.appendDefinition(nil, version, "")
			again, err := parseAlias(srv, echo, version)
			require.Nil(t, err, "%s", echo)
			require.Equal(t, a.index, again.index)
		}
		request, err := parseAnalyze(body, version)
		if refused(err) {
			return
		}
		sc, err := compileSchema([]byte(small), version)
		require.Nil(t, err)
		tokens, err := sc.analyzeText(request)
		if err != nil {
			require.Contains(t, []int{http.StatusBadRequest, http.StatusNotImplemented}, err.status)
			return
		}
		reply := append(appendTokens([]byte{'{'}, request.str("text"), tokens), '}')
		require.True(t, json.Valid(reply), "%s", reply)
	})
}
