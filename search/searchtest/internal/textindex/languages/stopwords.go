// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed stopwords/*.txt
var stopwordFiles embed.FS

// Stopwords returns the stop words of a language, sorted. It panics if there is no list for the language.
func Stopwords(language string) []string {
	text, err := stopwordFiles.ReadFile("stopwords/" + language + ".txt")
	if err != nil {
		panic(fmt.Sprintf("there is no list of stop words for %q", language))
	}
	var words []string
	for line := range strings.Lines(string(text)) {
		if comment := strings.IndexAny(line, "#|"); comment >= 0 {
			line = line[:comment]
		}
		words = append(words, strings.Fields(line)...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}
