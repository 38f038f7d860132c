package spec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/spec"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
)

const hidden = "S3CRET"

var azureOpenAI = models.AzureOpenAIParameters{APIKey: hidden}

// secrets has definitions with a secret, nested as deeply as possible, by the property with the secret. The
// specification does not mark the ones with a space.
var secrets = map[string][]any{
	"AIServices.apiKey":               {knowledge.Source{Parameters: knowledge.AzureBlob{Ingestion: &knowledge.Ingestion{AIServices: &knowledge.AIServices{APIKey: hidden}}}}},
	"AIServicesAccountKey.key":        {skills.Skillset{Account: skills.AIServicesKey{Key: hidden}}, skills.AIServicesKey{Key: hidden}},
	"CognitiveServicesAccountKey.key": {skills.Skillset{Account: skills.CognitiveServicesKey{Key: hidden}}, skills.CognitiveServicesKey{Key: hidden}},
	"AzureActiveDirectoryApplicationCredentials.applicationSecret": {
		indexers.DataSource{EncryptionKey: encrypted}, indexers.Indexer{EncryptionKey: encrypted}, skills.Skillset{EncryptionKey: encrypted},
		models.SearchIndex{EncryptionKey: encrypted}, models.SynonymMap{EncryptionKey: encrypted}, knowledge.Source{EncryptionKey: encrypted}, knowledge.Base{EncryptionKey: encrypted},
		*encrypted, *encrypted.AccessCredentials,
	},
	"AzureBlobKnowledgeSourceParameters.connectionString":         {knowledge.Source{Parameters: knowledge.AzureBlob{ConnectionString: hidden}}, knowledge.AzureBlob{ConnectionString: hidden}},
	"IndexedSharePointKnowledgeSourceParameters.connectionString": {knowledge.Source{Parameters: knowledge.SharePoint{ConnectionString: hidden}}, knowledge.SharePoint{ConnectionString: hidden}},
	"IndexedSqlKnowledgeSourceParameters.connectionString":        {knowledge.Source{Parameters: knowledge.SQL{ConnectionString: hidden}}, knowledge.SQL{ConnectionString: hidden}},
	"AzureMachineLearningParameters.key":                          {vectorizer(models.Vectorizer{AML: &models.AMLParameters{Key: hidden}}), models.AMLParameters{Key: hidden}},
	"AIServicesVisionParameters.apiKey":                           {vectorizer(models.Vectorizer{AIServicesVision: &models.AIServicesVisionParameters{APIKey: hidden}})},
	"AzureOpenAIEmbeddingSkill.apiKey":                            {skillset(skills.AzureOpenAIEmbedding{APIKey: hidden}), skills.AzureOpenAIEmbedding{APIKey: hidden}},
	"AzureOpenAIVectorizerParameters.apiKey": {
		vectorizer(models.Vectorizer{AzureOpenAI: &azureOpenAI}), azureOpenAI, knowledge.Base{Models: []knowledge.Model{knowledge.AzureOpenAI{Parameters: azureOpenAI}}},
		knowledge.Source{Parameters: knowledge.File{Ingestion: &knowledge.Ingestion{EmbeddingModel: knowledge.AzureOpenAI{Parameters: azureOpenAI}}}},
		[]knowledge.Model{knowledge.AzureOpenAI{Parameters: azureOpenAI}},
	},
	"ChatCompletionSkill.apiKey":                          {skillset(skills.ChatCompletion{APIKey: hidden}), skills.ChatCompletion{APIKey: hidden}},
	"DataSourceCredentials.connectionString":              {indexers.DataSource{Credentials: indexers.Credentials{ConnectionString: hidden}}, indexers.Credentials{ConnectionString: hidden}, search.Definitions{DataSources: []indexers.DataSource{{Credentials: indexers.Credentials{ConnectionString: hidden}}}}},
	"SearchIndexerKnowledgeStore.storageConnectionString": {skills.Skillset{KnowledgeStore: &skills.KnowledgeStore{StorageConnectionString: hidden}}, skills.KnowledgeStore{StorageConnectionString: hidden}},
	"WebApiSkill.httpHeaders":                             {skillset(skills.WebAPI{HTTPHeaders: map[string]string{"x-key": hidden}}), skills.WebAPI{HTTPHeaders: map[string]string{"x-key": hidden}}},
	"WebApiVectorizerParameters.httpHeaders":              {vectorizer(models.Vectorizer{WebAPI: &models.WebAPIParameters{HTTPHeaders: map[string]string{"x-key": hidden}}})},
	"the address of a Web API skill":                      {skillset(skills.WebAPI{URI: "https://host/api?code=" + hidden}), skills.WebAPI{URI: "https://host/" + hidden}, skillset(skills.WebAPI{URI: hidden})},
	"the address of a Web API vectorizer":                 {vectorizer(models.Vectorizer{WebAPI: &models.WebAPIParameters{URI: "https://host/api?code=" + hidden}})},
	"the address of a list of entities":                   {skillset(skills.CustomEntityLookup{EntitiesDefinitionURI: "https://host/list?sig=" + hidden})},
	"a member of a preview":                               {indexers.Indexer{AdditionalProperties: unknown}, skillset(skills.UnknownSkill{AdditionalProperties: unknown}), knowledge.Source{AdditionalProperties: unknown}, models.SynonymMap{AdditionalProperties: unknown}, models.Alias{AdditionalProperties: unknown}},
	"a member of a configuration":                         {indexers.Indexer{Parameters: &indexers.Parameters{Configuration: &indexers.Configuration{AdditionalProperties: unknown}}}},
	"a URL with a key": {
		skillset(skills.WebAPI{URI: "https://u:" + hidden + "@host/"}), indexers.DataSource{Container: indexers.Container{Name: "c", Query: "https://host/x?sig=" + hidden}},
		models.SearchIndex{EncryptionKey: &models.EncryptionKey{KeyVaultURI: "https://u:" + hidden + "@vault/"}}, vectorizer(models.Vectorizer{AzureOpenAI: &models.AzureOpenAIParameters{ResourceURI: "https://host/?api-key=" + hidden}}),
		models.SynonymMap{Name: "https://u:" + hidden + "@host", Synonyms: models.SynonymRules{"?sig=" + hidden}},
	},
}

var (
	encrypted = &models.EncryptionKey{AccessCredentials: &models.ApplicationCredentials{ApplicationSecret: hidden}}
	unknown   = map[string]json.RawMessage{"cache": json.RawMessage(`{"storageConnectionString": "` + hidden + `"}`), "sharePoint": json.RawMessage(`{"clientSecret":"` + hidden + `"}`), "mcp": json.RawMessage(`[{"headers":{"a":"` + hidden + `"}}]`)}
)

func skillset(s skills.Skill) skills.Skillset { return skills.Skillset{Skills: []skills.Skill{s}} }

func vectorizer(v models.Vectorizer) models.SearchIndex {
	return models.SearchIndex{VectorSearch: &models.VectorSearch{Vectorizers: []models.Vectorizer{v}}}
}

// The test prints and logs each secret of the specification in every way, alone and within a definition.
func TestSecretsAreNeverPrinted(t *testing.T) {
	s, err := spec.Load()
	require.NoError(t, err)
	for name, m := range s.Models {
		for wire, p := range m.Properties {
			if p.Is("S") && s.Stable(p.In()) {
				assert.NotEmpty(t, secrets[name+"."+wire], "%s.%s is a secret", name, wire)
			}
		}
	}
	for name, values := range secrets {
		for _, v := range values {
			encoded, err := json.Marshal(v)
			require.NoError(t, err)
			require.Contains(t, string(encoded), hidden, "%s: JSON is for the service", name)
			var log bytes.Buffer
			if _, list := v.([]knowledge.Model); !list { // the JSON handler inspects lists
				slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
			}
			slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
			shown := []string{log.String(), fmt.Errorf("refused: %v", v).Error()}
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
				shown = append(shown, fmt.Sprintf(verb, v), fmt.Sprintf(verb, struct{ Inner any }{v}), fmt.Sprintf(verb, []any{v}))
			}
			for _, text := range shown {
				assert.NotContains(t, text, hidden, name)
				assert.NotContains(t, text, fmt.Sprintf("%x", hidden), name)
			}
			assert.True(t, strings.Contains(shown[1], "***"), "%s: %s", name, shown[1])
		}
	}
}
