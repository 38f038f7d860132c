package search_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
)

// changed returns paths and kinds of the differences after change was applied.
func changed[T search.Definition](t *testing.T, definition T, change func(*T)) (lines []string) {
	t.Helper()
	after := definition
	change(&after)
	changes, err := search.DiffDefinition(definition, after)
	require.NoError(t, err)
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf("%s: %s", c.Path, c.Kind))
		assert.NotContains(t, c.String(), "S3CRET")
	}
	return lines
}

func TestChangesOfDefinitionsSayWhatTheyCost(t *testing.T) {
	source := indexers.DataSource{Name: "s", Type: "azureblob", Credentials: indexers.Credentials{ConnectionString: "S3CRET"}, Container: indexers.Container{Name: "c"}, ETag: "1"}
	assert.Empty(t, changed(t, source, func(x *indexers.DataSource) { x.ETag, x.Credentials.ConnectionString = "2", "" }), "the service returns no secret")
	assert.Equal(t, []string{"credentials.connectionString: in place"}, changed(t, source, func(x *indexers.DataSource) { x.Credentials.ConnectionString = "S3CRET2" }))
	assert.Equal(t, []string{"container.query: needs a reset", "type: needs a rebuild"}, changed(t, source, func(x *indexers.DataSource) { x.Container.Query, x.Type = "a/", "adlsgen2" }))

	indexer := indexers.Indexer{Name: "i", DataSourceName: "s", TargetIndexName: "x", Parameters: &indexers.Parameters{Configuration: &indexers.Configuration{ParsingMode: "json"}}}
	assert.Equal(t, []string{"description: in place", "schedule: in place", "skillsetName: needs a reset"}, changed(t, indexer, func(x *indexers.Indexer) {
		x.Description, x.Schedule, x.SkillsetName = "d", &indexers.Schedule{Interval: "PT1H"}, "k"
	}))
	assert.Equal(t, []string{"parameters.batchSize: in place", "parameters.configuration.failOnUnsupportedContentType: in place", "parameters.configuration.parsingMode: needs a reset"},
		changed(t, indexer, func(x *indexers.Indexer) {
			x.Parameters = &indexers.Parameters{BatchSize: new(5), Configuration: &indexers.Configuration{ParsingMode: "text", FailOnUnsupportedContentType: new(true)}}
		}))

	lines := indexers.Indexer{Name: "i", Parameters: &indexers.Parameters{Configuration: &indexers.Configuration{ParsingMode: "delimitedText", FirstLineContainsHeaders: new(false)}}}
	configured := func(headers *bool) func(*indexers.Indexer) {
		return func(x *indexers.Indexer) {
			x.Parameters = &indexers.Parameters{Configuration: &indexers.Configuration{ParsingMode: "delimitedText", FirstLineContainsHeaders: headers}}
		}
	}
	assert.Equal(t, []string{"parameters.configuration.firstLineContainsHeaders: needs a reset"}, changed(t, lines, configured(nil)), "the service fills in true")
	configured(new(true))(&lines)
	assert.Empty(t, changed(t, lines, configured(nil)))

	skillset := skills.Skillset{Name: "k", Skills: []skills.Skill{skills.WebAPI{Name: "w", URI: "https://h/?code=S3CRET", HTTPHeaders: map[string]string{"x": "S3CRET"}}}}
	assert.Equal(t, []string{"description: in place", "skills/w.httpHeaders.x: needs a reset", "skills/w.uri: needs a reset"}, changed(t, skillset, func(x *skills.Skillset) {
		x.Description = "d"
		x.Skills = []skills.Skill{skills.WebAPI{Name: "w", URI: "https://h/?code=S3CRET2", HTTPHeaders: map[string]string{"x": "S3CRET2"}}}
	}))

	blobs := knowledge.Source{Name: "b", Parameters: knowledge.AzureBlob{ConnectionString: "S3CRET", ContainerName: "c"}}
	assert.Equal(t, []string{"azureBlobParameters.containerName: needs a rebuild"}, changed(t, blobs, func(x *knowledge.Source) {
		x.Parameters = knowledge.AzureBlob{ContainerName: "d", CreatedResources: map[string]string{"index": "i"}}
	}))
	assert.Equal(t, []string{"azureBlobParameters: needs a rebuild", "kind: needs a rebuild", "webParameters: in place"}, changed(t, blobs, func(x *knowledge.Source) {
		x.Parameters = knowledge.Web{Domains: &knowledge.WebDomains{}}
	}))
	preview := knowledge.Source{Name: "m", AdditionalProperties: map[string]json.RawMessage{"mcp": json.RawMessage(`{"headers":{"x.y":"S3CRET"},"clientSecret":{"value":"S3CRET"},"password":1}`)}}
	assert.Equal(t, []string{"mcp.clientSecret.value: in place", "mcp.headers.x.y: in place", "mcp.password: in place"}, changed(t, preview, func(x *knowledge.Source) {
		x.AdditionalProperties = map[string]json.RawMessage{"mcp": json.RawMessage(`{"headers":{"x.y":"S3CRET2"},"clientSecret":{"value":"S3CRET2"},"password":2}`)}
	}))
	cities := models.SynonymMap{Name: "c", Synonyms: []string{"a, b"}, EncryptionKey: &models.EncryptionKey{AccessCredentials: &models.ApplicationCredentials{ApplicationSecret: "S3CRET"}}}
	assert.Equal(t, []string{"encryptionKey.accessCredentials.applicationSecret: in place", "synonyms: in place"}, changed(t, cities, func(x *models.SynonymMap) {
		x.Synonyms = []string{"a, c"}
		x.EncryptionKey = &models.EncryptionKey{AccessCredentials: &models.ApplicationCredentials{ApplicationSecret: "S3CRET2"}}
	}))
	assert.Equal(t, []string{"indexes: in place"}, changed(t, models.Alias{Name: "a", Indexes: []string{"a1"}}, func(x *models.Alias) { x.Indexes = []string{"a2"} }))
	base := knowledge.Base{Name: "a", Sources: []knowledge.SourceReference{{Name: "b"}}}
	assert.Equal(t, []string{"name: needs a rebuild", "outputMode: in place"}, changed(t, base, func(x *knowledge.Base) { x.Name, x.OutputMode = "z", "answerSynthesis" }))
}

func TestWhatStandsForASecretIsNotCreated(t *testing.T) {
	w := reply(201, `{}`)
	embed := skills.Skillset{Name: "k", Skills: []skills.Skill{skills.AzureOpenAIEmbedding{Name: "e", APIKey: "<redacted>"}}}
	client, err := search.NewIndexerClientWithKey("https://demo.search.windows.net", azcore.NewKeyCredential(testKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: w}})
	require.NoError(t, err)
	_, err = client.CreateSkillset(t.Context(), embed, nil)
	require.ErrorContains(t, err, "skills/0.apiKey is <redacted>, which stands for a stored secret: set the secret")
	anyETag := azcore.ETagAny
	_, err = client.CreateOrUpdateSkillset(t.Context(), embed, &search.CreateOrUpdateSkillsetOptions{IfNoneMatch: &anyETag})
	require.ErrorContains(t, err, "set the secret")
	assert.Empty(t, w.requests)
	assert.Contains(t, fmt.Sprint(embed), `"apiKey":"<redacted>"`, "it is no secret")
}

// The test compares a definition that was sent with the service's reply, in both directions.
func TestWhatTheServiceFillsInIsNoChange(t *testing.T) {
	text := []skills.Input{{Name: "text", Source: "/document/content"}}
	sent := skills.Skillset{Name: "k", Skills: []skills.Skill{skills.OCR{Inputs: text}, skills.LanguageDetection{Inputs: text}}}
	same := func(x *skills.Skillset) {
		x.Skills = []skills.Skill{
			skills.OCR{Name: "#1", Context: "/document", DefaultLanguageCode: "en", LineEnding: "Space", DetectOrientation: new(true), Inputs: text},
			skills.LanguageDetection{Name: "#2", Context: "/document", Inputs: text},
		}
	}
	returned := sent
	same(&returned)
	assert.Empty(t, changed(t, sent, same))
	assert.Empty(t, changed(t, returned, func(x *skills.Skillset) { x.Skills = sent.Skills }))
	assert.Equal(t, []string{"skills/#1.defaultLanguageCode: needs a reset", "skills/#2.context: needs a reset"}, changed(t, returned, func(x *skills.Skillset) {
		x.Skills = []skills.Skill{skills.OCR{DefaultLanguageCode: "de", Inputs: text}, skills.LanguageDetection{Context: "/document/pages/*", Inputs: text}}
	}))
	assert.Equal(t, []string{"skills/#1.lineEnding: needs a reset"}, changed(t, skills.Skillset{Name: "k", Skills: []skills.Skill{skills.OCR{LineEnding: "LineFeed"}}}, func(x *skills.Skillset) {
		x.Skills = []skills.Skill{skills.OCR{}}
	}), "the default comes back")

	first := time.Time{}
	indexer := indexers.Indexer{Name: "i", Schedule: &indexers.Schedule{Interval: "PT1H"}, FieldMappings: []indexers.FieldMapping{{SourceFieldName: "a"}}}
	filled := func(x *indexers.Indexer) {
		x.Schedule = &indexers.Schedule{Interval: "PT1H", StartTime: &first}
		x.FieldMappings = []indexers.FieldMapping{{SourceFieldName: "a", TargetFieldName: "a"}}
	}
	assert.Empty(t, changed(t, indexer, filled))
	assert.Equal(t, []string{"fieldMappings: needs a reset"}, changed(t, indexer, func(x *indexers.Indexer) {
		x.FieldMappings = []indexers.FieldMapping{{SourceFieldName: "a", TargetFieldName: "b"}}
	}))
}
