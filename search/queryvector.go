package search

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// VectorQuery finds the documents whose vectors are nearest to one. Exactly one
// of Vector, Text, ImageURL and ImageBinary says which: it is given, or made by
// the vectorizer of the fields from what is given.
type VectorQuery struct {
	// Vector is the vector. models.VectorOf makes it of a slice.
	Vector models.Vector
	// Text is the text to make it from. It takes api-version 2024-07-01.
	Text string
	// ImageURL is the address of the image to make it from. It takes api-version
	// 2026-04-01.
	ImageURL string
	// ImageBinary is the image to make it from. It takes api-version 2026-04-01.
	ImageBinary []byte

	// Fields names the vector fields to search. At least one.
	Fields []string
	// K is how many of the nearest to find. Defaults to 50.
	K int
	// Exhaustive compares with all vectors instead of following the graph of the
	// index. Defaults to false.
	Exhaustive bool
	// Oversampling is how many times K compressed vectors are compared again
	// uncompressed, from 1 on. It takes api-version 2024-07-01. Defaults to what
	// the compression of the index says.
	Oversampling float64
	// Weight is how much the query counts next to the others and to the text. It
	// takes api-version 2024-07-01. Defaults to 1.
	Weight float64
	// Threshold leaves out what is not near enough. It takes a preview of the
	// api-version. Defaults to none.
	Threshold *VectorThreshold
	// FilterOverride is used for this query instead of SearchOptions.Filter. It
	// takes a preview of the api-version. Defaults to SearchOptions.Filter.
	FilterOverride Filter
	// AdditionalProperties is that of SearchOptions, for members of the vector query such as
	// "queryRewrites".
	AdditionalProperties map[string]json.RawMessage
}

// VectorThreshold says what is near enough.
type VectorThreshold struct {
	// Kind is what Value is about: VectorThresholdSimilarity or
	// VectorThresholdScore.
	Kind string
	// Value is the least that is near enough. For distances the service turns the
	// comparison round.
	Value float64
}

// The kinds of VectorThreshold.
const (
	// VectorThresholdSimilarity is about the metric of the field.
	VectorThresholdSimilarity = "vectorSimilarity"
	// VectorThresholdScore is about the score that it becomes.
	VectorThresholdScore = "searchScore"
)

// maxVectorFields is how many fields the vector queries of one request may name.
const maxVectorFields = 10

// vectors writes the vector queries and what is about them.
func (o *SearchOptions) vectors(b *queryBody) {
	if len(o.VectorQueries) == 0 {
		if o.VectorFilterMode != "" {
			b.problem("VectorFilterMode", errNoVectors)
		}
		if o.HybridSearch != nil {
			b.problem("HybridSearch", errNoVectors)
		}
		return
	}
	b.needs("VectorQueries", apiversion.VectorSearch)
	fields := 0
	b.name("vectorQueries")
	b.out = append(b.out, '[')
	for i := range o.VectorQueries {
		q := &o.VectorQueries[i]
		fields += len(q.Fields)
		b.prefix = fmt.Sprintf("VectorQueries[%d].", i)
		q.write(b)
		b.prefix = ""
	}
	b.out = append(b.out, ']')
	if fields > maxVectorFields {
		b.problemf("VectorQueries", "they name %d fields, the service takes %d", fields, maxVectorFields)
	}
	if o.VectorFilterMode == models.VectorFilterModeStrictPostFilter {
		b.needs("VectorFilterMode", apiversion.StrictPostFilter)
	}
	oneOf(b, "vectorFilterMode", "VectorFilterMode", o.VectorFilterMode,
		models.VectorFilterModePreFilter, models.VectorFilterModePostFilter, models.VectorFilterModeStrictPostFilter)
	if o.HybridSearch != nil {
		o.HybridSearch.write(b)
	}
}

var errNoVectors = errors.New("it has no effect without VectorQueries: leave it out")

// write writes one vector query.
func (q *VectorQuery) write(b *queryBody) {
	if n := len(b.out); b.out[n-1] == '}' {
		b.out = append(b.out, ',')
	}
	start := len(b.out)
	b.out = append(b.out, '{')
	q.target(b)
	if len(q.Fields) == 0 {
		b.problem("Fields", errors.New("it names no vector field to search"))
	}
	b.paths("fields", "Fields", q.Fields, checkPath)
	if q.K < 0 || q.K > math.MaxInt32 {
		b.problemf("K", "%d is not a number from 1 on", q.K)
	}
	b.integer("k", q.K)
	b.flag("exhaustive", q.Exhaustive)
	if b.positive("Oversampling", q.Oversampling, 1) {
		b.needs("Oversampling", apiversion.Oversampling)
		b.number("oversampling", q.Oversampling)
	}
	if b.positive("Weight", q.Weight, 0) {
		b.needs("Weight", apiversion.VectorWeight)
		b.number("weight", q.Weight)
	}
	if q.Threshold != nil {
		q.Threshold.write(b)
	}
	if !q.FilterOverride.IsZero() {
		b.needs("FilterOverride", apiversion.FilterOverride)
	}
	b.filter("filterOverride", "FilterOverride", q.FilterOverride)
	b.additional(start, q.AdditionalProperties)
	b.out = append(b.out, '}')
}

// target writes what the query looks for, and thereby its kind.
func (q *VectorQuery) target(b *queryBody) {
	var set []string
	for _, t := range []struct {
		name    string
		present bool
	}{{"Vector", q.Vector.Len() > 0}, {"Text", q.Text != ""}, {"ImageURL", q.ImageURL != ""}, {"ImageBinary", len(q.ImageBinary) > 0}} {
		if t.present {
			set = append(set, t.name)
		}
	}
	if len(set) != 1 {
		err := errors.New("none of Vector, Text, ImageURL and ImageBinary is set")
		if len(set) > 1 {
			err = fmt.Errorf("%s are set: a query looks for one of them", strings.Join(set, " and "))
		}
		b.problem("Vector", err)
		return
	}
	switch set[0] {
	case "Vector":
		b.string("kind", "vector")
		b.name("vector")
		const usual = len("-0.012345678,") // what an element of an embedding takes
		out, err := q.Vector.AppendJSON(slices.Grow(b.out, usual*q.Vector.Len()))
		if err != nil {
			b.problem("Vector", err)
			return
		}
		b.out = out
	case "Text":
		b.needs("Text", apiversion.Vectorizers)
		b.string("kind", "text")
		b.text("text", "Text", q.Text)
	case "ImageURL":
		b.needs("ImageURL", apiversion.VectorImages)
		if u, err := url.Parse(q.ImageURL); err != nil || u.Host == "" {
			b.problemf("ImageURL", "%s is not an address", clip(q.ImageURL))
		}
		b.string("kind", "imageUrl")
		b.text("url", "ImageURL", q.ImageURL)
	case "ImageBinary":
		b.needs("ImageBinary", apiversion.VectorImages)
		b.string("kind", "imageBinary")
		b.string("base64Image", base64.StdEncoding.EncodeToString(q.ImageBinary))
	}
}

func (t *VectorThreshold) write(b *queryBody) {
	b.needs("Threshold", apiversion.VectorThreshold)
	if t.Kind != VectorThresholdSimilarity && t.Kind != VectorThresholdScore {
		b.problemf("Threshold.Kind", "%s is none of %q, %q", clip(t.Kind), VectorThresholdSimilarity, VectorThresholdScore)
	}
	if math.IsNaN(t.Value) || math.IsInf(t.Value, 0) {
		b.problemf("Threshold.Value", "%v is not a finite number", t.Value)
		return
	}
	b.name("threshold")
	b.out = append(b.out, '{')
	b.string("kind", t.Kind)
	b.number("value", t.Value)
	b.out = append(b.out, '}')
}

func (h *HybridSearch) write(b *queryBody) {
	const mostText = 10_000
	b.needs("HybridSearch", apiversion.HybridSearch)
	if h.MaxTextRecallSize < 0 || h.MaxTextRecallSize > mostText {
		b.problemf("HybridSearch.MaxTextRecallSize", "%d is not from 1 to %d", h.MaxTextRecallSize, mostText)
	}
	b.name("hybridSearch")
	b.out = append(b.out, '{')
	b.integer("maxTextRecallSize", h.MaxTextRecallSize)
	oneOf(b, "countAndFacetMode", "HybridSearch.CountAndFacetMode", h.CountAndFacetMode, "countAllResults", "countRetrievableResults")
	b.out = append(b.out, '}')
}
