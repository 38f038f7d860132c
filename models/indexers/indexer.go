package indexers

import (
	"encoding/json"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Indexer reads a data source into an index: at once when it is created, when it is run, and by its
// schedule.
type Indexer struct {
	// Name is the name of the indexer.
	Name string `json:"name"`
	// Description is for people.
	Description string `json:"description,omitzero"`
	// DataSourceName is the data source to read.
	DataSourceName string `json:"dataSourceName"`
	// SkillsetName is the skillset to enrich documents with. Defaults to none.
	SkillsetName string `json:"skillsetName,omitzero"`
	// TargetIndexName is the index to write.
	TargetIndexName string `json:"targetIndexName"`
	// Schedule runs the indexer again and again. Without one it runs on demand.
	Schedule *Schedule `json:"schedule,omitzero"`
	// Parameters say how to read.
	Parameters *Parameters `json:"parameters,omitzero"`
	// FieldMappings lead fields of the source to those of the index. Fields of equal names need none;
	// source fields without a counterpart are dropped without a word.
	FieldMappings []FieldMapping `json:"fieldMappings,omitzero"`
	// OutputFieldMappings lead paths of the enriched document, such as "/document/keyPhrases", to
	// fields of the index.
	OutputFieldMappings []FieldMapping `json:"outputFieldMappings,omitzero"`
	// Disabled keeps the indexer from running. Defaults to false.
	Disabled *bool `json:"disabled,omitzero"`
	// EncryptionKey is a customer's key to encrypt the definition and the state with. Once set it
	// cannot be removed.
	EncryptionKey *models.EncryptionKey `json:"encryptionKey,omitzero"`
	// ETag is the version of the definition, quotes included, as the service wrote it.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Schedule says when an indexer runs.
type Schedule struct {
	// Interval is an ISO 8601 duration from "PT5M" to "P1D".
	Interval string `json:"interval"`
	// StartTime is the first time. Runs follow at whole intervals after it; one that lasts longer
	// delays the next.
	StartTime *time.Time `json:"startTime,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Parameters of an indexer say how it reads.
type Parameters struct {
	// BatchSize is the number of rows read at once. The service's default depends on the store.
	BatchSize *int `json:"batchSize,omitzero"`
	// MaxFailedItems is the number of failed items after which an execution ends as failed; -1 is any
	// number. The service defaults to 0. Items that fail within the limit are not tried again before
	// they change.
	MaxFailedItems *int `json:"maxFailedItems,omitzero"`
	// MaxFailedItemsPerBatch is the same for one batch.
	MaxFailedItemsPerBatch *int `json:"maxFailedItemsPerBatch,omitzero"`
	// Configuration holds the settings that depend on the store.
	Configuration *Configuration `json:"configuration,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Configuration holds the settings of an indexer that depend on its store. Settings without a field go
// into AdditionalProperties.
type Configuration struct {
	// ParsingMode is the form of the blobs. The service defaults to ParsingModeDefault.
	ParsingMode ParsingMode `json:"parsingMode,omitzero"`
	// IndexedFileNameExtensions are the only extensions to read, with dots and commas: ".docx,.pptx".
	IndexedFileNameExtensions string `json:"indexedFileNameExtensions,omitzero"`
	// ExcludedFileNameExtensions are extensions to pass over.
	ExcludedFileNameExtensions string `json:"excludedFileNameExtensions,omitzero"`
	// FailOnUnsupportedContentType says whether a blob of a type that cannot be read is a failed item.
	FailOnUnsupportedContentType *bool `json:"failOnUnsupportedContentType,omitzero"`
	// FailOnUnprocessableDocument says whether a blob that cannot be read is a failed item.
	FailOnUnprocessableDocument *bool `json:"failOnUnprocessableDocument,omitzero"`
	// IndexStorageMetadataOnlyForOversizedDocuments indexes the metadata of blobs that are too large.
	IndexStorageMetadataOnlyForOversizedDocuments *bool `json:"indexStorageMetadataOnlyForOversizedDocuments,omitzero"`
	// DelimitedTextHeaders are the columns of a CSV, separated by commas.
	DelimitedTextHeaders string `json:"delimitedTextHeaders,omitzero"`
	// DelimitedTextDelimiter is the separator of a CSV, one character.
	DelimitedTextDelimiter string `json:"delimitedTextDelimiter,omitzero"`
	// FirstLineContainsHeaders says whether the first line of a CSV names the columns. The service
	// defaults to true.
	FirstLineContainsHeaders *bool `json:"firstLineContainsHeaders,omitzero"`
	// MarkdownParsingSubmode says whether a Markdown file is one document or one a section.
	MarkdownParsingSubmode MarkdownParsingSubmode `json:"markdownParsingSubmode,omitzero"`
	// MarkdownHeaderDepth is the deepest header that begins a section. The service defaults to "h6".
	MarkdownHeaderDepth MarkdownHeaderDepth `json:"markdownHeaderDepth,omitzero"`
	// DocumentRoot is the path of the array in a JSON file, such as "/level1/level2".
	DocumentRoot string `json:"documentRoot,omitzero"`
	// DataToExtract says what to read of a blob. The service defaults to
	// DataToExtractContentAndMetadata.
	DataToExtract DataToExtract `json:"dataToExtract,omitzero"`
	// ImageAction says what to do with images. All but ImageActionNone need a skillset.
	ImageAction ImageAction `json:"imageAction,omitzero"`
	// AllowSkillsetToReadFileData gives skills the file as /document/file_data.
	AllowSkillsetToReadFileData *bool `json:"allowSkillsetToReadFileData,omitzero"`
	// PDFTextRotationAlgorithm corrects rotated text of PDF files.
	PDFTextRotationAlgorithm PDFTextRotationAlgorithm `json:"pdfTextRotationAlgorithm,omitzero"`
	// ExecutionEnvironment is the place the indexer runs in. The service defaults to
	// ExecutionEnvironmentStandard.
	ExecutionEnvironment ExecutionEnvironment `json:"executionEnvironment,omitzero"`
	// QueryTimeout is the time a SQL query may take, as "hh:mm:ss". The service defaults to 5 minutes.
	QueryTimeout string `json:"queryTimeout,omitzero"`
	// RefreshAllACLs reads the permissions of unchanged documents again, at most daily. The service
	// defaults to true. It needs api-version 2026-10-01.
	RefreshAllACLs *bool `json:"refreshAllAcls,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ParsingMode is the form of blobs.
type ParsingMode string

// The known values of ParsingMode.
const (
	ParsingModeDefault       ParsingMode = "default"
	ParsingModeText          ParsingMode = "text"
	ParsingModeDelimitedText ParsingMode = "delimitedText"
	ParsingModeJSON          ParsingMode = "json"
	// It makes a document of each element.
	ParsingModeJSONArray ParsingMode = "jsonArray"
	// It makes a document of each line.
	ParsingModeJSONLines ParsingMode = "jsonLines"
	// It needs api-version 2026-04-01 or a preview.
	ParsingModeMarkdown ParsingMode = "markdown"
)

// MarkdownParsingSubmode says how many documents a Markdown file is.
type MarkdownParsingSubmode string

// The known values of MarkdownParsingSubmode.
const (
	MarkdownParsingSubmodeOneToMany MarkdownParsingSubmode = "oneToMany"
	MarkdownParsingSubmodeOneToOne  MarkdownParsingSubmode = "oneToOne"
)

// MarkdownHeaderDepth is a level of headers.
type MarkdownHeaderDepth string

// The known values of MarkdownHeaderDepth.
const (
	MarkdownHeaderDepthH1 MarkdownHeaderDepth = "h1"
	MarkdownHeaderDepthH2 MarkdownHeaderDepth = "h2"
	MarkdownHeaderDepthH3 MarkdownHeaderDepth = "h3"
	MarkdownHeaderDepthH4 MarkdownHeaderDepth = "h4"
	MarkdownHeaderDepthH5 MarkdownHeaderDepth = "h5"
	MarkdownHeaderDepthH6 MarkdownHeaderDepth = "h6"
)

// DataToExtract is a part of a blob.
type DataToExtract string

// The known values of DataToExtract.
const (
	DataToExtractStorageMetadata    DataToExtract = "storageMetadata"
	DataToExtractAllMetadata        DataToExtract = "allMetadata"
	DataToExtractContentAndMetadata DataToExtract = "contentAndMetadata"
)

// ImageAction says which images skills get.
type ImageAction string

// The known values of ImageAction.
const (
	ImageActionNone                           ImageAction = "none"
	ImageActionGenerateNormalizedImages       ImageAction = "generateNormalizedImages"
	ImageActionGenerateNormalizedImagePerPage ImageAction = "generateNormalizedImagePerPage"
)

// PDFTextRotationAlgorithm corrects rotated text.
type PDFTextRotationAlgorithm string

// The known values of PDFTextRotationAlgorithm.
const (
	PDFTextRotationAlgorithmNone         PDFTextRotationAlgorithm = "none"
	PDFTextRotationAlgorithmDetectAngles PDFTextRotationAlgorithm = "detectAngles"
)

// ExecutionEnvironment is a place for indexers to run in.
type ExecutionEnvironment string

// The known values of ExecutionEnvironment.
const (
	ExecutionEnvironmentStandard ExecutionEnvironment = "standard"
	// It reaches stores through private links.
	ExecutionEnvironmentPrivate ExecutionEnvironment = "private"
)

// FieldMapping leads a field of the source, or an enrichment, to a field of the index.
type FieldMapping struct {
	// SourceFieldName is the field of the source, or a path of the enriched document.
	SourceFieldName string `json:"sourceFieldName"`
	// TargetFieldName is the field of the index. Defaults to SourceFieldName.
	TargetFieldName string `json:"targetFieldName,omitzero"`
	// MappingFunction changes the value.
	MappingFunction *MappingFunction `json:"mappingFunction,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// MappingFunction changes a value on its way, such as "base64Encode" or "jsonArrayToStringCollection".
type MappingFunction struct {
	// Name is the function.
	Name string `json:"name"`
	// Parameters are its parameters, each a string, number or bool.
	Parameters map[string]any `json:"parameters,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
