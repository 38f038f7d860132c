package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// deepest is the maximum number of encodings of a secret, for example in a URL in JSON in HTML. Each time adds to the
// work.
const deepest = 2

// spelling finds a secret in the text of a reply, whose format is unknown: JSON, HTML, plain text, one after the other,
// or cut off. So nothing is parsed. Each character of the secret may be written as itself, or escaped as in JSON, in a
// URL or in HTML, and these escapes may be escaped again.
type spelling map[rune][]string // the escapes of a character, in lower case

// hide returns text with wire.Hidden in place of a secret.
func hide(text, secret string) string {
	var b strings.Builder
	done, s := 0, spelling{}
	for i := 0; i < len(text); i++ {
		if text[i] != secret[0] && !escapes(text[i]) {
			continue
		}
		if ends := s.match(text, i, secret, deepest); len(ends) > 0 {
			end := slices.Max(ends) // all of an escape, not a part
			b.WriteString(text[done:i])
			b.WriteString(wire.Hidden)
			done, i = end, end-1
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// escapes reports whether a character that is escaped may begin with c.
func escapes(c byte) bool { return c == '\\' || c == '%' || c == '&' || c == '+' }

// match returns where in text the characters end that begin at a position. There may be several ends, because a
// secret may contain an escape, or a part of one.
func (s spelling) match(text string, at int, characters string, depth int) []int {
	var ends []int
	for i, c := range characters {
		if i == 0 { // most matches end here, so it allocates nothing
			ends = s.character(text, at, c, depth)
			continue
		}
		var next []int
		for _, at := range ends {
			next = append(next, s.character(text, at, c, depth)...)
		}
		if next == nil {
			return nil
		}
		slices.Sort(next)
		ends = slices.Compact(next)
	}
	return ends
}

// character is match for one character. Escapes match in any case.
func (s spelling) character(text string, at int, c rune, depth int) (ends []int) {
	if at == len(text) {
		return nil
	}
	cases := []rune{c}
	if depth < deepest && 'a' <= c && c <= 'z' {
		cases = append(cases, c-'a'+'A')
	}
	r, size := utf8.DecodeRuneInString(text[at:])
	for _, c := range cases {
		if r == c {
			ends = append(ends, at+size)
		}
		if depth == 0 || !escapes(text[at]) {
			continue
		}
		for _, escape := range s.of(c) {
			if depth > 1 || escape[0] == text[at] {
				ends = append(ends, s.match(text, at, escape, depth-1)...)
			}
		}
	}
	return ends
}

// of returns the escapes of a character.
func (s spelling) of(c rune) []string {
	if all, ok := s[c]; ok {
		return all
	}
	inJSON, inURL := "", ""
	for _, unit := range utf16.AppendRune(nil, c) {
		inJSON += fmt.Sprintf(`\u%04x`, unit)
	}
	for _, b := range []byte(string(c)) {
		inURL += fmt.Sprintf("%%%02x", b)
	}
	all := []string{inJSON, `\` + string(c), inURL, fmt.Sprintf("&#%d;", c), fmt.Sprintf("&#%03d;", c), fmt.Sprintf("&#x%x;", c), fmt.Sprintf("&#x%04x;", c)}
	all = append(all, short[c]...)
	s[c] = all
	return all
}

// short has the escapes that do not contain the number of a character.
var short = map[rune][]string{
	'\n': {`\n`}, '\r': {`\r`}, '\t': {`\t`, "&tab;"}, '\b': {`\b`}, '\f': {`\f`}, ' ': {"+", "&nbsp;"},
	'&': {"&amp;"}, '<': {"&lt;"}, '>': {"&gt;"}, '"': {"&quot;"}, '\'': {"&apos;"}, '+': {"&plus;"}, '=': {"&equals;"}, '/': {"&sol;"},
	';': {"&semi;"}, ':': {"&colon;"}, '?': {"&quest;"}, '%': {"&percnt;"}, '@': {"&commat;"}, '#': {"&num;"}, '_': {"&lowbar;"},
}
