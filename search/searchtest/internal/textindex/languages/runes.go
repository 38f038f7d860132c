// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

import (
	"slices"
	"strings"
)

// ofRunes converts a function of runes to a function of strings.
func ofRunes(f func([]rune) []rune) func(string) string {
	return func(text string) string { return string(f([]rune(text))) }
}

// without removes the rune at i from word, in place.
func without(word []rune, i int) []rune { return slices.Delete(word, i, i+1) }

// ends reports whether word ends with suffix.
func ends(word []rune, suffix string) bool {
	end := []rune(suffix)
	return len(word) >= len(end) && slices.Equal(word[len(word)-len(end):], end)
}

// endsWithAny reports whether word ends with any of suffixes.
func endsWithAny(word []rune, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if ends(word, suffix) {
			return true
		}
	}
	return false
}

// cutLast removes the last n runes of text.
func cutLast(text string, n int) string {
	word := []rune(text)
	return string(word[:len(word)-n])
}

// ending is a stemmer rule: if a word of at least shortest runes ends with suffix, its last cut runes are removed.
type ending struct {
	shortest int
	suffix   string
	cut      int
}

// matches reports whether the rule applies to text, which has n runes.
func (e *ending) matches(text string, n int) bool {
	return n >= e.shortest && strings.HasSuffix(text, e.suffix)
}
