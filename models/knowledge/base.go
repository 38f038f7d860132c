package knowledge

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// Base answers questions out of sources. It is printed without its secrets.
type Base struct {
	// Name is the name of the base.
	Name string `json:"name"`
	// Description is for people and language models.
	Description string `json:"description,omitzero"`
	// Sources are the sources it asks.
	Sources []SourceReference `json:"knowledgeSources"`
	// Models plan queries and write answers. At most one.
	Models []Model `json:"models,omitzero"`
	// ReasoningEffort is the effort of requests that do not say. It needs api-version 2026-10-01 or a
	// preview that has it.
	ReasoningEffort *ReasoningEffort `json:"retrievalReasoningEffort,omitzero"`
	// OutputMode is the form of answers to requests that do not say. It needs api-version 2026-10-01 or
	// a preview that has it.
	OutputMode OutputMode `json:"outputMode,omitzero"`
	// RetrievalInstructions say to a model when to use which source. They need api-version 2026-10-01
	// or a preview that has them.
	RetrievalInstructions string `json:"retrievalInstructions,omitzero"`
	// AnswerInstructions say to a model how to answer. They need api-version 2026-10-01 or a preview
	// that has them.
	AnswerInstructions string `json:"answerInstructions,omitzero"`
	// CORSOptions lets scripts of other origins ask the base. It needs api-version 2026-10-01 or a
	// preview that has it.
	CORSOptions *models.CORSOptions `json:"corsOptions,omitzero"`
	// EncryptionKey is a customer's key to encrypt the definition with. Once set it cannot be removed.
	EncryptionKey *models.EncryptionKey `json:"encryptionKey,omitzero"`
	// ETag is the version of the definition, quotes included, as the service wrote it.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SourceReference names a source.
type SourceReference struct {
	// Name is the source.
	Name string `json:"name"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ReasoningEffort is the work of a model on a request.
type ReasoningEffort struct {
	// Kind is the effort.
	Kind EffortKind `json:"kind"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EffortKind is an amount of work of a model on a request.
type EffortKind string

// The known values of EffortKind.
const (
	// No model is asked.
	EffortKindMinimal EffortKind = "minimal"
	// It needs api-version 2026-10-01 or a preview that has it.
	EffortKindLow EffortKind = "low"
	// It needs api-version 2026-10-01 or a preview that has it.
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
