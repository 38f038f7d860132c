// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

// NormalizeGerman replaces umlauts and their spellings with e by the plain vowel, and ß by ss, like Snowball's
// German2.
func NormalizeGerman(text string) string { return ofRunes(normalizeGerman)(text) }

func normalizeGerman(word []rune) []rune {
	const (
		ordinary = iota
		blocked  // u is not an umlaut with the e after it
		umlaut   // an e that follows is removed
	)
	out, state := make([]rune, 0, len(word)+1), ordinary
	for _, r := range word {
		switch r {
		case 'a', 'o':
			state = umlaut
		case 'u':
			if state == ordinary {
				state = umlaut
			} else {
				state = blocked
			}
		case 'e':
			if state == umlaut {
				state = blocked
				continue
			}
			state = blocked
		case 'i', 'q', 'y':
			state = blocked
		case 'ä':
			r, state = 'a', blocked
		case 'ö':
			r, state = 'o', blocked
		case 'ü':
			r, state = 'u', blocked
		case 'ß':
			out, r, state = append(out, 's'), 's', ordinary
		default:
			state = ordinary
		}
		out = append(out, r)
	}
	return out
}

// LightGerman is Lucene's GermanLightStemmer.
func LightGerman(text string) string { return ofRunes(lightGerman)(text) }

func lightGerman(word []rune) []rune {
	for i, r := range word {
		switch r {
		case 'ä', 'à', 'á', 'â':
			word[i] = 'a'
		case 'ö', 'ò', 'ó', 'ô':
			word[i] = 'o'
		case 'ï', 'ì', 'í', 'î':
			word[i] = 'i'
		case 'ü', 'ù', 'ú', 'û':
			word[i] = 'u'
		}
	}
	switch n := len(word); {
	case n > 5 && ends(word, "ern"):
		word = word[:n-3]
	case n > 4 && endsWithAny(word, "em", "en", "er", "es"):
		word = word[:n-2]
	case n > 3 && ends(word, "e"), n > 3 && ends(word, "s") && takesS(word[n-2]):
		word = word[:n-1]
	}
	switch n := len(word); {
	case n > 5 && ends(word, "est"):
		word = word[:n-3]
	case n > 4 && endsWithAny(word, "er", "en"), n > 4 && ends(word, "st") && takesS(word[n-3]):
		word = word[:n-2]
	}
	return word
}

// takesS reports whether the endings s and st may follow r.
func takesS(r rune) bool {
	switch r {
	case 'b', 'd', 'f', 'g', 'h', 'k', 'l', 'm', 'n', 't':
		return true
	}
	return false
}
