package indexers

import (
	"encoding/json"
	"time"
)

// Status is the state of an indexer and of its executions.
type Status struct {
	// Name is the name of the indexer.
	Name string `json:"name"`
	// Status is the state of the indexer. IndexerStatusRunning means healthy; LastResult shows whether an execution is
	// running.
	Status IndexerStatus `json:"status"`
	// LastResult is the current or else the last execution or reset. nil before the first.
	LastResult *Execution `json:"lastResult,omitzero"`
	// ExecutionHistory are the past executions and resets, the newest first.
	ExecutionHistory []Execution `json:"executionHistory"`
	// Limits are the limits of an execution.
	Limits *Limits `json:"limits,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// IndexerStatus is the state of an indexer.
type IndexerStatus string

// The known values of IndexerStatus.
const (
	IndexerStatusUnknown IndexerStatus = "unknown"
	// The indexer does not run until an operator repairs it.
	IndexerStatusError IndexerStatus = "error"
	// The indexer is healthy. It may be idle.
	IndexerStatusRunning IndexerStatus = "running"
)

// Execution is one run of an indexer, or a reset.
type Execution struct {
	// Status is the state of the execution.
	Status ExecutionStatus `json:"status"`
	// ErrorMessage is the reason of a failed execution.
	ErrorMessage string `json:"errorMessage,omitzero"`
	// StartTime is the start of the execution.
	StartTime *time.Time `json:"startTime,omitzero"`
	// EndTime is the end of the execution; nil while it runs.
	EndTime *time.Time `json:"endTime,omitzero"`
	// ItemsProcessed is the number of processed items, including failed ones.
	ItemsProcessed int64 `json:"itemsProcessed"`
	// ItemsFailed is the number of failed items.
	ItemsFailed int64 `json:"itemsFailed"`
	// InitialTrackingState is the high-water mark at the start.
	InitialTrackingState string `json:"initialTrackingState,omitzero"`
	// FinalTrackingState is the high-water mark at the end.
	FinalTrackingState string `json:"finalTrackingState,omitzero"`
	// Errors are the failures of items. The service limits their number.
	Errors []ItemError `json:"errors"`
	// Warnings are about items that were indexed.
	Warnings []ItemWarning `json:"warnings"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ExecutionStatus is the state of an execution.
type ExecutionStatus string

// The known values of ExecutionStatus.
const (
	// The execution failed, or too many of its items did; the schedule continues.
	ExecutionStatusTransientFailure ExecutionStatus = "transientFailure"
	ExecutionStatusSuccess          ExecutionStatus = "success"
	ExecutionStatusInProgress       ExecutionStatus = "inProgress"
	// The entry is a reset, during which nothing is read.
	ExecutionStatusReset ExecutionStatus = "reset"
)

// ItemError is the failure of an item.
type ItemError struct {
	// Key is the key of the document; "" if the item has none.
	Key string `json:"key,omitzero"`
	// ErrorMessage is the reason of the failure.
	ErrorMessage string `json:"errorMessage"`
	// StatusCode is 4xx if the item caused the failure, otherwise 5xx.
	StatusCode int `json:"statusCode"`
	// Name is the step that failed, such as "Enrichment.LanguageDetectionSkill.#4".
	Name string `json:"name,omitzero"`
	// Details are further information about the cause.
	Details string `json:"details,omitzero"`
	// DocumentationLink is the URL of an explanation.
	DocumentationLink string `json:"documentationLink,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ItemWarning is a warning about an item that was indexed.
type ItemWarning struct {
	// Key is the key of the document.
	Key string `json:"key,omitzero"`
	// Message is the warning.
	Message string `json:"message"`
	// Name is the step that caused the warning.
	Name string `json:"name,omitzero"`
	// Details are further information about the cause.
	Details string `json:"details,omitzero"`
	// DocumentationLink is the URL of an explanation.
	DocumentationLink string `json:"documentationLink,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Limits are the limits of an execution.
type Limits struct {
	// MaxRunTime is the longest run time, an ISO 8601 duration.
	MaxRunTime string `json:"maxRunTime,omitzero"`
	// MaxDocumentExtractionSize is the largest extracted document, in bytes; 0 before the first run.
	MaxDocumentExtractionSize int64 `json:"maxDocumentExtractionSize"`
	// MaxDocumentContentCharactersToExtract is the largest number of extracted characters per document.
	MaxDocumentContentCharactersToExtract int64 `json:"maxDocumentContentCharactersToExtract"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
