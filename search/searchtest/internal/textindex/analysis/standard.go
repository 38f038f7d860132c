package analysis

import (
	"unicode"
	"unicode/utf8"
)

// standardTokenizer splits text at the word boundaries of Unicode Standard Annex 29, like Lucene's tokenizer of that
// name. It drops pieces without an alphabetic character or digit. Each ideograph and each hiragana is a token, and a
// run of Thai, Lao, Khmer or Burmese is one token. A token longer than max UTF-16 code units is split.
type standardTokenizer struct {
	max int
}

func (t standardTokenizer) tokenize(dst []token, text string) []token {
	pos := 0
	for at := 0; at < len(text); {
		c, size := classAt(text, at)
		end, kind := at+size, word
		switch c {
		case letter, hebrew, digit, kata, joiner:
			var ok bool
			if end, kind, ok = t.word(text, at); !ok {
				at = end
				continue
			}
		case han:
			end, kind = skipExtend(text, end), ideograph
		case hira:
			end, kind = skipExtend(text, end), hiragana
		case complexContext:
			end = t.run(text, at)
		default:
			at = end
			continue
		}
		dst = append(dst, token{text: text[at:end], start: at, end: end, pos: pos, kind: kind})
		pos++
		at = end
	}
	return dst
}

func classAt(text string, at int) (class, int) {
	if b := text[at]; b < utf8.RuneSelf {
		return asciiClasses[b], 1
	}
	r, size := utf8.DecodeRuneInString(text[at:])
	return classOf(r), size
}

// word returns the end of the word that begins at start, always greater than start. ok is false for a run of
// underscores alone, which is not a word.
func (t standardTokenizer) word(text string, start int) (end int, k kind, ok bool) {
	previous := joiner
	at, room := start, t.max
	joined := false // to the previous character, by a character that only joins
	allKatakana, allHangul := true, true
scan:
	for at < len(text) {
		c, size := classAt(text, at)
		next := at + size
		switch c {
		case extend:
		case letter, hebrew, digit:
			if previous == kata {
				break scan
			}
		case kata:
			if previous != kata && previous != joiner {
				break scan
			}
		case joiner:
		case apostrophe, quote, midLetter, midNumber, midBoth:
			// These characters join only if both neighbours fit.
			next = skipExtend(text, next)
			var follows class
			width := 0 // of the following character
			if next < len(text) {
				follows, width = classAt(text, next)
			}
			switch {
			case previous == hebrew && c == apostrophe:
				if !isLetter(follows) { // a Hebrew word may end in an apostrophe
					width, previous = 0, apostrophe
				}
			case joins(previous, c, follows):
				joined = true
			default:
				break scan
			}
			if length16(text[at:next+width]) > room {
				break scan
			}
			allHangul = false
		default:
			break scan
		}
		needed := length16(text[at:next])
		if needed > room && at > start {
			break
		}
		room -= needed
		switch c {
		case letter, hebrew, digit, kata, joiner:
			ok = ok || c != joiner
			allKatakana = allKatakana && c == kata
			allHangul = allHangul && size == 3 && isHangul(text[at:])
			previous = c
			if joined && c == hebrew {
				previous = letter // Lucene's grammar allows no quote after it
			}
			joined = false
		}
		at = next
	}
	switch {
	case ok && allKatakana:
		k = katakana
	case ok && allHangul:
		k = hangul
	}
	return at, k, ok
}

func isHangul(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.Is(unicode.Hangul, r)
}

// joins reports whether middle keeps left and right in one word: rules WB6, WB7, WB7b, WB7c, WB11 and WB12 of the
// annex.
func joins(left, middle, right class) bool {
	switch {
	case middle == quote:
		return left == hebrew && right == hebrew
	case isLetter(left) && isLetter(right):
		return middle != midNumber
	case left == digit && right == digit:
		return middle != midLetter
	}
	return false
}

func isLetter(c class) bool { return c == letter || c == hebrew }

// run returns the end of a run of characters whose words only a dictionary could separate.
func (t standardTokenizer) run(text string, at int) int {
	start := at
	for room := t.max; at < len(text); {
		c, size := classAt(text, at)
		if c != complexContext && c != extend || units(size) > room && at > start {
			break
		}
		room -= units(size)
		at += size
	}
	return at
}

// skipExtend returns the offset of the first character from at that does not extend its predecessor.
func skipExtend(text string, at int) int {
	for at < len(text) {
		c, size := classAt(text, at)
		if c != extend {
			break
		}
		at += size
	}
	return at
}

// units returns the number of UTF-16 code units of a character of size bytes in UTF-8.
func units(size int) int {
	if size == utf8.UTFMax {
		return 2
	}
	return 1
}
