package indexers

import (
	"encoding/json"
	"time"
)

// Status is the state of an indexer and of its executions.
type Status struct {
	// Name is the name of the indexer.
	Name string `json:"name"`
	// Status is the state of the indexer. IndexerStatusRunning means healthy, not at work: LastResult
	// says whether an execution is under way.
	Status IndexerStatus `json:"status"`
	// LastResult is the execution under way, or the last one, or the last reset. nil before the first.
	LastResult *Execution `json:"lastResult,omitzero"`
	// ExecutionHistory are executions and resets that have ended, the newest first.
	ExecutionHistory []Execution `json:"executionHistory"`
	// Limits are the limits of an execution.
	Limits *Limits `json:"limits,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// IndexerStatus is the state of an indexer.
type IndexerStatus string

// The known values of IndexerStatus.
const (
	IndexerStatusUnknown IndexerStatus = "unknown"
	// An operator must act: the indexer does not run.
	IndexerStatusError IndexerStatus = "error"
	// The indexer is healthy, whether or not it works at the moment.
	IndexerStatusRunning IndexerStatus = "running"
)

// Execution is one run of an indexer, or a reset.
type Execution struct {
	// Status says how far it got.
	Status ExecutionStatus `json:"status"`
	// ErrorMessage is the reason that ended it.
	ErrorMessage string `json:"errorMessage,omitzero"`
	// StartTime is when it began.
	StartTime *time.Time `json:"startTime,omitzero"`
	// EndTime is when it ended; nil while it lasts.
	EndTime *time.Time `json:"endTime,omitzero"`
	// ItemsProcessed is the number of items that were tried, failed ones included.
	ItemsProcessed int64 `json:"itemsProcessed"`
	// ItemsFailed is the number of those that failed.
	ItemsFailed int64 `json:"itemsFailed"`
	// InitialTrackingState is the change mark that it began with.
	InitialTrackingState string `json:"initialTrackingState,omitzero"`
	// FinalTrackingState is the change mark that it left.
	FinalTrackingState string `json:"finalTrackingState,omitzero"`
	// Errors are failures of items. The service lists a limited number of them.
	Errors []ItemError `json:"errors"`
	// Warnings are of items that were indexed.
	Warnings []ItemWarning `json:"warnings"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ExecutionStatus is the state of an execution.
type ExecutionStatus string

// The known values of ExecutionStatus.
const (
	// It failed, as a whole or by too many items; the schedule continues.
	ExecutionStatusTransientFailure ExecutionStatus = "transientFailure"
	ExecutionStatusSuccess          ExecutionStatus = "success"
	ExecutionStatusInProgress       ExecutionStatus = "inProgress"
	// It is a reset, which reads nothing.
	ExecutionStatusReset ExecutionStatus = "reset"
)

// ItemError is the failure of an item.
type ItemError struct {
	// Key is the key of the document; empty if the item has none.
	Key string `json:"key,omitzero"`
	// ErrorMessage is the reason.
	ErrorMessage string `json:"errorMessage"`
	// StatusCode is 4xx if the item is at fault, 5xx otherwise.
	StatusCode int `json:"statusCode"`
	// Name is the step that failed, such as "Enrichment.LanguageDetectionSkill.#4".
	Name string `json:"name,omitzero"`
	// Details help to find the cause.
	Details string `json:"details,omitzero"`
	// DocumentationLink leads to an explanation.
	DocumentationLink string `json:"documentationLink,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ItemWarning is about an item that was indexed.
type ItemWarning struct {
	// Key is the key of the document.
	Key string `json:"key,omitzero"`
	// Message is the warning.
	Message string `json:"message"`
	// Name is the step that warns.
	Name string `json:"name,omitzero"`
	// Details help to find the cause.
	Details string `json:"details,omitzero"`
	// DocumentationLink leads to an explanation.
	DocumentationLink string `json:"documentationLink,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Limits are the limits of an execution.
type Limits struct {
	// MaxRunTime is an ISO 8601 duration.
	MaxRunTime string `json:"maxRunTime,omitzero"`
	// MaxDocumentExtractionSize is in bytes; 0 before the first run.
	MaxDocumentExtractionSize int64 `json:"maxDocumentExtractionSize"`
	// MaxDocumentContentCharactersToExtract is in characters.
	MaxDocumentContentCharactersToExtract int64 `json:"maxDocumentContentCharactersToExtract"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
