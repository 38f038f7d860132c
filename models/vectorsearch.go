package models

import "encoding/json"

// VectorSearch configures how vector fields are indexed and searched. Fields
// name a profile; a profile names the rest.
type VectorSearch struct {
	// Profiles are what fields refer to.
	Profiles []VectorSearchProfile `json:"profiles,omitzero"`
	// Algorithms find the nearest neighbours.
	Algorithms []VectorSearchAlgorithm `json:"algorithms,omitzero"`
	// Vectorizers turn the text of a query into a vector.
	Vectorizers []Vectorizer `json:"vectorizers,omitzero"`
	// Compressions make the index smaller.
	Compressions []VectorCompression `json:"compressions,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// VectorSearchProfile is what a vector field names.
type VectorSearchProfile struct {
	// Name is what fields refer to it by.
	Name string `json:"name"`
	// Algorithm is the name of one of VectorSearch.Algorithms.
	Algorithm string `json:"algorithm"`
	// Vectorizer is the name of one of VectorSearch.Vectorizers.
	Vectorizer string `json:"vectorizer,omitzero"`
	// Compression is the name of one of VectorSearch.Compressions.
	Compression string `json:"compression,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The kinds of VectorSearchAlgorithm.
const (
	VectorSearchAlgorithmHNSW          = "hnsw"
	VectorSearchAlgorithmExhaustiveKNN = "exhaustiveKnn"
)

// VectorSearchAlgorithm finds the nearest neighbours of a vector.
type VectorSearchAlgorithm struct {
	// Name is what profiles refer to it by.
	Name string `json:"name"`
	// Kind is VectorSearchAlgorithmHNSW or VectorSearchAlgorithmExhaustiveKNN.
	Kind string `json:"kind"`
	// HNSW are the parameters of VectorSearchAlgorithmHNSW.
	HNSW *HNSWParameters `json:"hnswParameters,omitzero"`
	// ExhaustiveKNN are the parameters of VectorSearchAlgorithmExhaustiveKNN.
	ExhaustiveKNN *ExhaustiveKNNParameters `json:"exhaustiveKnnParameters,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// VectorMetric says how the distance of two vectors is measured.
type VectorMetric string

// The metrics. Hamming is for packed bits, and packed bits take no other.
const (
	VectorMetricCosine     VectorMetric = "cosine"
	VectorMetricEuclidean  VectorMetric = "euclidean"
	VectorMetricDotProduct VectorMetric = "dotProduct"
	VectorMetricHamming    VectorMetric = "hamming"
)

// HNSWParameters are those of the graph of hierarchical navigable small worlds,
// which finds neighbours approximately.
type HNSWParameters struct {
	// M is the number of links of a new element, 4 to 10. More find better and
	// take more memory. The service defaults to 4.
	M *int `json:"m,omitzero"`
	// EfConstruction is how many neighbours are looked at while indexing, 100 to
	// 1000. The service defaults to 400.
	EfConstruction *int `json:"efConstruction,omitzero"`
	// EfSearch is how many neighbours are looked at while searching, 100 to 1000.
	// The service defaults to 500.
	EfSearch *int `json:"efSearch,omitzero"`
	// Metric is how distance is measured. The service defaults to VectorMetricCosine.
	Metric VectorMetric `json:"metric,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ExhaustiveKNNParameters are those of the search that compares every vector.
type ExhaustiveKNNParameters struct {
	// Metric is how distance is measured. The service defaults to VectorMetricCosine.
	Metric VectorMetric `json:"metric,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The kinds of VectorCompression.
const (
	VectorCompressionScalarQuantization = "scalarQuantization"
	VectorCompressionBinaryQuantization = "binaryQuantization"
)

// VectorCompression makes the vectors of an index smaller.
type VectorCompression struct {
	// Name is what profiles refer to it by.
	Name string `json:"name"`
	// Kind is VectorCompressionScalarQuantization or VectorCompressionBinaryQuantization.
	Kind string `json:"kind"`
	// ScalarQuantization are the parameters of VectorCompressionScalarQuantization.
	ScalarQuantization *ScalarQuantizationParameters `json:"scalarQuantizationParameters,omitzero"`
	// Rescoring compensates for what compression loses. It takes api-version
	// 2025-09-01.
	Rescoring *RescoringOptions `json:"rescoringOptions,omitzero"`
	// TruncationDimension cuts vectors down to this length first, which only suits
	// embeddings trained for it (Matryoshka). It takes api-version 2025-09-01.
	TruncationDimension *int `json:"truncationDimension,omitzero"`
	// RerankWithOriginalVectors and DefaultOversampling are what api-version
	// 2024-07-01 has in place of Rescoring.
	RerankWithOriginalVectors *bool    `json:"rerankWithOriginalVectors,omitzero"`
	DefaultOversampling       *float64 `json:"defaultOversampling,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// QuantizedInt8 is the only type of ScalarQuantizationParameters.
const QuantizedInt8 = "int8"

// ScalarQuantizationParameters are those of scalar quantization.
type ScalarQuantizationParameters struct {
	// QuantizedDataType is the type of the compressed dimensions: QuantizedInt8.
	QuantizedDataType string `json:"quantizedDataType,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// What becomes of the vectors that were compressed. Without them rescoring of
// scalar quantization is not possible.
const (
	RescoreStorageMethodPreserveOriginals = "preserveOriginals"
	RescoreStorageMethodDiscardOriginals  = "discardOriginals"
)

// RescoringOptions say how results found in compressed vectors are ranked again.
type RescoringOptions struct {
	// EnableRescoring ranks them by the vectors as they were. The service defaults
	// to true.
	EnableRescoring *bool `json:"enableRescoring,omitzero"`
	// DefaultOversampling is how many times more results to look at for that, at
	// least 1.
	DefaultOversampling *float64 `json:"defaultOversampling,omitzero"`
	// RescoreStorageMethod is RescoreStorageMethodPreserveOriginals or RescoreStorageMethodDiscardOriginals.
	// It cannot be changed. The service defaults to the first.
	RescoreStorageMethod string `json:"rescoreStorageMethod,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
