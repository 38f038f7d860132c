package schema

import (
	"fmt"
	"slices"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// scorable is the set of field types of each scoring function. The tag function accepts
// collections of strings too.
var scorable = map[string][]stored.Type{
	"freshness": {stored.DateTimeOffset},
	"magnitude": {stored.Int32, stored.Int64, stored.Double},
	"distance":  {stored.GeographyPoint},
	"tag":       {stored.String},
}

// validateScoring checks the scoring profiles.
func (d *definition) validateScoring() *reply.Error {
	profiles := d.Object.Objects("scoringProfiles")
	if len(profiles) > maxScoringProfiles {
		return d.Refuse("TooManyScoringProfiles", fmt.Sprintf("The index has %d scoring profiles. At most %d are allowed.", len(profiles), maxScoringProfiles))
	}
	if err := d.identifiers("scoring profiles", profiles); err != nil {
		return err
	}
	for _, p := range profiles {
		if err := d.scoringProfile(p); err != nil {
			return err
		}
	}
	if name := d.Object.Str("defaultScoringProfile"); name != "" && Named(profiles, name) == nil {
		return d.Refuse("InvalidScoringProfile", "The default scoring profile '"+name+"' does not exist.")
	}
	return nil
}

func (d *definition) scoringProfile(p *shape.Object) *reply.Error {
	bad := func(reason string) *reply.Error {
		return d.Refuse("InvalidScoringProfile", "The scoring profile '"+p.Str("name")+"' "+reason)
	}
	if text := p.Object("text"); text != nil {
		weights, _ := text.Get("weights").(*shape.Pairs)
		for i, path := range weights.Names {
			f := d.Field(path)
			weight := WeightOf(weights.Values[i])
			switch {
			case f == nil:
				return bad("gives a weight to the field '" + path + "' which does not exist.")
			case !stringField(f) || !f.Bool("searchable"):
				return bad("gives a weight to the field '" + path + "', which is not a searchable string field.")
			case weight <= 0:
				return bad("gives the field '" + path + "' a weight that is not greater than 0.")
			}
		}
	}
	functions := p.Objects("functions")
	if len(functions) > maxScoringFunctions {
		return bad(fmt.Sprintf("has %d functions. At most %d are allowed.", len(functions), maxScoringFunctions))
	}
	for _, fn := range functions {
		if reason := d.scoringFunctionFault(fn); reason != "" {
			return bad(reason)
		}
	}
	return nil
}

// WeightOf returns a weight of a scoring profile.
func WeightOf(v any) float64 {
	one := shape.Object{Shape: &shape.Shape{Members: []shape.Property{{Name: "weight"}}}, Values: []any{v}}
	return one.Number("weight")
}

// scoringFunctionFault returns the error in a function, "" for none.
func (d *definition) scoringFunctionFault(fn *shape.Object) string {
	kind, path, boost := fn.Str("type"), fn.Str("fieldName"), fn.Number("boost")
	f := d.Field(path)
	if f == nil {
		return "has a function of the field '" + path + "' which does not exist."
	}
	typ, collection, _ := stored.ParseType(f.Str("type"))
	switch {
	case !slices.Contains(scorable[kind], typ) || collection && kind != "tag":
		return "has a function of type '" + kind + "' of the field '" + path + "', whose type is '" + f.Str("type") + "'."
	case !f.Bool("filterable"):
		return "has a function of the field '" + path + "', which is not filterable."
	case boost <= 0 || boost == 1:
		return fmt.Sprintf("has a function of the field '%s' with the boost %v. It must be greater than 0 and not 1.", path, boost)
	case kind == "tag" && (fn.Str("interpolation") == "quadratic" || fn.Str("interpolation") == "logarithmic"):
		return "has a function of type 'tag' of the field '" + path + "'. Its interpolation must be 'linear' or 'constant'."
	}
	for other := range scorable {
		switch has := fn.Object(other) != nil; {
		case other == kind && !has:
			return "has a function of type '" + kind + "' of the field '" + path + "' without the property '" + kind + "'."
		case other != kind && has:
			return "has a function of type '" + kind + "' of the field '" + path + "' with the property '" + other + "'."
		}
	}
	switch kind {
	case "freshness":
		if v := fn.Object(kind).Str("boostingDuration"); !validDuration(v) {
			return "has the boosting duration '" + v + "', which is not a duration in days, hours, minutes and seconds such as 'P365D'."
		}
	case "distance":
		if fn.Object(kind).Number("boostingDistance") <= 0 {
			return "has a boosting distance that is not greater than 0."
		}
		if fn.Object(kind).Str("referencePointParameter") == "" {
			return "has an empty 'referencePointParameter'."
		}
	case "tag":
		if fn.Object(kind).Str("tagsParameter") == "" {
			return "has an empty 'tagsParameter'."
		}
	}
	return ""
}

// validDuration reports whether s is an XSD dayTimeDuration.
func validDuration(s string) bool {
	if !durationPattern.MatchString(s) {
		return false
	}
	last := s[len(s)-1]
	return last != 'P' && last != 'T' // a number must follow each of them
}

// validateSemantic checks the semantic configurations.
func (d *definition) validateSemantic() *reply.Error {
	semantic := d.Object.Object("semantic")
	if semantic == nil {
		return nil
	}
	configurations := semantic.Objects("configurations")
	if len(configurations) > maxSemantic {
		return d.Refuse("TooManySemanticConfigurations", fmt.Sprintf("The index has %d semantic configurations. At most %d are allowed.", len(configurations), maxSemantic))
	}
	if err := d.names("semantic configurations", configurations); err != nil {
		return err
	}
	for _, c := range configurations {
		prioritized := c.Object("prioritizedFields")
		fields := append(prioritized.Objects("prioritizedContentFields"), prioritized.Objects("prioritizedKeywordsFields")...)
		if title := prioritized.Object("titleField"); title != nil {
			fields = append(fields, title)
		}
		if len(fields) == 0 {
			return d.Refuse("InvalidSemanticConfiguration", "The semantic configuration '"+c.Str("name")+"' must have at least one of 'titleField', 'prioritizedContentFields' and 'prioritizedKeywordsFields'.")
		}
		for _, use := range fields {
			if reason := d.semanticFieldFault(use.Str("fieldName")); reason != "" {
				return d.Refuse("InvalidSemanticConfiguration", reason)
			}
		}
	}
	if name := semantic.Str("defaultConfiguration"); name != "" && Named(configurations, name) == nil {
		return d.Refuse("InvalidSemanticConfiguration", "The default semantic configuration '"+name+"' does not exist.")
	}
	return nil
}

// semanticFieldFault returns the reason why a field cannot be in semantic configurations, ""
// if it can. Users reported the texts about types. The documentation requires searchable
// fields, but the emulator does not: no such refusal is reported, and widely used programs,
// such as Microsoft's own retrieval demo, have other fields. For fields that are not
// retrievable nothing is reported, so the documentation applies.
func (d *definition) semanticFieldFault(path string) string {
	f := d.Field(path)
	switch {
	case f == nil:
		return "A semantic configuration uses the field '" + path + "', which does not exist."
	case !stringField(f) || d.belowCollection(path):
		return "Semantic configurations support fields of type Edm.String and Collection(Edm.String). Subfields of Edm.ComplexType can be used but subfields of Collection(Edm.ComplexType) are not supported. " +
			"Please visit https://aka.ms/SemanticConfiguration for more info."
	case !f.Bool("retrievable"):
		return "A semantic configuration uses the field '" + path + "', which is not retrievable."
	}
	return ""
}

// belowCollection reports whether a field is in a collection of complex objects.
func (d *definition) belowCollection(path string) bool {
	for i, c := range path {
		if c != '/' {
			continue
		}
		if _, collection, _ := stored.ParseType(d.Field(path[:i]).Str("type")); collection {
			return true
		}
	}
	return false
}
