package knowledge

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// Base is a knowledge base, which answers questions from sources. It is printed without its secrets.
type Base struct {
	// Name is the name of the base.
	Name string `json:"name"`
	// Description is free text, also for language models.
	Description string `json:"description,omitzero"`
	// Sources are the sources that the base queries.
	Sources []SourceReference `json:"knowledgeSources"`
	// Models plan queries and write answers. At most one.
	Models []Model `json:"models,omitzero"`
	// ReasoningEffort is the default effort for requests. It needs api-version 2026-10-01 or a preview that has it.
	ReasoningEffort *ReasoningEffort `json:"retrievalReasoningEffort,omitzero"`
	// OutputMode is the default form of answers. It needs api-version 2026-10-01 or a preview that has it.
	OutputMode OutputMode `json:"outputMode,omitzero"`
	// RetrievalInstructions are the instructions to a model about the use of sources. They need api-version 2026-10-01 or
	// a preview that has them.
	RetrievalInstructions string `json:"retrievalInstructions,omitzero"`
	// AnswerInstructions are the instructions to a model about the form of answers. They need api-version 2026-10-01 or a
	// preview that has them.
	AnswerInstructions string `json:"answerInstructions,omitzero"`
	// CORSOptions allow scripts of other origins to ask the base. They need api-version 2026-10-01 or a preview that has
	// them.
	CORSOptions *models.CORSOptions `json:"corsOptions,omitzero"`
	// EncryptionKey is a customer-managed key that encrypts the definition. It cannot be removed later.
	EncryptionKey *models.EncryptionKey `json:"encryptionKey,omitzero"`
	// ETag is the version of the definition, in the service's notation with quotes.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SourceReference refers to a source by its name.
type SourceReference struct {
	// Name is the name of the source.
	Name string `json:"name"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ReasoningEffort is the amount of work of a model for a request.
type ReasoningEffort struct {
	// Kind is the level of effort.
	Kind EffortKind `json:"kind"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EffortKind is a level of effort of a model for a request.
type EffortKind string

// The known values of EffortKind.
const (
	// No model is called.
	EffortKindMinimal EffortKind = "minimal"
	// Needs api-version 2026-10-01 or a preview that has it.
	EffortKindLow EffortKind = "low"
	// Needs api-version 2026-10-01 or a preview that has it.
	EffortKindMedium EffortKind = "medium"
)

// OutputMode is the form of an answer.
type OutputMode string

// The known values of OutputMode.
const (
	// Passages of the sources, as a JSON array in a text.
	OutputModeExtractiveData OutputMode = "extractiveData"
	// A text that a model writes.
	OutputModeAnswerSynthesis OutputMode = "answerSynthesis"
)
