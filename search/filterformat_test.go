package search_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func TestFormatsAreFilledWithLiterals(t *testing.T) {
	name := "x'y"
	for want, filter := range map[string]search.Filter{
		"":                                            search.Filterf(""),
		"Rating ge 4 and HotelName eq 'O''Hara'":      search.Filterf("Rating ge %d and HotelName eq %s", 4, "O'Hara"),
		"a eq 0.5 and b eq true":                      search.Filterf("a eq %g and b eq %t", 0.5, true),
		"a eq 'first' and b eq 5":                     search.Filterf("a eq %s and b eq %d", grade("first"), stars(5)),
		"a eq 'x''y' or a eq null":                    search.Filterf("a eq %v or a eq %v", &name, nil),
		"a ge 2024-01-02T01:04:05.678Z":               search.Filterf("a ge %v", at),
		"a eq 1.50":                                   search.Filterf("a eq %v", json.Number("1.50")),
		"a ne NaN":                                    search.Filterf("a ne %g", math.NaN()),
		"(a eq 1 or b) and ((c))":                     search.Filterf("%v and (%v)", search.RawFilter("a eq 1 or b"), search.IsTrue("c")),
		"search.in(a,'x,y',',')":                      search.Filterf("search.in(a,%s,%s)", "x,y", ","),
		"a eq '100%' and b eq 'it''s'":                search.Filterf("a eq '100%%' and b eq 'it''s'"),
		"geo.distance(L, geography'POINT(1 2)') le 3": search.Filterf("geo.distance(L, %v) le %d", models.GeographyPoint{Longitude: 1, Latitude: 2}, 3),
	} {
		require.NoError(t, filter.Err(), want)
		assert.Equal(t, want, filter.String())
	}
	assert.Equal(t, "(a or 'b' eq c) and d", search.And(search.Filterf("a or %s eq c", "b"), search.IsTrue("d")).String(), "a format is not looked into")
}

// unchecked hides Filterf from go vet, which would report these formats.
var unchecked = search.Filterf

func TestEverythingWrongWithAFormatIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		filter search.Filter
		want   []string
	}{
		"in a string":            {unchecked("a eq '%s'", "x"), []string{`%s at position 6 of "a eq '%s'": it stands inside a string`}},
		"in a point":             {unchecked("geo.distance(a, geography'POINT(%g %g)') lt 1", 1.0, 2.0), []string{"inside a string", "inside a string"}},
		"part of a word":         {unchecked("a%d eq b%d", 1, 2), []string{"it must stand alone", "it must stand alone"}},
		"before a quote":         {unchecked("%s'x'", "a"), []string{"it must stand alone"}},
		"with a width":           {unchecked("a eq %5d and b eq %[1]d and c eq %.2f", 1, 2, 3.0), []string{"%5d", "%[1]d", "%.2f"}},
		"unknown":                {unchecked("a eq %q and b eq %x", "a", 1), []string{"%q at position 5", "%x at position 17"}},
		"a percent sign":         {unchecked("a eq 5%% and b"), []string{"means nothing outside of strings"}},
		"at the end":             {unchecked("a eq %"), []string{"the verbs are"}},
		"too few arguments":      {unchecked("a eq %d and b eq %d and c eq %d", 1), []string{"there are only 1 arguments", "there are only 1 arguments"}},
		"too many":               {unchecked("a eq %d", 1, 2, 3), []string{"3 arguments for 1 verbs"}},
		"arguments for nothing":  {unchecked("", 1), []string{"1 arguments for 0 verbs"}},
		"not a string":           {unchecked("a eq %s", 1), []string{"the argument is a int: use %d"}},
		"not a number":           {unchecked("a eq %d and b eq %d", "1", 1.0), []string{"use %s", "use %g"}},
		"not a float or boolean": {unchecked("a eq %g and b eq %t", 1, "true"), []string{"use %d", "use %s"}},
		"a time as a string":     {unchecked("a eq %s", at), []string{"the argument is a time.Time: use %v"}},
		"nil as a string":        {unchecked("a eq %s", nil), []string{"use %v"}},
		"a list":                 {unchecked("search.in(a, %v)", []string{"x"}), []string{"put the Filter of In there"}},
		"a filter as a string":   {unchecked("%s or a", search.IsTrue("b")), []string{"use %v for a Filter"}},
		"no filter":              {unchecked("%v or a", search.Filter{}), []string{"the argument is the zero Filter"}},
		"a broken filter":        {unchecked("%v or a", search.IsTrue("")), []string{"the path of a field is empty"}},
		"a bad value":            {unchecked("a eq %s or %v", "\xff", opaque{}), []string{"not valid UTF-8", "opaque is not a value"}},
		"parentheses, and more":  {unchecked("(a eq %d", "x", 1), []string{"is not closed", "use %s", "2 arguments for 1 verbs"}},
	} {
		t.Run(name, func(t *testing.T) {
			var invalid *search.InvalidFilterError
			require.ErrorAs(t, c.filter.Err(), &invalid)
			require.Len(t, invalid.Problems, len(c.want), "%v", invalid)
			for i, want := range c.want {
				assert.ErrorContains(t, invalid.Problems[i], want)
			}
		})
	}
}
