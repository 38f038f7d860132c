package skills

import (
	"encoding/json"
)

// EntityLinking finds entities and links them to Wikipedia: inputs text, languageCode; output entities.
type EntityLinking struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultLanguageCode is the language of texts without a languageCode, such as "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// MinimumPrecision is the lowest confidence, 0 to 1, of returned entities.
	MinimumPrecision *float64 `json:"minimumPrecision,omitzero"`
	// ModelVersion is the version of the model. Defaults to the newest.
	ModelVersion string `json:"modelVersion,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EntityRecognition finds entities such as persons and places: inputs text, languageCode; outputs persons, locations,
// organizations and more.
type EntityRecognition struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// Categories are the categories to find. The service defaults to all.
	Categories []EntityCategory `json:"categories,omitzero"`
	// DefaultLanguageCode is the language of texts without a languageCode, such as "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// MinimumPrecision is the lowest confidence, 0 to 1, of returned entities.
	MinimumPrecision *float64 `json:"minimumPrecision,omitzero"`
	// ModelVersion is the version of the model. Defaults to the newest.
	ModelVersion string `json:"modelVersion,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EntityCategory is a category of entities.
type EntityCategory string

// The known values of EntityCategory.
const (
	EntityCategoryLocation     EntityCategory = "location"
	EntityCategoryOrganization EntityCategory = "organization"
	EntityCategoryPerson       EntityCategory = "person"
	EntityCategoryQuantity     EntityCategory = "quantity"
	EntityCategoryDateTime     EntityCategory = "datetime"
	EntityCategoryURL          EntityCategory = "url"
	EntityCategoryEmail        EntityCategory = "email"
)

// KeyPhraseExtraction finds key phrases: inputs text, languageCode; output keyPhrases.
type KeyPhraseExtraction struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultLanguageCode is the language of texts without a languageCode, such as "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// MaxKeyPhraseCount is the largest number of phrases. The service defaults to all.
	MaxKeyPhraseCount *int `json:"maxKeyPhraseCount,omitzero"`
	// ModelVersion is the version of the model. Defaults to the newest.
	ModelVersion string `json:"modelVersion,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// LanguageDetection detects the language: inputs text, countryHint; outputs languageCode, languageName, score.
type LanguageDetection struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultCountryHint is the two-character country code of texts without a countryHint.
	DefaultCountryHint string `json:"defaultCountryHint,omitzero"`
	// ModelVersion is the version of the model. Defaults to the newest.
	ModelVersion string `json:"modelVersion,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PIIDetection finds personal data: inputs text, languageCode; outputs piiEntities, maskedText.
type PIIDetection struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultLanguageCode is the language of texts without a languageCode, such as "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// MinimumPrecision is the lowest confidence, 0 to 1, of returned entities.
	MinimumPrecision *float64 `json:"minimumPrecision,omitzero"`
	// MaskingMode selects whether maskedText is produced. The service defaults to MaskingModeNone.
	MaskingMode MaskingMode `json:"maskingMode,omitzero"`
	// MaskingCharacter replaces each masked character. The service defaults to "*".
	MaskingCharacter string `json:"maskingCharacter,omitzero"`
	// ModelVersion is the version of the model. Defaults to the newest.
	ModelVersion string `json:"modelVersion,omitzero"`
	// PIICategories are the categories to find. The service defaults to all.
	PIICategories []string `json:"piiCategories,omitzero"`
	// Domain is "phi" for health data, or "none".
	Domain string `json:"domain,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// MaskingMode is a way to mask personal data.
type MaskingMode string

// The known values of MaskingMode.
const (
	MaskingModeNone    MaskingMode = "none"
	MaskingModeReplace MaskingMode = "replace"
)

// Sentiment rates texts: inputs text, languageCode; outputs sentiment, confidenceScores, sentences.
type Sentiment struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultLanguageCode is the language of texts without a languageCode, such as "en".
	DefaultLanguageCode string `json:"defaultLanguageCode,omitzero"`
	// IncludeOpinionMining also rates parts of sentences. The service defaults to false.
	IncludeOpinionMining *bool `json:"includeOpinionMining,omitzero"`
	// ModelVersion is the version of the model. Defaults to the newest.
	ModelVersion string `json:"modelVersion,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Translation translates: inputs text, toLanguageCode, fromLanguageCode; outputs translatedText,
// translatedFromLanguageCode, translatedToLanguageCode.
type Translation struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// DefaultToLanguageCode is the language to translate to, such as "en".
	DefaultToLanguageCode string `json:"defaultToLanguageCode"`
	// DefaultFromLanguageCode is the language of texts without a fromLanguageCode. Defaults to detection.
	DefaultFromLanguageCode string `json:"defaultFromLanguageCode,omitzero"`
	// SuggestedFrom is the language to assume if detection fails.
	SuggestedFrom string `json:"suggestedFrom,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
