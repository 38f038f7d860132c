package models

import "encoding/json"

// IndexStatistics say how big an index is. The service counts from time to time:
// they lag behind.
type IndexStatistics struct {
	// DocumentCount is the number of documents.
	DocumentCount int64 `json:"documentCount"`
	// StorageSize is the storage they take, in bytes.
	StorageSize int64 `json:"storageSize"`
	// VectorIndexSize is the memory that vectors take, in bytes. It takes
	// api-version 2024-07-01 and is 0 before.
	VectorIndexSize int64 `json:"vectorIndexSize"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// NamedIndexStatistics are the statistics of one index of many.
type NamedIndexStatistics struct {
	// Name is the name of the index.
	Name string `json:"name"`
	// The sizes are those of IndexStatistics.
	DocumentCount   int64 `json:"documentCount"`
	StorageSize     int64 `json:"storageSize"`
	VectorIndexSize int64 `json:"vectorIndexSize"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ServiceStatistics say how much of what a service allows is used.
type ServiceStatistics struct {
	// Counters are what is used.
	Counters ServiceCounters `json:"counters"`
	// Limits are those of each index.
	Limits ServiceLimits `json:"limits"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ServiceCounters count the objects of a service. A counter that the service
// did not send is nil.
type ServiceCounters struct {
	Aliases     *ResourceCounter `json:"aliasesCount,omitzero"`
	Documents   *ResourceCounter `json:"documentCount,omitzero"`
	Indexes     *ResourceCounter `json:"indexesCount,omitzero"`
	Indexers    *ResourceCounter `json:"indexersCount,omitzero"`
	DataSources *ResourceCounter `json:"dataSourcesCount,omitzero"`
	// StorageSize is in bytes.
	StorageSize *ResourceCounter `json:"storageSize,omitzero"`
	SynonymMaps *ResourceCounter `json:"synonymMaps,omitzero"`
	Skillsets   *ResourceCounter `json:"skillsetCount,omitzero"`
	// VectorIndexSize is in bytes of memory.
	VectorIndexSize *ResourceCounter `json:"vectorIndexSize,omitzero"`
	// AdditionalProperties are the counters this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ResourceCounter is one counter.
type ResourceCounter struct {
	// Usage is how much there is.
	Usage int64 `json:"usage"`
	// Quota is how much there may be, nil if there is no fixed limit.
	Quota *int64 `json:"quota,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ServiceLimits are those of each index of a service. nil means none, or that
// the service did not say.
type ServiceLimits struct {
	MaxFieldsPerIndex                         *int64 `json:"maxFieldsPerIndex,omitzero"`
	MaxFieldNestingDepthPerIndex              *int64 `json:"maxFieldNestingDepthPerIndex,omitzero"`
	MaxComplexCollectionFieldsPerIndex        *int64 `json:"maxComplexCollectionFieldsPerIndex,omitzero"`
	MaxComplexObjectsInCollectionsPerDocument *int64 `json:"maxComplexObjectsInCollectionsPerDocument,omitzero"`
	// MaxStoragePerIndex is in bytes.
	MaxStoragePerIndex *int64 `json:"maxStoragePerIndex,omitzero"`
	// MaxCumulativeIndexerRuntimeSeconds is that of all indexers in a day.
	MaxCumulativeIndexerRuntimeSeconds *int64 `json:"maxCumulativeIndexerRuntimeSeconds,omitzero"`
	// AdditionalProperties are the limits this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
