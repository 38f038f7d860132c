// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

import (
	_ "embed"
	"strings"
	"sync"
)

// asciiText has a line for each ASCII text: the text, a tab, and the characters that it replaces.
//
//go:embed ascii.txt
var asciiText string

var asciiOf = sync.OnceValue(func() map[rune]string {
	table := make(map[rune]string, 1300)
	for line := range strings.Lines(asciiText) {
		ascii, characters, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for _, r := range characters {
			table[r] = ascii
		}
	}
	return table
})

// FoldASCII replaces characters that resemble ASCII characters, such as those with accents, by ASCII, like Lucene's
// ASCIIFoldingFilter.
func FoldASCII(text string) string {
	table := asciiOf()
	var out strings.Builder
	out.Grow(len(text))
	for _, r := range text {
		if ascii, ok := table[r]; ok {
			out.WriteString(ascii)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
