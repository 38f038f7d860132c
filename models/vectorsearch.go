package models

import "encoding/json"

// VectorSearch configures how vector fields are indexed and searched. A field names a profile, and a profile names
// the other parts.
type VectorSearch struct {
	// Profiles are the profiles that fields name.
	Profiles []VectorSearchProfile `json:"profiles,omitzero"`
	// Algorithms are the algorithms that find the nearest neighbours.
	Algorithms []VectorSearchAlgorithm `json:"algorithms,omitzero"`
	// Vectorizers convert the text of a query to a vector.
	Vectorizers []Vectorizer `json:"vectorizers,omitzero"`
	// Compressions reduce the size of the index.
	Compressions []VectorCompression `json:"compressions,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// VectorSearchProfile is a combination of parts that a vector field names.
type VectorSearchProfile struct {
	// Name is the name by which fields refer to the profile.
	Name string `json:"name"`
	// Algorithm is the name of one of VectorSearch.Algorithms.
	Algorithm string `json:"algorithm"`
	// Vectorizer is the name of one of VectorSearch.Vectorizers.
	Vectorizer string `json:"vectorizer,omitzero"`
	// Compression is the name of one of VectorSearch.Compressions.
	Compression string `json:"compression,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The kinds of VectorSearchAlgorithm.
const (
	VectorSearchAlgorithmHNSW          = "hnsw"
	VectorSearchAlgorithmExhaustiveKNN = "exhaustiveKnn"
)

// VectorSearchAlgorithm finds the nearest neighbours of a vector.
type VectorSearchAlgorithm struct {
	// Name is the name by which profiles refer to the algorithm.
	Name string `json:"name"`
	// Kind is VectorSearchAlgorithmHNSW or VectorSearchAlgorithmExhaustiveKNN.
	Kind string `json:"kind"`
	// HNSW are the parameters of VectorSearchAlgorithmHNSW.
	HNSW *HNSWParameters `json:"hnswParameters,omitzero"`
	// ExhaustiveKNN are the parameters of VectorSearchAlgorithmExhaustiveKNN.
	ExhaustiveKNN *ExhaustiveKNNParameters `json:"exhaustiveKnnParameters,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// VectorMetric is a measure of the distance of two vectors.
type VectorMetric string

// The metrics. VectorMetricHamming is for packed bits, which support no other metric.
const (
	VectorMetricCosine     VectorMetric = "cosine"
	VectorMetricEuclidean  VectorMetric = "euclidean"
	VectorMetricDotProduct VectorMetric = "dotProduct"
	VectorMetricHamming    VectorMetric = "hamming"
)

// HNSWParameters are the parameters of the HNSW graph (hierarchical navigable small world), an approximate search.
type HNSWParameters struct {
	// M is the number of links of a new element, 4 to 10. More links improve the recall and use more memory. The service
	// defaults to 4.
	M *int `json:"m,omitzero"`
	// EfConstruction is the number of candidate neighbours during indexing, 100 to 1000. The service defaults to 400.
	EfConstruction *int `json:"efConstruction,omitzero"`
	// EfSearch is the number of candidate neighbours during a search, 100 to 1000. The service defaults to 500.
	EfSearch *int `json:"efSearch,omitzero"`
	// Metric is the measure of distance. The service defaults to VectorMetricCosine.
	Metric VectorMetric `json:"metric,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ExhaustiveKNNParameters are the parameters of the search that compares every vector.
type ExhaustiveKNNParameters struct {
	// Metric is the measure of distance. The service defaults to VectorMetricCosine.
	Metric VectorMetric `json:"metric,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The kinds of VectorCompression.
const (
	VectorCompressionScalarQuantization = "scalarQuantization"
	VectorCompressionBinaryQuantization = "binaryQuantization"
)

// VectorCompression reduces the size of the vectors in an index.
type VectorCompression struct {
	// Name is the name by which profiles refer to the compression.
	Name string `json:"name"`
	// Kind is VectorCompressionScalarQuantization or VectorCompressionBinaryQuantization.
	Kind string `json:"kind"`
	// ScalarQuantization are the parameters of VectorCompressionScalarQuantization.
	ScalarQuantization *ScalarQuantizationParameters `json:"scalarQuantizationParameters,omitzero"`
	// Rescoring compensates for the loss of precision. It needs api-version 2025-09-01.
	Rescoring *RescoringOptions `json:"rescoringOptions,omitzero"`
	// TruncationDimension is the length to which vectors are cut first. That is suitable only for embeddings trained for
	// it (Matryoshka). It needs api-version 2025-09-01.
	TruncationDimension *int `json:"truncationDimension,omitzero"`
	// RerankWithOriginalVectors and DefaultOversampling are the predecessors of Rescoring in api-version 2024-07-01.
	RerankWithOriginalVectors *bool    `json:"rerankWithOriginalVectors,omitzero"`
	DefaultOversampling       *float64 `json:"defaultOversampling,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// QuantizedInt8 is the only value of ScalarQuantizationParameters.QuantizedDataType.
const QuantizedInt8 = "int8"

// ScalarQuantizationParameters are the parameters of scalar quantization.
type ScalarQuantizationParameters struct {
	// QuantizedDataType is the type of the compressed dimensions: QuantizedInt8.
	QuantizedDataType string `json:"quantizedDataType,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The treatment of the original vectors after compression. Rescoring of scalar quantization needs the originals.
const (
	RescoreStorageMethodPreserveOriginals = "preserveOriginals"
	RescoreStorageMethodDiscardOriginals  = "discardOriginals"
)

// RescoringOptions configure how results from compressed vectors are ranked again.
type RescoringOptions struct {
	// EnableRescoring ranks the results by the original vectors. The service defaults to true.
	EnableRescoring *bool `json:"enableRescoring,omitzero"`
	// DefaultOversampling is the factor by which more candidates are ranked again, at least 1.
	DefaultOversampling *float64 `json:"defaultOversampling,omitzero"`
	// RescoreStorageMethod is RescoreStorageMethodPreserveOriginals or RescoreStorageMethodDiscardOriginals. It cannot be
	// changed. The service defaults to RescoreStorageMethodPreserveOriginals.
	RescoreStorageMethod string `json:"rescoreStorageMethod,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
