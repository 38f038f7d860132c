package indexers

import (
	"encoding/json"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Indexer reads a data source into an index when it is created, when it is run, and at the times of its schedule.
type Indexer struct {
	// Name is the name of the indexer.
	Name string `json:"name"`
	// Description is free text.
	Description string `json:"description,omitzero"`
	// DataSourceName is the name of the data source to read.
	DataSourceName string `json:"dataSourceName"`
	// SkillsetName is the name of the skillset that enriches documents. Defaults to none.
	SkillsetName string `json:"skillsetName,omitzero"`
	// TargetIndexName is the name of the index to write.
	TargetIndexName string `json:"targetIndexName"`
	// Schedule runs the indexer periodically. Without a schedule it runs only on request.
	Schedule *Schedule `json:"schedule,omitzero"`
	// Parameters configure how the indexer reads.
	Parameters *Parameters `json:"parameters,omitzero"`
	// FieldMappings map fields of the source to fields of the index. Fields with equal names need no mapping. The service
	// silently drops source fields without a counterpart.
	FieldMappings []FieldMapping `json:"fieldMappings,omitzero"`
	// OutputFieldMappings map paths of the enriched document, such as "/document/keyPhrases", to fields of the index.
	OutputFieldMappings []FieldMapping `json:"outputFieldMappings,omitzero"`
	// Disabled keeps the indexer from running. Defaults to false.
	Disabled *bool `json:"disabled,omitzero"`
	// EncryptionKey is a customer-managed key that encrypts the definition and the state. It cannot be removed later.
	EncryptionKey *models.EncryptionKey `json:"encryptionKey,omitzero"`
	// ETag is the version of the definition, in the service's notation with quotes.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Schedule holds the times at which an indexer runs.
type Schedule struct {
	// Interval is an ISO 8601 duration from "PT5M" to "P1D".
	Interval string `json:"interval"`
	// StartTime is the time of the first run. Later runs follow at multiples of Interval; a longer run delays the next
	// one.
	StartTime *time.Time `json:"startTime,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Parameters configure how an indexer reads.
type Parameters struct {
	// BatchSize is the number of rows read at once. The service's default depends on the store.
	BatchSize *int `json:"batchSize,omitzero"`
	// MaxFailedItems is the number of failed items that an execution tolerates; -1 means any number. By default it
	// tolerates none. Items that failed within the limit are not retried until they change.
	MaxFailedItems *int `json:"maxFailedItems,omitzero"`
	// MaxFailedItemsPerBatch is the number of failed items that one batch tolerates.
	MaxFailedItemsPerBatch *int `json:"maxFailedItemsPerBatch,omitzero"`
	// Configuration holds the settings that depend on the store.
	Configuration *Configuration `json:"configuration,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Configuration holds the store-specific settings of an indexer. Put settings without a field into
// AdditionalProperties.
type Configuration struct {
	// ParsingMode is the format of the blobs. The service defaults to ParsingModeDefault.
	ParsingMode ParsingMode `json:"parsingMode,omitzero"`
	// IndexedFileNameExtensions lists the extensions of files to read, with dots and commas: ".docx,.pptx". Defaults to
	// all.
	IndexedFileNameExtensions string `json:"indexedFileNameExtensions,omitzero"`
	// ExcludedFileNameExtensions lists the extensions of files to skip.
	ExcludedFileNameExtensions string `json:"excludedFileNameExtensions,omitzero"`
	// FailOnUnsupportedContentType counts a blob with an unsupported content type as a failed item.
	FailOnUnsupportedContentType *bool `json:"failOnUnsupportedContentType,omitzero"`
	// FailOnUnprocessableDocument counts a blob that cannot be parsed as a failed item.
	FailOnUnprocessableDocument *bool `json:"failOnUnprocessableDocument,omitzero"`
	// IndexStorageMetadataOnlyForOversizedDocuments indexes only the metadata of blobs that are too large.
	IndexStorageMetadataOnlyForOversizedDocuments *bool `json:"indexStorageMetadataOnlyForOversizedDocuments,omitzero"`
	// DelimitedTextHeaders are the column names of a CSV file, separated by commas.
	DelimitedTextHeaders string `json:"delimitedTextHeaders,omitzero"`
	// DelimitedTextDelimiter is the separator of a CSV file, one character.
	DelimitedTextDelimiter string `json:"delimitedTextDelimiter,omitzero"`
	// FirstLineContainsHeaders means that the first line of a CSV file holds the column names. The service defaults to
	// true.
	FirstLineContainsHeaders *bool `json:"firstLineContainsHeaders,omitzero"`
	// MarkdownParsingSubmode selects one document per Markdown file or per section.
	MarkdownParsingSubmode MarkdownParsingSubmode `json:"markdownParsingSubmode,omitzero"`
	// MarkdownHeaderDepth is the deepest header level that starts a section. The service defaults to "h6".
	MarkdownHeaderDepth MarkdownHeaderDepth `json:"markdownHeaderDepth,omitzero"`
	// DocumentRoot is the path of the array in a JSON file, such as "/level1/level2".
	DocumentRoot string `json:"documentRoot,omitzero"`
	// DataToExtract selects the parts of a blob to read. The service defaults to DataToExtractContentAndMetadata.
	DataToExtract DataToExtract `json:"dataToExtract,omitzero"`
	// ImageAction selects the handling of images. All values but ImageActionNone need a skillset.
	ImageAction ImageAction `json:"imageAction,omitzero"`
	// AllowSkillsetToReadFileData provides the file to skills as /document/file_data.
	AllowSkillsetToReadFileData *bool `json:"allowSkillsetToReadFileData,omitzero"`
	// PDFTextRotationAlgorithm selects how rotated text in PDF files is corrected.
	PDFTextRotationAlgorithm PDFTextRotationAlgorithm `json:"pdfTextRotationAlgorithm,omitzero"`
	// ExecutionEnvironment is the environment in which the indexer runs. The service defaults to
	// ExecutionEnvironmentStandard.
	ExecutionEnvironment ExecutionEnvironment `json:"executionEnvironment,omitzero"`
	// QueryTimeout is the time limit of a SQL query, as "hh:mm:ss". The service defaults to 5 minutes.
	QueryTimeout string `json:"queryTimeout,omitzero"`
	// RefreshAllACLs also updates the permissions of unchanged documents, at most daily. The service defaults to true. It
	// needs api-version 2026-10-01.
	RefreshAllACLs *bool `json:"refreshAllAcls,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ParsingMode is the format of blobs.
type ParsingMode string

// The known values of ParsingMode.
const (
	ParsingModeDefault       ParsingMode = "default"
	ParsingModeText          ParsingMode = "text"
	ParsingModeDelimitedText ParsingMode = "delimitedText"
	ParsingModeJSON          ParsingMode = "json"
	// Each element of the array becomes a document.
	ParsingModeJSONArray ParsingMode = "jsonArray"
	// Each line becomes a document.
	ParsingModeJSONLines ParsingMode = "jsonLines"
	// Needs api-version 2026-04-01 or a preview.
	ParsingModeMarkdown ParsingMode = "markdown"
)

// MarkdownParsingSubmode is the division of a Markdown file into documents.
type MarkdownParsingSubmode string

// The known values of MarkdownParsingSubmode.
const (
	MarkdownParsingSubmodeOneToMany MarkdownParsingSubmode = "oneToMany"
	MarkdownParsingSubmodeOneToOne  MarkdownParsingSubmode = "oneToOne"
)

// MarkdownHeaderDepth is a header level of Markdown.
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

// DataToExtract selects parts of a blob.
type DataToExtract string

// The known values of DataToExtract.
const (
	DataToExtractStorageMetadata    DataToExtract = "storageMetadata"
	DataToExtractAllMetadata        DataToExtract = "allMetadata"
	DataToExtractContentAndMetadata DataToExtract = "contentAndMetadata"
)

// ImageAction selects the images that skills receive.
type ImageAction string

// The known values of ImageAction.
const (
	ImageActionNone                           ImageAction = "none"
	ImageActionGenerateNormalizedImages       ImageAction = "generateNormalizedImages"
	ImageActionGenerateNormalizedImagePerPage ImageAction = "generateNormalizedImagePerPage"
)

// PDFTextRotationAlgorithm is an algorithm that corrects rotated text.
type PDFTextRotationAlgorithm string

// The known values of PDFTextRotationAlgorithm.
const (
	PDFTextRotationAlgorithmNone         PDFTextRotationAlgorithm = "none"
	PDFTextRotationAlgorithmDetectAngles PDFTextRotationAlgorithm = "detectAngles"
)

// ExecutionEnvironment is an environment in which indexers run.
type ExecutionEnvironment string

// The known values of ExecutionEnvironment.
const (
	ExecutionEnvironmentStandard ExecutionEnvironment = "standard"
	// Can reach stores through private links.
	ExecutionEnvironmentPrivate ExecutionEnvironment = "private"
)

// FieldMapping maps a field of the source, or an enrichment, to a field of the index.
type FieldMapping struct {
	// SourceFieldName is the field of the source, or a path of the enriched document.
	SourceFieldName string `json:"sourceFieldName"`
	// TargetFieldName is the field of the index. Defaults to SourceFieldName.
	TargetFieldName string `json:"targetFieldName,omitzero"`
	// MappingFunction transforms the value.
	MappingFunction *MappingFunction `json:"mappingFunction,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// MappingFunction is a function that transforms a value, such as "base64Encode" or "jsonArrayToStringCollection".
type MappingFunction struct {
	// Name is the name of the function.
	Name string `json:"name"`
	// Parameters are the arguments of the function, each a string, number or bool.
	Parameters map[string]any `json:"parameters,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
