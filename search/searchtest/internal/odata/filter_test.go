package odata

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

func TestFiltersEvaluateAsDocumented(t *testing.T) {
	d := document{
		"HotelId": "1", "HotelName": "Alice's", "Rating": int64(4), "Visits": int64(1<<53 + 1), "Price": 3.5,
		"Parking": true, "Renovated": date("2010-06-27T00:00:00Z"), "Tags": words("wifi", "Pool"),
		"Address": document{"City": "Paris", "Country": nil},
		"Rooms": []any{
			document{"Type": "Deluxe", "Rate": 150.0, "Smoking": false, "Tags": words("tv")},
			document{"Type": "Budget", "Rate": 50.0, "Smoking": true},
		},
	}
	rows := []struct {
		filter string
		want   bool
	}{
		{"true", true},
		{"false", false},
		{"Rating ge 4 and Rating le 4", true},
		{"4 lt Rating", false},
		{"3 lt Rating", true},
		{"Rating gt 3.5", true},
		{"Rating eq 4.0", true},
		{"Rating eq 4.5", false},
		{"Rating ne 4.5", true},
		{"Rating lt 1e300", true},
		{"Rating gt -1e300", true},
		{"Rating eq 1e300", false},
		{"Visits eq 9007199254740993", true},
		{"Visits eq 9007199254740992.0", false}, // equal if they were doubles
		{"Visits gt 9007199254740992.0", true},
		{"Visits gt 9007199254740992.5", true},
		{"Visits ge 9007199254740993.5", false},
		{"Visits lt 9223372036854775808", true},
		{"Price eq 3.5", true},
		{"Price gt 3", true},
		{"Price lt INF", true},
		{"Price ne NaN", true},
		{"Price eq NaN", false},
		{"HotelName eq 'Alice''s'", true},
		{"HotelName eq 'alice''s'", false},
		{"HotelName gt 'Alice'", true},
		{"'B' gt HotelName", true},
		{"Renovated ge 2010-06-27T02:00+02:00", true},
		{"Renovated lt 2010-06-26T23:59:59.999Z", false},
		{"Parking", true},
		{"not Parking", false},
		{"Parking eq true and Parking ne false", true},

		// Null, also for a field that was never set.
		{"Category eq null", true},
		{"Category ne null", false},
		{"null eq HotelName", false},
		{"Category eq 'x'", false},
		{"Category ne 'x'", true},
		{"Category gt 'x'", false},
		{"not (Category gt 'x')", true},
		{"search.in(Category, 'x')", false},
		{"Address/Country/Code eq null", true},
		{"geo.distance(Location, geography'POINT(0 0)') lt 1e9", false},
		{"not (geo.distance(Location, geography'POINT(0 0)') lt 1e9)", true},

		{"Address/City eq 'Paris'", true},
		{"Tags/any()", true},
		{"Scores/any()", false},
		{"not Scores/any()", true},
		{"Tags/any(t: t eq 'wifi')", true},
		{"Tags/any(t: t eq 'pool')", false},
		{"Tags/all(t: t ne 'pool')", true},
		{"Scores/all(t: t gt 5)", true},
		{"Scores/any(t: t gt 5)", false},
		{"Rooms/any(r: r/Type eq 'Deluxe' and r/Rate lt 100)", false}, // both conditions hold for one room
		{"Rooms/any(r: r/Type eq 'Budget' and r/Rate lt 100)", true},
		{"Rooms/all(r: r/Rate lt 200)", true},
		{"Rooms/all(r: not r/Smoking)", false},
		{"Rooms/any(r: r/Tags/any(t: t eq 'tv'))", true},
		{"Rooms/all(r: r/Tags/any(t: t eq 'tv'))", false},
		{"Rooms/all(r: r/Tags/all(t: t ne 'radio'))", true},
		{"Rooms/any(Rating: Rating/Type eq 'Budget')", true}, // a variable hides a field

		{"search.in(HotelId, '3, 2,1')", true},
		{"search.in(HotelId, '3|1', '|')", true},
		{"search.in(HotelId, '3|1')", false},
		{"search.in(HotelName, 'Alice''s|Bob''s', '|')", true},
		{"search.in(HotelId, '')", false},
		{"search.in(HotelId, '1') eq false", false},
		{"false eq search.in(HotelId, '2')", true},
		{"search.in(HotelId, '2') ne true", true},

		// and binds tighter than or.
		{"true or true and false", true},
		{"(true or true) and false", false},
		{"not false and false", false},
		{"not (false and false)", true},
		{" Rating\teq\n4 ", true},
	}
	for _, row := range rows {
		assert.Equal(t, row.want, passes(t, row.filter, d), row.filter)
	}
}

func TestTheEdgesOfInt64AreNotCrossed(t *testing.T) {
	texts := []string{
		"-9223372036854775809", "-9223372036854775808", "-9223372036854775807.5", "-9223372036854775808.5", "-0.5", "0", "0.5",
		"9223372036854775806.5", "9223372036854775807", "9223372036854775807.5", "9223372036854775808", "1e19", "-1e19", "5e18",
	}
	values := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, 5e18, math.MaxInt64 - 1, math.MaxInt64}
	for _, text := range texts {
		p, err := newParser(text)
		require.NoError(t, err)
		v, err := p.parseLiteral()
		require.NoError(t, err)
		exact, ok := parseDecimal(text)
		if !ok {
			exact = new(big.Rat).SetFloat64(v.float)
		}
		for _, value := range values {
			sign := new(big.Rat).SetInt64(value).Cmp(exact)
			for op, want := range map[string]bool{"eq": sign == 0, "ne": sign != 0, "gt": sign > 0, "ge": sign >= 0, "lt": sign < 0, "le": sign <= 0} {
				filter := fmt.Sprintf("Visits %s %s", op, text)
				assert.Equal(t, want, passes(t, filter, document{"Visits": value}), "%s of %d", filter, value)
			}
		}
	}
}

func TestNormalizersAreAppliedToBothSides(t *testing.T) {
	o := &Options{Fields: hotel.Fields, Normalize: func(f *stored.Field) func(string) string {
		if f.Name == "HotelName" || f.Name == "Tags" {
			return strings.ToLower
		}
		return nil
	}}
	doc := encode(hotelFields, document{"HotelName": "ALICE", "Category": "A", "Tags": words("WiFi")})
	for filter, want := range map[string]bool{
		"HotelName eq 'Alice'":          true,
		"HotelName ne 'alice'":          false,
		"search.in(HotelName, 'Alice')": true,
		"Tags/any(t: t eq 'WIFI')":      true,
		"Category eq 'a'":               false,
	} {
		f, err := CompileFilter(filter, o)
		require.NoError(t, err)
		assert.Equal(t, want, f.Match(doc, 0, nil), filter)
	}
}

// scores has the matching documents and their scores for each call.
type scores []map[uint32]float64

func (s scores) Matches(call int, id uint32) bool {
	_, ok := s[call][id]
	return ok
}

func (s scores) Score(call int, id uint32) float64 { return s[call][id] }

func TestFullTextCallsAreListedAndAsked(t *testing.T) {
	f, err := CompileFilter("search.ismatchscoring('hostel') and Rating ge 4 or search.ismatchscoring('\"a b\"~5', 'HotelName, Address/City', 'full', 'all') and Rating eq 5 or not search.ismatch('x', '')", hotel)
	require.NoError(t, err)
	require.Equal(t, []Match{
		{Text: "hostel", Scoring: true},
		{
			Text: `"a b"~5`, Fields: []*stored.Field{hotel.Fields["HotelName"], hotel.Fields["Address"].ByName["City"]},
			Paths: []string{"HotelName", "Address/City"}, Full: true, All: true, Scoring: true,
		},
		{Text: "x"},
	}, f.Matches())

	s := scores{{1: 1, 2: 2, 3: 4, 4: 8}, {1: 16, 2: 32, 4: 64}, {1: 0, 2: 0, 4: 0}}
	rows := []struct {
		id     uint32
		rating int64
		ok     bool
		score  float64
	}{
		{1, 5, true, 17},
		{2, 4, true, 2},  // the second call matches, but its rating does not
		{3, 1, true, 0},  // matches through a condition without score
		{4, 1, false, 0}, // matches no condition
	}
	for _, row := range rows {
		doc := encode(hotelFields, document{"Rating": row.rating})
		score, ok := f.Score(doc, row.id, s)
		assert.Equal(t, row.ok, ok, row.id)
		assert.Equal(t, row.score, score, row.id)
		assert.Equal(t, row.ok, f.Match(doc, row.id, s), row.id)
	}

	f, err = CompileFilter("search.ismatch('a')", hotel)
	require.NoError(t, err)
	score, ok := f.Score(nil, 2, s)
	assert.True(t, ok)
	assert.Zero(t, score)
}

func TestMatchingAllocatesNothing(t *testing.T) {
	f, err := CompileFilter("Rating ge 3 and (HotelName ne 'x' or Parking) and search.in(Category, 'a,b,c') and Rooms/any(r: r/Rate lt 100 and r/Tags/any(t: t eq 'tv')) and geo.distance(Location, geography'POINT(0 0)') lt 1e9", hotel)
	require.NoError(t, err)
	doc := encode(hotelFields, document{
		"Rating": int64(4), "HotelName": "n", "Category": "b", "Location": point{1, 2},
		"Rooms": []any{document{"Rate": 5.0, "Tags": words("tv")}},
	})
	require.True(t, f.Match(doc, 1, nil))
	assert.Zero(t, testing.AllocsPerRun(100, func() { f.Match(doc, 1, nil) }))
}

func TestTenThousandValuesAreOneClause(t *testing.T) {
	var list strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&list, "%d,", i)
	}
	assert.True(t, passes(t, "search.in(HotelId, '"+list.String()+"')", document{"HotelId": "9999"}))
	assert.False(t, passes(t, "search.in(HotelId, '"+list.String()+"')", document{"HotelId": "10000"}))
}
