// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

// The half-width Katakana block in full width, and characters with their voiced forms.
var (
	katakana = []rune("・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン\u3099\u309A")
	voiced   = marked("ウカキクケコサシスセソタチツテトハヒフヘホワヰヱヲヽ", "ヴガギグゲゴザジズゼゾダヂヅデドバビブベボヷヸヹヺヾ")
	// Only these have a p form.
	halfVoiced = marked("ハヒフヘホ", "パピプペポ")
)

// marked maps the runes of from to those of to.
func marked(from, to string) map[rune]rune {
	table, marks := map[rune]rune{}, []rune(to)
	for i, r := range []rune(from) {
		table[r] = marks[i]
	}
	return table
}

// NormalizeWidth converts full-width ASCII to ASCII, and half-width Katakana to Katakana.
func NormalizeWidth(text string) string { return ofRunes(normalizeWidth)(text) }

func normalizeWidth(word []rune) []rune {
	const firstWide, lastWide, toASCII = 0xFF01, 0xFF5E, 0xFEE0
	const firstHalf, lastHalf, voicing, halfVoicing = 0xFF65, 0xFF9F, 0xFF9E, 0xFF9F
	out := word[:0]
	for i, r := range word {
		switch {
		case r >= firstWide && r <= lastWide:
			r -= toASCII
		case r >= firstHalf && r <= lastHalf:
			table := map[rune]map[rune]rune{voicing: voiced, halfVoicing: halfVoiced}[r]
			if i > 0 && table != nil {
				if m, ok := table[out[len(out)-1]]; ok {
					out[len(out)-1] = m
					continue
				}
			}
			r = katakana[r-firstHalf]
		}
		out = append(out, r)
	}
	return out
}
