package searchtest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// FuzzSmallDefinitions: no body of a definition other than an index, or of an analyze
// request, panics, every refusal is a 400 that says something, and what is taken is echoed as
// a definition that means the same.
func FuzzSmallDefinitions(f *testing.F) {
	versions := apiversion.Versions()
	for n, body := range []string{
		names, current, `{"text":"a b","analyzer":"simple"}`, `{"text":"a","tokenizer":"letter","tokenFilters":["lowercase"],"charFilters":["html_strip"]}`,
		`{"name":"m","format":"solr","synonyms":"a\\,b, c => d\n#x\n,","encryptionKey":{"keyVaultKeyName":"k","keyVaultUri":"u"}}`,
		`{"text":"a","normalizer":"lowercase"}`, `{"name":null}`, `{"name":"a","name":"b"}`, `[`, blobSource, splitSkill, blobIndex, indexKS, oneBase,
		`{"name":"i","dataSourceName":"a","targetIndexName":"b","parameters":{"configuration":{"a":[1,{"key":"x"}]}},"fieldMappings":[{"sourceFieldName":"/a"}],"cache":{"storageConnectionString":"x"}}`,
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
		for _, parse := range []func() (*resource, *serviceError){
			func() (*resource, *serviceError) { return baseOf(parseDataSource(srv, body, version)) },
			func() (*resource, *serviceError) { return baseOf(parseSkillset(srv, body, version)) },
			func() (*resource, *serviceError) { return baseOf(parseIndexer(srv, body, version)) },
			func() (*resource, *serviceError) { return baseOf(parseKnowledgeSource(srv, body, version)) },
			func() (*resource, *serviceError) { return baseOf(parseKnowledgeBase(srv, body, version)) },
		} {
			res, err := parse()
			if refused(err) {
				continue
			}
			echo := res.appendDefinition(nil, version, "")
			require.True(t, json.Valid(echo), "%s", echo)
			given := string(appendGiven(nil, res.object, everyMember))
			body = []byte(given) // what a snapshot has is the same again, secrets apart
			again, err := parse()
			require.Nil(t, err, "%s", given)
			require.Equal(t, given, string(appendGiven(nil, again.object, everyMember)))
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

// baseOf is the definition of something that was parsed.
func baseOf[T described](parsed T, err *serviceError) (*resource, *serviceError) {
	if err != nil {
		return nil, err
	}
	return parsed.base(), nil
}
