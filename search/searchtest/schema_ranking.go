package searchtest

import (
	"fmt"
	"slices"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// scorable says which types of field each scoring function works on. The tag
// function takes collections of strings too.
var scorable = map[string][]stored.Type{
	"freshness": {stored.DateTimeOffset},
	"magnitude": {stored.Int32, stored.Int64, stored.Double},
	"distance":  {stored.GeographyPoint},
	"tag":       {stored.String},
}

// validateScoring checks the scoring profiles.
func (d *indexDefinition) validateScoring() *serviceError {
	profiles := d.object.objects("scoringProfiles")
	if len(profiles) > maxScoringProfiles {
		return d.refuse("TooManyScoringProfiles", fmt.Sprintf("The index has %d scoring profiles. At most %d are allowed.", len(profiles), maxScoringProfiles))
	}
	if err := d.identifiers("scoring profiles", profiles); err != nil {
		return err
	}
	for _, p := range profiles {
		if err := d.scoringProfile(p); err != nil {
			return err
		}
	}
	if name := d.object.str("defaultScoringProfile"); name != "" && named(profiles, name) == nil {
		return d.refuse("InvalidScoringProfile", "The default scoring profile '"+name+"' does not exist.")
	}
	return nil
}

func (d *indexDefinition) scoringProfile(p *object) *serviceError {
	bad := func(reason string) *serviceError {
		return d.refuse("InvalidScoringProfile", "The scoring profile '"+p.str("name")+"' "+reason)
	}
	if text := p.object("text"); text != nil {
		weights, _ := text.get("weights").(*pairs)
		for i, path := range weights.names {
			f := d.field(path)
			weight := weightOf(weights.values[i])
			switch {
			case f == nil:
				return bad("gives a weight to the field '" + path + "' which does not exist.")
			case !stringField(f) || !f.boolean("searchable"):
				return bad("gives a weight to the field '" + path + "', which is not a searchable string field.")
			case weight <= 0:
				return bad("gives the field '" + path + "' a weight that is not greater than 0.")
			}
		}
	}
	functions := p.objects("functions")
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

func weightOf(v any) float64 {
	one := object{shape: &shape{members: []property{{name: "weight"}}}, values: []any{v}}
	return one.number("weight")
}

// scoringFunctionFault is what is wrong with a function, "" if nothing.
func (d *indexDefinition) scoringFunctionFault(fn *object) string {
	kind, path, boost := fn.str("type"), fn.str("fieldName"), fn.number("boost")
	f := d.field(path)
	if f == nil {
		return "has a function of the field '" + path + "' which does not exist."
	}
	typ, collection, _ := stored.ParseType(f.str("type"))
	switch {
	case !slices.Contains(scorable[kind], typ) || collection && kind != "tag":
		return "has a function of type '" + kind + "' of the field '" + path + "', whose type is '" + f.str("type") + "'."
	case !f.boolean("filterable"):
		return "has a function of the field '" + path + "', which is not filterable."
	case boost <= 0 || boost == 1:
		return fmt.Sprintf("has a function of the field '%s' with the boost %v. It must be greater than 0 and not 1.", path, boost)
	case kind == "tag" && (fn.str("interpolation") == "quadratic" || fn.str("interpolation") == "logarithmic"):
		return "has a function of type 'tag' of the field '" + path + "'. Its interpolation must be 'linear' or 'constant'."
	}
	for other := range scorable {
		switch has := fn.object(other) != nil; {
		case other == kind && !has:
			return "has a function of type '" + kind + "' of the field '" + path + "' without the property '" + kind + "'."
		case other != kind && has:
			return "has a function of type '" + kind + "' of the field '" + path + "' with the property '" + other + "'."
		}
	}
	switch kind {
	case "freshness":
		if v := fn.object(kind).str("boostingDuration"); !validDuration(v) {
			return "has the boosting duration '" + v + "', which is not a duration in days, hours, minutes and seconds such as 'P365D'."
		}
	case "distance":
		if fn.object(kind).number("boostingDistance") <= 0 {
			return "has a boosting distance that is not greater than 0."
		}
		if fn.object(kind).str("referencePointParameter") == "" {
			return "has an empty 'referencePointParameter'."
		}
	case "tag":
		if fn.object(kind).str("tagsParameter") == "" {
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
	return last != 'P' && last != 'T' // something has to follow either letter
}

// validateSemantic checks the semantic configurations.
func (d *indexDefinition) validateSemantic() *serviceError {
	semantic := d.object.object("semantic")
	if semantic == nil {
		return nil
	}
	configurations := semantic.objects("configurations")
	if len(configurations) > maxSemantic {
		return d.refuse("TooManySemanticConfigurations", fmt.Sprintf("The index has %d semantic configurations. At most %d are allowed.", len(configurations), maxSemantic))
	}
	if err := d.names("semantic configurations", configurations); err != nil {
		return err
	}
	for _, c := range configurations {
		prioritized := c.object("prioritizedFields")
		fields := append(prioritized.objects("prioritizedContentFields"), prioritized.objects("prioritizedKeywordsFields")...)
		if title := prioritized.object("titleField"); title != nil {
			fields = append(fields, title)
		}
		if len(fields) == 0 {
			return d.refuse("InvalidSemanticConfiguration", "The semantic configuration '"+c.str("name")+"' must have at least one of 'titleField', 'prioritizedContentFields' and 'prioritizedKeywordsFields'.")
		}
		for _, use := range fields {
			if reason := d.semanticFieldFault(use.str("fieldName")); reason != "" {
				return d.refuse("InvalidSemanticConfiguration", reason)
			}
		}
	}
	if name := semantic.str("defaultConfiguration"); name != "" && named(configurations, name) == nil {
		return d.refuse("InvalidSemanticConfiguration", "The default semantic configuration '"+name+"' does not exist.")
	}
	return nil
}

// semanticFieldFault is what keeps a field out of semantic configurations, "" if
// nothing. The words about types are reported ones. That a field need not be
// searchable, against the documentation, is inferred: nobody has reported a refusal of
// one, and programs that many use name some, such as the pages of Microsoft's own
// demonstration of retrieval. Nothing is known of fields that are not retrievable, so
// there the documentation holds.
func (d *indexDefinition) semanticFieldFault(path string) string {
	f := d.field(path)
	switch {
	case f == nil:
		return "A semantic configuration uses the field '" + path + "', which does not exist."
	case !stringField(f) || d.belowCollection(path):
		return "Semantic configurations support fields of type Edm.String and Collection(Edm.String). Subfields of Edm.ComplexType can be used but subfields of Collection(Edm.ComplexType) are not supported. " +
			"Please visit https://aka.ms/SemanticConfiguration for more info."
	case !f.boolean("retrievable"):
		return "A semantic configuration uses the field '" + path + "', which is not retrievable."
	}
	return ""
}

// belowCollection reports whether a field lies in a collection of complex objects.
func (d *indexDefinition) belowCollection(path string) bool {
	for i, c := range path {
		if c != '/' {
			continue
		}
		if _, collection, _ := stored.ParseType(d.field(path[:i]).str("type")); collection {
			return true
		}
	}
	return false
}
