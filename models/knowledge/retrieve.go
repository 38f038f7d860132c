package knowledge

import (
	"encoding/json"
)

// Request asks a base.
type Request struct {
	// Messages are the conversation, the question last. They need api-version 2026-10-01 or a preview
	// that has them.
	Messages []Message `json:"messages,omitzero"`
	// Intents are queries that no model has to plan.
	Intents []Intent `json:"intents,omitzero"`
	// MaxRuntimeInSeconds limits the time; what is found until then is returned.
	MaxRuntimeInSeconds *int `json:"maxRuntimeInSeconds,omitzero"`
	// MaxOutputSizeInTokens limits the answer.
	MaxOutputSizeInTokens *int `json:"maxOutputSizeInTokens,omitzero"`
	// MaxOutputDocuments limits the documents. It needs api-version 2026-10-01 or a preview that has
	// it.
	MaxOutputDocuments *int `json:"maxOutputDocuments,omitzero"`
	// ReasoningEffort overrides that of the base. It needs api-version 2026-10-01 or a preview that has
	// it.
	ReasoningEffort *ReasoningEffort `json:"retrievalReasoningEffort,omitzero"`
	// IncludeActivity returns what was done.
	IncludeActivity *bool `json:"includeActivity,omitzero"`
	// OutputMode overrides that of the base. It needs api-version 2026-10-01 or a preview that has it.
	OutputMode OutputMode `json:"outputMode,omitzero"`
	// Sources say how single sources are asked.
	Sources []SourceOptions `json:"knowledgeSourceParams,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Intent is a query: SemanticIntent, or UnknownIntent for what a newer service has.
type Intent interface{ intent() }

// SemanticIntent searches for a text.
type SemanticIntent struct {
	// Search is the text.
	Search string `json:"search"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownIntent is an intent of a type that this library does not know.
type UnknownIntent struct {
	// Type is its type.
	Type string `json:"type"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SourceOptions say how one source is asked.
type SourceOptions struct {
	// KnowledgeSourceName is the source.
	KnowledgeSourceName string `json:"knowledgeSourceName"`
	// Kind is the kind of the source.
	Kind SourceKind `json:"kind"`
	// IncludeReferences returns what was found.
	IncludeReferences *bool `json:"includeReferences,omitzero"`
	// IncludeReferenceSourceData returns its fields as well.
	IncludeReferenceSourceData *bool `json:"includeReferenceSourceData,omitzero"`
	// RerankerThreshold drops what scores less.
	RerankerThreshold *float64 `json:"rerankerThreshold,omitzero"`
	// AlwaysQuerySource asks the source whatever the plan says. It needs api-version 2026-10-01 or a
	// preview that has it.
	AlwaysQuerySource *bool `json:"alwaysQuerySource,omitzero"`
	// FailOnError makes a failure of the source one of the request. It needs api-version 2026-10-01 or
	// a preview that has it.
	FailOnError *bool `json:"failOnError,omitzero"`
	// MaxOutputDocuments limits its documents. It needs api-version 2026-10-01 or a preview that has
	// it.
	MaxOutputDocuments *int `json:"maxOutputDocuments,omitzero"`
	// FilterAddOn is a filter, for SourceKindSearchIndex.
	FilterAddOn string `json:"filterAddOn,omitzero"`
	// Language is for SourceKindWeb, and so are the next three.
	Language string `json:"language,omitzero"`
	// Market is a region of results, such as "en-US".
	Market string `json:"market,omitzero"`
	// Count is the number of pages.
	Count *int `json:"count,omitzero"`
	// Freshness is the age of pages, such as "Week".
	Freshness string `json:"freshness,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Message is one of a conversation, or an answer.
type Message struct {
	// Role is "user", "assistant" or "system".
	Role string `json:"role,omitzero"`
	// Content are its parts.
	Content []Content `json:"content"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Content is a part of a message: TextContent, ImageContent, or UnknownContent for what a newer
// service has.
type Content interface{ content() }

// TextContent is a text.
type TextContent struct {
	// Text is the text.
	Text string `json:"text"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ImageContent is an image.
type ImageContent struct {
	// Image is the image.
	Image Image `json:"image"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Image is an image by its address.
type Image struct {
	// URL is the address.
	URL string `json:"url"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownContent is content of a type that this library does not know.
type UnknownContent struct {
	// Type is its type.
	Type string `json:"type"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Response is the answer of a base.
type Response struct {
	// Messages are the answer, one message each. With OutputModeExtractiveData their texts are JSON
	// arrays of passages.
	Messages []Message `json:"response,omitzero"`
	// Activity are the steps taken, if the request has IncludeActivity.
	Activity []Activity `json:"activity,omitzero"`
	// References are the documents found.
	References []Reference `json:"references,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
