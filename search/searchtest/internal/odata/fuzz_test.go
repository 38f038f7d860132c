package odata

import (
	"errors"
	"testing"
	"unicode/utf8"
)

var fuzzSeeds = []string{
	"Rating ge 3 and (HotelName ne 'it''s' or not Parking) or Rooms/any(r: r/Rate lt 1e2 and r/Tags/all(t: t ne 'x'))",
	"search.in(Category, 'a|b', '|') and geo.distance(Location, geography'POINT(-122.1 47.6)') le 5.5",
	"geo.intersects(Location, geography'POLYGON((0 0, 1 0, 1 1, 0 0))') eq true or Price ne NaN or Price gt -INF",
	"search.ismatchscoring('a', 'HotelName', 'full', 'all') and Renovated lt 2010-01-01T00:00:00.123+02:00",
	"Visits eq 9223372036854775808 and Visits gt -1.5m and 3L lt Rating and Price eq 1.5f and Rating eq 0xff",
	"HotelId eq 3f2504e0-4f89-11d3-9a0c-0305e82c3301 or 12:30:00 eq a or [1,{}] has @x.y",
	"Rating desc,search.score(),geo.distance(Location,geography'POINT(0 0)') asc", "HotelId,Address/City,*", "Rooms/$count",
}

// checkRefusal checks that an error is a refusal with valid text.
func checkRefusal(t *testing.T, text string, err error) {
	var refusal *Error
	if err == nil {
		return
	}
	if !errors.As(err, &refusal) || refusal.Message == "" || utf8.ValidString(text) && !utf8.ValidString(refusal.Message) {
		t.Fatalf("%q: %v", text, err)
	}
}

func FuzzCompileFilter(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	doc := encode(hotelFields, document{
		"HotelName": "it's", "Rating": int64(4), "Price": 2.5, "Location": point{1, 1}, "Tags": words("x"),
		"Rooms": []any{document{"Rate": 5.0, "Tags": words("tv")}}, "Scores": []any{int64(1)},
	})
	all := scores{}
	for range maxClauses {
		all = append(all, map[uint32]float64{1: 1})
	}
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := CompileFilter(text, hotel)
		checkRefusal(t, text, err)
		if err != nil {
			return
		}
		// A filter and its negation are never both true.
		matched := filter.Match(doc, 1, all)
		if _, ok := filter.Score(doc, 1, all); ok != matched {
			t.Fatalf("%q: match %t, score %t", text, matched, ok)
		}
		opposite, err := CompileFilter("not ("+text+")", hotel)
		if err != nil && err.Error() != tooDeep {
			t.Fatalf("%q can be compiled, its negation not: %v", text, err)
		}
		if err == nil && opposite.Match(doc, 1, all) == matched {
			t.Fatalf("%q is the same as its negation", text)
		}
	})
}

func FuzzCompileOrder(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	a := Row{ID: 1, Score: 1, Document: encode(hotelFields, document{"HotelName": "a", "Rating": int64(4)})}
	b := Row{ID: 2, Score: 1, Document: encode(hotelFields, document{"HotelName": "b", "Price": 2.5, "Location": point{1, 1}})}
	f.Fuzz(func(t *testing.T, text string) {
		order, err := CompileOrder(text, hotel)
		checkRefusal(t, text, err)
		if err == nil && order.Compare(a, b) != -order.Compare(b, a) {
			t.Fatalf("%q: not an order", text)
		}
	})
}

func FuzzCompileSelect(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		paths, err := CompileSelect(text, hotel.Fields)
		checkRefusal(t, text, err)
		for _, path := range paths {
			if len(path) == 0 {
				t.Fatalf("%q: a path of nothing", text)
			}
		}
	})
}
