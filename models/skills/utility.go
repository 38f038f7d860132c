package skills

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// Skill is one step of a skillset: a type of this package, or UnknownSkill for what this library does
// not know. Definitions that were read hold values, not pointers. Every skill has a Name (the service
// defaults to "#" and its position from 1), a Description for people, a Context (the path of the nodes
// it runs on, once each; the service defaults to "/document"), Inputs and Outputs.
type Skill interface{ skill() }

// Conditional chooses a value: inputs condition, whenTrue, whenFalse; output output.
type Conditional struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Shaper makes an object of its inputs, which may be nested; output output.
type Shaper struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Merge inserts texts into a text: inputs text, itemsToInsert, offsets; outputs mergedText,
// mergedOffsets.
type Merge struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// InsertPreTag stands before each. The service defaults to a space.
	InsertPreTag *string `json:"insertPreTag,omitzero"`
	// InsertPostTag stands after each. The service defaults to a space.
	InsertPostTag *string `json:"insertPostTag,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Split divides a text: inputs text, languageCode; outputs textItems, offsets, lengths,
// ordinalPositions.
type Split struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultLanguageCode is the language of texts without one, such as "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// TextSplitMode says into what. The service defaults to TextSplitModePages.
	TextSplitMode TextSplitMode `json:"textSplitMode,omitzero"`
	// MaximumPageLength is in UTF-16 units, 300 to 50000. The service defaults to 5000.
	MaximumPageLength *int `json:"maximumPageLength,omitzero"`
	// PageOverlapLength is the length that a page repeats of the one before.
	PageOverlapLength *int `json:"pageOverlapLength,omitzero"`
	// MaximumPagesToTake limits the pages; 0 takes all.
	MaximumPagesToTake *int `json:"maximumPagesToTake,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TextSplitMode is a way to divide a text.
type TextSplitMode string

// The known values of TextSplitMode.
const (
	TextSplitModePages     TextSplitMode = "pages"
	TextSplitModeSentences TextSplitMode = "sentences"
)

// DocumentExtraction reads a file: input file_data; outputs content, normalized_images.
type DocumentExtraction struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// ParsingMode is "default", "text" or "json".
	ParsingMode string `json:"parsingMode,omitzero"`
	// DataToExtract is "contentAndMetadata" or "allMetadata".
	DataToExtract string `json:"dataToExtract,omitzero"`
	// Configuration are settings such as "imageAction".
	Configuration map[string]any `json:"configuration,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CustomEntityLookup finds words of a list: inputs text, languageCode; output entities.
type CustomEntityLookup struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultLanguageCode is the language of texts without one, such as "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// EntitiesDefinitionURI is the address of the list, as JSON or CSV; it may hold a shared access
	// signature.
	EntitiesDefinitionURI string `json:"entitiesDefinitionUri,omitzero"`
	// InlineEntitiesDefinition is the list.
	InlineEntitiesDefinition []CustomEntity `json:"inlineEntitiesDefinition,omitzero"`
	// GlobalDefaultCaseSensitive is for entities that do not say.
	GlobalDefaultCaseSensitive *bool `json:"globalDefaultCaseSensitive,omitzero"`
	// GlobalDefaultAccentSensitive is for entities that do not say.
	GlobalDefaultAccentSensitive *bool `json:"globalDefaultAccentSensitive,omitzero"`
	// GlobalDefaultFuzzyEditDistance is for entities that do not say.
	GlobalDefaultFuzzyEditDistance *int `json:"globalDefaultFuzzyEditDistance,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CustomEntity is an entity to find.
type CustomEntity struct {
	// Name is the entity, and the first text to find.
	Name string `json:"name"`
	// Description is passed on with each match.
	Description string `json:"description,omitzero"`
	// Type is passed on with each match.
	Type string `json:"type,omitzero"`
	// Subtype is passed on with each match.
	Subtype string `json:"subtype,omitzero"`
	// ID is passed on with each match.
	ID string `json:"id,omitzero"`
	// CaseSensitive compares Name by case.
	CaseSensitive *bool `json:"caseSensitive,omitzero"`
	// AccentSensitive compares Name by accents.
	AccentSensitive *bool `json:"accentSensitive,omitzero"`
	// FuzzyEditDistance is the number of characters that may differ, at most 5.
	FuzzyEditDistance *int `json:"fuzzyEditDistance,omitzero"`
	// DefaultCaseSensitive is for Aliases that do not say.
	DefaultCaseSensitive *bool `json:"defaultCaseSensitive,omitzero"`
	// DefaultAccentSensitive is for Aliases that do not say.
	DefaultAccentSensitive *bool `json:"defaultAccentSensitive,omitzero"`
	// DefaultFuzzyEditDistance is for Aliases that do not say.
	DefaultFuzzyEditDistance *int `json:"defaultFuzzyEditDistance,omitzero"`
	// Aliases are further texts to find.
	Aliases []CustomEntityAlias `json:"aliases,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CustomEntityAlias is a further text of an entity.
type CustomEntityAlias struct {
	// Text is the text.
	Text string `json:"text"`
	// CaseSensitive compares by case.
	CaseSensitive *bool `json:"caseSensitive,omitzero"`
	// AccentSensitive compares by accents.
	AccentSensitive *bool `json:"accentSensitive,omitzero"`
	// FuzzyEditDistance is the number of characters that may differ.
	FuzzyEditDistance *int `json:"fuzzyEditDistance,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebAPI posts its inputs to an API of the customer's.
type WebAPI struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// URI is the address, https only. Of what is printed only its host stays: it may hold a key.
	URI string `json:"uri"`
	// HTTPHeaders are sent along. The service returns them as they are.
	HTTPHeaders map[string]string `json:"httpHeaders,omitzero"`
	// HTTPMethod is "PUT" or "POST", the service's default.
	HTTPMethod string `json:"httpMethod,omitzero"`
	// Timeout is an ISO 8601 duration up to 230 seconds. The service defaults to "PT30S".
	Timeout string `json:"timeout,omitzero"`
	// BatchSize is the number of records in one call. The service defaults to 1000.
	BatchSize *int `json:"batchSize,omitzero"`
	// DegreeOfParallelism is the number of calls at once, 1 to 10. The service defaults to 5.
	DegreeOfParallelism *int `json:"degreeOfParallelism,omitzero"`
	// AuthResourceID is the application to get a token for.
	AuthResourceID string `json:"authResourceId,omitzero"`
	// AuthIdentity is the managed identity to get it with. Defaults to the system-assigned one.
	AuthIdentity *models.DataIdentity `json:"authIdentity,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownSkill is a skill of a type that this library does not know. It is written back as it was
// read.
type UnknownSkill struct {
	// These are the members of every skill; Skill explains them.
	// Type is its @odata.type.
	Type        string   `json:"@odata.type"`
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
