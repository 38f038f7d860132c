package textindex

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is a part of a text, in bytes.
type span struct{ start, end int }

// Sentences yields the start and end of each sentence in bytes, so that callers can cut passages at the same places
// as highlights.
func Sentences(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for _, s := range sentences(text) {
			if !yield(s.start, s.end) {
				return
			}
		}
	}
}

// sentences splits a text after the end of each sentence and at line breaks, and trims white space. A punctuation
// mark ends a sentence if white space follows; a full stop only if the next character is not a lower-case one, as
// after "e.g.".
func sentences(text string) []span {
	var spans []span
	start := 0
	cut := func(end int) {
		if s := trim(text, span{start, end}); s.start < s.end {
			spans = append(spans, s)
		}
		start = end
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch {
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			cut(i)
		case strings.ContainsRune("。！？｡", r):
			cut(closers(text, i))
		case strings.ContainsRune(".!?…", r):
			end := closers(text, i)
			next := strings.TrimLeftFunc(text[end:], unicode.IsSpace)
			after, _ := utf8.DecodeRuneInString(next)
			if len(next) < len(text)-end && (r != '.' || !unicode.IsLower(after)) {
				cut(len(text) - len(next))
				i = start
			} else {
				i = end
			}
		}
	}
	cut(len(text))
	return spans
}

// closers skips further marks, quotes and brackets that belong to the sentence.
func closers(text string, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !strings.ContainsRune(".!?…。！？｡\"')]}", r) && !unicode.In(r, unicode.Pe, unicode.Pf) {
			break
		}
		i += n
	}
	return i
}

func trim(text string, s span) span {
	part := text[s.start:s.end]
	s.start += len(part) - len(strings.TrimLeftFunc(part, unicode.IsSpace))
	return span{s.start, s.start + len(strings.TrimSpace(part))}
}
