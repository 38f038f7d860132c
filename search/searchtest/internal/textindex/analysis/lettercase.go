package analysis

import (
	"strings"
	"unicode"
)

// lower maps each character separately, without special casing, as Lucene does.
func lower(text string) string { return strings.ToLower(text) }

func upper(text string) string { return strings.ToUpper(text) }

// lowerLetters is the LowerCaseTokenizer: it makes tokens of runs of alphabetic characters, in lower case.
type lowerLetters struct{}

func (lowerLetters) tokenize(dst []token, text string) []token {
	first := len(dst)
	dst = runTokenizer{unicode.IsLetter, defaultTokenLength}.tokenize(dst, text)
	for i := range dst[first:] {
		dst[first+i].text = lower(dst[first+i].text)
	}
	return dst
}
