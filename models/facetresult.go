package models

import (
	"encoding/json"
	"fmt"
	"time"
)

// FacetResult is one bucket of a facet. It counts the documents with a value (Value is set), or with a value in a
// range (From, To or both are set), or it holds aggregates over all documents (Sum and so on).
//
// ValueFacets and RangeFacets convert a list to buckets of a known Go type.
type FacetResult struct {
	// Count is the number of documents in the bucket, nil if the bucket does not count. The service may approximate.
	Count *int64 `json:"count,omitzero"`
	// Value is the value, or the start of the interval.
	Value FacetValue `json:"value,omitzero"`
	// From is the start of the range, inclusive. It is zero in the first range.
	From FacetValue `json:"from,omitzero"`
	// To is the end of the range, exclusive. It is zero in the last range.
	To FacetValue `json:"to,omitzero"`

	// Sum, Average, Min, Max and Cardinality are aggregates of the values, each if it was requested. They need a preview
	// api-version.
	Sum         *float64 `json:"sum,omitzero"`
	Average     *float64 `json:"avg,omitzero"`
	Min         *float64 `json:"min,omitzero"`
	Max         *float64 `json:"max,omitzero"`
	Cardinality *int64   `json:"cardinality,omitzero"`
	// Facets are the facets within the bucket. They need a preview api-version.
	Facets map[string][]FacetResult `json:"@search.facets,omitzero"`

	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FacetType is the Go type of the values of a facet.
type FacetType interface {
	string | bool | int64 | float64 | time.Time
}

// ValueFacet is a bucket for a value.
type ValueFacet[V FacetType] struct {
	// Value is the value, or the start of the interval.
	Value V
	// Count is the number of documents with the value.
	Count int64
}

// RangeFacet is a bucket for a range.
type RangeFacet[V FacetType] struct {
	// From is the start of the range, inclusive. It is nil in the first range.
	From *V
	// To is the end of the range, exclusive. It is nil in the last range.
	To *V
	// Count is the number of documents with a value in the range.
	Count int64
}

// ValueFacets converts buckets to values of type V: an int64 for Edm.Int32 and Edm.Int64, a time.Time for
// Edm.DateTimeOffset. If a bucket is not such a value, the error has its position.
func ValueFacets[V FacetType](buckets []FacetResult) ([]ValueFacet[V], error) {
	out := make([]ValueFacet[V], len(buckets))
	for i, b := range buckets {
		if b.Value.IsZero() || b.Count == nil {
			return nil, fmt.Errorf("bucket %d of the facet does not count a value", i)
		}
		value, err := facetValueAs[V](b.Value)
		if err != nil {
			return nil, fmt.Errorf("bucket %d of the facet: %w", i, err)
		}
		out[i] = ValueFacet[V]{Value: value, Count: *b.Count}
	}
	return out, nil
}

// RangeFacets converts buckets to ranges of type V: an int64 for Edm.Int32 and Edm.Int64, a time.Time for
// Edm.DateTimeOffset. If a bucket is not such a range, the error has its position.
func RangeFacets[V FacetType](buckets []FacetResult) ([]RangeFacet[V], error) {
	out := make([]RangeFacet[V], len(buckets))
	for i, b := range buckets {
		if !b.Value.IsZero() || b.From.IsZero() && b.To.IsZero() || b.Count == nil {
			return nil, fmt.Errorf("bucket %d of the facet does not count a range", i)
		}
		out[i].Count = *b.Count
		for _, end := range []struct {
			value FacetValue
			to    **V
		}{{b.From, &out[i].From}, {b.To, &out[i].To}} {
			if end.value.IsZero() {
				continue
			}
			value, err := facetValueAs[V](end.value)
			if err != nil {
				return nil, fmt.Errorf("bucket %d of the facet: %w", i, err)
			}
			*end.to = &value
		}
	}
	return out, nil
}

// facetValueAs converts v to a V.
func facetValueAs[V FacetType](v FacetValue) (V, error) {
	var (
		out V
		err error
	)
	switch p := any(&out).(type) {
	case *string:
		*p, err = v.Text()
	case *bool:
		*p, err = v.Bool()
	case *int64:
		*p, err = v.Int64()
	case *float64:
		*p, err = v.Float64()
	case *time.Time:
		*p, err = v.Time()
	}
	return out, err
}
