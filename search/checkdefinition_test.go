package search_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Find mistakes in definitions before any request is sent.
func ExampleCheckDefinition() {
	chunks := skills.Split{
		Name: "split", Context: "/document",
		Inputs:  []skills.Input{{Name: "text", Source: "/document/content"}},
		Outputs: []skills.Output{{Name: "textItems", TargetName: "pages"}},
	}
	vectors := skills.AzureOpenAIEmbedding{
		Name: "embed", Context: "/document/pages/*", ResourceURI: "https://models.openai.azure.com", DeploymentID: "small",
		Inputs:  []skills.Input{{Name: "text", Source: "/document/pages/*/content"}},
		Outputs: []skills.Output{{Name: "embedding", TargetName: "vector"}},
	}
	err := search.CheckDefinition(skills.Skillset{Name: "chunks", Skills: []skills.Skill{chunks, vectors}}, search.Definitions{})
	fmt.Println(err)
	vectors.Inputs[0].Source = "/document/pages/*"
	fmt.Println(search.CheckDefinition(skills.Skillset{Name: "chunks", Skills: []skills.Skill{chunks, vectors}}, search.Definitions{}))
	// Output:
	// search: the check of skillset "chunks": field skills/embed.inputs/text: no skill writes /document/pages/*/content: /document/pages is a list of strings, which has no members of its own: use the path of an output: its context, a slash, its targetName
	// <nil>
}

// chunked returns valid definitions: blobs are split into chunks with vectors, which are projected to an index of
// chunks.
func chunked() (indexers.DataSource, skills.Skillset, indexers.Indexer, search.Definitions) {
	reports := models.SearchIndex{Name: "reports", Fields: []models.SearchField{
		{Name: "id", Type: models.DataTypeString, Key: new(true)},
		{Name: "title", Type: models.DataTypeString},
		{Name: "pages", Type: models.DataTypeInt32},
		{Name: "phrases", Type: models.Collection(models.DataTypeString)},
		{Name: "vector", Type: models.Collection(models.DataTypeSingle), Dimensions: new(3), VectorSearchProfile: "p"},
	}}
	chunks := models.SearchIndex{Name: "chunks", Fields: []models.SearchField{
		{Name: "id", Type: models.DataTypeString, Key: new(true), Searchable: new(true), Analyzer: "keyword"},
		{Name: "parent", Type: models.DataTypeString, Filterable: new(true)},
		{Name: "text", Type: models.DataTypeString},
		{Name: "vector", Type: models.Collection(models.DataTypeSingle)},
	}}
	source := indexers.DataSource{
		Name: "blobs", Type: indexers.DataSourceTypeAzureBlob, Container: indexers.Container{Name: "c"},
		Credentials: indexers.Credentials{ConnectionString: "S3CRET"}, DeletionDetection: indexers.NativeBlobSoftDelete{},
	}
	skillset := skills.Skillset{
		Name: "chunks", Skills: []skills.Skill{
			skills.Split{
				Name: "split", Inputs: []skills.Input{{Name: "text", Source: "/document/content"}},
				Outputs: []skills.Output{{Name: "textItems", TargetName: "pages"}},
			},
			skills.AzureOpenAIEmbedding{
				Name: "embed", Context: "/document/pages/*", Inputs: []skills.Input{{Name: "text", Source: "/document/pages/*"}},
				Outputs: []skills.Output{{Name: "embedding", TargetName: "vector"}}, ResourceURI: "https://models.openai.azure.com", DeploymentID: "small",
			},
			skills.KeyPhraseExtraction{
				Name: "phrases", Context: "/document/pages/*", Inputs: []skills.Input{{Name: "text", Source: "/document/pages/*"}},
				Outputs: []skills.Output{{Name: "keyPhrases"}},
			},
			skills.Conditional{
				Name: "conditional", Inputs: []skills.Input{
					{Name: "condition", Source: "= $(/document/language) == null"}, {Name: "whenTrue", Source: "= 'en'"}, {Name: "whenFalse", Source: "/document/language"},
				},
				Outputs: []skills.Output{{Name: "output", TargetName: "lang"}},
			},
		},
		IndexProjections: &skills.IndexProjections{Selectors: []skills.IndexProjectionSelector{{
			TargetIndexName: "chunks", ParentKeyFieldName: "parent", SourceContext: "/document/pages/*",
			Mappings: []skills.Input{{Name: "text", Source: "/document/pages/*"}, {Name: "vector", Source: "/document/pages/*/vector"}},
		}}},
	}
	indexer := indexers.Indexer{
		Name: "reports", DataSourceName: "blobs", SkillsetName: "chunks", TargetIndexName: "reports", Schedule: &indexers.Schedule{Interval: "PT5M"},
		FieldMappings: []indexers.FieldMapping{
			{SourceFieldName: "metadata_storage_path", TargetFieldName: "id", MappingFunction: &indexers.MappingFunction{Name: "base64Encode"}},
			{SourceFieldName: "metadata_title", TargetFieldName: "Title"},
		},
		OutputFieldMappings: []indexers.FieldMapping{{SourceFieldName: "/document/pages/*/keyPhrases/*", TargetFieldName: "phrases"}},
	}
	return source, skillset, indexer, search.Definitions{
		Indexes: []models.SearchIndex{reports, chunks}, DataSources: []indexers.DataSource{source}, Skillsets: []skills.Skillset{skillset},
	}
}

// chunking has the results of chunked, which a test case changes.
type chunking struct {
	source   indexers.DataSource
	skillset skills.Skillset
	indexer  indexers.Indexer
}

func (c *chunking) selector() *skills.IndexProjectionSelector {
	return &c.skillset.IndexProjections.Selectors[0]
}

// changeSkill replaces skill i by a changed copy.
func changeSkill[T skills.Skill](c *chunking, i int, change func(*T)) {
	s := c.skillset.Skills[i].(T)
	change(&s)
	c.skillset.Skills[i] = s
}

// Each case changes one thing in valid definitions.
func TestDefinitionsAreCheckedBeforeTheyAreSent(t *testing.T) {
	type split = skills.Split
	for name, row := range map[string]struct {
		change  func(c *chunking, others *search.Definitions)
		kind    search.CheckKind
		field   string
		says    string
		refused bool // the emulator refuses the definition, too
	}{
		"right as it is":                    {},
		"a data source with a capital":      {func(c *chunking, _ *search.Definitions) { c.source.Name = "Blobs" }, search.CheckValue, "name", "use lower-case letters", true},
		"a data source of no type":          {func(c *chunking, _ *search.Definitions) { c.source.Type = "blob" }, search.CheckValue, "type", "use one of azuresql", true},
		"a data source without a container": {func(c *chunking, _ *search.Definitions) { c.source.Container.Name = "" }, search.CheckValue, "container.name", "set it", false},
		"blobs with a high-water mark": {func(c *chunking, _ *search.Definitions) {
			c.source.ChangeDetection = indexers.HighWaterMark{Column: "c"}
		}, search.CheckValue, "dataChangeDetectionPolicy", "leave the policy out", false},
		"a high-water mark without a column": {func(c *chunking, _ *search.Definitions) {
			c.source.Type, c.source.DeletionDetection, c.source.ChangeDetection = "cosmosdb", nil, indexers.HighWaterMark{}
		}, search.CheckValue, "dataChangeDetectionPolicy.highWaterMarkColumnName", "set it", false},
		"change tracking of a table": {func(c *chunking, _ *search.Definitions) {
			c.source.Type, c.source.DeletionDetection, c.source.ChangeDetection = "azuretable", nil, indexers.SQLChangeTracking{}
		}, search.CheckValue, "dataChangeDetectionPolicy", "use HighWaterMark", false},
		"deletions of blobs in SQL": {func(c *chunking, _ *search.Definitions) { c.source.Type = "azuresql" }, search.CheckValue, "dataDeletionDetectionPolicy", "has no blobs", false},
		"a query of SQL": {func(c *chunking, _ *search.Definitions) {
			c.source.Type, c.source.DeletionDetection, c.source.Container.Query = "azuresql", nil, "SELECT 1"
		}, search.CheckValue, "container.query", "name a view", false},
		"permissions of SQL": {func(c *chunking, _ *search.Definitions) {
			c.source.Type, c.source.DeletionDetection, c.source.PermissionOptions = "azuresql", nil, []indexers.PermissionOption{"userIds"}
		}, search.CheckValue, "indexerPermissionOptions", "leave the options out", false},
		"a skillset of a long name": {func(c *chunking, _ *search.Definitions) { c.skillset.Name = strings.Repeat("a", 129) }, search.CheckValue, "name", "at most 128", true},
		"two skills with one name":  {func(c *chunking, _ *search.Definitions) { changeSkill(c, 0, func(s *split) { s.Name = "embed" }) }, search.CheckDuplicate, "skills/embed", "another name", true},
		"an input that no split has": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 0, func(s *split) { s.Inputs[0].Name = "txt" })
		}, search.CheckReference, "skills/split.inputs/txt", "use one of text, languageCode", true},
		"an output that no split has": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 0, func(s *split) { s.Outputs[0].Name = "pages" })
		}, search.CheckReference, "skills/split.outputs/pages", "use one of textItems", false},
		"inputs of inputs of a split": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 0, func(s *split) { s.Inputs[0].Inputs = []skills.Input{{Name: "a", Source: "/document/a"}} })
		}, search.CheckValue, "skills/split.inputs/text", "with a Shaper", true},
		"a source outside the document": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 0, func(s *split) { s.Inputs[0].Source = "content" })
		}, search.CheckReference, "skills/split.inputs/text", `"/document/content"`, false},
		"a source of an expression outside it": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 3, func(s *skills.Conditional) { s.Inputs[0].Source = "= $(/language) == 'en'" })
		}, search.CheckReference, "skills/conditional.inputs/condition", "begin it with /document", false},
		"a context of nothing": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 2, func(s *skills.KeyPhraseExtraction) { s.Context = "/document/pages/*/parts/*" })
		}, search.CheckReference, "skills/phrases.context", "no skill writes /document/pages/*/parts/*", false},
		"an input without a name": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 0, func(s *split) { s.Inputs[0].Name = "" })
		}, search.CheckValue, "skills/split.inputs/#1.name", "set it", false},
		"an output without a name": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 3, func(s *skills.Conditional) { s.Outputs[0].Name = "" })
		}, search.CheckValue, "skills/conditional.outputs/#1.name", "set it", false},
		"a projection without a name": {func(c *chunking, _ *search.Definitions) { c.selector().Mappings[0].Name = "" }, search.CheckValue, "indexProjections.selectors/chunks.mappings/#1.name", "set it", false},
		"an encryption without a key": {func(c *chunking, _ *search.Definitions) {
			c.skillset.EncryptionKey = &models.EncryptionKey{KeyVaultURI: "https://v.example"}
		}, search.CheckValue, "encryptionKey.keyVaultKeyName", "set it", false},
		"an encryption without a vault": {func(c *chunking, _ *search.Definitions) {
			c.source.EncryptionKey = &models.EncryptionKey{KeyVaultKeyName: "k", AccessCredentials: &models.ApplicationCredentials{ApplicationID: "a"}}
		}, search.CheckValue, "encryptionKey.keyVaultUri", "set it", false},
		"an encryption without a purpose": {func(c *chunking, _ *search.Definitions) {
			c.indexer.EncryptionKey = &models.EncryptionKey{KeyVaultKeyName: "k", KeyVaultURI: "https://v.example", AccessCredentials: &models.ApplicationCredentials{}}
		}, search.CheckValue, "encryptionKey.accessCredentials.applicationId", "set it", false},
		"two outputs at one path": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 3, func(s *skills.Conditional) { s.Outputs[0].TargetName = "pages" })
		}, search.CheckDuplicate, "skills/conditional.outputs/output", `written by skill "split" already`, false},
		"an unknown way to split": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 0, func(s *split) { s.TextSplitMode = "paragraphs" })
		}, search.CheckValue, "skills/split.textSplitMode", "use one of pages, sentences", true},
		"an embedding by nobody": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 1, func(s *skills.AzureOpenAIEmbedding) { s.ResourceURI = "" })
		}, search.CheckValue, "skills/embed.resourceUri", "set it", false},
		"an unknown format": {func(c *chunking, _ *search.Definitions) {
			c.indexer.Parameters = &indexers.Parameters{Configuration: &indexers.Configuration{ParsingMode: "pdf"}}
		}, search.CheckValue, "parameters.configuration.parsingMode", "use one of default, text, delimitedText, json, jsonArray, jsonLines, markdown", true},
		"pages of a sentence": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 0, func(s *split) { s.MaximumPageLength = new(299) })
		}, search.CheckValue, "skills/split.maximumPageLength", "use 300 to 50000", false},
		"more than certain": {func(c *chunking, _ *search.Definitions) {
			c.skillset.Skills = append(c.skillset.Skills, skills.EntityRecognition{MinimumPrecision: new(50.0)})
		}, search.CheckValue, "skills/#5.minimumPrecision", "use 0 to 1", false},
		"a translation into nothing": {func(c *chunking, _ *search.Definitions) {
			c.skillset.Skills = append(c.skillset.Skills, skills.Translation{})
		}, search.CheckValue, "skills/#5.defaultToLanguageCode", "set it", false},
		"a call to nowhere": {func(c *chunking, _ *search.Definitions) {
			c.skillset.Skills = append(c.skillset.Skills, skills.WebAPI{})
		}, search.CheckValue, "skills/#5.uri", "set it", false},
		"too many calls": {func(c *chunking, _ *search.Definitions) {
			c.skillset.Skills = append(c.skillset.Skills, skills.WebAPI{URI: "https://h.example/S3CRET", DegreeOfParallelism: new(11)})
		}, search.CheckValue, "skills/#5.degreeOfParallelism", "use 1 to 10", false},
		"a timeout of Go": {func(c *chunking, _ *search.Definitions) {
			c.skillset.Skills = append(c.skillset.Skills, skills.WebAPI{URI: "https://h.example/S3CRET", Timeout: "30s"})
		}, search.CheckValue, "skills/#5.timeout", `got the timeout "30s": use an ISO 8601 duration`, true},
		"a timeout of four minutes": {func(c *chunking, _ *search.Definitions) {
			c.skillset.Skills = append(c.skillset.Skills, skills.WebAPI{URI: "https://h.example/S3CRET", Timeout: "PT4M"})
		}, search.CheckValue, "skills/#5.timeout", "from 1 to 230 seconds", true},
		"projected vectors of another length": {func(c *chunking, o *search.Definitions) {
			changeSkill(c, 1, func(s *skills.AzureOpenAIEmbedding) { s.Dimensions = new(1536) })
			o.Indexes[1].Fields[3].Dimensions = new(3)
		}, search.CheckFieldType, "indexProjections.selectors/chunks.mappings/vector", "vectors of 1536 dimensions, and field \"vector\" takes 3", false},
		"vectors of another length": {func(c *chunking, o *search.Definitions) {
			embed := o.Skillsets[0].Skills[1].(skills.AzureOpenAIEmbedding)
			embed.Context, embed.Dimensions, embed.Inputs = "/document", new(4), []skills.Input{{Name: "text", Source: "/document/content"}}
			o.Skillsets[0].Skills = append(o.Skillsets[0].Skills[:1:1], append([]skills.Skill{embed}, o.Skillsets[0].Skills[2:]...)...)
			c.indexer.OutputFieldMappings = []indexers.FieldMapping{{SourceFieldName: "/document/vector", TargetFieldName: "vector"}}
		}, search.CheckFieldType, "outputFieldMappings//document/vector", "vectors of 4 dimensions", false},
		"a skill that is nil": {func(c *chunking, _ *search.Definitions) {
			c.skillset.Skills = append(c.skillset.Skills, nil)
		}, search.CheckValue, "skills/#5", "leave it out", true},
		"a function in lower case": {func(c *chunking, _ *search.Definitions) {
			c.indexer.FieldMappings[0].MappingFunction.Name = "base64encode"
		}, search.CheckValue, "fieldMappings/metadata_storage_path.mappingFunction.name", "use one of base64Decode, base64Encode", true},
		"a function without a name": {func(c *chunking, _ *search.Definitions) {
			c.indexer.FieldMappings[0].MappingFunction.Name = ""
		}, search.CheckValue, "fieldMappings/metadata_storage_path.mappingFunction.name", "use one of base64Decode, base64Encode", true},
		"a cycle": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 0, func(s *split) { s.Inputs[0].Source = "/document/lang" })
			changeSkill(c, 3, func(s *skills.Conditional) { s.Inputs[2].Source = "/document/pages" })
		}, search.CheckCycle, "skills/split", "its own output", true},
		"a cycle that another skill needs": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 3, func(s *skills.Conditional) { s.Inputs[0].Source = "= $(/document/lang) == null" })
			changeSkill(c, 0, func(s *split) { s.Inputs[0].Source = "/document/lang" })
		}, search.CheckCycle, "skills/conditional", "its own output", true},
		"a cycle by an expression": {func(c *chunking, _ *search.Definitions) {
			changeSkill(c, 3, func(s *skills.Conditional) { s.Inputs[0].Source = "= $(/document/lang) == null" })
		}, search.CheckCycle, "skills/conditional", "its own output", true},
		"a projection of no parent":       {func(c *chunking, _ *search.Definitions) { c.selector().ParentKeyFieldName = "parents" }, search.CheckMissingField, "indexProjections.selectors/chunks.parentKeyFieldName", `index "chunks" does not have the field "parents"`, true},
		"a parent that is the key":        {func(c *chunking, _ *search.Definitions) { c.selector().ParentKeyFieldName = "id" }, search.CheckAttribute, "indexProjections.selectors/chunks.parentKeyFieldName", "is the key of the projected documents", true},
		"a parent that is a vector":       {func(c *chunking, _ *search.Definitions) { c.selector().ParentKeyFieldName = "vector" }, search.CheckFieldType, "indexProjections.selectors/chunks.parentKeyFieldName", "of type Edm.String", true},
		"a parent that is not filterable": {func(_ *chunking, o *search.Definitions) { o.Indexes[1].Fields[1].Filterable = new(false) }, search.CheckAttribute, "indexProjections.selectors/chunks.parentKeyFieldName", "make it filterable", true},
		"a key that is analyzed":          {func(_ *chunking, o *search.Definitions) { o.Indexes[1].Fields[0].Analyzer = "" }, search.CheckAttribute, "indexProjections.selectors/chunks.targetIndexName", `"analyzer": "keyword"`, true},
		"a mode that is none": {func(c *chunking, _ *search.Definitions) {
			c.skillset.IndexProjections.Parameters = &skills.IndexProjectionParameters{ProjectionMode: "skip"}
		}, search.CheckValue, "indexProjections.parameters.projectionMode", "use one of skipIndexingParentDocuments", true},
		"a projection to no field":       {func(c *chunking, _ *search.Definitions) { c.selector().Mappings[0].Name = "txt" }, search.CheckMissingField, "indexProjections.selectors/chunks.mappings/txt", "add the field", false},
		"a projected vector in a string": {func(c *chunking, _ *search.Definitions) { c.selector().Mappings[0].Source = "/document/pages/*/vector" }, search.CheckFieldType, "indexProjections.selectors/chunks.mappings/text", "it gets a vector", false},
		"a field projected twice":        {func(c *chunking, _ *search.Definitions) { c.selector().Mappings[1] = c.selector().Mappings[0] }, search.CheckDuplicate, "indexProjections.selectors/chunks.mappings/text", "leave one", false},
		"an indexer every minute":        {func(c *chunking, _ *search.Definitions) { c.indexer.Schedule.Interval = "PT4M59S" }, search.CheckValue, "schedule.interval", "from 5 minutes to 1 day", true},
		"an indexer every other day":     {func(c *chunking, _ *search.Definitions) { c.indexer.Schedule.Interval = "P1DT1S" }, search.CheckValue, "schedule.interval", "from 5 minutes to 1 day", true},
		"an interval that is none":       {func(c *chunking, _ *search.Definitions) { c.indexer.Schedule.Interval = "1h" }, search.CheckValue, "schedule.interval", `got the interval "1h"`, true},
		"a batch of none": {func(c *chunking, _ *search.Definitions) {
			c.indexer.Parameters = &indexers.Parameters{BatchSize: new(0)}
		}, search.CheckValue, "parameters.batchSize", "use 1 or more", true},
		"columns without names": {func(c *chunking, _ *search.Definitions) {
			c.indexer.Parameters = &indexers.Parameters{Configuration: &indexers.Configuration{FirstLineContainsHeaders: new(false)}}
		}, search.CheckValue, "parameters.configuration.delimitedTextHeaders", "separated by commas", false},
		"images for no skillset": {func(c *chunking, _ *search.Definitions) {
			c.indexer.SkillsetName, c.indexer.Parameters = "", &indexers.Parameters{Configuration: &indexers.Configuration{ImageAction: "generateNormalizedImages"}}
		}, search.CheckValue, "parameters.configuration.imageAction", "set skillsetName", false},
		"a mapping to no field":                {func(c *chunking, _ *search.Definitions) { c.indexer.FieldMappings[1].TargetFieldName = "titel" }, search.CheckMissingField, "fieldMappings/metadata_title.targetFieldName", `index "reports" does not have the field "titel"`, true},
		"a mapping to no field, by its source": {func(c *chunking, _ *search.Definitions) { c.indexer.FieldMappings[1].TargetFieldName = "" }, search.CheckMissingField, "fieldMappings/metadata_title.targetFieldName", `"metadata_title"`, true},
		"two mappings to one field":            {func(c *chunking, _ *search.Definitions) { c.indexer.FieldMappings[1].TargetFieldName = "ID" }, search.CheckDuplicate, "fieldMappings/metadata_title.targetFieldName", "leave one of the mappings out", true},
		"a function for a list":                {func(c *chunking, _ *search.Definitions) { c.indexer.FieldMappings[0].TargetFieldName = "phrases" }, search.CheckFieldType, "fieldMappings/metadata_storage_path.targetFieldName", "it gets a string, and field", false},
		"a function that makes a list": {func(c *chunking, _ *search.Definitions) {
			c.indexer.FieldMappings[0].MappingFunction.Name = "jsonArrayToStringCollection"
		}, search.CheckFieldType, "fieldMappings/metadata_storage_path.targetFieldName", "it gets a list of strings", false},
		"a token of no position": {func(c *chunking, _ *search.Definitions) {
			c.indexer.FieldMappings[0].MappingFunction.Name = "extractTokenAtPosition"
		}, search.CheckValue, "fieldMappings/metadata_storage_path.mappingFunction.parameters", "set both", false},
		"an output that is not in the document": {func(c *chunking, _ *search.Definitions) {
			c.indexer.OutputFieldMappings[0].SourceFieldName = "keyPhrases"
		}, search.CheckReference, "outputFieldMappings/keyPhrases", "begin it with /document", false},
		"an output that no skill writes": {func(c *chunking, _ *search.Definitions) {
			c.indexer.OutputFieldMappings[0].SourceFieldName = "/document/pages/*/phrases"
		}, search.CheckReference, "outputFieldMappings//document/pages/*/phrases", "no skill writes", false},
		"a list in a string": {func(c *chunking, _ *search.Definitions) { c.indexer.OutputFieldMappings[0].TargetFieldName = "title" }, search.CheckFieldType, "outputFieldMappings//document/pages/*/keyPhrases/*.targetFieldName", "it gets a list of strings", false},
		"all pages in a string": {func(c *chunking, _ *search.Definitions) {
			c.indexer.OutputFieldMappings[0] = indexers.FieldMapping{SourceFieldName: "/document/pages/*", TargetFieldName: "title"}
		}, search.CheckFieldType, "outputFieldMappings//document/pages/*.targetFieldName", "it gets a list of strings", false},
		"all vectors in one": {func(c *chunking, _ *search.Definitions) {
			c.indexer.OutputFieldMappings[0] = indexers.FieldMapping{SourceFieldName: "/document/pages/*/vector", TargetFieldName: "vector"}
		}, search.CheckFieldType, "outputFieldMappings//document/pages/*/vector.targetFieldName", "with indexProjections", false},
		"images that are not made": {func(_ *chunking, o *search.Definitions) {
			o.Skillsets[0].Skills = append(o.Skillsets[0].Skills, skills.OCR{Context: "/document/normalized_images/*", Inputs: []skills.Input{{Name: "image", Source: "/document/normalized_images/*"}}})
		}, search.CheckReference, "parameters.configuration.imageAction", "set it to generateNormalizedImages", false},
		"a file that is not given": {func(_ *chunking, o *search.Definitions) {
			o.Skillsets[0].Skills = append(o.Skillsets[0].Skills, skills.DocumentExtraction{Inputs: []skills.Input{{Name: "file_data", Source: "/document/file_data"}}})
		}, search.CheckReference, "parameters.configuration.allowSkillsetToReadFileData", "set it to true", false},
	} {
		t.Run(name, func(t *testing.T) {
			var c chunking
			var others search.Definitions
			c.source, c.skillset, c.indexer, others = chunked()
			others.Skillsets[0].Skills = append([]skills.Skill{}, others.Skillsets[0].Skills...) // does not share memory with c
			if row.change != nil {
				row.change(&c, &others)
			}
			err := errors.Join(search.CheckDefinition(c.source, others), search.CheckDefinition(c.skillset, others), search.CheckDefinition(c.indexer, others))
			assert.Equal(t, row.refused, createChunking(t, c, others.Indexes), "refused by the emulator")
			if row.change == nil {
				require.NoError(t, err)
				return
			}
			var found *search.CheckError
			require.ErrorAs(t, err, &found)
			require.Len(t, found.Problems, 1, err)
			assert.Equal(t, row.kind, found.Problems[0].Kind)
			assert.Equal(t, row.field, found.Problems[0].Field)
			assert.Contains(t, err.Error(), row.says)
			assert.NotEmpty(t, found.Problems[0].Hint)
			assert.NotContains(t, err.Error(), "S3CRET")
		})
	}
}

// createChunking creates the definitions and reports whether the emulator refuses one.
func createChunking(t *testing.T, c chunking, indexes []models.SearchIndex) (refused bool) {
	srv, opts := emulated()
	defer srv.Close()
	client, err := search.NewIndexerClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	require.NoError(t, err)
	for _, index := range indexes {
		index.VectorSearch = &models.VectorSearch{Algorithms: []models.VectorSearchAlgorithm{{Name: "h", Kind: models.VectorSearchAlgorithmHNSW}}, Profiles: []models.VectorSearchProfile{{Name: "p", Algorithm: "h"}}}
		for j := range index.Fields {
			if f := &index.Fields[j]; f.Name == "vector" {
				f.Searchable, f.Dimensions, f.VectorSearchProfile = new(true), new(3), "p"
			}
		}
		require.NoError(t, srv.CreateIndex(index))
	}
	ctx := context.Background()
	_, errSource := client.CreateDataSource(ctx, c.source, nil)
	_, errSkillset := client.CreateSkillset(ctx, c.skillset, nil)
	if errSource != nil || errSkillset != nil {
		return true
	}
	_, err = client.CreateIndexer(ctx, c.indexer, nil)
	return err != nil
}

// CheckDefinition and the emulator must refuse the same names and keys.
func TestIndexIsCheckedForItsNameAndKey(t *testing.T) {
	srv, opts := emulated()
	defer srv.Close()
	client, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	require.NoError(t, err)
	key := models.SearchField{Name: "id", Type: models.DataTypeString, Key: new(true)}
	for says, index := range map[string]models.SearchIndex{
		"":                           {Name: "ab", Fields: []models.SearchField{key}},
		"0 of the 0 fields are keys": {Name: "ab", Fields: []models.SearchField{}},
		"2 of the 2 fields are keys": {Name: "ab", Fields: []models.SearchField{key, {Name: "other", Type: models.DataTypeString, Key: new(true)}}},
		`got the name "a"`:           {Name: "a", Fields: []models.SearchField{key}},
	} {
		_, refused := client.CreateIndex(t.Context(), index, nil)
		if err := search.CheckDefinition(index, search.Definitions{}); says == "" {
			assert.NoError(t, errors.Join(err, refused))
		} else {
			assert.ErrorContains(t, err, says)
			assert.Error(t, refused)
		}
	}
}
