package knowledge

import (
	"encoding/json"
	"time"
)

// Activity is one step of a retrieval: a query of a source, a call of a model, or UnknownActivity for an unknown
// type. Common returns the members of all activities.
type Activity interface{ Common() Step }

// Step holds the members that all activities have.
type Step struct {
	// ID is the number by which references refer to the activity.
	ID int `json:"id"`
	// ElapsedMs is the duration in milliseconds.
	ElapsedMs *int `json:"elapsedMs,omitzero"`
	// StartedAt is the start of the activity. Set since api-version 2026-10-01.
	StartedAt *time.Time `json:"startedAt,omitzero"`
	// CompletedAt is the end of the activity. Set since api-version 2026-10-01.
	CompletedAt *time.Time `json:"completedAt,omitzero"`
	// Error is the reason of a failure, or nil.
	Error *ErrorDetail `json:"error,omitzero"`
	// Warning is a warning about the results. Set since api-version 2026-10-01.
	Warning string `json:"warning,omitzero"`
}

// Query holds the members of all queries of sources.
type Query struct {
	// KnowledgeSourceName is the name of the source.
	KnowledgeSourceName string `json:"knowledgeSourceName,omitzero"`
	// QueryTime is the time of the query.
	QueryTime *time.Time `json:"queryTime,omitzero"`
	// Count is the number of results.
	Count *int `json:"count,omitzero"`
}

// SearchIndexActivity is a query of a SearchIndex source.
type SearchIndexActivity struct {
	Step
	Query
	// Arguments are the arguments of the query.
	Arguments *SearchIndexArguments `json:"searchIndexArguments,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AzureBlobActivity is a query of an AzureBlob source.
type AzureBlobActivity struct {
	Step
	Query
	// Arguments are the arguments of the query.
	Arguments *Arguments `json:"azureBlobArguments,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// OneLakeActivity is a query of a OneLake source.
type OneLakeActivity struct {
	Step
	Query
	// Arguments are the arguments of the query.
	Arguments *Arguments `json:"indexedOneLakeArguments,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebActivity is a query of a Web source.
type WebActivity struct {
	Step
	Query
	// Arguments are the arguments of the query.
	Arguments *WebArguments `json:"webArguments,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SharePointActivity is a query of a SharePoint source.
type SharePointActivity struct {
	Step
	Query
	// Arguments are the arguments of the query.
	Arguments *Arguments `json:"indexedSharePointArguments,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SQLActivity is a query of a SQL source.
type SQLActivity struct {
	Step
	Query
	// Arguments are the arguments of the query.
	Arguments *Arguments `json:"indexedSqlArguments,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FileActivity is a query of a File source.
type FileActivity struct {
	Step
	Query
	// Arguments are the arguments of the query.
	Arguments *Arguments `json:"fileArguments,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Arguments are the arguments of a query of most kinds of sources.
type Arguments struct {
	// Search is the search text.
	Search string `json:"search,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SearchIndexArguments are the arguments of a query of a SearchIndex source.
type SearchIndexArguments struct {
	// Search is the search text.
	Search string `json:"search,omitzero"`
	// Filter combines the filters of the source and the request.
	Filter string `json:"filter,omitzero"`
	// SourceDataFields are the returned fields.
	SourceDataFields []FieldReference `json:"sourceDataFields,omitzero"`
	// SearchFields are the searched fields.
	SearchFields []FieldReference `json:"searchFields,omitzero"`
	// SemanticConfigurationName is the semantic configuration that ranked the results.
	SemanticConfigurationName string `json:"semanticConfigurationName,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebArguments are the arguments of a query of a Web source.
type WebArguments struct {
	// Search is the search text.
	Search string `json:"search,omitzero"`
	// Language is the language of the results.
	Language string `json:"language,omitzero"`
	// Market is the region of the results.
	Market string `json:"market,omitzero"`
	// Count is the number of results.
	Count *int `json:"count,omitzero"`
	// Freshness is the age of the results.
	Freshness string `json:"freshness,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// QueryPlanning is a step in which a model plans queries.
type QueryPlanning struct {
	Step
	Usage
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AnswerSynthesis is a step in which a model writes the answer.
type AnswerSynthesis struct {
	Step
	Usage
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebSummarization is a step in which a model summarizes web pages.
type WebSummarization struct {
	Step
	Usage
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Usage is the consumption of a call of a model.
type Usage struct {
	// InputTokens is the number of tokens of the prompt.
	InputTokens *int `json:"inputTokens,omitzero"`
	// OutputTokens is the number of tokens of the answer.
	OutputTokens *int `json:"outputTokens,omitzero"`
	// Model is the model that was called. Set since api-version 2026-10-01.
	Model *ActivityModel `json:"model,omitzero"`
}

// ActivityModel is a model that was called.
type ActivityModel struct {
	// ModelName is the name of the model.
	ModelName string `json:"modelName"`
	// DeploymentID is the deployment of the model.
	DeploymentID string `json:"deploymentId,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AgenticReasoning is the work of the service's own model.
type AgenticReasoning struct {
	Step
	// ReasoningTokens is the number of used tokens.
	ReasoningTokens *int `json:"reasoningTokens,omitzero"`
	// ReasoningEffort is the effort of the model.
	ReasoningEffort *ReasoningEffort `json:"retrievalReasoningEffort,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownActivity is an activity of an unknown type.
type UnknownActivity struct {
	Step
	// Type is the type of the activity.
	Type string `json:"type"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ErrorDetail explains a failure.
type ErrorDetail struct {
	// Code is the service's code.
	Code string `json:"code,omitzero"`
	// Message is the explanation.
	Message string `json:"message,omitzero"`
	// Target is the subject of the failure.
	Target string `json:"target,omitzero"`
	// Details are further explanations.
	Details []ErrorDetail `json:"details,omitzero"`
	// AdditionalInfo is additional information.
	AdditionalInfo []ErrorInfo `json:"additionalInfo,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ErrorInfo is additional information about an error.
type ErrorInfo struct {
	// Type is the type of Info.
	Type string `json:"type,omitzero"`
	// Info is a text or an object, as JSON.
	Info json.RawMessage `json:"info,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Common returns the members of all activities.
func (s Step) Common() Step { return s }
