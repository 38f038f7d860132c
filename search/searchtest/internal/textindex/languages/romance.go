// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

// LightSpanish is Lucene's SpanishLightStemmer without its removal of accents.
func LightSpanish(text string) string { return ofRunes(lightSpanish)(text) }

func lightSpanish(word []rune) []rune {
	n := len(word)
	if n < 5 {
		return word
	}
	switch word[n-1] {
	case 'o', 'a', 'e':
		return word[:n-1]
	case 's':
		switch {
		case ends(word, "eses"):
			return word[:n-2]
		case ends(word, "ces"):
			word[n-3] = 'z'
			return word[:n-2]
		case endsWithAny(word, "os", "as", "es"):
			return word[:n-2]
		}
	}
	return word
}

// LightItalian is Lucene's ItalianLightStemmer.
func LightItalian(text string) string { return ofRunes(lightItalian)(text) }

func lightItalian(word []rune) []rune {
	n := len(word)
	if n < 6 {
		return word
	}
	for i, r := range word {
		word[i] = plainVowel(r)
	}
	switch {
	case endsWithAny(word, "ie", "he", "hi", "ii", "ia", "io"):
		return word[:n-2]
	case endsWithAny(word, "e", "i", "a", "o"):
		return word[:n-1]
	}
	return word
}

// plainVowel removes the accent from an Italian or Portuguese vowel.
func plainVowel(r rune) rune {
	switch r {
	case 'à', 'á', 'â', 'ä':
		return 'a'
	case 'ò', 'ó', 'ô', 'ö':
		return 'o'
	case 'è', 'é', 'ê', 'ë':
		return 'e'
	case 'ù', 'ú', 'û', 'ü':
		return 'u'
	case 'ì', 'í', 'î', 'ï':
		return 'i'
	}
	return r
}

// LightPortuguese is Lucene's PortugueseLightStemmer.
func LightPortuguese(text string) string { return ofRunes(lightPortuguese)(text) }

func lightPortuguese(word []rune) []rune {
	if len(word) < 4 {
		return word
	}
	word = singularPortuguese(word)
	if len(word) > 3 && ends(word, "a") {
		word = masculinePortuguese(word)
	}
	if n := len(word); n > 4 && endsWithAny(word, "e", "a", "o") {
		word = word[:n-1]
	}
	for i, r := range word {
		switch r {
		case 'ã':
			word[i] = 'a'
		case 'õ':
			word[i] = 'o'
		case 'ç':
			word[i] = 'c'
		default:
			word[i] = plainVowel(r)
		}
	}
	return word
}

// singularPortuguese removes the plural ending, and the ending of adverbs.
func singularPortuguese(word []rune) []rune {
	switch n := len(word); {
	case n > 4 && endsWithAny(word, "res", "ses", "les", "zes"):
		return word[:n-2]
	case n > 3 && ends(word, "ns"):
		word[n-2] = 'm'
		return word[:n-1]
	case n > 4 && endsWithAny(word, "eis", "éis"):
		word[n-3], word[n-2] = 'e', 'l'
		return word[:n-1]
	case n > 4 && ends(word, "ais"):
		word[n-2] = 'l'
		return word[:n-1]
	case n > 4 && ends(word, "óis"):
		word[n-3], word[n-2] = 'o', 'l'
		return word[:n-1]
	case n > 4 && ends(word, "is"):
		word[n-1] = 'l'
		return word
	case n > 3 && endsWithAny(word, "ões", "ães"):
		word[n-3], word[n-2] = 'ã', 'o'
		return word[:n-1]
	case n > 6 && ends(word, "mente"):
		return word[:n-5]
	case n > 3 && ends(word, "s"):
		return word[:n-1]
	}
	return word
}

// masculinePortuguese returns the masculine form of a word that ends with a.
func masculinePortuguese(word []rune) []rune {
	switch n := len(word); {
	case n > 7 && endsWithAny(word, "inha", "iaca", "eira"),
		n > 6 && endsWithAny(word, "osa", "ica", "ida", "ada", "iva", "ama"):
		word[n-1] = 'o'
	case n > 6 && ends(word, "ona"):
		word[n-3], word[n-2] = 'ã', 'o'
		return word[:n-1]
	case n > 6 && ends(word, "ora"):
		return word[:n-1]
	case n > 6 && ends(word, "esa"):
		word[n-3] = 'ê'
		return word[:n-1]
	case n > 6 && ends(word, "na"):
		word[n-1] = 'o'
	}
	return word
}
