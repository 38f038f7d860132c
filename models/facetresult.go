package models

import (
	"encoding/json"
	"fmt"
	"time"
)

// FacetResult is one bucket of a facet: the documents that have a value (Value
// is set), or a value within a range (From, To or both are set), or figures
// about all documents (Sum and so on).
//
// ValueFacets and RangeFacets make buckets of a known Go type out of a list.
type FacetResult struct {
	// Count is how many documents the bucket holds, nil where there is no such
	// figure. The service may approximate.
	Count *int64 `json:"count,omitzero"`
	// Value is the value, or with an interval the beginning of it.
	Value FacetValue `json:"value,omitzero"`
	// From is the beginning of the range, which is part of it. In the first range
	// it is zero.
	From FacetValue `json:"from,omitzero"`
	// To is the end of the range, which is not part of it. In the last range it is
	// zero.
	To FacetValue `json:"to,omitzero"`

	// Sum, Average, Min, Max and Cardinality are figures about the values, each if
	// it was asked for. They take a preview of the api-version.
	Sum         *float64 `json:"sum,omitzero"`
	Average     *float64 `json:"avg,omitzero"`
	Min         *float64 `json:"min,omitzero"`
	Max         *float64 `json:"max,omitzero"`
	Cardinality *int64   `json:"cardinality,omitzero"`
	// Facets are the facets within the bucket. They take a preview of the
	// api-version.
	Facets map[string][]FacetResult `json:"@search.facets,omitzero"`

	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FacetType is a Go type that the values of a facet can have.
type FacetType interface {
	string | bool | int64 | float64 | time.Time
}

// ValueFacet is a FacetResult that stands for a value.
type ValueFacet[V FacetType] struct {
	// Value is the value, or with an interval the beginning of it.
	Value V
	// Count is how many documents have it.
	Count int64
}

// RangeFacet is a FacetResult that stands for a range.
type RangeFacet[V FacetType] struct {
	// From is the beginning of the range, which is part of it. In the first range
	// it is nil.
	From *V
	// To is the end of the range, which is not part of it. In the last range it is
	// nil.
	To *V
	// Count is how many documents have a value in the range.
	Count int64
}

// ValueFacets returns buckets that stand for values of type V, an int64 for
// Edm.Int32 and Edm.Int64, a time.Time for Edm.DateTimeOffset. The error says
// which bucket does not.
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

// RangeFacets returns buckets that stand for ranges of type V, an int64 for
// Edm.Int32 and Edm.Int64, a time.Time for Edm.DateTimeOffset. The error says
// which bucket does not.
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

// facetValueAs returns v as a V.
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
