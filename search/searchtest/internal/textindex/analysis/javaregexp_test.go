package analysis

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each row has a pattern, its flags, a text and its first match; "-" means no match.
func TestJavasExpressionsMatchAsInJava(t *testing.T) {
	for _, c := range []struct{ pattern, flags, text, want string }{
		{`a+`, "", "xaa", "aa"},
		{`a.b`, "", "a\rb", "-"},
		{`a.b`, "", "a\u2028b", "-"},
		{`a.b`, "UNIX_LINES", "a\rb", "a\rb"},
		{`a.b`, "UNIX_LINES", "a\nb", "-"},
		{`a.b`, "DOTALL", "a\nb", "a\nb"},
		{`(?s)a.b`, "", "a\nb", "a\nb"},
		{`(?i:AB)c`, "", "abc", "abc"},
		{`(?u)a`, "", "a", "a"},
		{`AB`, "CASE_INSENSITIVE | UNICODE_CASE", "xab", "ab"},
		{`^b`, "MULTILINE", "a\nb", "b"},
		{`a b # c`, "COMMENTS", "xab", "ab"},
		{`[a b]+`, "COMMENTS", "a b", "a"},
		{`a.b(`, "LITERAL", "xa.b(", "a.b("},
		{`\s`, "", "a\vb", "\v"},
		{`[\s,]+`, "", "a\v, b", "\v, "},
		{`\S+`, "", " \vab ", "ab"},
		{`\h+`, "", "a\u00a0 b", "\u00a0 "},
		{`\w+\d`, "", "éab1", "ab1"},
		{`\u0041\x42\0103\e?`, "", "ABC", "ABC"},
		{`\p{Lower}+\p{Punct}`, "", "éab!", "ab!"},
		{`\P{Alpha}+`, "", "ab12", "12"},
		{`[\p{Upper}\d]+`, "", "aB1", "B1"},
		{`\p{L}+`, "", "1é2", "é"},
		{`\pL+`, "", "1é2", "é"},
		{`\p{IsLatin}+\p{javaLowerCase}`, "", "Éa", "Éa"},
		{`\p{IsAlphabetic}+`, "", "1é", "é"},
		{`(?<first>a)(?:b)`, "", "ab", "ab"},
		{`\Qa.b\E+`, "", "aXb a.bb", "a.bb"},
		{`\-\_\"\é`, "", `-_"é`, `-_"é`},
		{`ab\Z`, "", "ab", "ab"},
		{`[^\]a]`, "", "]ab", "b"},
		{`a{2,3}?`, "", "aaa", "aa"},
	} {
		re, err := javaRegexp(c.pattern, c.flags)
		if !assert.NoError(t, err, c.pattern) {
			continue
		}
		got := "-"
		if m := re.FindStringIndex(c.text); m != nil {
			got = c.text[m[0]:m[1]]
		}
		assert.Equal(t, c.want, got, "%s %s in %q", c.pattern, c.flags, c.text)
	}
}

// An expression that Go cannot run is refused, and never run with another meaning.
func TestWhatGoCannotRunIsNamed(t *testing.T) {
	for pattern, says := range map[string]string{
		`a(?=b)`: "look-around", `a(?!b)`: "look-around", `(?<=a)b`: "look-around", `(?<!a)b`: "look-around",
		`(?>a)b`: "an atomic group", `(a)\1`: "a back reference", `(?<n>a)\k<n>`: "a back reference",
		`a++`: "possessive", `a*+`: "possessive", `a?+`: "possessive", `a{1}+`: "possessive",
		`[a-z&&[^b]]`: "an intersection", `[a[b]]`: "a class in a class", `\R`: `\R`, `\Ga`: `\G`, `\X`: `\X`, `(?x)a b`: "the flags 'x'",
		`\p{InGreek}`: "the property 'InGreek'", `[\P{Alpha}]`: `\P{Alpha}`, `[\S]`: `\S`,
	} {
		_, err := javaRegexp(pattern, "")
		var part unsupportedPart
		assert.ErrorAs(t, err, &part, pattern)
		assert.ErrorContains(t, err, says)
	}
	_, err := javaRegexp("a", "CANON_EQ")
	assert.ErrorContains(t, err, "CANON_EQ")
}

func TestWhatJavaRefusesIsAnError(t *testing.T) {
	for _, pattern := range []string{`(`, `a)`, `[a`, `[]`, `\`, `*`, `\u12`, `\08`, `\p{L`, `(?<a`, `(?i`, `[\b]`} {
		_, err := javaRegexp(pattern, "")
		var part unsupportedPart
		if assert.Error(t, err, pattern) {
			assert.NotErrorAs(t, err, &part, pattern)
		}
	}
}

func TestReplacementsAreJavas(t *testing.T) {
	re, err := javaRegexp(`(?<x>a)(b)?`, "")
	require.NoError(t, err)
	for text, want := range map[string]string{"": "", "z": "z", "$1$2": "ab", "${x}": "a", `\$1\\`: `$1\`, "$12": "a2", "$0!": "ab!"} {
		r, err := javaReplacement(text, re)
		require.NoError(t, err, text)
		assert.Equal(t, want, r.expand("ab", re.FindStringSubmatchIndex("ab")), text)
	}
	r, err := javaReplacement("<$2>", re)
	require.NoError(t, err)
	assert.Equal(t, "<>", r.expand("a", re.FindStringSubmatchIndex("a")), "a group that took no part")
	for _, text := range []string{"$", "$3", "$x", "${y}", "${x", `\`} {
		_, err := javaReplacement(text, re)
		assert.Error(t, err, text)
	}
}
