package skills

import (
	"encoding/json"
)

// OCR reads text in images: input image; outputs text, layoutText.
type OCR struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultLanguageCode is the language of texts in images without a language, such as "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// DetectOrientation first rotates images upright. The service defaults to false.
	DetectOrientation *bool `json:"detectOrientation,omitzero"`
	// LineEnding is the separator between lines. The service defaults to LineEndingSpace.
	LineEnding LineEnding `json:"lineEnding,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// LineEnding is the separator between lines of text from an image.
type LineEnding string

// The known values of LineEnding.
const (
	LineEndingSpace                  LineEnding = "space"
	LineEndingCarriageReturn         LineEnding = "carriageReturn"
	LineEndingLineFeed               LineEnding = "lineFeed"
	LineEndingCarriageReturnLineFeed LineEnding = "carriageReturnLineFeed"
)

// ImageAnalysis describes images: input image; outputs categories, tags, description and more.
type ImageAnalysis struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultLanguageCode is the language of the descriptions. The service defaults to "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// VisualFeatures are the features to find.
	VisualFeatures []VisualFeature `json:"visualFeatures,omitzero"`
	// Details are specific details to find.
	Details []ImageDetail `json:"details,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// VisualFeature is a feature to find in images.
type VisualFeature string

// The known values of VisualFeature.
const (
	VisualFeatureAdult       VisualFeature = "adult"
	VisualFeatureBrands      VisualFeature = "brands"
	VisualFeatureCategories  VisualFeature = "categories"
	VisualFeatureDescription VisualFeature = "description"
	VisualFeatureFaces       VisualFeature = "faces"
	VisualFeatureObjects     VisualFeature = "objects"
	VisualFeatureTags        VisualFeature = "tags"
)

// ImageDetail is a specific detail to find in images.
type ImageDetail string

// The known values of ImageDetail.
const (
	ImageDetailCelebrities ImageDetail = "celebrities"
	ImageDetailLandmarks   ImageDetail = "landmarks"
)

// DocumentIntelligenceLayout extracts the structure of files: input file_data; outputs markdown_document,
// text_sections, normalized_images.
type DocumentIntelligenceLayout struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// OutputFormat is the format of the text. The service defaults to LayoutFormatMarkdown.
	OutputFormat LayoutFormat `json:"outputFormat,omitzero"`
	// OutputMode must be LayoutModeOneToMany.
	OutputMode LayoutMode `json:"outputMode,omitzero"`
	// MarkdownHeaderDepth is the deepest header level that starts a section. The service defaults to "h6".
	MarkdownHeaderDepth LayoutDepth `json:"markdownHeaderDepth,omitzero"`
	// ExtractionOptions select content to extract in addition to text.
	ExtractionOptions []ExtractionOption `json:"extractionOptions,omitzero"`
	// Chunking configures how the text is divided, if OutputFormat is LayoutFormatText.
	Chunking *LayoutChunking `json:"chunkingProperties,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// LayoutFormat is a format of extracted text.
type LayoutFormat string

// The known values of LayoutFormat.
const (
	LayoutFormatText     LayoutFormat = "text"
	LayoutFormatMarkdown LayoutFormat = "markdown"
)

// LayoutMode is the number of outputs of a file.
type LayoutMode string

// The known values of LayoutMode.
const (
	LayoutModeOneToMany LayoutMode = "oneToMany"
)

// LayoutDepth is a header level.
type LayoutDepth string

// The known values of LayoutDepth.
const (
	LayoutDepthH1 LayoutDepth = "h1"
	LayoutDepthH2 LayoutDepth = "h2"
	LayoutDepthH3 LayoutDepth = "h3"
	LayoutDepthH4 LayoutDepth = "h4"
	LayoutDepthH5 LayoutDepth = "h5"
	LayoutDepthH6 LayoutDepth = "h6"
)

// ExtractionOption is content to extract in addition to text.
type ExtractionOption string

// The known values of ExtractionOption.
const (
	ExtractionOptionImages           ExtractionOption = "images"
	ExtractionOptionLocationMetadata ExtractionOption = "locationMetadata"
)

// LayoutChunking configures how extracted text is divided.
type LayoutChunking struct {
	// Unit is the unit of lengths.
	Unit ChunkingUnit `json:"unit,omitzero"`
	// MaximumLength is the largest length of a chunk.
	MaximumLength *int `json:"maximumLength,omitzero"`
	// OverlapLength is the length of the text that a chunk repeats from the chunk before.
	OverlapLength *int `json:"overlapLength,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ChunkingUnit is the unit of the lengths of chunks.
type ChunkingUnit string

// The known values of ChunkingUnit.
const (
	ChunkingUnitCharacters ChunkingUnit = "characters"
	// Supported by ContentUnderstanding only. Needs api-version 2026-10-01.
	ChunkingUnitTokens ChunkingUnit = "tokens"
)

// ContentUnderstanding extracts the content of files with Azure AI Content Understanding: input file_data; outputs
// text_sections, normalized_images. It needs api-version 2026-04-01 or a preview that has it.
type ContentUnderstanding struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// ExtractionOptions select content to extract in addition to text.
	ExtractionOptions []ExtractionOption `json:"extractionOptions,omitzero"`
	// Chunking configures how the text is divided.
	Chunking *Chunking `json:"chunkingProperties,omitzero"`
	// ModelName is a chat completion model that describes images, together with ModelDeployment. It
	// needs api-version 2026-10-01.
	ModelName string `json:"modelName,omitzero"`
	// ModelDeployment is the deployment of that model. It needs api-version 2026-10-01.
	ModelDeployment string `json:"modelDeployment,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Chunking configures how the text of ContentUnderstanding is divided.
type Chunking struct {
	// Unit is the unit of lengths.
	Unit ChunkingUnit `json:"unit,omitzero"`
	// Method determines where a chunk ends. It needs api-version 2026-10-01.
	Method ChunkingMethod `json:"method,omitzero"`
	// MaximumLength is the largest length of a chunk.
	MaximumLength *int `json:"maximumLength,omitzero"`
	// OverlapLength is the length of the text that a chunk repeats from the chunk before.
	OverlapLength *int `json:"overlapLength,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ChunkingMethod determines where chunks end.
type ChunkingMethod string

// The known values of ChunkingMethod.
const (
	ChunkingMethodFixedSize ChunkingMethod = "fixedSize"
	ChunkingMethodSemantic  ChunkingMethod = "semantic"
)
