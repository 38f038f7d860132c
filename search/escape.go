package search

import "strings"

// EscapeText returns a text to search for in which every character stands for
// itself: quotes, signs and brackets are none of the syntax, and AND is a word. It
// is for what people typed, and the same for the simple and the full syntax.
//
// Words stay apart, so each is searched for. Put the result between double quotes
// to search for a phrase, or "~1" behind an escaped word, in the full syntax, for
// what is spelled like it. A text without any word finds nothing in the simple syntax
// and everything if it is empty; ask before.
func EscapeText(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for i := 0; i < len(text); i++ {
		if strings.IndexByte(`+-&|!(){}[]^"~*?:\/'<>=`, text[i]) >= 0 || beginsOperator(text, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// beginsOperator reports whether the word that begins at i, if one does, is an
// operator of the full syntax.
func beginsOperator(text string, i int) bool {
	const blank = " \t\n\r\u3000"
	if strings.IndexByte("AON", text[i]) < 0 {
		return false
	}
	if before := text[:i]; strings.TrimRight(before, blank) == before && before != "" {
		return false
	}
	word := text[i:]
	if end := strings.IndexAny(word, blank); end >= 0 {
		word = word[:end]
	}
	return word == "AND" || word == "OR" || word == "NOT"
}
