package analysis

import (
	"sync/atomic"
	"unicode"
)

// class is the Word_Break property of a character in Unicode Standard Annex 29, extended by Lucene's classes for
// scripts written without spaces.
type class uint8

const (
	other class = iota
	letter
	hebrew
	digit
	kata
	joiner // ExtendNumLet: an underscore and similar characters
	extend // Extend, Format and ZWJ: belongs to the previous character
	midLetter
	midNumber
	midBoth // joins two alphabetic characters or two digits
	apostrophe
	quote
	han
	hira
	complexContext // scripts such as Thai, whose words only a dictionary can separate
)

// asciiClasses has the classes of ASCII, so that most text needs no page.
var asciiClasses = func() (t [0x80]class) {
	for r := range rune(0x80) {
		t[r] = classify(r)
	}
	return t
}()

// classPages has the classes of 256 characters each, computed on first use. Concurrent first uses of a page compute
// equal pages, so the last store wins.
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

// Characters that the annex lists individually.
var (
	midLetters = []rune{':', 0xB7, 0x387, 0x55F, 0x5F4, 0x2027, 0xFE13, 0xFE55, 0xFF1A}
	midNumbers = []rune{',', ';', 0x37E, 0x589, 0x60C, 0x60D, 0x66C, 0x7F8, 0x2044, 0xFE10, 0xFE14, 0xFE50, 0xFE54, 0xFF0C, 0xFF1B}
	midBoths   = []rune{'.', 0x2018, 0x2019, 0x2024, 0xFE52, 0xFF07, 0xFF0E}
	katakanas  = []rune{0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x309B, 0x309C, 0x30A0, 0x30FC, 0xFF70}
	letters    = []rune{0x5F3, 0xA78A}
)

// complexScripts are the scripts of line breaking class Complex_Context.
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
	case r == 0x200B: // zero width space: a boundary although it is Cf
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
