package models

import "encoding/json"

// ScoringFunctionAggregation is the way in which the functions of a profile are combined.
type ScoringFunctionAggregation string

// The aggregations.
const (
	ScoringFunctionAggregationSum           ScoringFunctionAggregation = "sum"
	ScoringFunctionAggregationAverage       ScoringFunctionAggregation = "average"
	ScoringFunctionAggregationMinimum       ScoringFunctionAggregation = "minimum"
	ScoringFunctionAggregationMaximum       ScoringFunctionAggregation = "maximum"
	ScoringFunctionAggregationFirstMatching ScoringFunctionAggregation = "firstMatching"
	ScoringFunctionAggregationProduct       ScoringFunctionAggregation = "product"
)

// ScoringProfile modifies the ranking of results.
type ScoringProfile struct {
	// Name is the name by which queries refer to the profile.
	Name string `json:"name"`
	// Text weights matches by field.
	Text *TextWeights `json:"text,omitzero"`
	// Functions boost results by the values of fields. At most 8.
	Functions []ScoringFunction `json:"functions,omitzero"`
	// FunctionAggregation is the way in which the functions are combined. The service defaults to
	// ScoringFunctionAggregationSum.
	FunctionAggregation ScoringFunctionAggregation `json:"functionAggregation,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TextWeights weights matches by field.
type TextWeights struct {
	// Weights are positive numbers by the path of the field. Other fields have weight 1.
	Weights map[string]float64 `json:"weights"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ScoringFunctionType is the kind of value that a function scores.
type ScoringFunctionType string

// The types of scoring functions.
const (
	ScoringFunctionTypeFreshness ScoringFunctionType = "freshness"
	ScoringFunctionTypeMagnitude ScoringFunctionType = "magnitude"
	ScoringFunctionTypeDistance  ScoringFunctionType = "distance"
	ScoringFunctionTypeTag       ScoringFunctionType = "tag"
)

// ScoringFunctionInterpolation is the decline of a boost over its range.
type ScoringFunctionInterpolation string

// The interpolations.
const (
	ScoringFunctionInterpolationLinear      ScoringFunctionInterpolation = "linear"
	ScoringFunctionInterpolationConstant    ScoringFunctionInterpolation = "constant"
	ScoringFunctionInterpolationQuadratic   ScoringFunctionInterpolation = "quadratic"
	ScoringFunctionInterpolationLogarithmic ScoringFunctionInterpolation = "logarithmic"
)

// ScoringFunction boosts results by the value of a filterable field. Set exactly the parameters of its type.
type ScoringFunction struct {
	// Type selects which of the parameters below apply.
	Type ScoringFunctionType `json:"type"`
	// FieldName is the path of the field.
	FieldName string `json:"fieldName"`
	// Boost is the factor for the score: positive and not 1.
	Boost float64 `json:"boost"`
	// Interpolation is the decline of the boost. The service defaults to ScoringFunctionInterpolationLinear. For tags
	// only linear and constant are allowed.
	Interpolation ScoringFunctionInterpolation `json:"interpolation,omitzero"`
	// Freshness is for an Edm.DateTimeOffset.
	Freshness *FreshnessParameters `json:"freshness,omitzero"`
	// Magnitude is for a number.
	Magnitude *MagnitudeParameters `json:"magnitude,omitzero"`
	// Distance is for an Edm.GeographyPoint.
	Distance *DistanceParameters `json:"distance,omitzero"`
	// Tag is for a string or a list of strings.
	Tag *TagParameters `json:"tag,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FreshnessParameters boost recent times.
type FreshnessParameters struct {
	// BoostingDuration is the time after which the boost ends, an ISO 8601 duration of days and smaller units: "P365D",
	// "PT12H". A negative duration boosts future times.
	BoostingDuration string `json:"boostingDuration"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// MagnitudeParameters boost a range of numbers.
type MagnitudeParameters struct {
	// BoostingRangeStart and BoostingRangeEnd are the values with the least and the greatest boost.
	BoostingRangeStart float64 `json:"boostingRangeStart"`
	BoostingRangeEnd   float64 `json:"boostingRangeEnd"`
	// ConstantBoostBeyondRange also boosts values beyond the end. The service defaults to false.
	ConstantBoostBeyondRange *bool `json:"constantBoostBeyondRange,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// DistanceParameters boost near points.
type DistanceParameters struct {
	// ReferencePointParameter is the name of the query's parameter with the point.
	ReferencePointParameter string `json:"referencePointParameter"`
	// BoostingDistance is the distance at which the boost ends, in kilometres.
	BoostingDistance float64 `json:"boostingDistance"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TagParameters boost documents that share tags with the query.
type TagParameters struct {
	// TagsParameter is the name of the query's parameter with the tags.
	TagsParameter string `json:"tagsParameter"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
