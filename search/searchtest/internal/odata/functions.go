package odata

import (
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// signatures are the functions for filters, as the library lists them in messages.
var signatures = map[string][]string{
	"search.in": {
		"search.in(Edm.String Nullable=true, Edm.String Nullable=true)",
		"search.in(Edm.String Nullable=true, Edm.String Nullable=true, Edm.String Nullable=true)",
	},
	"search.ismatch":        matchSignatures("search.ismatch"),
	"search.ismatchscoring": matchSignatures("search.ismatchscoring"),
	"search.score":          {"search.score()"},
	"geo.distance": {
		"geo.distance(Edm.GeographyPoint Nullable=true, Edm.GeographyPoint Nullable=true)",
	},
	"geo.intersects": {
		"geo.intersects(Edm.GeographyPoint Nullable=true, Edm.GeographyPolygon Nullable=true)",
		"geo.intersects(Edm.GeographyPolygon Nullable=true, Edm.GeographyPoint Nullable=true)",
	},
}

func matchSignatures(name string) []string {
	const text = "Edm.String Nullable=true"
	return []string{
		name + "(" + text + ")",
		name + "(" + text + ", " + text + ")",
		name + "(" + text + ", " + text + ", " + text + ", " + text + ")",
	}
}

// standardFunctions are OData functions that the library supports and the service does not.
var standardFunctions = map[string]bool{
	"cast": true, "ceiling": true, "concat": true, "contains": true, "date": true, "day": true, "endswith": true,
	"floor": true, "fractionalseconds": true, "geo.length": true, "hour": true, "indexof": true, "isof": true,
	"length": true, "maxdatetime": true, "mindatetime": true, "minute": true, "month": true, "now": true,
	"round": true, "second": true, "startswith": true, "substring": true, "time": true, "tolower": true,
	"totaloffsetminutes": true, "totalseconds": true, "toupper": true, "trim": true, "year": true,
}

// call compiles a function call.
func (b *binder) call(x *callSyntax) (operand, error) {
	if signatures[x.name] == nil {
		if standardFunctions[x.name] {
			return operand{}, refuse("The function '%s' is not supported.", x.name)
		}
		return operand{}, refuse("An unknown function with name '%s' was found. This may also be a function import or a key lookup on a navigation property, which is not allowed.", x.name)
	}
	args := make([]operand, len(x.args))
	for i, arg := range x.args {
		var err error
		if args[i], err = b.bind(arg); err != nil {
			return operand{}, err
		}
		if args[i].collection() {
			return operand{}, refuse("The argument for an invocation of a function with name '%s' is not a single value. All arguments for this function must be single values.", x.name)
		}
	}
	var p predicate
	var err error
	switch x.name {
	case "search.in":
		p, err = b.in(args)
	case "geo.intersects":
		p, err = b.intersects(args)
	case "geo.distance":
		var d *near
		d, err = b.distance(args)
		return operand{distance: d}, err
	case "search.score":
		return operand{}, refuse("The function 'search.score' is only supported in $orderby.")
	default:
		p, err = b.isMatch(x.name, args)
	}
	if err != nil {
		return operand{}, err
	}
	return operand{boolean: p, function: true}, b.clause()
}

// wrongArguments returns the error for arguments that fit no signature.
func wrongArguments(name string) error {
	return refuse("No function signature for the function with name '%s' matches the specified arguments. The function signatures considered are: %s.", name, strings.Join(signatures[name], "; "))
}

// constantStrings returns the values of arguments, which must be constant strings.
func constantStrings(name string, args []operand) ([]string, error) {
	texts := make([]string, len(args))
	for i, arg := range args {
		if familyOf(arg) != familyString {
			return nil, wrongArguments(name)
		}
		if arg.literal == nil {
			return nil, refuse("The function '%s' only supports string constants for all arguments but the field to search in.", name)
		}
		texts[i] = arg.literal.text
	}
	return texts, nil
}

// in compiles search.in(field, values[, delimiters]).
func (b *binder) in(args []operand) (predicate, error) {
	const name = "search.in"
	if len(args) < 2 || len(args) > 3 || familyOf(args[0]) != familyString {
		return nil, wrongArguments(name)
	}
	texts, err := constantStrings(name, args[1:])
	if err != nil {
		return nil, err
	}
	ref := args[0].ref
	if ref == nil {
		return nil, refuse("The first argument of the function '%s' must be a field or a range variable.", name)
	}
	if err := b.filterable(ref); err != nil {
		return nil, err
	}
	delimiters := " ,"
	if len(texts) > 1 {
		delimiters = texts[1]
	}
	p := &oneOf{path: ref.path, values: make(map[string]struct{}), normalize: b.options.normalizer(ref.field)}
	for value := range strings.FieldsFuncSeq(texts[0], func(r rune) bool { return strings.ContainsRune(delimiters, r) }) {
		if p.normalize != nil {
			value = p.normalize(value)
		}
		p.values[value] = struct{}{}
	}
	return p, nil
}

// geography returns the arguments of a geo function: a field of points and a constant of the given kind, in either
// order.
func (b *binder) geography(name string, args []operand, kind literalKind) (*reference, *literal, error) {
	if len(args) != 2 {
		return nil, nil, wrongArguments(name)
	}
	field, shape := args[0], args[1]
	if field.ref == nil {
		field, shape = shape, field
	}
	if field.ref == nil || shape.literal == nil || field.ref.field.Type != stored.GeographyPoint || shape.literal.kind != kind {
		return nil, nil, wrongArguments(name)
	}
	return field.ref, shape.literal, nil
}

func (b *binder) distance(args []operand) (*near, error) {
	ref, v, err := b.geography("geo.distance", args, literalPoint)
	if err != nil {
		return nil, err
	}
	return &near{path: ref.path, from: v.point}, b.filterable(ref)
}

func (b *binder) intersects(args []operand) (predicate, error) {
	ref, v, err := b.geography("geo.intersects", args, literalPolygon)
	if err != nil {
		return nil, err
	}
	return &within{path: ref.path, area: v.polygon}, b.filterable(ref)
}

// isMatch compiles search.ismatch and search.ismatchscoring.
func (b *binder) isMatch(name string, args []operand) (predicate, error) {
	if len(args) == 0 || len(args) > 4 || len(args) == 3 {
		return nil, wrongArguments(name)
	}
	if b.options.NoFullText {
		return nil, refuse("The function '%s' is not supported in this API. It can only be used in the filters of search requests.", name)
	}
	texts, err := constantStrings(name, args)
	if err != nil {
		return nil, err
	}
	if last := len(b.scope) - 1; last >= 0 {
		return nil, refuse("The function '%[1]s' has no parameters bound to the range variable '%[2]s'. Only bound field references are supported inside lambda expressions ('any' or 'all'). Please change your filter so that the '%[1]s' function is outside the lambda expression and try again.", name, b.scope[last].name)
	}
	m := Match{Text: texts[0], Scoring: name == "search.ismatchscoring"}
	if len(texts) > 1 {
		if err := m.searchIn(texts[1], b.options.Fields); err != nil {
			return nil, err
		}
	}
	if len(texts) == 4 {
		switch texts[2] {
		case "full":
			m.Full = true
		case "simple":
		default:
			return nil, refuse("'%s' is not a valid query type for the function '%s'. Use 'simple' or 'full'.", texts[2], name)
		}
		switch texts[3] {
		case "all":
			m.All = true
		case "any":
		default:
			return nil, refuse("'%s' is not a valid search mode for the function '%s'. Use 'any' or 'all'.", texts[3], name)
		}
	}
	b.matches = append(b.matches, m)
	return &matchCall{index: len(b.matches) - 1, scoring: m.Scoring}, nil
}

// searchIn parses the list of fields to search. An empty list means all.
func (m *Match) searchIn(list string, fields map[string]*stored.Field) error {
	for path := range strings.SplitSeq(list, ",") {
		path = strings.TrimSpace(path)
		if path == "" {
			continue
		}
		var f *stored.Field
		byName := fields
		for name := range strings.SplitSeq(path, "/") {
			if f = byName[name]; f == nil {
				return refuse("Unknown field '%s' in the search field list.", path)
			}
			byName = f.ByName
		}
		if !f.Searchable || f.Vector() {
			return refuse("Only searchable fields can be used in the search field list. Field '%s' is not marked as 'searchable'.", path)
		}
		m.Fields, m.Paths = append(m.Fields, f), append(m.Paths, path)
	}
	return nil
}
