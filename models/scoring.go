package models

import "encoding/json"

// ScoringFunctionAggregation says how the functions of a profile add up.
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

// ScoringProfile changes how results are ranked.
type ScoringProfile struct {
	// Name is what queries refer to it by.
	Name string `json:"name"`
	// Text weights matches by field.
	Text *TextWeights `json:"text,omitzero"`
	// Functions boost results by the values of fields. At most 8.
	Functions []ScoringFunction `json:"functions,omitzero"`
	// FunctionAggregation says how the functions add up. The service defaults to
	// ScoringFunctionAggregationSum.
	FunctionAggregation ScoringFunctionAggregation `json:"functionAggregation,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TextWeights weights matches by field.
type TextWeights struct {
	// Weights are positive numbers by the path of the field. Others count 1.
	Weights map[string]float64 `json:"weights"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ScoringFunctionType says what a function looks at.
type ScoringFunctionType string

// The types of scoring functions.
const (
	ScoringFunctionTypeFreshness ScoringFunctionType = "freshness"
	ScoringFunctionTypeMagnitude ScoringFunctionType = "magnitude"
	ScoringFunctionTypeDistance  ScoringFunctionType = "distance"
	ScoringFunctionTypeTag       ScoringFunctionType = "tag"
)

// ScoringFunctionInterpolation says how a boost falls off over its range.
type ScoringFunctionInterpolation string

// The interpolations.
const (
	ScoringFunctionInterpolationLinear      ScoringFunctionInterpolation = "linear"
	ScoringFunctionInterpolationConstant    ScoringFunctionInterpolation = "constant"
	ScoringFunctionInterpolationQuadratic   ScoringFunctionInterpolation = "quadratic"
	ScoringFunctionInterpolationLogarithmic ScoringFunctionInterpolation = "logarithmic"
)

// ScoringFunction boosts results by the value of a filterable field. Exactly the
// parameters of its type are set.
type ScoringFunction struct {
	// Type says which of the parameters below are meant.
	Type ScoringFunctionType `json:"type"`
	// FieldName is the path of the field.
	FieldName string `json:"fieldName"`
	// Boost is what the score is multiplied by: positive and not 1.
	Boost float64 `json:"boost"`
	// Interpolation says how the boost falls off. The service defaults to
	// ScoringFunctionInterpolationLinear. Tags take only linear and constant.
	Interpolation ScoringFunctionInterpolation `json:"interpolation,omitzero"`
	// Freshness is for an Edm.DateTimeOffset.
	Freshness *FreshnessParameters `json:"freshness,omitzero"`
	// Magnitude is for a number.
	Magnitude *MagnitudeParameters `json:"magnitude,omitzero"`
	// Distance is for an Edm.GeographyPoint.
	Distance *DistanceParameters `json:"distance,omitzero"`
	// Tag is for a string or a list of strings.
	Tag *TagParameters `json:"tag,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FreshnessParameters boost what is near in time.
type FreshnessParameters struct {
	// BoostingDuration is when the boost ends, as an ISO 8601 duration of days and
	// less: "P365D", "PT12H". Negative ones look at the future.
	BoostingDuration string `json:"boostingDuration"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// MagnitudeParameters boost a range of numbers.
type MagnitudeParameters struct {
	// BoostingRangeStart and BoostingRangeEnd are where the boost is least and
	// greatest.
	BoostingRangeStart float64 `json:"boostingRangeStart"`
	BoostingRangeEnd   float64 `json:"boostingRangeEnd"`
	// ConstantBoostBeyondRange boosts what is beyond the end too. The service
	// defaults to false.
	ConstantBoostBeyondRange *bool `json:"constantBoostBeyondRange,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// DistanceParameters boost what is near in space.
type DistanceParameters struct {
	// ReferencePointParameter is the name of the query's parameter that holds the
	// point.
	ReferencePointParameter string `json:"referencePointParameter"`
	// BoostingDistance is where the boost ends, in kilometres.
	BoostingDistance float64 `json:"boostingDistance"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TagParameters boost what shares tags with the query.
type TagParameters struct {
	// TagsParameter is the name of the query's parameter that holds the tags.
	TagsParameter string `json:"tagsParameter"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
