package knowledge

import (
	"encoding/json"
	"time"

	"github.com/go-azsearch/azsearch/models/indexers"
)

// SourceStatus is the progress of a source in copying its content.
type SourceStatus struct {
	// Kind is the kind of the source.
	Kind SourceKind `json:"kind,omitzero"`
	// SynchronizationStatus is the state of the source.
	SynchronizationStatus SynchronizationStatus `json:"synchronizationStatus"`
	// SynchronizationInterval is the interval between synchronizations, an ISO 8601 duration.
	SynchronizationInterval string `json:"synchronizationInterval,omitzero"`
	// Current is the running synchronization, or nil.
	Current *Synchronization `json:"currentSynchronizationState,omitzero"`
	// Last is the previous synchronization.
	Last *Synchronization `json:"lastSynchronizationState,omitzero"`
	// Statistics summarize all synchronizations.
	Statistics *SourceStatistics `json:"statistics,omitzero"`
	// FileCapacity is the free capacity of a File source.
	FileCapacity *FileCapacity `json:"fileCapacity,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SourceKind is a kind of source, activity or reference.
type SourceKind string

// The known values of SourceKind.
const (
	SourceKindSearchIndex SourceKind = "searchIndex"
	SourceKindAzureBlob   SourceKind = "azureBlob"
	SourceKindOneLake     SourceKind = "indexedOneLake"
	SourceKindWeb         SourceKind = "web"
	SourceKindSharePoint  SourceKind = "indexedSharePoint"
	SourceKindSQL         SourceKind = "indexedSql"
	SourceKindFile        SourceKind = "file"
)

// SynchronizationStatus is the state of a source.
type SynchronizationStatus string

// The known values of SynchronizationStatus.
const (
	SynchronizationStatusCreating SynchronizationStatus = "creating"
	SynchronizationStatusActive   SynchronizationStatus = "active"
	SynchronizationStatusDeleting SynchronizationStatus = "deleting"
)

// Synchronization is one run that copies the content of a source.
type Synchronization struct {
	// StartTime is the start of the run.
	StartTime *time.Time `json:"startTime,omitzero"`
	// EndTime is the end of the run; nil while it lasts.
	EndTime *time.Time `json:"endTime,omitzero"`
	// ItemsUpdatesProcessed is the number of processed items.
	ItemsUpdatesProcessed int64 `json:"itemsUpdatesProcessed"`
	// ItemsUpdatesFailed is the number of failed items.
	ItemsUpdatesFailed int64 `json:"itemsUpdatesFailed"`
	// ItemsSkipped is the number of skipped items.
	ItemsSkipped int64 `json:"itemsSkipped"`
	// Errors are the failures of items.
	Errors []SynchronizationError `json:"errors,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SynchronizationError is the failure of an item.
type SynchronizationError struct {
	// DocID is the id of the item.
	DocID string `json:"docId,omitzero"`
	// StatusCode is 4xx if the item caused the failure, otherwise 5xx.
	StatusCode int `json:"statusCode,omitzero"`
	// Name is the step that failed.
	Name string `json:"name,omitzero"`
	// ErrorMessage is the reason of the failure.
	ErrorMessage string `json:"errorMessage"`
	// Details are further information about the cause.
	Details string `json:"details,omitzero"`
	// DocumentationLink is the URL of an explanation.
	DocumentationLink string `json:"documentationLink,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SourceStatistics summarize all synchronizations of a source.
type SourceStatistics struct {
	// TotalSynchronization is the number of synchronizations.
	TotalSynchronization int64 `json:"totalSynchronization"`
	// AverageSynchronizationDuration is the average duration.
	AverageSynchronizationDuration string `json:"averageSynchronizationDuration"`
	// AverageItemsProcessedPerSynchronization is the average number of processed items.
	AverageItemsProcessedPerSynchronization int64 `json:"averageItemsProcessedPerSynchronization"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FileCapacity is the free capacity of a File source.
type FileCapacity struct {
	// MaxFileCount is the largest number of files.
	MaxFileCount int `json:"maxFileCount"`
	// RemainingFileCount is the number of files that can still be added.
	RemainingFileCount int `json:"remainingFileCount"`
	// MaxFileSizeBytes is the largest size of a file.
	MaxFileSizeBytes int64 `json:"maxFileSizeBytes"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SourceFile is a file of a File source.
type SourceFile struct {
	// FileID identifies the file.
	FileID string `json:"fileId,omitzero"`
	// FileName is the name of the file.
	FileName string `json:"fileName,omitzero"`
	// FileSizeBytes is the size of the file.
	FileSizeBytes int64 `json:"fileSizeBytes,omitzero"`
	// CreatedAt is the time of the upload.
	CreatedAt *time.Time `json:"createdAt,omitzero"`
	// LastUpdatedAt is the time of the last replacement.
	LastUpdatedAt *time.Time `json:"lastUpdatedAt,omitzero"`
	// ErrorMessage is the reason why the file could not be read.
	ErrorMessage string `json:"errorMessage,omitzero"`
	// Prefix is the folder part of the name.
	Prefix string `json:"prefix,omitzero"`
	// Metadata are the metadata of the upload.
	Metadata map[string]string `json:"metadata,omitzero"`
	// ParsingMode is the format in which the file was read.
	ParsingMode indexers.ParsingMode `json:"parsingMode,omitzero"`
	// ExtractionMode is the thoroughness with which the file was read.
	ExtractionMode ContentExtractionMode `json:"extractionMode,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FileMetadata describe a file to upload.
type FileMetadata struct {
	// FileName is the name of the file. In a name with "/" the folder is the prefix.
	FileName string `json:"fileName,omitzero"`
	// Metadata are returned with the file.
	Metadata map[string]string `json:"metadata,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
