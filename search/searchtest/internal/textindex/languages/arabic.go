// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// Marks that Arabic texts may have and indexes leave out: the elongation, and the vowel and doubling marks.
const (
	tatweel  = '\u0640'
	fathatan = '\u064B'
	dammatan = '\u064C'
	kasratan = '\u064D'
	fatha    = '\u064E'
	damma    = '\u064F'
	kasra    = '\u0650'
	shadda   = '\u0651'
	sukun    = '\u0652'
)

// Characters that have several forms.
const (
	alef           = '\u0627'
	alefMadda      = '\u0622'
	alefHamzaAbove = '\u0623'
	alefHamzaBelow = '\u0625'
	yeh            = '\u064A'
	dotlessYeh     = '\u0649'
	farsiYeh       = '\u06CC'
	yehBarree      = '\u06D2'
	tehMarbuta     = '\u0629'
	heh            = '\u0647'
	hehYeh         = '\u06C0'
	hehGoal        = '\u06C1'
	hehDoachashmee = '\u06BE'
	ae             = '\u06D5'
	kaf            = '\u0643'
	keheh          = '\u06A9'
	reh            = '\u0631'
	rreh           = '\u0695'
	rrehAbove      = '\u0692'
	hamzaAbove     = '\u0654'
	zeroWidth      = '\u200C' // non-joiner
)

// isMark reports whether r is one of the marks.
func isMark(r rune) bool {
	switch r {
	case tatweel, fathatan, dammatan, kasratan, fatha, damma, kasra, shadda, sukun:
		return true
	}
	return false
}

// NormalizeArabic replaces the forms of alef, yeh and heh by one each, and removes the marks.
func NormalizeArabic(text string) string { return ofRunes(normalizeArabic)(text) }

func normalizeArabic(word []rune) []rune {
	for i, r := range word {
		switch r {
		case alefMadda, alefHamzaAbove, alefHamzaBelow:
			word[i] = alef
		case dotlessYeh:
			word[i] = yeh
		case tehMarbuta:
			word[i] = heh
		}
	}
	return slices.DeleteFunc(word, isMark)
}

// NormalizePersian replaces the forms of yeh, kaf and heh by one each.
func NormalizePersian(text string) string { return ofRunes(normalizePersian)(text) }

func normalizePersian(word []rune) []rune {
	for i, r := range word {
		switch r {
		case farsiYeh, yehBarree:
			word[i] = yeh
		case keheh:
			word[i] = kaf
		case hehYeh, hehGoal:
			word[i] = heh
		}
	}
	return slices.DeleteFunc(word, func(r rune) bool { return r == hamzaAbove }) // of heh with hamza
}

// NormalizeSorani replaces the forms of Sorani Kurdish characters by one each.
func NormalizeSorani(text string) string { return ofRunes(normalizeSorani)(text) }

func normalizeSorani(word []rune) []rune {
	for i := 0; i < len(word); i++ {
		switch r := word[i]; {
		case r == yeh, r == dotlessYeh:
			word[i] = farsiYeh
		case r == kaf:
			word[i] = keheh
		case r == zeroWidth:
			if i > 0 && word[i-1] == heh {
				word[i-1] = ae
			}
			word = without(word, i)
			i--
		case r == heh:
			if i == len(word)-1 {
				word[i] = ae
			}
		case r == tehMarbuta:
			word[i] = ae
		case r == hehDoachashmee:
			word[i] = heh
		case r == reh:
			if i == 0 {
				word[i] = rreh
			}
		case r == rrehAbove:
			word[i] = rreh
		case isMark(r), unicode.Is(unicode.Cf, r):
			word = without(word, i)
			i--
		}
	}
	return word
}

var (
	arabicPrefixes = runesOf("ال", "وال", "بال", "كال", "فال", "لل", "و")
	arabicSuffixes = runesOf("ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي")
)

func runesOf(words ...string) [][]rune {
	list := make([][]rune, len(words))
	for i, w := range words {
		list[i] = []rune(w)
	}
	return list
}

// StemArabic removes one prefix and all suffixes, like Lucene's ArabicStemmer.
func StemArabic(text string) string { return ofRunes(stemArabic)(text) }

func stemArabic(word []rune) []rune {
	for _, prefix := range arabicPrefixes {
		rest := len(word) - len(prefix)
		// After a prefix of one character three must remain, otherwise two.
		if rest >= 2 && (len(prefix) > 1 || rest >= 3) && slices.Equal(word[:len(prefix)], prefix) {
			word = word[len(prefix):]
			break
		}
	}
	for _, suffix := range arabicSuffixes {
		if end := len(word) - len(suffix); end >= 2 && slices.Equal(word[end:], suffix) {
			word = word[:end]
		}
	}
	return word
}

// The steps of the Sorani stemmer. Each step applies at most one rule.
var (
	soraniPostpositions = []ending{{6, "دا", 2}, {5, "نا", 1}, {7, "ەوە", 3}}
	soraniPossessives   = []ending{{7, "مان", 3}, {7, "یان", 3}, {7, "تان", 3}}
	soraniEzafe         = []ending{
		{7, "ێکی", 3}, {8, "یەکی", 4}, // indefinite singular ezafe
		{6, "ێک", 2}, {7, "یەک", 3}, // indefinite singular
		{7, "ەکە", 3}, {6, "کە", 2}, // definite singular
		{8, "ەکان", 4}, {7, "کان", 3}, // definite plural
		{8, "یانی", 4}, {7, "انی", 3}, // indefinite plural ezafe
		{7, "یان", 3}, {6, "ان", 2}, // indefinite plural
		{8, "یانە", 4}, {7, "انە", 3}, // demonstrative plural
		{6, "ایە", 2}, {6, "ەیە", 2}, {5, "ە", 1}, // demonstrative singular
		{5, "ی", 1}, // absolute singular ezafe
	}
)

// StemSorani removes the endings of Sorani Kurdish, like Lucene's SoraniStemmer.
func StemSorani(text string) string {
	for _, step := range [][]ending{soraniPostpositions, soraniPossessives, soraniEzafe} {
		n := utf8.RuneCountInString(text)
		for i := range step {
			if step[i].matches(text, n) {
				text = cutLast(text, step[i].cut)
				break
			}
		}
	}
	return text
}
