// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

import (
	"slices"
	"strings"
)

// ofRunes makes a function of text of one that changes its runes.
func ofRunes(f func([]rune) []rune) func(string) string {
	return func(text string) string { return string(f([]rune(text))) }
}

// without returns word without the rune at i, in the same memory.
func without(word []rune, i int) []rune { return slices.Delete(word, i, i+1) }

// ends reports whether word ends with suffix.
func ends(word []rune, suffix string) bool {
	end := []rune(suffix)
	return len(word) >= len(end) && slices.Equal(word[len(word)-len(end):], end)
}

// endsWithAny is ends for any of several suffixes.
func endsWithAny(word []rune, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if ends(word, suffix) {
			return true
		}
	}
	return false
}

// cutLast returns text without its last n runes.
func cutLast(text string, n int) string {
	word := []rune(text)
	return string(word[:len(word)-n])
}

// ending is a rule of stemmers that only cut: of a word of at least shortest
// runes the last cut ones go if it ends with suffix.
type ending struct {
	shortest int
	suffix   string
	cut      int
}

// matches reports whether the rule is for text, which has n runes.
func (e *ending) matches(text string, n int) bool {
	return n >= e.shortest && strings.HasSuffix(text, e.suffix)
}
