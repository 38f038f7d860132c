package knowledge

import (
	"encoding/json"
	"time"

	"github.com/go-azsearch/azsearch/models/indexers"
)

// SourceStatus says how far a source has copied its content.
type SourceStatus struct {
	// Kind is the kind of the source.
	Kind SourceKind `json:"kind,omitzero"`
	// SynchronizationStatus is the state of the source.
	SynchronizationStatus SynchronizationStatus `json:"synchronizationStatus"`
	// SynchronizationInterval is an ISO 8601 duration.
	SynchronizationInterval string `json:"synchronizationInterval,omitzero"`
	// Current is the synchronization under way, or nil.
	Current *Synchronization `json:"currentSynchronizationState,omitzero"`
	// Last is the one before.
	Last *Synchronization `json:"lastSynchronizationState,omitzero"`
	// Statistics are of all synchronizations.
	Statistics *SourceStatistics `json:"statistics,omitzero"`
	// FileCapacity is the room left in a File source.
	FileCapacity *FileCapacity `json:"fileCapacity,omitzero"`
	// AdditionalProperties are the members this library does not know.
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

// Synchronization is one copying of a source.
type Synchronization struct {
	// StartTime is when it began.
	StartTime *time.Time `json:"startTime,omitzero"`
	// EndTime is when it ended; nil while it lasts.
	EndTime *time.Time `json:"endTime,omitzero"`
	// ItemsUpdatesProcessed is the number of items that were tried.
	ItemsUpdatesProcessed int64 `json:"itemsUpdatesProcessed"`
	// ItemsUpdatesFailed is the number of those that failed.
	ItemsUpdatesFailed int64 `json:"itemsUpdatesFailed"`
	// ItemsSkipped is the number of those that were passed over.
	ItemsSkipped int64 `json:"itemsSkipped"`
	// Errors are failures of items.
	Errors []SynchronizationError `json:"errors,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SynchronizationError is the failure of an item.
type SynchronizationError struct {
	// DocID is the item.
	DocID string `json:"docId,omitzero"`
	// StatusCode is 4xx if the item is at fault, 5xx otherwise.
	StatusCode int `json:"statusCode,omitzero"`
	// Name is the step that failed.
	Name string `json:"name,omitzero"`
	// ErrorMessage is the reason.
	ErrorMessage string `json:"errorMessage"`
	// Details help to find the cause.
	Details string `json:"details,omitzero"`
	// DocumentationLink leads to an explanation.
	DocumentationLink string `json:"documentationLink,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SourceStatistics are of all synchronizations of a source.
type SourceStatistics struct {
	// TotalSynchronization is their number.
	TotalSynchronization int64 `json:"totalSynchronization"`
	// AverageSynchronizationDuration is the average duration.
	AverageSynchronizationDuration string `json:"averageSynchronizationDuration"`
	// AverageItemsProcessedPerSynchronization is the average number of items.
	AverageItemsProcessedPerSynchronization int64 `json:"averageItemsProcessedPerSynchronization"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FileCapacity is the room left in a File source.
type FileCapacity struct {
	// MaxFileCount is the number of files that it holds at most.
	MaxFileCount int `json:"maxFileCount"`
	// RemainingFileCount is the number of files to come.
	RemainingFileCount int `json:"remainingFileCount"`
	// MaxFileSizeBytes is the largest file.
	MaxFileSizeBytes int64 `json:"maxFileSizeBytes"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SourceFile is a file of a File source.
type SourceFile struct {
	// FileID identifies the file.
	FileID string `json:"fileId,omitzero"`
	// FileName is its name.
	FileName string `json:"fileName,omitzero"`
	// FileSizeBytes is its size.
	FileSizeBytes int64 `json:"fileSizeBytes,omitzero"`
	// CreatedAt is when it was uploaded.
	CreatedAt *time.Time `json:"createdAt,omitzero"`
	// LastUpdatedAt is when it was replaced.
	LastUpdatedAt *time.Time `json:"lastUpdatedAt,omitzero"`
	// ErrorMessage is the reason why it could not be read.
	ErrorMessage string `json:"errorMessage,omitzero"`
	// Prefix is the folder in its name.
	Prefix string `json:"prefix,omitzero"`
	// Metadata are those of the upload.
	Metadata map[string]string `json:"metadata,omitzero"`
	// ParsingMode is the form it was read as.
	ParsingMode indexers.ParsingMode `json:"parsingMode,omitzero"`
	// ExtractionMode says how thoroughly it was read.
	ExtractionMode ContentExtractionMode `json:"extractionMode,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FileMetadata go with an uploaded file.
type FileMetadata struct {
	// FileName is the name of the file. A name with "/" has its folder as prefix.
	FileName string `json:"fileName,omitzero"`
	// Metadata are returned with the file.
	Metadata map[string]string `json:"metadata,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
