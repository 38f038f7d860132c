package skills

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// Skill is one step of a skillset: a type of this package, or UnknownSkill for an unknown type. Decoded skills are
// values, not pointers. Every skill has a Name (the service defaults to "#" and its position, from 1), a Description
// in free text, Inputs, Outputs, and a Context: the path of the nodes for which the skill runs once each (the service
// defaults to "/document").
type Skill interface{ skill() }

// Conditional chooses a value: inputs condition, whenTrue, whenFalse; output output.
type Conditional struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Shaper builds an object from its inputs, which may be nested; output output.
type Shaper struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// AdditionalProperties are the JSON members that have no field.
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
	// InsertPreTag is inserted before each text. The service defaults to a space.
	InsertPreTag *string `json:"insertPreTag,omitzero"`
	// InsertPostTag is inserted after each text. The service defaults to a space.
	InsertPostTag *string `json:"insertPostTag,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
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
	// DefaultLanguageCode is the language of texts without a languageCode, such as "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// TextSplitMode selects pages or sentences. The service defaults to TextSplitModePages.
	TextSplitMode TextSplitMode `json:"textSplitMode,omitzero"`
	// MaximumPageLength is the largest length of a page in UTF-16 units, 300 to 50000. The service defaults to 5000.
	MaximumPageLength *int `json:"maximumPageLength,omitzero"`
	// PageOverlapLength is the length of the text that a page repeats from the page before.
	PageOverlapLength *int `json:"pageOverlapLength,omitzero"`
	// MaximumPagesToTake is the largest number of pages; 0 means all.
	MaximumPagesToTake *int `json:"maximumPagesToTake,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TextSplitMode is a way to divide a text.
type TextSplitMode string

// The known values of TextSplitMode.
const (
	TextSplitModePages     TextSplitMode = "pages"
	TextSplitModeSentences TextSplitMode = "sentences"
)

// DocumentExtraction extracts the content of a file: input file_data; outputs content, normalized_images.
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
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CustomEntityLookup finds the texts of a list: inputs text, languageCode; output entities.
type CustomEntityLookup struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultLanguageCode is the language of texts without a languageCode, such as "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// EntitiesDefinitionURI is the URL of the list, in JSON or CSV. It may contain a shared access signature.
	EntitiesDefinitionURI string `json:"entitiesDefinitionUri,omitzero"`
	// InlineEntitiesDefinition is the list.
	InlineEntitiesDefinition []CustomEntity `json:"inlineEntitiesDefinition,omitzero"`
	// GlobalDefaultCaseSensitive is the default of CustomEntity.CaseSensitive.
	GlobalDefaultCaseSensitive *bool `json:"globalDefaultCaseSensitive,omitzero"`
	// GlobalDefaultAccentSensitive is the default of CustomEntity.AccentSensitive.
	GlobalDefaultAccentSensitive *bool `json:"globalDefaultAccentSensitive,omitzero"`
	// GlobalDefaultFuzzyEditDistance is the default of CustomEntity.FuzzyEditDistance.
	GlobalDefaultFuzzyEditDistance *int `json:"globalDefaultFuzzyEditDistance,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CustomEntity is an entity to find.
type CustomEntity struct {
	// Name is the name of the entity, and the first text to find.
	Name string `json:"name"`
	// Description is copied to each match.
	Description string `json:"description,omitzero"`
	// Type is copied to each match.
	Type string `json:"type,omitzero"`
	// Subtype is copied to each match.
	Subtype string `json:"subtype,omitzero"`
	// ID is copied to each match.
	ID string `json:"id,omitzero"`
	// CaseSensitive distinguishes upper and lower case in Name.
	CaseSensitive *bool `json:"caseSensitive,omitzero"`
	// AccentSensitive distinguishes accents in Name.
	AccentSensitive *bool `json:"accentSensitive,omitzero"`
	// FuzzyEditDistance is the largest number of differing characters, at most 5.
	FuzzyEditDistance *int `json:"fuzzyEditDistance,omitzero"`
	// DefaultCaseSensitive is the default for Aliases.
	DefaultCaseSensitive *bool `json:"defaultCaseSensitive,omitzero"`
	// DefaultAccentSensitive is the default for Aliases.
	DefaultAccentSensitive *bool `json:"defaultAccentSensitive,omitzero"`
	// DefaultFuzzyEditDistance is the default for Aliases.
	DefaultFuzzyEditDistance *int `json:"defaultFuzzyEditDistance,omitzero"`
	// Aliases are further texts to find.
	Aliases []CustomEntityAlias `json:"aliases,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CustomEntityAlias is another text of an entity.
type CustomEntityAlias struct {
	// Text is the text to find.
	Text string `json:"text"`
	// CaseSensitive distinguishes upper and lower case.
	CaseSensitive *bool `json:"caseSensitive,omitzero"`
	// AccentSensitive distinguishes accents.
	AccentSensitive *bool `json:"accentSensitive,omitzero"`
	// FuzzyEditDistance is the largest number of differing characters.
	FuzzyEditDistance *int `json:"fuzzyEditDistance,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebAPI posts its inputs to a custom web API.
type WebAPI struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// URI is the URL of the API, https only. Only its host is printed, because it may contain a key.
	URI string `json:"uri"`
	// HTTPHeaders are additional request headers. The service returns them unmasked.
	HTTPHeaders map[string]string `json:"httpHeaders,omitzero"`
	// HTTPMethod is "PUT" or "POST". The service defaults to "POST".
	HTTPMethod string `json:"httpMethod,omitzero"`
	// Timeout is the time limit of a call, an ISO 8601 duration up to 230 seconds. The service defaults to "PT30S".
	Timeout string `json:"timeout,omitzero"`
	// BatchSize is the number of records in one call. The service defaults to 1000.
	BatchSize *int `json:"batchSize,omitzero"`
	// DegreeOfParallelism is the number of calls at once, 1 to 10. The service defaults to 5.
	DegreeOfParallelism *int `json:"degreeOfParallelism,omitzero"`
	// AuthResourceID is the application for which a token is requested.
	AuthResourceID string `json:"authResourceId,omitzero"`
	// AuthIdentity is the managed identity that requests the token. Defaults to the system-assigned one.
	AuthIdentity *models.DataIdentity `json:"authIdentity,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownSkill is a skill of an unknown type. It is written back unchanged.
type UnknownSkill struct {
	// These are the members of every skill; Skill explains them.
	// Type is the @odata.type of the skill.
	Type        string   `json:"@odata.type"`
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
