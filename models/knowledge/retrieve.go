package knowledge

import (
	"encoding/json"
)

// Request is a question to a base.
type Request struct {
	// Messages are the conversation, with the question last. They need api-version 2026-10-01 or a preview that has them.
	Messages []Message `json:"messages,omitzero"`
	// Intents are queries that need no planning by a model.
	Intents []Intent `json:"intents,omitzero"`
	// MaxRuntimeInSeconds limits the time. The answer then contains the results found so far.
	MaxRuntimeInSeconds *int `json:"maxRuntimeInSeconds,omitzero"`
	// MaxOutputSizeInTokens limits the size of the answer.
	MaxOutputSizeInTokens *int `json:"maxOutputSizeInTokens,omitzero"`
	// MaxOutputDocuments limits the number of documents. It needs api-version 2026-10-01 or a preview that has it.
	MaxOutputDocuments *int `json:"maxOutputDocuments,omitzero"`
	// ReasoningEffort overrides the setting of the base. It needs api-version 2026-10-01 or a preview that has it.
	ReasoningEffort *ReasoningEffort `json:"retrievalReasoningEffort,omitzero"`
	// IncludeActivity adds Activity to the response.
	IncludeActivity *bool `json:"includeActivity,omitzero"`
	// OutputMode overrides the setting of the base. It needs api-version 2026-10-01 or a preview that has it.
	OutputMode OutputMode `json:"outputMode,omitzero"`
	// Sources are options for individual sources.
	Sources []SourceOptions `json:"knowledgeSourceParams,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Intent is a query: SemanticIntent, or UnknownIntent for an unknown type.
type Intent interface{ intent() }

// SemanticIntent is a search for a text.
type SemanticIntent struct {
	// Search is the search text.
	Search string `json:"search"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownIntent is an intent of an unknown type.
type UnknownIntent struct {
	// Type is the type of the intent.
	Type string `json:"type"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SourceOptions are the options for one source.
type SourceOptions struct {
	// KnowledgeSourceName is the name of the source.
	KnowledgeSourceName string `json:"knowledgeSourceName"`
	// Kind is the kind of the source.
	Kind SourceKind `json:"kind"`
	// IncludeReferences returns references to the results.
	IncludeReferences *bool `json:"includeReferences,omitzero"`
	// IncludeReferenceSourceData also returns the fields of the results.
	IncludeReferenceSourceData *bool `json:"includeReferenceSourceData,omitzero"`
	// RerankerThreshold drops results with a lower score.
	RerankerThreshold *float64 `json:"rerankerThreshold,omitzero"`
	// AlwaysQuerySource queries the source even if the plan does not. It needs api-version 2026-10-01 or a preview that
	// has it.
	AlwaysQuerySource *bool `json:"alwaysQuerySource,omitzero"`
	// FailOnError fails the request if the source fails. It needs api-version 2026-10-01 or a preview that has it.
	FailOnError *bool `json:"failOnError,omitzero"`
	// MaxOutputDocuments limits the number of documents of the source. It needs api-version 2026-10-01 or a preview that
	// has it.
	MaxOutputDocuments *int `json:"maxOutputDocuments,omitzero"`
	// FilterAddOn is an additional filter, for SourceKindSearchIndex.
	FilterAddOn string `json:"filterAddOn,omitzero"`
	// Language, Market, Count and Freshness are for SourceKindWeb. Language is the language of results.
	Language string `json:"language,omitzero"`
	// Market is the region of results, such as "en-US".
	Market string `json:"market,omitzero"`
	// Count is the number of pages.
	Count *int `json:"count,omitzero"`
	// Freshness is the highest age of pages, such as "Week".
	Freshness string `json:"freshness,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Message is a message of a conversation or of an answer.
type Message struct {
	// Role is "user", "assistant" or "system".
	Role string `json:"role,omitzero"`
	// Content are the parts of the message.
	Content []Content `json:"content"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Content is a part of a message: TextContent, ImageContent, or UnknownContent for an unknown type.
type Content interface{ content() }

// TextContent is a text.
type TextContent struct {
	// Text is the text.
	Text string `json:"text"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ImageContent is an image.
type ImageContent struct {
	// Image is the image.
	Image Image `json:"image"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Image is an image, given by its URL.
type Image struct {
	// URL is the URL of the image.
	URL string `json:"url"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownContent is content of an unknown type.
type UnknownContent struct {
	// Type is the type of the content.
	Type string `json:"type"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Response is the answer of a base.
type Response struct {
	// Messages are the messages of the answer. With OutputModeExtractiveData their texts are JSON arrays of passages.
	Messages []Message `json:"response,omitzero"`
	// Activity are the steps of the retrieval, if the request has IncludeActivity.
	Activity []Activity `json:"activity,omitzero"`
	// References are the documents that the answer cites.
	References []Reference `json:"references,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
