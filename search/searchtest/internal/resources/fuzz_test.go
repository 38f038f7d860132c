package resources

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
)

// No body of a definition (indexes excepted) causes a panic. A refusal is a 400 with a message; an accepted
// definition is echoed with the same meaning.
func FuzzSmallDefinitions(f *testing.F) {
	versions := apiversion.Versions()
	for n, body := range []string{
		`{"name":"names","format":"solr","synonyms":"ritz, palace"}`, `{"name":"current","indexes":["small"]}`,
		`{"name":"m","format":"solr","synonyms":"a\\,b, c => d\n#x\n,","encryptionKey":{"keyVaultKeyName":"k","keyVaultUri":"u"}}`,
		`{"name":null}`, `{"name":"a","name":"b"}`, `[`,
		`{"name":"blobs","type":"azureblob","credentials":{"connectionString":"AccountKey=secret"},"container":{"name":"c"}}`,
		`{"name":"skills","skills":[{"@odata.type":"#Microsoft.Skills.Text.SplitSkill","inputs":[{"name":"text","source":"/document/content"}],"outputs":[{"name":"textItems"}]}]}`,
		`{"name":"x","dataSourceName":"blobs","targetIndexName":"types","skillsetName":"skills","schedule":{"interval":"PT1H"}}`,
		`{"name":"ks","kind":"searchIndex","searchIndexParameters":{"searchIndexName":"types"}}`,
		`{"name":"kb","knowledgeSources":[{"name":"ks"}],"models":[{"kind":"azureOpenAI","azureOpenAIParameters":{"apiKey":"secret","deploymentId":"d"}}]}`,
		`{"name":"i","dataSourceName":"a","targetIndexName":"b","parameters":{"configuration":{"a":[1,{"key":"x"}]}},"fieldMappings":[{"sourceFieldName":"/a"}],"cache":{"storageConnectionString":"x"}}`,
	} {
		f.Add([]byte(body), uint8(n))
	}
	srv := NewService("searchtest", false, store.Options{})
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		version := versions[int(n)%len(versions)]
		refused := func(err *reply.Error) bool {
			if err != nil {
				require.Equal(t, http.StatusBadRequest, err.Status)
				require.NotEmpty(t, err.Message)
			}
			return err != nil
		}
		if m, err := parseSynonymMap(srv, body, version); !refused(err) {
			echo := m.AppendDefinition(nil, version, "")
			again, err := parseSynonymMap(srv, echo, version)
			require.Nil(t, err, "%s", echo)
			require.Equal(t, string(echo), string(again.AppendDefinition(nil, version, "")))
			require.Equal(t, m.rules, again.rules)
		}
		if a, err := parseAlias(srv, body, version); !refused(err) {
			echo := a.AppendDefinition(nil, version, "")
			again, err := parseAlias(srv, echo, version)
			require.Nil(t, err, "%s", echo)
			require.Equal(t, a.index, again.index)
		}
		for _, parse := range []func() (*shape.Resource, *reply.Error){
			func() (*shape.Resource, *reply.Error) { return baseOf(parseDataSource(srv, body, version)) },
			func() (*shape.Resource, *reply.Error) { return baseOf(parseSkillset(srv, body, version)) },
			func() (*shape.Resource, *reply.Error) { return baseOf(parseIndexer(srv, body, version)) },
			func() (*shape.Resource, *reply.Error) { return baseOf(parseKnowledgeSource(srv, body, version)) },
			func() (*shape.Resource, *reply.Error) { return baseOf(parseKnowledgeBase(srv, body, version)) },
		} {
			res, err := parse()
			if refused(err) {
				continue
			}
			echo := res.AppendDefinition(nil, version, "")
			require.True(t, json.Valid(echo), "%s", echo)
			given := string(shape.AppendGiven(nil, res.Object, apiversion.All()))
			body = []byte(given) // a snapshot's definition is unchanged except for secrets
			again, err := parse()
			require.Nil(t, err, "%s", given)
			require.Equal(t, given, string(shape.AppendGiven(nil, again.Object, apiversion.All())))
		}
	})
}

// baseOf returns the Resource of a parsed definition.
func baseOf[T described](parsed T, err *reply.Error) (*shape.Resource, *reply.Error) {
	if err != nil {
		return nil, err
	}
	return parsed.Base(), nil
}
