package search

import "strings"

// EscapeText returns text for a query in which every character is literal: quotes, signs and brackets are not
// operators, and AND is a word. Use it for text that people typed, with the simple or the full syntax.
//
// The words stay separate, so each is a term of the search. To search for a phrase, put the result between double
// quotes. In the full syntax, append "~1" to an escaped word to match similar spellings. Text without any word
// matches nothing in the simple syntax, and empty text matches everything; handle both before the call.
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

// beginsOperator reports whether a word that is an operator of the full syntax begins at i.
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
