package odata

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// sorted sorts documents and returns their ids, which are their indices in the argument.
func sorted(t *testing.T, orderby string, documents ...document) []uint32 {
	t.Helper()
	o, err := CompileOrder(orderby, hotel)
	require.NoError(t, err, orderby)
	top := NewTop(o, len(documents))
	for i, d := range documents {
		score, _ := d["@search.score"].(float64)
		top.Add(Row{ID: uint32(i), Score: score, Document: encode(hotelFields, d)})
	}
	var ids []uint32
	for _, r := range top.Rows() {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestOrdersSortAsDocumented(t *testing.T) {
	number := func(n int64) document { return document{"Rating": n, "HotelId": string(rune('0' + n))} }
	// Ascending order puts nulls first, descending order last; for geo.distance it is the reverse.
	assert.Equal(t, []uint32{1, 2, 0}, sorted(t, "Rating", number(3), document{}, number(2)))
	assert.Equal(t, []uint32{0, 2, 1}, sorted(t, "Rating desc", number(3), document{}, number(2)))
	far, near, nowhere := document{"Location": point{20, 0}}, document{"Location": point{1, 0}}, document{}
	assert.Equal(t, []uint32{1, 0, 2}, sorted(t, "geo.distance(Location, geography'POINT(0 0)')", far, near, nowhere))
	assert.Equal(t, []uint32{2, 0, 1}, sorted(t, "geo.distance(geography'POINT(0 0)', Location) desc", far, near, nowhere))

	// Strings are ordered by code points.
	text := func(s string) document { return document{"HotelName": s} }
	assert.Equal(t, []uint32{0, 2, 1, 4, 3, 5}, sorted(t, "HotelName asc", text("1"), text("2"), text("10"), text("a"), text("Z"), text("é")))

	// Ties are broken by score, then by id.
	score := func(s float64, n int64) document { return document{"@search.score": s, "Rating": n} }
	assert.Equal(t, []uint32{3, 1, 0, 2}, sorted(t, "Rating", score(1, 2), score(3, 2), score(1, 2), score(0, 1)))
	assert.Equal(t, []uint32{1, 0, 2, 3}, sorted(t, "search.score() desc", score(1, 2), score(3, 2), score(1, 2), score(0, 1)))
	assert.Equal(t, []uint32{3, 0, 2, 1}, sorted(t, "search.score()", score(1, 2), score(3, 2), score(1, 2), score(0, 1)))
	assert.Equal(t, []uint32{1, 3, 0, 2}, sorted(t, "Rating desc,search.score() desc, HotelName", score(1, 2), score(3, 4), score(1, 2), score(0, 4)))

	price := func(f float64) document { return document{"Price": f} }
	assert.Equal(t, []uint32{1, 4, 0, 3, 5, 2}, sorted(t, "Price", price(0), price(math.Inf(-1)), price(math.NaN()), price(1), price(-2), price(math.Inf(1))))
	assert.Equal(t, []uint32{1, 2, 0}, sorted(t, "Address/City desc", document{}, document{"Address": document{"City": "b"}}, document{"Address": document{"City": "a"}}))
	assert.Equal(t, []uint32{1, 0}, sorted(t, "Parking", document{"Parking": true}, document{"Parking": false}))
	assert.Equal(t, []uint32{1, 0}, sorted(t, "Renovated", document{"Renovated": int64(5)}, document{"Renovated": int64(-5)}))
	assert.Equal(t, []uint32{1, 0}, sorted(t, "Visits", document{"Visits": int64(math.MaxInt64)}, document{"Visits": int64(math.MinInt64)}))
}

func TestOrdersAreRefusedInTheWordsOfTheService(t *testing.T) {
	rows := []struct{ orderby, message string }{
		{"This is not a valid orderby.", "Syntax error at position 7 in 'This is not a valid orderby.'."}, // recorded
		{"HotelName+desc", "Syntax error: character '+' is not valid at position 9 in 'HotelName+desc'."},
		{"_ts", "Could not find a property named '_ts' on type 'search.document'."},
		{"Description", "'Description' is not a sortable field. Only sortable fields can be used in $orderby."},
		{"['DateUploaded desc']", "Expression expected at position 0 in '['DateUploaded desc']'."},
		{"'Rating'", "Sorting on literal values is not supported in $orderby."},
		{"5 desc", "Sorting on literal values is not supported in $orderby."},
		{"Rating,", "Expression expected at position 7 in 'Rating,'."},
		{"Rating up", "Syntax error at position 9 in 'Rating up'."},
		{"Rooms/Rate", "The parent value for a property access of a property 'Rate' is not a single value. Property access can only be applied to a single value."},
		{"Tags", "The $orderby expression must evaluate to a single value of primitive type."},
		{"Address", "The $orderby expression must evaluate to a single value of primitive type."},
		{"Rating gt 5", "Only fields and the functions 'geo.distance' and 'search.score' are supported in $orderby."},
		{"Location", "Sorting on the field 'Location' of type 'Edm.GeographyPoint' is not supported. Use the function 'geo.distance'."},
		{"search.score('x')", "No function signature for the function with name 'search.score' matches the specified arguments. The function signatures considered are: search.score()."},
		{"search.in(HotelName, 'x')", "The function 'search.in' is not supported in $orderby."},
		{"tolower(HotelName)", "The function 'tolower' is not supported."},
		{"geo.distance(Places, geography'POINT(0 0)')", "The argument for an invocation of a function with name 'geo.distance' is not a single value. All arguments for this function must be single values."},
		{"geo.distance(Location, geography'POLYGON((0 0, 1 0, 1 1, 0 0))')", "No function signature for the function with name 'geo.distance' matches the specified arguments. The function signatures considered are: geo.distance(Edm.GeographyPoint Nullable=true, Edm.GeographyPoint Nullable=true)."},
		{strings.Repeat("Rating,", 32) + "Rating", "Found 33 clauses in $orderby. At most 32 are allowed."},
	}
	for _, row := range rows {
		_, err := CompileOrder(row.orderby, hotel)
		assert.EqualError(t, err, row.message, row.orderby)
	}
	_, err := CompileOrder(strings.Repeat("Rating,", 31)+"Rating", hotel)
	assert.NoError(t, err)
}

func TestNormalizedFieldsAreSortedByWhatTheyAreNormalizedTo(t *testing.T) {
	o, err := CompileOrder("HotelName", &Options{Fields: hotel.Fields, Normalize: func(*stored.Field) func(string) string { return strings.ToLower }})
	require.NoError(t, err)
	row := func(id uint32, name string) Row {
		return Row{ID: id, Document: encode(hotelFields, document{"HotelName": name})}
	}
	assert.Negative(t, o.Compare(row(1, "a"), row(2, "B")))
	assert.Negative(t, o.Compare(row(1, "A"), row(2, "a")))
}

func TestTopSelectsWhatSortingWouldPutFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clauses := rapid.SliceOfN(rapid.SampledFrom([]string{
			"Rating", "Rating desc", "HotelName", "HotelName desc", "Price", "Price desc", "Parking", "search.score()", "search.score() desc", "Address/City desc",
		}), 0, 3).Draw(t, "orderby")
		o := &Order{}
		if len(clauses) > 0 {
			var err error
			o, err = CompileOrder(strings.Join(clauses, ","), hotel)
			require.NoError(t, err)
		}
		limit := rapid.IntRange(0, 8).Draw(t, "limit")
		top := NewTop(o, limit)
		var rows []Row
		for i := range rapid.IntRange(0, 20).Draw(t, "rows") {
			r := Row{ID: uint32(i), Score: float64(rapid.IntRange(0, 2).Draw(t, "score")), Document: encode(hotelFields, drawHotel(t))}
			rows = append(rows, r)
			top.Add(r)
		}
		slices.SortStableFunc(rows, o.Compare)
		rows = rows[:min(limit, len(rows))]
		require.Equal(t, len(rows), len(top.Rows()))
		for i, r := range top.Rows() {
			require.Equal(t, rows[i].ID, r.ID)
		}
	})
}
