package textindex

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRegularExpressions(t *testing.T) {
	for _, test := range []struct {
		pattern string
		yes, no []string
	}{
		{"hotel", []string{"hotel"}, []string{"hotels", "a hotel", "hote"}},
		{"", []string{""}, []string{"a"}},
		{"[mh]otel", []string{"motel", "hotel"}, []string{"otel", "[mh]otel"}},
		{"[^a-c]", []string{"d", "ü"}, []string{"a", "c", "dd"}},
		{"[a-]", []string{"a", "-"}, []string{"b"}},
		{`[\]\\]`, []string{"]", `\`}, []string{"a"}},
		{"[]]", []string{"]"}, []string{"a"}},
		{"[.*]", []string{".", "*"}, []string{"a"}},
		{".*oach.*\\/?", []string{"roach", "coach/", "oach"}, []string{"oac"}},
		{"ab?c", []string{"abc", "ac"}, []string{"abbc"}},
		{"(ab)+", []string{"ab", "abab"}, []string{"", "aba"}},
		{"a{2}", []string{"aa"}, []string{"a", "aaa"}},
		{"a{1,}", []string{"a", "aaa"}, []string{""}},
		{"a{1,2}", []string{"a", "aa"}, []string{"", "aaa"}},
		{"a|bc", []string{"a", "bc"}, []string{"ac", "abc"}},
		{"x(a|b)y", []string{"xay", "xby"}, []string{"xy"}},
		{"()", []string{""}, []string{"a"}},
		{"a()b", []string{"ab"}, []string{"a"}},
		{`"a.b"`, []string{"a.b"}, []string{"axb"}},
		{"a@", []string{"a", "abc"}, []string{"b"}},
		{"#", nil, []string{"", "a", "#"}},
		{`\d`, []string{"d"}, []string{"1"}},
		{`\.`, []string{"."}, []string{"a"}},
		{"^a$", []string{"^a$"}, []string{"a"}},
		{"~(ab)", []string{"a", "abc", ""}, []string{"ab"}},
		{"~~(ab)", []string{"ab"}, []string{"a"}},
		{"a.*&.*b", []string{"ab", "axb"}, []string{"a", "b"}},
		{"a.*&~(ab)", []string{"a", "ac"}, []string{"ab"}},
		{"ab|~(a.*)", []string{"ab", "b"}, []string{"a"}},
		{"<1-12>", []string{"1", "12", "007"}, []string{"0", "13"}},
		{"<01-12>", []string{"01", "12"}, []string{"1", "13", "001"}},
		{"<3-1>", []string{"2"}, []string{"4"}},
		{"a.b", []string{"a\nb", "aüb"}, []string{"ab"}},
	} {
		m, err := parseRegexp(test.pattern)
		require.NoError(t, err, "%q", test.pattern)
		for _, term := range test.yes {
			assert.True(t, m.match(term), "%q on %q", test.pattern, term)
			assert.True(t, strings.HasPrefix(term, m.prefix()), "%q on %q", test.pattern, term)
		}
		for _, term := range test.no {
			assert.False(t, m.match(term), "%q on %q", test.pattern, term)
		}
	}
}

func TestRegularExpressionsAreRefused(t *testing.T) {
	for pattern, reason := range map[string]string{
		"(a":                           "a ( is never closed",
		"a)":                           "unexpected ')' at 1",
		"[a":                           "a [ is never closed",
		"[b-a]":                        "the range b-a is empty",
		`"a`:                           `a " is never closed`,
		"a{2":                          "a { is never closed",
		"a{x}":                         "{x} is not a number of repetitions",
		"a{2,1}":                       "invalid repeat count: `{2,1}`",
		"*":                            "'*' at 0 has nothing to repeat",
		"a|":                           "something is missing at 2",
		"a&":                           "something is missing at 2",
		"~":                            "something is missing at its end",
		`a\`:                           "it ends in a backslash",
		"<a>":                          "<a> is not an interval of numbers",
		"<1-2":                         "a < is never closed",
		"<1-100000>":                   "<1-100000> has more than 1000 numbers",
		"x~(ab)":                       "'~' is supported only where it stands for the whole term",
		"(a&b)+":                       "'&' is supported only where it stands for the whole term",
		"x(a|~b)":                      "'|' is supported only where it stands for the whole term",
		strings.Repeat("(", 200) + "a": "it is nested more than 100 deep",
		strings.Repeat("a", 1001):      "it is longer than 1000 characters",
		strings.Repeat("a{999}", 3):    "",
		"((a{100}){100}){100}":         "",
	} {
		_, err := parseRegexp(pattern)
		var refused *PatternError
		if reason == "" && err == nil {
			continue // exceeds a limit of Go's engine
		}
		if assert.ErrorAs(t, err, &refused, "%.20q", pattern) && reason != "" {
			assert.Equal(t, reason, refused.Reason, "%.20q", pattern)
			assert.Equal(t, pattern, refused.Pattern)
		}
	}
}

func FuzzRegexp(f *testing.F) {
	for _, seed := range []string{".*oach.*\\/?", "[^a-c]{2,3}|x", "~(ab)&a@", "<1-12>", `"a.b"#`, "(()", "[\\", "a{1,"} {
		f.Add(seed, "ab")
	}
	f.Fuzz(func(t *testing.T, pattern, term string) {
		m, err := parseRegexp(pattern)
		if err != nil {
			var refused *PatternError
			require.ErrorAs(t, err, &refused)
			return
		}
		if m.match(term) {
			require.True(t, strings.HasPrefix(term, m.prefix()))
		}
	})
}
