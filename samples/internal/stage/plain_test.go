package stage

import (
	"bytes"
	"fmt"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWhatCommandsTheTerminalIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing to leave out":            {"é → 日本\ue000", "é → 日本\ue000"},
		"lines and tabs":                  {"a\n\tb", "a\n\tb"},
		"an escape sequence":              {"\x1b[31mred\x1b]0;title\a", "[31mred]0;title"},
		"the beginning of the line again": {"good\rbad", "goodbad"},
		"a sequence of one character":     {"\u009b31mred", "31mred"},
		"a byte that would be one":        {"\x9b31mred", "\ufffd31mred"},
		"an override of the direction":    {"a\u202eb\u2066c\u200f", "abc"},
		"invisible characters":            {"a\u200b\ufeff\U000e0041b", "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, Text(c.text))
			var w bytes.Buffer
			n, err := fmt.Fprint(&writer{w: &w}, c.text)
			require.NoError(t, err)
			require.Equal(t, len(c.text), n)
			require.Equal(t, c.want, w.String())
		})
	}
}

func TestLineIsOneLine(t *testing.T) {
	require.Equal(t, "a b c", Line("\r\n a\n\t b \u2028c\x1b"))
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range Line(rapid.String().Draw(t, "text")) {
			require.False(t, unicode.In(r, unicode.Cc, unicode.Cf) || unicode.IsSpace(r) && r != ' ', "%q", r)
		}
	})
}
