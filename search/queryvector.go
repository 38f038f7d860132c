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

// VectorQuery finds the documents whose vectors are nearest to a given one. Set exactly one of Vector, Text, ImageURL
// and ImageBinary. For the last three, the vectorizer of the fields makes the vector.
type VectorQuery struct {
	// Vector is the vector. models.VectorOf makes one from a slice.
	Vector models.Vector
	// Text is the text to vectorize. It needs api-version 2024-07-01.
	Text string
	// ImageURL is the URL of the image to vectorize. It needs api-version 2026-04-01.
	ImageURL string
	// ImageBinary is the image to vectorize. It needs api-version 2026-04-01.
	ImageBinary []byte

	// Fields names the vector fields to search. At least one.
	Fields []string
	// K is the number of nearest documents to find. Defaults to 50.
	K int
	// Exhaustive compares all vectors instead of using the graph of the index. Defaults to false.
	Exhaustive bool
	// Oversampling is a factor, at least 1: K times Oversampling candidates are found by their compressed vectors and
	// compared again uncompressed. It needs api-version 2024-07-01. Defaults to the setting of the compression in the
	// index.
	Oversampling float64
	// Weight is the weight of this query relative to the other vector queries and the text. It needs api-version
	// 2024-07-01. Defaults to 1.
	Weight float64
	// Threshold excludes documents that are not near enough. It needs a preview api-version. Defaults to none.
	Threshold *VectorThreshold
	// FilterOverride replaces SearchOptions.Filter for this query. It needs a preview api-version. Defaults to
	// SearchOptions.Filter.
	FilterOverride Filter
	// AdditionalProperties has the meaning of SearchOptions.AdditionalProperties, for members of the vector query such as
	// "queryRewrites".
	AdditionalProperties map[string]json.RawMessage
}

// VectorThreshold is the limit beyond which a document is not near enough.
type VectorThreshold struct {
	// Kind is the meaning of Value: VectorThresholdSimilarity or VectorThresholdScore.
	Kind string
	// Value is the lowest value that is near enough. If the metric is a distance, it is the highest.
	Value float64
}

// The kinds of VectorThreshold.
const (
	// VectorThresholdSimilarity compares by the metric of the field.
	VectorThresholdSimilarity = "vectorSimilarity"
	// VectorThresholdScore compares by the search score computed from the metric.
	VectorThresholdScore = "searchScore"
)

// maxVectorFields is the largest number of fields that the vector queries of one request may name.
const maxVectorFields = 10

// vectors writes the vector queries and their options.
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

// write appends the query to the list of vector queries.
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

// target writes the vector, text or image of the query, and the kind that follows from it.
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
		const usual = len("-0.012345678,") // the usual length of an element of an embedding
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
