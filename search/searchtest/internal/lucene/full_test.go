package lucene_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
)

func clauses(c ...C) lucene.Node { return lucene.Boolean{Clauses: c} }

func TestFullSyntax(t *testing.T) {
	a, b, c := word("a"), word("b"), word("c")
	should, must, not := lucene.Should, lucene.Must, lucene.MustNot
	for _, test := range []struct {
		text string
		want lucene.Node
	}{
		{"", lucene.Boolean{}},
		{" \t", lucene.Boolean{}},
		{"*", lucene.MatchAll{}},
		{"*:*", lucene.MatchAll{}},
		{"a", a},
		{"a b", anyOf(a, b)},
		{"a AND b", allOf(a, b)},
		{"a && b", allOf(a, b)},
		{"a OR b", anyOf(a, b)},
		{"a || b", anyOf(a, b)},
		{"a and b", anyOf(a, word("and"), b)},
		{"a NOT b", clauses(C{should, a}, C{not, b})},
		{"a !b", clauses(C{should, a}, C{not, b})},
		{"a -b", clauses(C{should, a}, C{not, b})},
		{"+a b", clauses(C{must, a}, C{should, b})},
		{"a - b", anyOf(a, word("-"), b)}, // not an operator, because white space follows
		// AND makes both sides required, whatever surrounds them.
		{"a OR b AND c", clauses(C{should, a}, C{must, b}, C{must, c})},
		{"a AND b OR c", clauses(C{must, a}, C{must, b}, C{should, c})},
		{"a AND NOT b", clauses(C{must, a}, C{not, b})},
		{"NOT a AND b", clauses(C{not, a}, C{must, b})},
		{"a AND (b OR c)", allOf(a, anyOf(b, c))},
		{"+a", clauses(C{must, a})},
		{"-a", clauses(C{not, a})},
		{"(-a) b", anyOf(clauses(C{not, a}), b)},
		{"((a))", a},
		{"f:a", T{Field: "f", Text: "a"}},
		{"f : a", T{Field: "f", Text: "a"}},
		{"f:a b", anyOf(T{Field: "f", Text: "a"}, b)},
		{"f:(a b)", anyOf(T{Field: "f", Text: "a"}, T{Field: "f", Text: "b"})},
		{"f:(a g:b)", anyOf(T{Field: "f", Text: "a"}, T{Field: "g", Text: "b"})},
		{`f:"a b"`, P{Field: "f", Text: "a b"}},
		{"Address/City:a", T{Field: "Address/City", Text: "a"}},
		{`a/b/`, anyOf(a, lucene.Regexp{Pattern: "b"})},
		{`"a b"~3`, P{Text: "a b", Slop: 3}},
		{`"a b"~`, P{Text: "a b"}},
		{`"a b"~2^3`, lucene.Boost{Node: P{Text: "a b", Slop: 2}, Factor: 3}},
		{`"a b"^3~2`, lucene.Boost{Node: P{Text: "a b", Slop: 2}, Factor: 3}},
		{`"a \" \\ b"`, P{Text: `a " \ b`}},
		{"a~", lucene.Fuzzy{Text: "a", Edits: 2}},
		{"a~1", lucene.Fuzzy{Text: "a", Edits: 1}},
		{"a~0", lucene.Fuzzy{Text: "a", Edits: 0}},
		{"a~5", lucene.Fuzzy{Text: "a", Edits: 2}},
		{"abcd~0.5", lucene.Fuzzy{Text: "abcd", Edits: 2}},
		{"abcd~0.8", lucene.Fuzzy{Text: "abcd", Edits: 0}},
		{"a~1^2", lucene.Boost{Node: lucene.Fuzzy{Text: "a", Edits: 1}, Factor: 2}},
		{"a^2~1", lucene.Boost{Node: lucene.Fuzzy{Text: "a", Edits: 1}, Factor: 2}},
		{"a~b", word("a~b")},
		{"a^2", lucene.Boost{Node: a, Factor: 2}},
		{"a^0.5", lucene.Boost{Node: a, Factor: 0.5}},
		{"(a b)^2", lucene.Boost{Node: anyOf(a, b), Factor: 2}},
		{"a*", lucene.Prefix{Text: "a"}},
		{`a\**`, lucene.Prefix{Text: "a*"}},
		{"a*b", lucene.Wildcard{Pattern: "a*b"}},
		{"a?", lucene.Wildcard{Pattern: "a?"}},
		{`a?\*`, lucene.Wildcard{Pattern: `a?\*`}},
		{"f:*", lucene.Wildcard{Field: "f", Pattern: "*"}},
		{"/[mh]otel/", lucene.Regexp{Pattern: "[mh]otel"}},
		{`f:/a\/b/`, lucene.Regexp{Field: "f", Pattern: `a\/b`}},
		{`\+\-\&\|\!\(\)\{\}\[\]\^\~\*\?\:`, word("+-&|!(){}[]^~*?:")},
		{`https\:\/\/*`, lucene.Prefix{Text: "https://"}},
		{`\AND`, word("AND")},
		{`a\u0041`, word("aA")},
		{"a\u3000b", anyOf(a, b)},
		{"a&b", word("a&b")},
		{"wi-fi", word("wi-fi")},
		{"é AND ü", allOf(word("é"), word("ü"))},
	} {
		got, err := lucene.ParseFull(test.text, lucene.Or)
		if assert.NoError(t, err, "%q", test.text) {
			assert.Equal(t, test.want, got, "%q", test.text)
		}
	}
}

func TestFullSyntaxWithAllAsOperator(t *testing.T) {
	a, b, c := word("a"), word("b"), word("c")
	should, must, not := lucene.Should, lucene.Must, lucene.MustNot
	for _, test := range []struct {
		text string
		want lucene.Node
	}{
		{"a b", allOf(a, b)},
		{"a OR b", anyOf(a, b)},
		{"a OR b c", clauses(C{should, a}, C{should, b}, C{must, c})},
		{"a OR +b", anyOf(a, b)},
		{"a -b", clauses(C{must, a}, C{not, b})},
		{"-a OR b", clauses(C{not, a}, C{should, b})},
	} {
		got, err := lucene.ParseFull(test.text, lucene.And)
		require.NoError(t, err)
		assert.Equal(t, test.want, got, "%q", test.text)
	}
}

func TestFullSyntaxSaysWhereItFails(t *testing.T) {
	for _, test := range []struct {
		text   string
		column int
		reason string // empty where Lucene's grammar refuses the text
	}{
		{"/.*/.*/", 8, ""}, // recorded: the last slash opens an unterminated expression
		{`"a b`, 5, ""},
		{`a "b`, 5, ""},
		{`a\`, 3, ""},
		{"a]", 3, ""},
		{"a] b", 2, ""},
		{"a^x", 4, ""},
		{"a^xy", 3, ""},
		{"a^ 2", 3, ""},
		{"a^  2", 3, ""},
		{"a^", 2, ""},
		{"(a", 2, ""},
		{"(a  ", 4, ""},
		{"a)", 1, ""},
		{"()", 1, ""},
		{"AND", 0, ""},
		{"a AND", 5, ""},
		{"a OR OR b", 5, ""},
		{"a +", 3, ""},
		{"+-a", 1, ""},
		{"f:", 2, ""},
		{"f:g:a", 3, ""},
		{"^2", 0, ""},
		{"~", 0, ""},
		{"é AND", 5, ""},
		{"\U0001F600 AND", 6, ""}, // columns are UTF-16 units
		{"a\nAND", 5, ""},         // lines are not counted
		{"*a", 0, "a word must not start with a wildcard"},
		{"b ?a", 2, "a word must not start with a wildcard"},
		{"f:*a", 2, "a word must not start with a wildcard"},
		{"f:[a TO b]", 2, "ranges are not supported; use a filter"},
		{"{a TO b}", 0, "ranges are not supported; use a filter"},
		{"a^0", 2, "a boost must be a number above 0"},
		{"a~1.5", 1, "a number of edits has no fraction"},
		{`b a\u00`, 2, `a \u escape needs four digits`},
		{`a\u00xy`, 0, `a \u escape needs four hexadecimal digits`},
	} {
		_, err := lucene.ParseFull(test.text, lucene.Or)
		var syntax *lucene.SyntaxError
		if assert.ErrorAs(t, err, &syntax, "%q", test.text) {
			assert.Equal(t, 1, syntax.Line)
			assert.Equal(t, test.column, syntax.Column, "%q", test.text)
			assert.Equal(t, test.reason, syntax.Reason, "%q", test.text)
			assert.NotEmpty(t, err.Error())
		}
	}
}

func TestFullSyntaxLimitsDepth(t *testing.T) {
	_, err := lucene.ParseFull(strings.Repeat("(", 100)+"a"+strings.Repeat(")", 100), lucene.Or)
	require.NoError(t, err)
	_, err = lucene.ParseFull(strings.Repeat("(", 101)+"a"+strings.Repeat(")", 101), lucene.Or)
	var syntax *lucene.SyntaxError
	require.ErrorAs(t, err, &syntax)
	assert.Equal(t, 100, syntax.Column)
	assert.Contains(t, syntax.Reason, "100")

	start := time.Now()
	_, err = lucene.ParseFull(strings.Repeat("a/b/c", 20_000), lucene.Or)
	require.NoError(t, err)
	assert.Less(t, time.Since(start), 5*time.Second)
}

func TestClausesCountsNestedOnes(t *testing.T) {
	n, err := lucene.ParseFull("a (b c (d e)^2)", lucene.Or)
	require.NoError(t, err)
	assert.Equal(t, 7, lucene.Clauses(n))
	assert.Equal(t, 0, lucene.Clauses(word("a")))
}

func TestWalkStops(t *testing.T) {
	n, err := lucene.ParseFull("a b c", lucene.Or)
	require.NoError(t, err)
	var seen []string
	lucene.Walk(n, func(n lucene.Node) bool {
		if term, ok := n.(lucene.Term); ok {
			seen = append(seen, term.Text)
		}
		return len(seen) < 2
	})
	assert.Equal(t, []string{"a", "b"}, seen)
}

// drawNode draws queries that the full syntax can express.
func drawNode(t *rapid.T, depth int) lucene.Node {
	field := rapid.SampledFrom([]string{"", "", "f", "Address/City", "od d", "*"}).Draw(t, "field")
	text := rapid.OneOf(
		rapid.StringMatching(`[a-c]{1,3}`),
		rapid.SampledFrom([]string{"AND", "OR", "NOT", "&&", "||", "a b", `\`, "/", "a:b", "-", "~2", "^", "*", "ü", "\U0001F600", "uuu"}),
		rapid.StringN(1, 5, -1),
	).Filter(utf8.ValidString).Draw(t, "text")
	kinds := 6
	if depth > 0 {
		kinds = 8
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return lucene.Phrase{Field: field, Text: text, Slop: rapid.IntRange(0, 9).Draw(t, "slop")}
	case 1:
		return lucene.Prefix{Field: field, Text: text}
	case 2:
		return lucene.Wildcard{Field: field, Pattern: rapid.SampledFrom([]string{"a?b", `a\*?`, "a*b*"}).Draw(t, "pattern")}
	case 3:
		return lucene.Regexp{Field: field, Pattern: rapid.SampledFrom([]string{"", ".*", `a\/b`, "[a b]"}).Draw(t, "pattern")}
	case 4:
		return lucene.Fuzzy{Field: field, Text: text, Edits: rapid.IntRange(0, 2).Draw(t, "edits")}
	case 5:
		return lucene.MatchAll{}
	case 7:
		n := drawNode(t, depth-1)
		if _, ok := n.(lucene.Boost); ok {
			return n
		}
		return lucene.Boost{Node: n, Factor: float64(rapid.SampledFrom([]float32{0.5, 2, 10.25}).Draw(t, "factor"))}
	case 8:
		var b lucene.Boolean
		for range rapid.IntRange(1, 3).Draw(t, "clauses") {
			b.Clauses = append(b.Clauses, C{
				Occur: rapid.SampledFrom([]lucene.Occur{lucene.Should, lucene.Must, lucene.MustNot}).Draw(t, "occur"),
				Node:  drawNode(t, depth-1),
			})
		}
		if len(b.Clauses) == 1 && b.Clauses[0].Occur == lucene.Should {
			return b.Clauses[0].Node // as the parser does
		}
		return b
	}
	return lucene.Term{Field: field, Text: text}
}

func TestFormattedQueriesAreReadBack(t *testing.T) {
	for _, text := range []string{"AND", "OR", "NOT", "&&", "||", "!", "+", `a\b`, "a b", "a/b:c", "~", "\u3000"} {
		n := anyOf(word("a"), T{Field: "f g", Text: text})
		got, err := lucene.ParseFull(lucene.Format(n), lucene.Or)
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t, 3)
		text := lucene.Format(n)
		got, err := lucene.ParseFull(text, lucene.Or)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		assert.Equal(t, n, got, "%q", text)
	})
}

func FuzzParseFull(f *testing.F) {
	for _, seed := range []string{"a AND (b OR c)^2", `f:"a b"~2`, "/.*/.*/", `a\`, "a~0.5^2", "[a TO b]", "((", "a^", `a\u0041`, "f:g:a", "Address/City:x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, op := range []lucene.Operator{lucene.Or, lucene.And} {
			n, err := lucene.ParseFull(text, op)
			if err != nil {
				var syntax *lucene.SyntaxError
				require.ErrorAs(t, err, &syntax)
				require.GreaterOrEqual(t, syntax.Column, 0)
				require.LessOrEqual(t, syntax.Column, 2*len(text)+1)
				continue
			}
			if op != lucene.Or || !utf8.ValidString(text) {
				continue
			}
			again, err := lucene.ParseFull(lucene.Format(n), op)
			require.NoError(t, err, "%q", lucene.Format(n))
			require.Equal(t, n, again, "%q", lucene.Format(n))
		}
	})
}
