// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

import (
	"strings"
	"unicode/utf8"
)

// The signs of Devanagari that need more than a replacement.
const (
	na     = '\u0928'
	bindu  = '\u0902'
	nukta  = '\u093C'
	virama = '\u094D'
	joiner = '\u200D' // zero-width joiner
)

// hindiLetters maps characters with dots or tails, and long vowels, to their normalized forms.
var hindiLetters = map[rune]rune{
	'\u0901': '\u0902', '\u0929': '\u0928', '\u0931': '\u0930', '\u0934': '\u0933', '\u0958': '\u0915', '\u0959': '\u0916',
	'\u095A': '\u0917', '\u095B': '\u091C', '\u095C': '\u0921', '\u095D': '\u0922', '\u095E': '\u092B', '\u095F': '\u092F',
	'\u0945': '\u0947', '\u0946': '\u0947', '\u0949': '\u094B', '\u094A': '\u094B', '\u090D': '\u090F', '\u090E': '\u090F',
	'\u0911': '\u0913', '\u0912': '\u0913', '\u0972': '\u0905', '\u0906': '\u0905', '\u0908': '\u0907', '\u090A': '\u0909',
	'\u0960': '\u090B', '\u0961': '\u090C', '\u0910': '\u090F', '\u0914': '\u0913', '\u0940': '\u093F', '\u0942': '\u0941',
	'\u0944': '\u0943', '\u0963': '\u0962', '\u0948': '\u0947', '\u094C': '\u094B',
}

// NormalizeHindi converts the different spellings of a Hindi word to one, like Lucene's HindiNormalizer.
func NormalizeHindi(text string) string { return ofRunes(normalizeHindi)(text) }

func normalizeHindi(word []rune) []rune {
	out := word[:0]
	for i := 0; i < len(word); i++ {
		switch r := word[i]; r {
		case na:
			if i+1 < len(word) && word[i+1] == virama { // no vowel follows
				r = bindu
				i++
			}
			out = append(out, r)
		case nukta, virama, joiner, zeroWidth: // removed
		default:
			if other, ok := hindiLetters[r]; ok {
				r = other
			}
			out = append(out, r)
		}
	}
	return out
}

// hindiEndings are the endings of Lucene's HindiStemmer, by length.
var hindiEndings = []struct {
	shortest int // minimum length of a word in runes
	cut      int // number of runes to remove
	endings  []string
}{
	{7, 5, strings.Fields("ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयाँ ाइयों ाइयां")},
	{6, 4, strings.Fields("ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं नाओं नाएं ताओं ताएं ियाँ ियों ियां")},
	{5, 3, strings.Fields("ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं")},
	{4, 2, strings.Fields("कर ाओ िए ाई ाए ने नी ना ते ीं ती ता ाँ ां ों ें")},
	{3, 1, strings.Fields("ो े ू ु ी ि ा")},
}

// StemHindi removes the longest ending, like Lucene's HindiStemmer.
func StemHindi(text string) string {
	n := utf8.RuneCountInString(text)
	for _, group := range hindiEndings {
		if n < group.shortest {
			continue
		}
		for _, ending := range group.endings {
			if strings.HasSuffix(text, ending) {
				return cutLast(text, group.cut)
			}
		}
	}
	return text
}
