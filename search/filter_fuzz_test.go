package search_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Parsing a literal returns exactly the value it was made from.
func FuzzFilterLiterals(f *testing.F) {
	f.Add("O'Hara", "a,b", int64(1), 0.5, 1.0, 2.0, int64(0), int64(0))
	f.Add("' or true or a eq '", "''", int64(math.MinInt64), math.Inf(1), -180.0, 90.0, int64(1<<40), int64(999999999))
	f.Add("\x00\u2028%d", "|", int64(-1), math.NaN(), 1e-300, -1e-9, int64(-62135596800), int64(-1))
	f.Add("\xff", " ", int64(0), 5e-324, math.NaN(), 91.0, int64(math.MaxInt64), int64(1))
	f.Fuzz(func(t *testing.T, s, u string, n int64, x, longitude, latitude float64, seconds, nanoseconds int64) {
		text := search.Eq("a", s)
		if text.Err() == nil != utf8.ValidString(s) {
			t.Fatalf("%q: %v", s, text.Err())
		}
		if text.Err() == nil {
			want := []filterToken{{kind: "word", text: "a"}, {kind: "word", text: "eq"}, {kind: "quoted", text: s}}
			checkTokens(t, text, want)
			checkTokens(t, search.Filterf("a eq %s", s), want)
			checkTokens(t, search.IsMatch(s, nil), []filterToken{{kind: "word", text: "search.ismatch"}, {kind: "mark", text: "("}, {kind: "quoted", text: s}, {kind: "mark", text: ")"}})
		}
		checkTokens(t, search.Gt("b", n), []filterToken{{kind: "word", text: "b"}, {kind: "word", text: "gt"}, {kind: "word", text: strconv.FormatInt(n, 10)}})
		checkFloat(t, search.Le("c", x), x)
		checkTime(t, time.Unix(seconds, nanoseconds))
		checkPoint(t, models.GeographyPoint{Longitude: longitude, Latitude: latitude})
		if utf8.ValidString(s) && utf8.ValidString(u) {
			checkList(t, search.In("d", s, u, "x"), []string{s, u, "x"})
		}
	})
}

func tokensOf(t *testing.T, filter search.Filter) []filterToken {
	t.Helper()
	if err := filter.Err(); err != nil {
		t.Fatal(err)
	}
	tokens, err := filterTokens(filter.String())
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func checkTokens(t *testing.T, filter search.Filter, want []filterToken) {
	t.Helper()
	if got := tokensOf(t, filter); !slices.Equal(got, want) {
		t.Fatalf("%s is read as %q, not %q", filter, got, want)
	}
}

func checkFloat(t *testing.T, filter search.Filter, x float64) {
	t.Helper()
	tokens := tokensOf(t, filter)
	if len(tokens) != 3 {
		t.Fatalf("%s is read as %q", filter, tokens)
	}
	text := strings.Replace(tokens[2].text, "INF", "Inf", 1)
	if got, err := strconv.ParseFloat(text, 64); err != nil || got != x && !(math.IsNaN(got) && math.IsNaN(x)) {
		t.Fatalf("%v is read as %v (%v)", x, got, err)
	}
}

func checkTime(t *testing.T, at time.Time) {
	t.Helper()
	filter := search.Ge("e", at)
	if filter.Err() != nil {
		if year := at.UTC().Year(); year >= 1 && year <= 9999 {
			t.Fatal(filter.Err())
		}
		return
	}
	// In lambdas a colon is a token of its own; here it is part of a time.
	literal, found := strings.CutPrefix(filter.String(), "e ge ")
	got, err := time.Parse(time.RFC3339Nano, literal)
	if !found || err != nil || !got.Equal(at.Truncate(time.Millisecond)) || strings.ContainsAny(literal, " '()") {
		t.Fatalf("%v is read as %v (%v) from %s", at, got, err, filter)
	}
}

func checkPoint(t *testing.T, p models.GeographyPoint) {
	t.Helper()
	filter := search.GeoDistance("f", p).Lt(1)
	if filter.Err() != nil {
		if math.Abs(p.Longitude) <= 180 && math.Abs(p.Latitude) <= 90 {
			t.Fatal(filter.Err())
		}
		return
	}
	tokens := tokensOf(t, filter)
	if len(tokens) != 8 || tokens[4].tag != "geography" {
		t.Fatalf("%s is read as %q", filter, tokens)
	}
	var got models.GeographyPoint
	if _, err := fmt.Sscanf(tokens[4].text, "POINT(%g %g)", &got.Longitude, &got.Latitude); err != nil || got != p {
		t.Fatalf("%v is read as %v (%v)", p, got, err)
	}
}

// checkList parses a list of strings. With search.in entries are not empty; with eq any text is allowed.
func checkList(t *testing.T, filter search.Filter, values []string) {
	t.Helper()
	tokens := tokensOf(t, filter)
	var accepted []string
	for i, token := range tokens {
		switch {
		case token.kind == "word" && token.text == "search.in":
			accepted = append(accepted, strings.Split(tokens[i+4].text, tokens[i+6].text)...)
		case token.kind == "word" && token.text == "eq":
			accepted = append(accepted, tokens[i+1].text)
		}
	}
	slices.Sort(accepted)
	want := slices.Clone(values)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(accepted, want) {
		t.Fatalf("%s accepts %q, not %q", filter, accepted, want)
	}
}

// A raw filter cannot break out of its parentheses, whatever it is combined with.
func FuzzRawFilter(f *testing.F) {
	for _, s := range []string{"", "a eq 1", "a) or (b", "'", "a eq ')'", "((a)", "''''", "%s", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, filter := range []search.Filter{search.RawFilter(s), unchecked(s), unchecked(s, 1), unchecked(s, "a", s)} {
			if filter.Err() != nil || filter.IsZero() {
				continue
			}
			text := search.And(filter, search.IsTrue("z")).String()
			depth, quoted := 0, false
			for i := range len(text) {
				switch c := text[i]; {
				case c == '\'':
					quoted = !quoted
				case quoted:
				case c == '(':
					depth++
				case c == ')':
					depth--
				}
				if depth == 0 && i != len(text)-len(" and z")-1 && i < len(text)-len(" and z") {
					t.Fatalf("%q reaches beyond its place at %d of %q", s, i, text)
				}
			}
			if quoted || depth != 0 {
				t.Fatalf("%q is not balanced in %q", s, text)
			}
		}
	})
}
