package knowledge

import (
	"encoding/json"
	"time"
)

// Activity is one step of a retrieval: a query of a source, a call of a model, or UnknownActivity for
// what a newer service has. Common returns what all have in common.
type Activity interface{ Common() Step }

// Step holds the members that all activities have.
type Step struct {
	// ID is the number that references name.
	ID int `json:"id"`
	// ElapsedMs is its duration in milliseconds.
	ElapsedMs *int `json:"elapsedMs,omitzero"`
	// StartedAt is when it began. From api-version 2026-10-01 on.
	StartedAt *time.Time `json:"startedAt,omitzero"`
	// CompletedAt is when it ended. From api-version 2026-10-01 on.
	CompletedAt *time.Time `json:"completedAt,omitzero"`
	// Error is the reason why it failed, or nil.
	Error *ErrorDetail `json:"error,omitzero"`
	// Warning is about what it found. From api-version 2026-10-01 on.
	Warning string `json:"warning,omitzero"`
}

// Query holds the members that all queries of sources have.
type Query struct {
	// KnowledgeSourceName is the source.
	KnowledgeSourceName string `json:"knowledgeSourceName,omitzero"`
	// QueryTime is when it was asked.
	QueryTime *time.Time `json:"queryTime,omitzero"`
	// Count is the number of results.
	Count *int `json:"count,omitzero"`
}

// SearchIndexActivity is a query of a SearchIndex source.
type SearchIndexActivity struct {
	Step
	Query
	// Arguments are the query.
	Arguments *SearchIndexArguments `json:"searchIndexArguments,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AzureBlobActivity is a query of an AzureBlob source.
type AzureBlobActivity struct {
	Step
	Query
	// Arguments are the query.
	Arguments *Arguments `json:"azureBlobArguments,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// OneLakeActivity is a query of a OneLake source.
type OneLakeActivity struct {
	Step
	Query
	// Arguments are the query.
	Arguments *Arguments `json:"indexedOneLakeArguments,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebActivity is a query of a Web source.
type WebActivity struct {
	Step
	Query
	// Arguments are the query.
	Arguments *WebArguments `json:"webArguments,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SharePointActivity is a query of a SharePoint source.
type SharePointActivity struct {
	Step
	Query
	// Arguments are the query.
	Arguments *Arguments `json:"indexedSharePointArguments,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SQLActivity is a query of a SQL source.
type SQLActivity struct {
	Step
	Query
	// Arguments are the query.
	Arguments *Arguments `json:"indexedSqlArguments,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FileActivity is a query of a File source.
type FileActivity struct {
	Step
	Query
	// Arguments are the query.
	Arguments *Arguments `json:"fileArguments,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Arguments are a query of most sources.
type Arguments struct {
	// Search is the text.
	Search string `json:"search,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SearchIndexArguments are a query of a SearchIndex source.
type SearchIndexArguments struct {
	// Search is the text.
	Search string `json:"search,omitzero"`
	// Filter is the filter of source and request.
	Filter string `json:"filter,omitzero"`
	// SourceDataFields are the fields that were returned.
	SourceDataFields []FieldReference `json:"sourceDataFields,omitzero"`
	// SearchFields are the fields that were searched.
	SearchFields []FieldReference `json:"searchFields,omitzero"`
	// SemanticConfigurationName ranked the results.
	SemanticConfigurationName string `json:"semanticConfigurationName,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebArguments are a query of a Web source.
type WebArguments struct {
	// Search is the text.
	Search string `json:"search,omitzero"`
	// Language is that of the results.
	Language string `json:"language,omitzero"`
	// Market is their region.
	Market string `json:"market,omitzero"`
	// Count is their number.
	Count *int `json:"count,omitzero"`
	// Freshness is their age.
	Freshness string `json:"freshness,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// QueryPlanning is a model's plan of queries.
type QueryPlanning struct {
	Step
	Usage
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AnswerSynthesis is a model's answer.
type AnswerSynthesis struct {
	Step
	Usage
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebSummarization is a model's summary of pages.
type WebSummarization struct {
	Step
	Usage
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Usage is the cost of a call of a model.
type Usage struct {
	// InputTokens are those of the prompt.
	InputTokens *int `json:"inputTokens,omitzero"`
	// OutputTokens are those of the answer.
	OutputTokens *int `json:"outputTokens,omitzero"`
	// Model is the model. From api-version 2026-10-01 on.
	Model *ActivityModel `json:"model,omitzero"`
}

// ActivityModel is a model that was called.
type ActivityModel struct {
	// ModelName is the model.
	ModelName string `json:"modelName"`
	// DeploymentID is its deployment.
	DeploymentID string `json:"deploymentId,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AgenticReasoning is the work of the service's own model.
type AgenticReasoning struct {
	Step
	// ReasoningTokens are the tokens used.
	ReasoningTokens *int `json:"reasoningTokens,omitzero"`
	// ReasoningEffort is the effort.
	ReasoningEffort *ReasoningEffort `json:"retrievalReasoningEffort,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownActivity is an activity of a type that this library does not know.
type UnknownActivity struct {
	Step
	// Type is its type.
	Type string `json:"type"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ErrorDetail explains a failure.
type ErrorDetail struct {
	// Code is the service's code.
	Code string `json:"code,omitzero"`
	// Message is the explanation.
	Message string `json:"message,omitzero"`
	// Target is the subject.
	Target string `json:"target,omitzero"`
	// Details are finer print.
	Details []ErrorDetail `json:"details,omitzero"`
	// AdditionalInfo is further print.
	AdditionalInfo []ErrorInfo `json:"additionalInfo,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ErrorInfo is further print of an error.
type ErrorInfo struct {
	// Type is its kind.
	Type string `json:"type,omitzero"`
	// Info is the text or object.
	Info json.RawMessage `json:"info,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Common returns what all activities have in common.
func (s Step) Common() Step { return s }
