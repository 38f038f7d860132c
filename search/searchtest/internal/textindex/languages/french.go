// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

import "unicode"

// frenchEnding is a rule of the French light stemmer. If a word of more than above runes ends with suffix, its last
// cut runes are removed, and the last runes of the rest are overwritten by last.
type frenchEnding struct {
	above  int
	suffix string
	cut    int
	last   string
	// If more is true, the following rules are tried, too.
	more bool
}

// frenchEndings are tried in this order.
var frenchEndings = []frenchEnding{
	{above: 9, suffix: "issement", cut: 6, last: "r"},
	{above: 8, suffix: "issant", cut: 4, last: "r"},
	{above: 6, suffix: "ement", cut: 4},
	{above: 11, suffix: "ficatrice", cut: 5, last: "er"},
	{above: 10, suffix: "ficateur", cut: 4, last: "er"},
	{above: 9, suffix: "catrice", cut: 3, last: "quer"},
	{above: 8, suffix: "cateur", cut: 2, last: "quer"},
	{above: 8, suffix: "atrice", cut: 4, last: "er"},
	{above: 7, suffix: "ateur", cut: 3, last: "er"},
	{above: 6, suffix: "trice", cut: 1, last: "eur", more: true},
	{above: 5, suffix: "ième", cut: 4},
	{above: 7, suffix: "teuse", cut: 2, last: "r"},
	{above: 6, suffix: "teur", cut: 1, last: "r"},
	{above: 5, suffix: "euse", cut: 2},
	{above: 8, suffix: "ère", cut: 1, last: "er"},
	{above: 7, suffix: "ive", cut: 1, last: "f"},
	{above: 4, suffix: "folle", cut: 2, last: "u"},
	{above: 4, suffix: "molle", cut: 2, last: "u"},
	{above: 9, suffix: "nnelle", cut: 5},
	{above: 9, suffix: "nnel", cut: 3},
	{above: 4, suffix: "ète", cut: 1, last: "et", more: true},
	{above: 8, suffix: "ique", cut: 4, more: true},
	{above: 8, suffix: "esse", cut: 3},
	{above: 7, suffix: "inage", cut: 3},
	{above: 9, suffix: "isation", cut: 7},
	{above: 9, suffix: "isateur", cut: 7},
	{above: 8, suffix: "ation", cut: 5},
	{above: 8, suffix: "ition", cut: 5},
}

// LightFrench is Lucene's FrenchLightStemmer.
func LightFrench(text string) string { return ofRunes(lightFrench)(text) }

func lightFrench(word []rune) []rune {
	if n := len(word); n > 5 && word[n-1] == 'x' {
		if word[n-3] == 'a' && word[n-2] == 'u' && word[n-4] != 'e' {
			word[n-2] = 'l'
		}
		word = word[:n-1]
	}
	if n := len(word); n > 3 && word[n-1] == 'x' {
		word = word[:n-1]
	}
	if n := len(word); n > 3 && word[n-1] == 's' {
		word = word[:n-1]
	}
	for i := range frenchEndings {
		rule := &frenchEndings[i]
		if len(word) <= rule.above || !ends(word, rule.suffix) {
			continue
		}
		word = word[:len(word)-rule.cut]
		last := []rune(rule.last)
		copy(word[len(word)-len(last):], last)
		switch n := len(word); {
		case rule.suffix == "ement" && n > 3 && ends(word, "ive"):
			word = word[:n-1]
			word[n-2] = 'f'
		case rule.suffix == "isation" && n > 5 && ends(word, "ual"):
			word[n-2] = 'e'
		}
		if !rule.more {
			break
		}
	}
	return plainFrench(word)
}

// plainFrench removes accents, doubled characters and the last endings.
func plainFrench(word []rune) []rune {
	// The loop checks the current length: doubled characters are removed after each step.
	if len(word) > 4 {
		for i := 0; i < len(word); i++ {
			switch word[i] {
			case 'à', 'á', 'â':
				word[i] = 'a'
			case 'ô':
				word[i] = 'o'
			case 'è', 'é', 'ê':
				word[i] = 'e'
			case 'ù', 'û':
				word[i] = 'u'
			case 'î':
				word[i] = 'i'
			case 'ç':
				word[i] = 'c'
			}
			word = withoutDoubles(word)
		}
	}
	if n := len(word); n > 4 && ends(word, "ie") {
		word = word[:n-2]
	}
	if len(word) > 4 {
		for _, last := range "ree" {
			if n := len(word); word[n-1] == last {
				word = word[:n-1]
			}
		}
		if n := len(word); word[n-1] == word[n-2] && unicode.IsLetter(word[n-1]) {
			word = word[:n-1]
		}
	}
	return word
}

// withoutDoubles removes repetitions of a character.
func withoutDoubles(word []rune) []rune {
	for i := 1; i < len(word); i++ {
		if word[i] == word[i-1] && unicode.IsLetter(word[i]) {
			word = without(word, i)
			i--
		}
	}
	return word
}

// MinimalFrench is Lucene's FrenchMinimalStemmer.
func MinimalFrench(text string) string { return ofRunes(minimalFrench)(text) }

func minimalFrench(word []rune) []rune {
	n := len(word)
	if n < 6 {
		return word
	}
	if word[n-1] == 'x' {
		if word[n-3] == 'a' && word[n-2] == 'u' {
			word[n-2] = 'l'
		}
		return word[:n-1]
	}
	for _, last := range "sreé" {
		if n := len(word); word[n-1] == last {
			word = word[:n-1]
		}
	}
	if n := len(word); word[n-1] == word[n-2] {
		word = word[:n-1]
	}
	return word
}
