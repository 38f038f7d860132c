package odata

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// naive is a filter with its meaning.
type naive struct {
	text string
	eval func(d document) bool
}

var naiveWord = rapid.SampledFrom([]string{"", "a", "b", "B", "a'b", "ü", "\U0001f600", "a b"})

// drawHotel draws a document with null, absent and set members.
func drawHotel(t *rapid.T) document {
	d := document{}
	set := func(d document, name string, draw func() any) {
		switch rapid.IntRange(0, 4).Draw(t, name) {
		case 0:
			d[name] = nil
		case 1, 2, 3:
			d[name] = draw()
		}
	}
	list := func(draw func() any) func() any {
		return func() any {
			out := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "length") {
				out = append(out, draw())
			}
			return out
		}
	}
	word := func() any { return naiveWord.Draw(t, "word") }
	small := func() any { return int64(rapid.IntRange(-3, 3).Draw(t, "int")) }
	double := func() any {
		return rapid.SampledFrom([]float64{-1.5, 0, 1, 2.5, math.NaN(), math.Inf(1)}).Draw(t, "double")
	}
	boolean := func() any { return rapid.Bool().Draw(t, "bool") }
	set(d, "HotelName", word)
	set(d, "Category", word)
	set(d, "Rating", small)
	set(d, "Visits", small)
	set(d, "Price", double)
	set(d, "Parking", boolean)
	set(d, "Tags", list(word))
	set(d, "Scores", list(small))
	set(d, "Address", func() any {
		a := document{}
		set(a, "City", word)
		return a
	})
	set(d, "Rooms", list(func() any {
		r := document{}
		set(r, "Type", word)
		set(r, "Rate", double)
		set(r, "Beds", small)
		set(r, "Smoking", boolean)
		set(r, "Tags", list(word))
		return r
	}))
	return d
}

// drawFilter draws a condition on a document or, with a variable, on a room.
func drawFilter(t *rapid.T, variable string, depth int) naive {
	prefix, texts, numbers, doubles, booleans, lists := "", []string{"HotelName", "Category", "Address/City"}, []string{"Rating", "Visits"}, []string{"Price"}, []string{"Parking"}, []string{"Tags"}
	if variable != "" {
		prefix, texts, numbers, doubles, booleans, lists = variable+"/", []string{"Type"}, []string{"Beds"}, []string{"Rate"}, []string{"Smoking"}, []string{"Tags"}
	}
	get := func(d document, path string) any {
		var v any = d
		for name := range strings.SplitSeq(path, "/") {
			object, ok := v.(document)
			if !ok {
				return nil
			}
			v = object[name]
		}
		return v
	}
	op := func() string { return rapid.SampledFrom([]string{"eq", "ne", "gt", "ge", "lt", "le"}).Draw(t, "op") }
	number := func() (string, float64) {
		f := rapid.SampledFrom([]float64{-3, -1.5, -1, 0, 0.5, 1, 2, 2.5, 3, 1e20}).Draw(t, "constant")
		return fmt.Sprintf("%g", f), f
	}
	kinds := 9
	if depth == 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0, 1:
		path, op := rapid.SampledFrom(texts).Draw(t, "path"), op()
		word := naiveWord.Draw(t, "word")
		return naive{prefix + path + " " + op + " " + quote(word), func(d document) bool {
			s, ok := get(d, path).(string)
			return ok && holds(op, strings.Compare(s, word), false) || !ok && op == "ne"
		}}
	case 2:
		path, op := rapid.SampledFrom(append(numbers, doubles...)).Draw(t, "path"), op()
		text, value := number()
		eval := func(d document) bool {
			switch n := get(d, path).(type) {
			case int64:
				return holds(op, compareNumbers(float64(n), value), false)
			case float64:
				return holds(op, compareNumbers(n, value), math.IsNaN(n))
			}
			return op == "ne"
		}
		if rapid.Bool().Draw(t, "swapped") {
			swapped := map[string]string{"eq": "eq", "ne": "ne", "gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}[op]
			return naive{text + " " + swapped + " " + prefix + path, eval}
		}
		return naive{prefix + path + " " + op + " " + text, eval}
	case 3:
		path := rapid.SampledFrom(booleans).Draw(t, "path")
		isTrue := func(d document) bool { b, _ := get(d, path).(bool); return b }
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 0:
			return naive{prefix + path, isTrue}
		case 1:
			return naive{"not " + prefix + path, func(d document) bool { return !isTrue(d) }}
		}
		return naive{prefix + path + " ne false", func(d document) bool { return get(d, path) != false }}
	case 4:
		path := rapid.SampledFrom(append(texts, append(numbers, doubles...)...)).Draw(t, "path")
		if rapid.Bool().Draw(t, "ne") {
			return naive{prefix + path + " ne null", func(d document) bool { return get(d, path) != nil }}
		}
		return naive{prefix + path + " eq null", func(d document) bool { return get(d, path) == nil }}
	case 5:
		if variable == "" && rapid.Bool().Draw(t, "numbers") {
			return drawNumbers(t)
		}
		path := rapid.SampledFrom(lists).Draw(t, "path")
		word := naiveWord.Draw(t, "word")
		count := func(d document) (n, length int) {
			list, _ := get(d, path).([]any)
			for _, v := range list {
				if v == word {
					n++
				}
			}
			return n, len(list)
		}
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 0:
			return naive{prefix + path + "/any(t: t eq " + quote(word) + ")", func(d document) bool { n, _ := count(d); return n > 0 }}
		case 1:
			return naive{prefix + path + "/all(t: t ne " + quote(word) + ")", func(d document) bool { n, _ := count(d); return n == 0 }}
		}
		return naive{prefix + path + "/any()", func(d document) bool { _, n := count(d); return n > 0 }}
	case 6:
		path := rapid.SampledFrom(texts).Draw(t, "path")
		list := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "B", "ü", "a b"}), 0, 3).Draw(t, "list")
		return naive{"search.in(" + prefix + path + ", " + quote(strings.Join(list, "|")) + ", '|')", func(d document) bool {
			for _, w := range list {
				if get(d, path) == w {
					return true
				}
			}
			return false
		}}
	case 7:
		x := drawFilter(t, variable, depth-1)
		return naive{"not (" + x.text + ")", func(d document) bool { return !x.eval(d) }}
	case 8:
		if variable == "" {
			x := drawFilter(t, "r", depth-1)
			all := rapid.Bool().Draw(t, "all")
			word := map[bool]string{false: "any", true: "all"}[all]
			return naive{"Rooms/" + word + "(r: " + x.text + ")", func(d document) bool {
				rooms, _ := d["Rooms"].([]any)
				for _, room := range rooms {
					if x.eval(room.(document)) != all {
						return !all
					}
				}
				return all
			}}
		}
		fallthrough
	default:
		a, b := drawFilter(t, variable, depth-1), drawFilter(t, variable, depth-1)
		if rapid.Bool().Draw(t, "or") {
			return naive{"(" + a.text + ") or " + b.text, func(d document) bool { return a.eval(d) || b.eval(d) }}
		}
		return naive{"(" + a.text + ") and (" + b.text + ")", func(d document) bool { return a.eval(d) && b.eval(d) }}
	}
}

// drawNumbers draws a lambda expression over numbers in the allowed normal form: for any an or of ands, for all an
// and of ors.
func drawNumbers(t *rapid.T) naive {
	all := rapid.Bool().Draw(t, "all")
	word, inner, outer, refused := "any", " and ", ") or (", "ne"
	if all {
		word, inner, outer, refused = "all", " or ", ") and (", "eq"
	}
	type test struct {
		op    string
		value int64
	}
	var tests [][]test
	var terms []string
	for range rapid.IntRange(1, 3).Draw(t, "terms") {
		var term []test
		var texts []string
		for range rapid.IntRange(1, 3).Draw(t, "tests") {
			x := test{rapid.SampledFrom([]string{"eq", "ne", "gt", "ge", "lt", "le"}).Draw(t, "op"), int64(rapid.IntRange(-3, 3).Draw(t, "value"))}
			if x.op == refused {
				x.op = "gt"
			}
			term, texts = append(term, x), append(texts, fmt.Sprintf("n %s %d", x.op, x.value))
		}
		tests, terms = append(tests, term), append(terms, strings.Join(texts, inner))
	}
	return naive{"Scores/" + word + "(n: (" + strings.Join(terms, outer) + "))", func(d document) bool {
		list, _ := d["Scores"].([]any)
		for _, n := range list {
			bodyHolds := all
			for _, term := range tests {
				termHolds := !all
				for _, x := range term {
					if holds(x.op, compareNumbers(float64(n.(int64)), float64(x.value)), false) == all {
						termHolds = all
					}
				}
				if termHolds != all {
					bodyHolds = !all
				}
			}
			if bodyHolds != all {
				return !all
			}
		}
		return all
	}}
}

func compareNumbers(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func holds(op string, sign int, nan bool) bool {
	if nan {
		return op == "ne"
	}
	return map[string]bool{"eq": sign == 0, "ne": sign != 0, "gt": sign > 0, "ge": sign >= 0, "lt": sign < 0, "le": sign <= 0}[op]
}

func TestFiltersAgreeWithANaiveEvaluator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawFilter(t, "", 3)
		f, err := CompileFilter(x.text, hotel)
		require.NoError(t, err, x.text)
		for range 5 {
			d := drawHotel(t)
			require.Equal(t, x.eval(d), f.Match(encode(hotelFields, d), 0, nil), "%s of %v", x.text, d)
		}
	})
}
