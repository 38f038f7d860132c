package lucene_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
)

// Abbreviations for the tables.
type (
	T = lucene.Term
	P = lucene.Phrase
	C = lucene.Clause
)

func anyOf(nodes ...lucene.Node) lucene.Node { return joined(lucene.Should, nodes) }
func allOf(nodes ...lucene.Node) lucene.Node { return joined(lucene.Must, nodes) }

func joined(o lucene.Occur, nodes []lucene.Node) lucene.Node {
	var b lucene.Boolean
	for _, n := range nodes {
		b.Clauses = append(b.Clauses, C{Occur: o, Node: n})
	}
	return b
}

func word(text string) lucene.Node { return T{Text: text} }

// but returns a query for everything except n, which is the meaning of -n in the simple syntax.
func but(n lucene.Node) lucene.Node {
	return lucene.Boolean{Clauses: []C{{Occur: lucene.MustNot, Node: n}, {Occur: lucene.Should, Node: lucene.MatchAll{}}}}
}

func TestSimpleSyntax(t *testing.T) {
	a, b, c := word("a"), word("b"), word("c")
	for _, test := range []struct {
		text string
		want lucene.Node
	}{
		{"", lucene.Boolean{}},
		{"  ", lucene.Boolean{}},
		{"*", lucene.MatchAll{}},
		{" *\n", lucene.MatchAll{}},
		{"a", a},
		{"a b", anyOf(a, b)},
		{"a b c", anyOf(a, b, c)},
		{"a + b", allOf(a, b)},
		{"a+b", allOf(a, b)},
		{"a +b", allOf(a, b)},
		{"a|b", anyOf(a, b)},
		{"a | b + c", allOf(anyOf(a, b), c)},
		{"a + b | c", anyOf(allOf(a, b), c)},
		{"a + (b | c)", allOf(a, anyOf(b, c))},
		{"a + (b c) | a", anyOf(allOf(a, anyOf(b, c)), a)},
		{"-a", but(a)},
		{"--a", a},
		{"- a", a}, // white space separates the operator from the word
		{"a -b", anyOf(a, but(b))},
		{"-(a b)", but(anyOf(a, b))},
		{`-"a b"`, but(P{Text: "a b"})},
		{"wi-fi", word("wi-fi")},
		{"a-", word("a-")},
		{`"a b"`, P{Text: "a b"}},
		{`"a b" c`, anyOf(P{Text: "a b"}, c)},
		{`a"b"`, anyOf(a, P{Text: "b"})},
		{`"a b`, anyOf(a, b)},
		{`""`, lucene.Boolean{}},
		{`"a \" b"`, P{Text: `a " b`}},
		{"a*", lucene.Prefix{Text: "a"}},
		{"a**", lucene.Prefix{Text: "a*"}},
		{`a\*`, word("a*")},
		{"a*b", word("a*b")},
		{"* a", anyOf(word("*"), a)}, // not alone: analysis removes the word
		{`a\+b`, word("a+b")},
		{`\-a`, word("-a")},
		{`a\`, a},
		{`\`, lucene.Boolean{}},
		{"a~", word("a~")},
		{"f:a", word("f:a")},
		{"a^2", word("a^2")},
		{"a AND b", anyOf(a, word("AND"), b)},
		{"(a", a},
		{"a)", a},
		{"((a b)", anyOf(a, b)},
		{"()", lucene.Boolean{}},
		{"a + () b", anyOf(a, b)}, // the operand of + is empty
		{"+ a", a},
		{"a + | b", allOf(a, b)}, // the first of two operators wins
		{"a +", a},
		{`(a\) b)`, anyOf(word("a)"), b)},
		{"é", word("é")},
		{"a\u00a0b", word("a\u00a0b")},
	} {
		assert.Equal(t, test.want, lucene.ParseSimple(test.text, lucene.Or), "%q", test.text)
	}
}

func TestSimpleSyntaxJoinsWithTheOperator(t *testing.T) {
	a, b := word("a"), word("b")
	assert.Equal(t, allOf(a, b), lucene.ParseSimple("a b", lucene.And))
	assert.Equal(t, anyOf(a, b), lucene.ParseSimple("a | b", lucene.And))
	assert.Equal(t, allOf(a, but(b)), lucene.ParseSimple("a -b", lucene.And))
}

func TestSimpleSyntaxReadsDeepTextsInTime(t *testing.T) {
	const n = 100_000
	for _, text := range []string{
		strings.Repeat("(", n),
		strings.Repeat("(", n/2) + "a" + strings.Repeat(")", n/2),
		strings.Repeat("(a ", n/3),
		strings.Repeat("a|b+", n/4),
		strings.Repeat(`"`, n+1),
		strings.Repeat("-", n),
	} {
		start := time.Now()
		lucene.Clauses(lucene.ParseSimple(text, lucene.Or))
		assert.Less(t, time.Since(start), 5*time.Second, "%.10s", text)
	}
}

func FuzzParseSimple(f *testing.F) {
	for _, seed := range []string{"a + (b | -c)", `"a \" b" c*`, `\`, "((", "-", "a+|b", "é*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, op := range []lucene.Operator{lucene.Or, lucene.And} {
			n := lucene.ParseSimple(text, op)
			if n == nil {
				t.Fatal("no query")
			}
			lucene.Walk(n, func(n lucene.Node) bool {
				switch n := n.(type) {
				case lucene.Term:
					assert.NotEmpty(t, n.Text)
				case lucene.Prefix:
					assert.NotEmpty(t, n.Text)
				}
				return true
			})
		}
	})
}
