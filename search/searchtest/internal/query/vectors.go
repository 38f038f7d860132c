package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/vectors"
)

// The limits of vector queries.
const (
	defaultNeighbors = 50
	mostNeighbors    = 10_000
	mostVectorFields = 10
)

// vectorList is one ranked list of nearest neighbors, for one vector query and one of its
// fields.
type vectorList struct {
	field     *stored.Field
	metric    vectors.Metric
	query     []float32
	k         int
	weight    float64
	threshold *vectorThreshold // nil for none
}

// vectorThreshold excludes neighbors that are too far away.
type vectorThreshold struct {
	Kind  string
	Value *float64
}

// vectorQuery is a vector query in the form of a request.
type vectorQuery struct {
	Kind         string
	Vector       []float32
	Text         *string
	Fields       string
	K            *int
	Exhaustive   *bool // ignored: the emulator always searches all vectors
	Oversampling *float64
	Weight       *float64
	Threshold    *vectorThreshold
}

// fuses reports whether the results are fused from several lists.
func (p *searchPlan) fuses() bool {
	return len(p.vectors) > 1 || len(p.vectors) == 1 && p.query != nil
}

// planVectors reads the vector queries.
func (p *searchPlan) planVectors() *reply.Error {
	switch p.args.text("vectorFilterMode") {
	case "postFilter":
		p.postFilter = true
	case "strictPostFilter":
		return reply.NotEmulated("the vector filter mode 'strictPostFilter'")
	}
	if p.args.has("hybridSearch") {
		return reply.NotEmulated("the parameter 'hybridSearch'")
	}
	list, _ := p.args.values["vectorQueries"].([]json.RawMessage)
	for _, raw := range list {
		q, err := p.readVectorQuery(raw)
		if err != nil {
			return err
		}
		if err := p.planVectorQuery(q); err != nil {
			return err
		}
	}
	if len(p.vectors) > 0 && p.filter != nil && slices.ContainsFunc(p.filter.Matches(), func(m odata.Match) bool { return m.Scoring }) {
		return reply.NotEmulated("search.ismatchscoring in the filter of a vector query: say search.ismatch to filter without scoring")
	}
	if len(p.vectors) > mostVectorFields {
		return p.args.refuseCoded("InvalidVectorQuery", "vectorQueries", "A request can search at most "+strconv.Itoa(mostVectorFields)+" vector fields; this one searches "+strconv.Itoa(len(p.vectors))+".")
	}
	return nil
}

// readVectorQuery reads a vector query and refuses unknown members, which would change the
// results.
func (p *searchPlan) readVectorQuery(raw json.RawMessage) (*vectorQuery, *reply.Error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, p.args.unreadable("A vector query must be a JSON object.")
	}
	// First, because such a query has members of its own.
	if err := p.needsVectorizer(members["kind"]); err != nil {
		return nil, err
	}
	var q vectorQuery
	for name, value := range members {
		var to any
		var needs apiversion.Capability
		switch name {
		case "kind":
			to = &q.Kind
		case "vector":
			to = &q.Vector
		case "text":
			to, needs = &q.Text, apiversion.Vectorizers
		case "fields":
			to = &q.Fields
		case "k":
			to = &q.K
		case "exhaustive":
			to = &q.Exhaustive
		case "oversampling":
			to, needs = &q.Oversampling, apiversion.Oversampling
		case "weight":
			to, needs = &q.Weight, apiversion.VectorWeight
		case "threshold":
			to, needs = &q.Threshold, apiversion.VectorThreshold
		case "filterOverride":
			if p.args.version.Has(apiversion.FilterOverride) {
				return nil, reply.NotEmulated("the property 'filterOverride' of vector queries")
			}
		}
		if to == nil || !p.args.version.Has(needs) {
			return nil, p.args.unreadable("The property '" + name + "' does not exist on type 'Microsoft.Azure.Search.VectorQuery', or searchtest does not emulate it.")
		}
		dec := json.NewDecoder(bytes.NewReader(value))
		dec.DisallowUnknownFields() // of the threshold
		err := dec.Decode(to)
		if err == nil && name == "vector" && bytes.Contains(value, []byte("null")) {
			err = errors.New("a null value was found where a number is expected") // encoding/json reads it as 0
		}
		if err != nil {
			return nil, p.args.unreadable("The property '" + name + "' of a vector query cannot be read: " + shape.Fault(err))
		}
	}
	return &q, nil
}

// needsVectorizer refuses a query without a vector, for which the service would call a model.
// It leaves kinds that the api-version does not have to the other checks.
func (p *searchPlan) needsVectorizer(raw json.RawMessage) *reply.Error {
	var kind string
	if json.Unmarshal(raw, &kind) != nil {
		return nil
	}
	kinds := map[string]apiversion.Capability{"text": apiversion.Vectorizers, "imageUrl": apiversion.VectorImages, "imageBinary": apiversion.VectorImages}
	if needs, ok := kinds[kind]; !ok || !p.args.version.Has(needs) {
		return nil
	}
	return reply.NotImplemented("searchtest does not emulate vector queries of the kind '" + kind + "': it has no vectorizers. Use the kind 'vector'.")
}

func (p *searchPlan) planVectorQuery(q *vectorQuery) *reply.Error {
	a := p.args
	switch q.Kind {
	case "vector":
		if q.Text != nil {
			return a.unreadable("The property 'text' does not exist on vector queries of the kind 'vector'.")
		}
	case "":
		return a.refuseCoded("InvalidVectorQuery", "vector.kind", "The vector query's 'kind' parameter is not set.")
	default:
		return a.unreadable("Unknown vector query kind '" + q.Kind + "'.")
	}
	list := vectorList{k: defaultNeighbors, weight: 1, query: q.Vector}
	if q.K != nil {
		list.k = *q.K
	}
	if q.Weight != nil {
		list.weight = *q.Weight
	}
	switch {
	case list.k < 1 || list.k > mostNeighbors:
		return a.refuseCoded("InvalidVectorQuery", "vector.k", "Value must be between 1 and "+strconv.Itoa(mostNeighbors)+".")
	case list.weight <= 0:
		return a.refuseCoded("InvalidVectorQuery", "vector.weight", "Value must be greater than 0.")
	case q.Oversampling != nil && *q.Oversampling < 1:
		return a.refuseCoded("InvalidVectorQuery", "vector.oversampling", "Value must be 1 or more.")
	case strings.TrimSpace(q.Fields) == "":
		return a.refuseCoded("InvalidVectorQuery", "vector.fields", "A vector query must name the fields to search.")
	}
	if t := q.Threshold; t != nil && (t.Value == nil || t.Kind != "searchScore" && t.Kind != "vectorSimilarity") {
		return a.refuseCoded("InvalidVectorQuery", "vector.threshold", "A threshold must have a value and be of the kind 'searchScore' or 'vectorSimilarity'.")
	}
	list.threshold = q.Threshold
	for path := range strings.SplitSeq(q.Fields, ",") {
		path = strings.TrimSpace(path)
		f := p.sc.ByName[path]
		switch {
		case f == nil:
			return a.refuseCoded("UnknownField", "vector.fields", "Unknown field '"+path+"' in vector field list.")
		case !f.Vector():
			return a.refuseCoded("InvalidVectorQuery", "vector.fields", "The field '"+path+"' in the vector field list is not a vector field.")
		case len(list.query) != f.Dimensions:
			length, dimensions := strconv.Itoa(len(list.query)), strconv.Itoa(f.Dimensions)
			return a.refuseCoded("InvalidVectorQuery", "vector", "The vector field '"+path+"', with dimension '"+dimensions+"', expects a length of '"+dimensions+
				"'. However, the provided vector has a length of '"+length+"'. Please ensure that the vector length matches the expected length of the vector field. "+
				"Read the following documentation for more details: https://aka.ms/vector-search")
		}
		if q.Oversampling != nil && !p.sc.Rescores(path) {
			return a.refuseCoded("InvalidVectorQuery", "vector.oversampling", "Oversampling needs a vector field whose profile has a compression that rescores with the original vectors; '"+path+"' has none.")
		}
		one := list
		one.field, one.metric = f, p.sc.VectorMetric(path)
		p.vectors = append(p.vectors, one)
	}
	return nil
}

// nearest returns the neighbors of a list, among the documents that accept allows.
func (l *vectorList) nearest(v *View, accept func(id uint32) bool) ([]vectors.Neighbor, error) {
	found, err := v.vectors[l.field].Search(l.query, l.k, accept)
	if err != nil || l.threshold == nil {
		return found, err
	}
	return slices.DeleteFunc(found, func(n vectors.Neighbor) bool { return !l.reached(n) }), nil
}

// reached reports whether a neighbor is near enough. Smaller distances are nearer; for all
// other measures larger values are nearer.
func (l *vectorList) reached(n vectors.Neighbor) bool {
	least := *l.threshold.Value
	switch {
	case l.threshold.Kind == "searchScore":
		return n.Score >= least
	case l.metric == vectors.Euclidean || l.metric == vectors.Hamming:
		return n.Measure <= least
	}
	return n.Measure >= least
}
