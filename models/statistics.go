package models

import "encoding/json"

// IndexStatistics are the sizes of an index. They lag, because the service counts periodically.
type IndexStatistics struct {
	// DocumentCount is the number of documents.
	DocumentCount int64 `json:"documentCount"`
	// StorageSize is the storage of the documents, in bytes.
	StorageSize int64 `json:"storageSize"`
	// VectorIndexSize is the memory of the vectors, in bytes. It is 0 before api-version 2023-11-01.
	VectorIndexSize int64 `json:"vectorIndexSize"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// NamedIndexStatistics are the statistics of an index with its name.
type NamedIndexStatistics struct {
	// Name is the name of the index.
	Name string `json:"name"`
	// The sizes have the meaning of IndexStatistics.
	DocumentCount   int64 `json:"documentCount"`
	StorageSize     int64 `json:"storageSize"`
	VectorIndexSize int64 `json:"vectorIndexSize"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ServiceStatistics are the usage and the limits of a service.
type ServiceStatistics struct {
	// Counters are the usage.
	Counters ServiceCounters `json:"counters"`
	// Limits are the limits of each index.
	Limits ServiceLimits `json:"limits"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ServiceCounters count the objects of a service. A counter that the service does not send is nil.
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
	// AdditionalProperties are the counters that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ResourceCounter is one counter.
type ResourceCounter struct {
	// Usage is the used amount.
	Usage int64 `json:"usage"`
	// Quota is the allowed amount, nil without a fixed limit.
	Quota *int64 `json:"quota,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ServiceLimits are the limits of each index. nil means that there is none, or the service did not send it.
type ServiceLimits struct {
	MaxFieldsPerIndex                         *int64 `json:"maxFieldsPerIndex,omitzero"`
	MaxFieldNestingDepthPerIndex              *int64 `json:"maxFieldNestingDepthPerIndex,omitzero"`
	MaxComplexCollectionFieldsPerIndex        *int64 `json:"maxComplexCollectionFieldsPerIndex,omitzero"`
	MaxComplexObjectsInCollectionsPerDocument *int64 `json:"maxComplexObjectsInCollectionsPerDocument,omitzero"`
	// MaxStoragePerIndex is in bytes.
	MaxStoragePerIndex *int64 `json:"maxStoragePerIndex,omitzero"`
	// MaxCumulativeIndexerRuntimeSeconds is the limit of all indexers per day.
	MaxCumulativeIndexerRuntimeSeconds *int64 `json:"maxCumulativeIndexerRuntimeSeconds,omitzero"`
	// AdditionalProperties are the limits that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
