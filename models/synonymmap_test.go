package models_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// managementBodies are bodies of the service about synonym maps, aliases and analysis, with and without null and
// additional members.
var managementBodies = map[string]string{
	"synonym map": `{"@odata.context":"https://svc.search.windows.net/$metadata#synonymmaps/$entity","@odata.etag":"\"0x8D7\"","name":"names","format":"solr","synonyms":"hotel, motel\nUSA, U.S.A.\\, <US> => United States","encryptionKey":null}`,
	"encrypted":   `{"name":"names","format":"solr","synonyms":"","encryptionKey":{"keyVaultKeyName":"k","keyVaultKeyVersion":"1","keyVaultUri":"https://v.vault.azure.net","accessCredentials":{"applicationId":"a","applicationSecret":null}},"newer":{"a":[1]}}`,
	"alias":       `{"@odata.context":"x","@odata.etag":"\"0x8D6\"","name":"al","indexes":["hotels-v2"],"newer":true}`,
	"tokens":      `{"@odata.context":"x","tokens":[{"token":"one","startOffset":0,"endOffset":3,"position":0,"newer":1},{"token":"zwei","startOffset":6,"endOffset":9,"position":1}],"newer":"x"}`,
	"request":     `{"text":"a & b","tokenizer":"whitespace","tokenFilters":["lowercase"],"charFilters":["html_strip"]}`,
}

func TestManagementBodiesSurviveReadingAndWriting(t *testing.T) {
	for name, v := range map[string]any{
		"synonym map": new(models.SynonymMap), "encrypted": new(models.SynonymMap), "alias": new(models.Alias),
		"tokens": new(models.AnalyzeTextResult), "request": new(models.AnalyzeTextRequest),
	} {
		t.Run(name, func(t *testing.T) {
			body := []byte(managementBodies[name])
			require.NoError(t, json.Unmarshal(body, v))
			got, err := json.Marshal(v)
			require.NoError(t, err)
			require.Equal(t, plain(t, body), plain(t, got))
			require.NotContains(t, string(got), "@odata.context")
		})
	}
}

func TestSynonymMapIsWrittenAsTheServiceWantsIt(t *testing.T) {
	b, err := json.Marshal(models.SynonymMap{Name: "m"})
	require.NoError(t, err)
	require.Equal(t, `{"name":"m","format":"solr","synonyms":""}`, string(b))
	b, err = json.Marshal(models.SynonymMap{Name: "m", Synonyms: []string{"a, b", "c"}})
	require.NoError(t, err)
	require.Equal(t, `{"name":"m","format":"solr","synonyms":"a, b\nc"}`, string(b))
	b, err = json.Marshal(models.Alias{Name: "a"})
	require.NoError(t, err)
	require.Equal(t, `{"name":"a","indexes":[]}`, string(b))
	b, err = json.Marshal(models.AnalyzeTextRequest{Analyzer: "simple"})
	require.NoError(t, err)
	require.Equal(t, `{"text":"","analyzer":"simple"}`, string(b))
}

func TestRulesAreTheLinesOfASynonymMap(t *testing.T) {
	var read models.SynonymMap
	require.NoError(t, json.Unmarshal([]byte(`{"synonyms":"a, b\r\n\n  # c\n d => e "}`), &read))
	require.Equal(t, models.SynonymRules{"a, b", "  # c", " d => e "}, read.Synonyms)
	require.NoError(t, json.Unmarshal([]byte(`{"synonyms":""}`), &read))
	require.Empty(t, read.Synonyms)
	require.Error(t, json.Unmarshal([]byte(`{"synonyms":["a, b"]}`), &read))
}

func TestReadManagementBodiesShareNoMemory(t *testing.T) {
	in := []byte(`{"name":"m","format":"solr","synonyms":"a","new":{"a":"b"}}`)
	var m models.SynonymMap
	require.NoError(t, json.Unmarshal(in, &m))
	for i := range in {
		in[i] = 'x'
	}
	require.Equal(t, models.SynonymMap{Name: "m", Format: "solr", Synonyms: []string{"a"}, AdditionalProperties: map[string]json.RawMessage{"new": json.RawMessage(`{"a":"b"}`)}}, m)
	require.Nil(t, func() map[string]json.RawMessage {
		var a models.Alias
		require.NoError(t, json.Unmarshal([]byte(`{"name":"a","indexes":[],"@odata.context":"x"}`), &a))
		return a.AdditionalProperties
	}())
}

// A body that was read and written reads the same again.
func FuzzManagementBodies(f *testing.F) {
	for _, body := range managementBodies {
		f.Add([]byte(body))
	}
	f.Add([]byte(`{"tokens":[{"token":7}],"@odata.context":1}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip[models.SynonymMap](t, b)
		roundTrip[models.Alias](t, b)
		roundTrip[models.AnalyzeTextResult](t, b)
		roundTrip[models.AnalyzeTextRequest](t, b)
	})
}

func roundTrip[T any](t *testing.T, b []byte) {
	t.Helper()
	var v, again T
	if json.Unmarshal(b, &v) != nil {
		return
	}
	once, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(once, &again))
	twice, err := json.Marshal(again)
	require.NoError(t, err)
	require.Equal(t, string(once), string(twice))
}
