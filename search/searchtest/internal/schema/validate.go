package schema

import (
	"regexp"
	"strings"

	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// validate checks a definition by the service's rules and, like the service, stops at the
// first error. Only some of the service's messages are known; the others have its form with
// texts of the emulator.
func (d *definition) validate() *reply.Error {
	if reason := refusal.Name("Index", d.name, refusal.ShortestIndexName); reason != "" {
		return d.Refuse("InvalidName", "Invalid index name: "+reason)
	}
	for _, check := range []func() *reply.Error{
		d.validateFields,
		d.validateAnalysis,
		d.validateSuggesters,
		d.validateScoring,
		d.validateCORS,
		d.validateVectors,
		d.validateSemantic,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

var (
	fieldNamePattern     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	identifierPattern    = regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	componentNamePattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9 _-]*[A-Za-z0-9])?$`)
	durationPattern      = regexp.MustCompile(`^-?P(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$`)
)

// fieldNameFault returns the rule that the name of a field breaks, "" for none.
func fieldNameFault(name string) string {
	switch {
	case len(name) == 0 || len(name) > maxNameLength:
		return "Field name must have between 1 and 128 characters."
	case strings.HasPrefix(name, "azureSearch"):
		return "Field name cannot start with 'azureSearch'."
	case !fieldNamePattern.MatchString(name):
		return "Field name must only contain letters, digits or underscores and cannot start with a digit or an underscore."
	}
	return ""
}

// Named returns the object of a list with that name, nil for none.
func Named(list []*shape.Object, name string) *shape.Object {
	for _, o := range list {
		if o.Str("name") == name {
			return o
		}
	}
	return nil
}

// names checks that the names of the objects in a list are unique, not empty and not too
// long.
func (d *definition) names(what string, list []*shape.Object) *reply.Error {
	seen := make(map[string]bool, len(list))
	for _, o := range list {
		name := o.Str("name")
		if name == "" || len(name) > maxNameLength {
			return d.Refuse("InvalidName", "Invalid name '"+name+"' in "+what+": it must have between 1 and 128 characters.")
		}
		if seen[name] {
			return d.Refuse("DuplicateName", "There are two "+what+" named '"+name+"'. Names must be unique.")
		}
		seen[name] = true
	}
	return nil
}

// identifiers checks the names of lists by almost the rules of field names.
func (d *definition) identifiers(what string, list []*shape.Object) *reply.Error {
	for _, o := range list {
		if name := o.Str("name"); name != "" && !identifierPattern.MatchString(name) {
			return d.Refuse("InvalidName", "Invalid name '"+name+"' in "+what+": it must only contain letters, digits or underscores.")
		}
	}
	return d.names(what, list)
}

func (d *definition) validateSuggesters() *reply.Error {
	suggesters := d.Object.Objects("suggesters")
	if len(suggesters) > maxSuggesters {
		return d.Refuse("TooManySuggesters", "An index can have at most one suggester.")
	}
	if err := d.identifiers("suggesters", suggesters); err != nil {
		return err
	}
	for _, s := range suggesters {
		bad := func(reason string) *reply.Error {
			return d.Refuse("InvalidSuggester", "The suggester '"+s.Str("name")+"' "+reason)
		}
		sources := s.Strings("sourceFields")
		if len(sources) == 0 {
			return bad("must have at least one source field.")
		}
		seen := make(map[string]bool, len(sources))
		for _, path := range sources {
			f := d.Field(path)
			switch {
			case seen[path]:
				return bad("names the field '" + path + "' twice.")
			case f == nil:
				return bad("uses the field '" + path + "' which does not exist.")
			case !stringField(f) || !f.Bool("searchable"):
				return bad("uses the field '" + path + "', which is not a searchable string field.")
			case !suggestible(f):
				return bad("uses the field '" + path + "', whose analyzer is neither the standard analyzer nor one for a language.")
			}
			seen[path] = true
		}
	}
	return nil
}

// suggestible reports whether a suggester may use the field: its analyzer must be the
// standard analyzer or one for a language.
func suggestible(f *shape.Object) bool {
	name := f.Str("analyzer")
	if name == "" {
		name = f.Str("indexAnalyzer")
	}
	return name == "" || name == "standard.lucene" || analysis.HasLanguageAnalyzer(name)
}

// stringField reports whether a field contains strings.
func stringField(f *shape.Object) bool {
	typ, _, ok := stored.ParseType(f.Str("type"))
	return ok && typ == stored.String
}

func (d *definition) validateCORS() *reply.Error {
	cors := d.Object.Object("corsOptions")
	if cors == nil {
		return nil
	}
	origins := cors.Strings("allowedOrigins")
	if len(origins) == 0 {
		return d.Refuse("InvalidCorsOptions", "The property 'allowedOrigins' of 'corsOptions' must have at least one origin.")
	}
	for _, origin := range origins {
		switch {
		case strings.TrimSpace(origin) == "":
			return d.Refuse("InvalidCorsOptions", "The property 'allowedOrigins' of 'corsOptions' must not have empty origins.")
		case origin == "*" && len(origins) > 1:
			return d.Refuse("InvalidCorsOptions", "The origin '*' of 'corsOptions' must be the only one.")
		}
	}
	return nil
}
