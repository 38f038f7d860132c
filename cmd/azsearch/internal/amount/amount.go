// Package amount writes numbers with their nouns, so that no message says "1 documents".
package amount

import (
	"strings"

	"github.com/dustin/go-humanize"
)

// Of returns n and its noun, which is given in the singular: "1 document", "2,500 documents".
func Of[N int | int64](n N, noun string) string {
	return humanize.Comma(int64(n)) + " " + Noun(n, noun)
}

// Noun returns noun as it follows the number n: for a number that is printed in another form.
func Noun[N int | int64](n N, noun string) string {
	stem, isY := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
		return noun
	case isY && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		return stem + "ies"
	case strings.HasSuffix(noun, "x"):
		return noun + "es"
	}
	return noun + "s"
}
