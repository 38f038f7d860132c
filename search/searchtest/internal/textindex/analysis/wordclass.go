package analysis

import (
	"sync/atomic"
	"unicode"
)

// class is the part that a character plays at the boundaries of words: the
// Word_Break property of Unicode Standard Annex 29, with the classes that Lucene
// adds for scripts which are written without spaces.
type class uint8

const (
	other class = iota
	letter
	hebrew
	digit
	kata
	joiner // ExtendNumLet: an underscore and the like
	extend // Extend, Format and ZWJ: belongs to what it follows
	midLetter
	midNumber
	midBoth // between two letters or two digits
	apostrophe
	quote
	han
	hira
	complexContext // scripts such as Thai, whose words only a dictionary finds
)

// asciiClasses saves the pages for most of the text there is.
var asciiClasses = func() (t [0x80]class) {
	for r := range rune(0x80) {
		t[r] = classify(r)
	}
	return t
}()

// classPages holds the classes of 256 characters each, once somebody needed
// them. Whoever finds a page missing makes it; two who make the same one make
// equal ones.
var classPages [(unicode.MaxRune + 1) >> 8]atomic.Pointer[[256]class]

func classOf(r rune) class {
	if r < 0x80 {
		return asciiClasses[r]
	}
	page := classPages[r>>8].Load()
	if page == nil {
		page = new([256]class)
		for i := range page {
			page[i] = classify(r&^0xff + rune(i))
		}
		classPages[r>>8].Store(page)
	}
	return page[r&0xff]
}

// Characters that the annex names one by one.
var (
	midLetters = []rune{':', 0xB7, 0x387, 0x55F, 0x5F4, 0x2027, 0xFE13, 0xFE55, 0xFF1A}
	midNumbers = []rune{',', ';', 0x37E, 0x589, 0x60C, 0x60D, 0x66C, 0x7F8, 0x2044, 0xFE10, 0xFE14, 0xFE50, 0xFE54, 0xFF0C, 0xFF1B}
	midBoths   = []rune{'.', 0x2018, 0x2019, 0x2024, 0xFE52, 0xFF07, 0xFF0E}
	katakanas  = []rune{0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x309B, 0x309C, 0x30A0, 0x30FC, 0xFF70}
	letters    = []rune{0x5F3, 0xA78A}
)

// complexScripts are those of line breaking class Complex_Context.
var complexScripts = []*unicode.RangeTable{
	unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Ahom,
}

func classify(r rune) class {
	switch {
	case r == '\'':
		return apostrophe
	case r == '"':
		return quote
	case has(midLetters, r):
		return midLetter
	case has(midNumbers, r):
		return midNumber
	case has(midBoths, r):
		return midBoth
	case has(katakanas, r):
		return kata
	case has(letters, r):
		return letter
	case unicode.In(r, complexScripts...) && unicode.In(r, unicode.L, unicode.M):
		return complexContext
	case r == 0x200B: // zero width space: a boundary in spite of being Cf
		return other
	case unicode.In(r, unicode.M, unicode.Other_Grapheme_Extend, unicode.Cf), r == 0x200D:
		return extend
	case unicode.Is(unicode.Nd, r), r == 0x66B:
		return digit
	case unicode.Is(unicode.Pc, r):
		return joiner
	case unicode.In(r, unicode.Ideographic):
		return han
	case unicode.Is(unicode.Hiragana, r):
		return hira
	case unicode.Is(unicode.Katakana, r):
		return kata
	case unicode.Is(unicode.Hebrew, r) && unicode.IsLetter(r):
		return hebrew
	case unicode.In(r, unicode.L, unicode.Nl, unicode.Other_Alphabetic):
		return letter
	}
	return other
}

func has(set []rune, r rune) bool {
	for _, x := range set {
		if x == r {
			return true
		}
	}
	return false
}
