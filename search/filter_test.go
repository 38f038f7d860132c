package search_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

type (
	stars  int8
	grade  string
	opaque struct{}
	shade  int
	tint   int
)

// MarshalJSON encodes every shade as a string.
func (shade) MarshalJSON() ([]byte, error) { return []byte(`"dark"`), nil }

// MarshalText encodes the value as a string and fails for 0.
func (t *tint) MarshalText() ([]byte, error) {
	if *t == 0 {
		return nil, errors.New("no tint")
	}
	return []byte("it's " + strings.Repeat("very ", int(*t)-1) + "light"), nil
}

var (
	seattle = models.GeographyPoint{Longitude: -122.33, Latitude: 47.6}
	at      = time.Date(2024, 1, 2, 3, 4, 5, 678_999_999, time.FixedZone("", 2*60*60))
)

func TestFiltersAreWrittenAsTheServiceReadsThem(t *testing.T) {
	name, none := "x", (*string)(nil)
	a, b, c := search.Eq("a", 1), search.Gt("b", 2), search.IsTrue("c")
	corners := []models.GeographyPoint{{Longitude: 0, Latitude: 0}, {Longitude: 10, Latitude: 0}, {Longitude: 10, Latitude: 5}}
	for want, filter := range map[string]search.Filter{
		"":                              {},
		"HotelName eq 'O''Hara''s'":     search.Eq("HotelName", "O'Hara's"),
		"Address/City ne ''":            search.Ne("Address/City", ""),
		"HotelId gt '41'":               search.Gt("HotelId", "41"),
		"Rating ge 4":                   search.Ge("Rating", stars(4)),
		"Rating lt 9223372036854775807": search.Lt("Rating", uint64(math.MaxInt64)),
		"Rating le -128":                search.Le("Rating", int8(-128)),
		"g eq 'first'":                  search.Eq("g", grade("first")),
		"t eq 'it''s light'":            search.Eq("t", tint(1)),
		"u eq '10.0.0.1'":               search.Eq("u", new(netip.MustParseAddr("10.0.0.1"))),
		"search.in(t, 'it''s light,it''s very light', ',')": search.In("t", tint(1), tint(2)),
		"v eq 'it''s light'":             search.Filterf("v eq %v", tint(1)),
		"f eq 0.1":                       search.Eq("f", float32(0.1)),
		"f eq 4":                         search.Eq("f", 4.0),
		"f eq 0":                         search.Eq("f", math.Copysign(0, -1)),
		"f eq 1e+21":                     search.Eq("f", 1e21),
		"f eq 1.5e-09":                   search.Eq("f", 1.5e-9),
		"f ne NaN":                       search.Ne("f", math.NaN()),
		"f lt INF":                       search.Lt("f", math.Inf(1)),
		"f gt -INF":                      search.Gt("f", math.Inf(-1)),
		"n eq 12345678901234567890.5":    search.Eq("n", json.Number("12345678901234567890.5")),
		"SmokingAllowed eq false":        search.Eq("SmokingAllowed", false),
		"At ge 2024-01-02T01:04:05.678Z": search.Ge("At", at),
		"At ge 2024-01-02T01:04:05Z":     search.Ge("At", at.Truncate(time.Second)),
		"p eq 'x'":                       search.Eq("p", &name),
		"p eq null":                      search.Eq("p", none),
		"q ne null":                      search.IsNotNull("q"),
		"q eq null":                      search.IsNull("q"),
		"c":                              c,
		"not c":                          search.Not(c),
		"not (a eq 1)":                   search.Not(a),
		"not (not c)":                    search.Not(search.Not(c)),
		"not (a eq 1 and b gt 2)":        search.Not(search.And(a, b)),
		"a eq 1 and b gt 2 and c":        search.And(a, search.And(b, c)),
		"a eq 1 or b gt 2 and c":         search.Or(a, search.And(b, c)),
		"(a eq 1 or b gt 2) and c":       search.And(search.Or(a, b), c),
		"a eq 1 and not c":               search.And(search.Filter{}, a, search.Filter{}, search.Not(c)),
		"false":                          search.Or(),
		"(x eq 1 or y eq 2) and c":       search.And(search.RawFilter("x eq 1 or y eq 2"), c),
		"not (x)":                        search.Not(search.RawFilter("x")),
		"x eq ')'":                       search.RawFilter("x eq ')'"),

		"Tags/any(t: t eq 'a')":                               search.Any("Tags", "t", search.Eq("t", "a")),
		"Rooms/all(r: r/Rate lt 9 or r/Tags/any(t: t ne ''))": search.All("Rooms", "r", search.Or(search.Lt("r/Rate", 9), search.Any("r/Tags", "t", search.Ne("t", "")))),
		"not Tags/any()":                                      search.Not(search.NotEmpty("Tags")),
		"Tags/any(t: x or y)":                                 search.Any("Tags", "t", search.RawFilter("x or y")),

		"geo.distance(Location, geography'POINT(-122.33 47.6)') le 10.5":                 search.GeoDistance("Location", seattle).Le(10.5),
		"geo.distance(L, geography'POINT(0.00000001 0)') lt 0":                           search.GeoDistance("L", models.GeographyPoint{Longitude: 1e-8, Latitude: math.Copysign(0, -1)}).Lt(0),
		"geo.distance(L, geography'POINT(-122.33 47.6)') gt 1 and a eq 1":                search.And(search.GeoDistance("L", seattle).Gt(1), a),
		"not (geo.distance(L, geography'POINT(-122.33 47.6)') ge 1)":                     search.Not(search.GeoDistance("L", seattle).Ge(1)),
		"geo.intersects(L, geography'POLYGON((0 0, 10 0, 10 5, 0 0))')":                  search.GeoIntersects("L", corners...),
		"geo.intersects(M, geography'POLYGON((0 0, 10 0, 10 5, 0 0))')":                  search.GeoIntersects("M", corners[0], corners[2], corners[1], corners[0]),
		"geo.intersects(N, geography'POLYGON((170 0, -170 0, -170 10, 170 10, 170 0))')": search.GeoIntersects("N", models.GeographyPoint{Longitude: 170}, models.GeographyPoint{Longitude: 170, Latitude: 10}, models.GeographyPoint{Longitude: -170, Latitude: 10}, models.GeographyPoint{Longitude: -170}),
		"search.ismatch('a''b')":                                  search.IsMatch("a'b", nil),
		"search.ismatchscoring('\"a b\"~5', 'Name,Address/City')": search.IsMatchScoring(`"a b"~5`, &search.IsMatchOptions{SearchFields: []string{"Name", "Address/City"}}),
		"search.ismatch('x', 'Name', 'full', 'any') or search.ismatch('x', 'Name', 'simple', 'all')": search.Or(
			search.IsMatch("x", &search.IsMatchOptions{SearchFields: []string{"Name"}, FullSyntax: true}),
			search.IsMatch("x", &search.IsMatchOptions{SearchFields: []string{"Name"}, AllTerms: true})),

		"id eq 'a'":                        search.In("id", "a", "a"),
		"id eq 2":                          search.In("id", 2),
		"search.in(id, 'a,b', ',')":        search.In("id", "a", "b"),
		"search.in(g, 'a|b,c|it''s', '|')": search.In("g", grade("a"), "b,c", "it's"),
		"search.in(h, 'a,b', ',') or h eq '' or h eq ' c'": search.In("h", "a", "", "b", " c"),
		"i eq 1 or i eq null":                              search.In[any]("i", 1, nil, 1),
	} {
		require.NoError(t, filter.Err(), want)
		assert.Equal(t, want, filter.String())
		assert.Equal(t, want == "", filter.IsZero())
	}
}

// The service refuses a constant in a lambda, which an empty list produces there.
func TestConstantsAreFolded(t *testing.T) {
	c := search.IsTrue("c")
	nowhere, everywhere := search.In[string]("j"), search.Not(search.Or())
	for name, folded := range map[string]struct {
		filter search.Filter
		want   string
	}{
		"no value of a list":                         {nowhere, "false"},
		"not that":                                   {everywhere, "true"},
		"not not that":                               {search.Not(everywhere), "false"},
		"and nowhere":                                {search.And(c, nowhere), "false"},
		"and everywhere":                             {search.And(c, everywhere), "c"},
		"and nothing but everywhere":                 {search.And(everywhere, search.Filter{}, everywhere), "true"},
		"or nowhere":                                 {search.Or(nowhere, c), "c"},
		"or nothing but nowhere":                     {search.Or(nowhere, nowhere), "false"},
		"or everywhere":                              {search.Or(c, everywhere), "true"},
		"an element of no list":                      {search.Any("groups", "g", search.In[string]("g")), "false"},
		"an element of any value":                    {search.Any("groups", "g", search.Not(search.In[string]("g"))), "groups/any()"},
		"all elements of no list":                    {search.All("groups", "g", search.In[string]("g")), "not groups/any()"},
		"all elements of any value":                  {search.All("groups", "g", search.Not(search.In[string]("g"))), "true"},
		"a condition with a list":                    {search.Any("r", "x", search.And(search.IsTrue("x/a"), search.Or(search.In[int]("x/b"), search.IsTrue("x/c")))), "r/any(x: x/a and x/c)"},
		"documents visible to a user without groups": {search.Or(search.Any("groups", "g", search.In[string]("g")), c), "c"},
		"a constant inside of two lambdas":           {search.Any("a", "x", search.Any("x/b", "y", search.In[string]("y"))), "false"},
	} {
		require.NoError(t, folded.filter.Err(), name)
		assert.Equal(t, folded.want, folded.filter.String(), name)
		assert.False(t, folded.filter.IsZero(), name)
	}
	for name, wrong := range map[string]search.Filter{
		"beside a constant": search.And(search.Eq("a b", 1), nowhere), "behind one": search.Or(everywhere, search.Eq("a b", 1)),
		"around one": search.Any("a b", "x", nowhere), "a variable": search.All("a", "true", everywhere),
	} {
		assert.Error(t, wrong.Err(), name)
	}
}

func TestWhatIsWrongWithAFilterIsKept(t *testing.T) {
	var pointer **string
	inner := new(string)
	pointer = &inner
	for name, c := range map[string]struct {
		filter search.Filter
		want   []string
	}{
		"a type that has no literal":     {search.Eq("a", opaque{}), []string{"a search_test.opaque is not a value that filters can hold"}},
		"a slice":                        {search.Eq("a", []string{"x"}), []string{"a []string is not a value"}},
		"a pointer to a pointer":         {search.Eq("a", pointer), []string{"a **string is not a value"}},
		"a type with its own JSON":       {search.Eq("a", shade(1)), []string{"its own form in JSON"}},
		"a text that fails":              {search.Eq("a", tint(0)), []string{"MarshalText of a search_test.tint: no tint"}},
		"a number beyond an Int64":       {search.Eq("a", uint64(math.MaxUint64)), []string{"more than an Edm.Int64 holds"}},
		"no number":                      {search.Eq("a", json.Number("1 or true")), []string{`json.Number("1 or true") is not a number`}},
		"a literal that is not a number": {search.Eq("a", json.Number("true")), []string{"is not a number"}},
		"an empty number":                {search.Eq("a", json.Number("")), []string{"is not a number"}},
		"a year beyond 9999":             {search.Eq("a", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), []string{"the year of a time is 10000"}},
		"a year before 1":                {search.Eq("a", time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC)), []string{"the year of a time is 0"}},
		"a point":                        {search.Eq("a", seattle), []string{"see GeoDistance"}},
		"an order of null":               {search.Gt("a", nil), []string{"null has no order"}},
		"an order of booleans":           {search.Le("a", true), []string{"booleans have no order"}},
		"bytes that are not text":        {search.Eq("a", "x\xff"), []string{"is not valid UTF-8"}},
		"a path with spaces, and more": {
			search.And(search.Eq("a eq 1 or b", 1), search.Eq("", 1), search.Eq("a//b", 1), search.Eq("1a", 1), search.Eq("true", 1), search.IsTrue("null"), search.IsTrue("a'b")),
			[]string{`the path "a eq 1 or b"`, "the path of a field is empty", `the path "a//b"`, `the path "1a"`, `the path "true"`, `the path "null"`, `the path "a'b"`},
		},
		"both sides":                   {search.Eq("a b", opaque{}), []string{`the path "a b"`, "search_test.opaque"}},
		"a bad value in a list":        {search.In[any]("a", 1, opaque{}, "\xff"), []string{"value 2: a search_test.opaque", "value 3: "}},
		"an empty list of a bad path":  {search.In[int]("a b"), []string{`the path "a b"`}},
		"any document, or another":     {search.Or(search.Eq("a", 1), search.Filter{}), []string{"operand 2 of Or is the zero Filter"}},
		"not any document":             {search.Not(search.Filter{}), []string{"the operand of Not is the zero Filter"}},
		"any element at all":           {search.Any("Tags", "t", search.Filter{}), []string{"use NotEmpty"}},
		"a range variable":             {search.All("Tags", "t: true or t", search.Eq("t", 1)), []string{`the range variable "t: true or t"`}},
		"a range variable that is not": {search.All("Tags", "not", search.Eq("t", 1)), []string{`the range variable "not"`}},
		"deep inside":                  {search.Not(search.Any("a", "b", search.And(search.Eq("c", 1), search.Eq("d", opaque{})))), []string{"search_test.opaque"}},
		"a point off the globe":        {search.GeoDistance("a b", models.GeographyPoint{Longitude: math.NaN()}).Lt(math.Inf(1)), []string{`the path "a b"`, "not a GeoJSON point", "a distance is +Inf kilometres"}},
		"a negative distance":          {search.GeoDistance("a", seattle).Ge(-1), []string{"a distance is -1 kilometres"}},
		"no distance":                  {search.Distance{}.Ge(1), []string{"not made by GeoDistance"}},
		"a polygon of two corners":     {search.GeoIntersects("a", seattle, seattle, models.GeographyPoint{}, seattle), []string{"it has 2 corners"}},
		"a polygon on a line":          {search.GeoIntersects("a", models.GeographyPoint{}, models.GeographyPoint{Longitude: 1}, models.GeographyPoint{Longitude: 2}), []string{"it encloses nothing"}},
		"a polygon around a pole":      {search.GeoIntersects("a", models.GeographyPoint{Latitude: 80}, models.GeographyPoint{Longitude: 120, Latitude: 80}, models.GeographyPoint{Longitude: -120, Latitude: 80}), []string{"it goes around a pole"}},
		"a polygon off the globe":      {search.GeoIntersects("a b", seattle, seattle, models.GeographyPoint{Latitude: 91}), []string{`the path "a b"`, "corner 3: "}},
		"options without fields":       {search.IsMatch("x", &search.IsMatchOptions{AllTerms: true}), []string{"need SearchFields"}},
		"a field name with a comma":    {search.IsMatch("\xff", &search.IsMatchOptions{SearchFields: []string{"a,b"}}), []string{"not valid UTF-8", `the path "a,b"`}},
		"raw text that closes more":    {search.And(search.Eq("a", 1), search.RawFilter("b) or (true")), []string{`position 1 of "b) or (true" closes nothing`}},
		"raw text that is not closed":  {search.RawFilter("(a or (b)"), []string{"the parenthesis at position 0"}},
		"raw text with half a string":  {search.RawFilter("a eq 'it''s"), []string{"the string that begins at position 5"}},
		"raw bytes":                    {search.RawFilter("\xff"), []string{"the text of a filter is not valid UTF-8"}},
	} {
		t.Run(name, func(t *testing.T) {
			var invalid *search.InvalidFilterError
			err := c.filter.Err()
			require.ErrorAs(t, err, &invalid)
			require.Len(t, invalid.Problems, len(c.want), "%v", err)
			for i, want := range c.want {
				assert.ErrorContains(t, invalid.Problems[i], want)
			}
			assert.True(t, errors.Is(err, invalid.Problems[0]))
			assert.True(t, strings.HasPrefix(c.filter.String(), "!invalid filter: "), "the text is not a filter")
			assert.False(t, c.filter.IsZero(), "an invalid filter is not the zero filter")
			for _, outer := range []search.Filter{search.And(c.filter, search.Eq("z", 1)), search.Or(c.filter), search.Not(c.filter), search.All("a", "b", c.filter)} {
				require.Error(t, outer.Err(), "a broken part breaks the whole")
			}
		})
	}
}

func TestDeepFiltersNeedNoStack(t *testing.T) {
	const deep = 200_000
	filter := search.IsTrue("a")
	for range deep {
		filter = search.Not(filter)
	}
	assert.Len(t, filter.String(), len("a")+deep*len("not ")+(deep-1)*len("()"))
	filter = search.IsTrue("a")
	for range deep {
		filter = search.Or(filter, search.IsTrue("b"))
	}
	assert.Len(t, filter.String(), len("a")+deep*len(" or b"))
}

// Strings that each contain a delimiter are still combined into few conditions.
func TestListsAreSpreadOverDelimiters(t *testing.T) {
	const delimiters = ",|;~^#!&:/$@"
	values := []string{"a", "b", delimiters}
	for _, d := range delimiters {
		values = append(values, "x"+string(d))
	}
	filter := search.In("id", values...)
	require.NoError(t, filter.Err())
	assert.Equal(t, `search.in(id, 'a,b,x|,x;,x~,x^,x#,x!,x&,x:,x/,x$,x@', ',') or id eq 'x,' or id eq ',|;~^#!&:/$@'`, filter.String())

	long := make([]string, 10_000)
	for i := range long {
		long[i] = fmt.Sprintf("key-%d", i)
	}
	assert.Equal(t, 1, strings.Count(search.In("id", long...).String(), "search.in("))
}

// An independent parser reads random filters.
func TestFiltersMeanWhatWasBuilt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		filter, tree := drawFilter(t, 5)
		if err := filter.Err(); err != nil {
			t.Fatal(err)
		}
		got, err := parseFilter(filter.String())
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != tree.String() {
			t.Fatalf("%s\nmeans %v\nnot   %v", filter, got, tree)
		}
		if text := filter.String(); strings.Contains(text, "((") && !strings.Contains(text, "'") {
			t.Fatalf("too many parentheses: %s", text)
		}
	})
}

// drawFilter returns a random filter and its meaning.
func drawFilter(t *rapid.T, depth int) (search.Filter, filterTree) {
	kinds := []string{"eq", "in", "bool", "geo", "match", "format"}
	if depth > 0 {
		kinds = append(kinds, "and", "or", "not", "any", "all", "raw", "and", "or")
	}
	operands := func() (filters []search.Filter, trees []filterTree) {
		for range rapid.IntRange(2, 4).Draw(t, "operands") {
			f, tree := drawFilter(t, depth-1)
			filters, trees = append(filters, f), append(trees, tree)
		}
		return filters, trees
	}
	path := rapid.SampledFrom([]string{"a", "b/c", "any", "_all/x", "and", "eq"}).Draw(t, "path")
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "eq":
		s := rapid.String().Draw(t, "s")
		return search.Eq(path, s), filterTree{op: fmt.Sprintf("%s eq %q", path, s)}
	case "format":
		s := rapid.String().Draw(t, "s")
		return search.Filterf("x lt %s", s), filterTree{op: fmt.Sprintf("x lt %q", s)}
	case "in":
		return search.In(path, "u", "v"), filterTree{op: path[:0] + `search.in<` + path + `|"u,v"|",">`}
	case "geo":
		return search.GeoDistance(path, seattle).Lt(1), filterTree{op: `geo.distance<` + path + `|geography"POINT(-122.33 47.6)"> lt 1`}
	case "match":
		s := rapid.String().Draw(t, "s")
		return search.IsMatch(s, nil), filterTree{op: fmt.Sprintf("search.ismatch<%q>", s)}
	case "and":
		filters, trees := operands()
		return search.And(filters...), filterTree{"and", trees}
	case "or":
		filters, trees := operands()
		return search.Or(filters...), filterTree{"or", trees}
	case "not":
		f, tree := drawFilter(t, depth-1)
		return search.Not(f), filterTree{"not", []filterTree{tree}}
	case "any", "all":
		f, tree := drawFilter(t, depth-1)
		build := search.Any
		if kind == "all" {
			build = search.All
		}
		return build("z/y", "v", f), filterTree{"z/y " + kind + " v", []filterTree{tree}}
	case "raw":
		f, tree := drawFilter(t, depth-1)
		return search.RawFilter(f.String()), tree
	}
	return search.IsTrue("b0"), filterTree{op: "b0"}
}

func TestOrdersByDistanceAreBuilt(t *testing.T) {
	near := search.GeoDistance("Location", seattle)
	assert.Equal(t, "geo.distance(Location, geography'POINT(-122.33 47.6)') asc", near.Asc())
	assert.Equal(t, "geo.distance(Location, geography'POINT(-122.33 47.6)') desc", near.Desc())
	for says, order := range map[string]string{
		`OrderBy: clause 0: the path "a b"`:                 search.GeoDistance("a b", seattle).Asc(),
		"OrderBy: clause 0: distance from \"L\"":            search.GeoDistance("L", models.GeographyPoint{Latitude: 91}).Desc(),
		"OrderBy: clause 0: a distance was not made by Geo": search.Distance{}.Asc(),
	} {
		_, err := sent(t, "", "x", &search.SearchOptions{OrderBy: []string{order}})
		require.ErrorContains(t, err, says)
	}
}
