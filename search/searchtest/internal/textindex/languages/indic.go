// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

import "unicode"

// Flags of the Indian scripts whose blocks have corresponding characters at the same offsets.
const (
	deva = 1 << iota
	beng
	guru
	gujr
	orya
	taml
	telu
	knda
	mlym
)

var indicScripts = []struct {
	flag  int
	base  rune
	table *unicode.RangeTable
}{
	{deva, 0x0900, unicode.Devanagari}, {beng, 0x0980, unicode.Bengali}, {guru, 0x0A00, unicode.Gurmukhi},
	{gujr, 0x0A80, unicode.Gujarati}, {orya, 0x0B00, unicode.Oriya}, {taml, 0x0B80, unicode.Tamil},
	{telu, 0x0C00, unicode.Telugu}, {knda, 0x0C80, unicode.Kannada}, {mlym, 0x0D00, unicode.Malayalam},
}

// Special values of compositions.third.
const (
	none = -1   // the composition has two characters
	zwj  = 0xFF // zero-width joiner
)

// compositions are the characters that can also be written as two or three, as offsets in the block, with the
// scripts for which this holds.
var compositions = []struct {
	first, second, third, whole rune
	scripts                     int
}{
	{0x05, 0x3E, 0x45, 0x11, deva | gujr},                      // devanagari, gujarati vowel candra O
	{0x05, 0x3E, 0x46, 0x12, deva},                             // devanagari short O
	{0x05, 0x3E, 0x47, 0x13, deva | gujr},                      // devanagari, gujarati O
	{0x05, 0x3E, 0x48, 0x14, deva | gujr},                      // devanagari AI, gujarati AU
	{0x05, 0x3E, none, 0x06, deva | beng | guru | gujr | orya}, // devanagari, bengali, gurmukhi, gujarati, oriya AA
	{0x05, 0x45, none, 0x72, deva},                             // devanagari candra A
	{0x05, 0x45, none, 0x0D, gujr},                             // gujarati vowel candra E
	{0x05, 0x46, none, 0x04, deva},                             // devanagari short A
	{0x05, 0x47, none, 0x0F, gujr},                             // gujarati E
	{0x05, 0x48, none, 0x10, guru | gujr},                      // gurmukhi, gujarati AI
	{0x05, 0x49, none, 0x11, deva | gujr},                      // devanagari, gujarati vowel candra O
	{0x05, 0x4A, none, 0x12, deva},                             // devanagari short O
	{0x05, 0x4B, none, 0x13, deva | gujr},                      // devanagari, gujarati O
	{0x05, 0x4C, none, 0x14, deva | guru | gujr},               // devanagari AI, gurmukhi AU, gujarati AU
	{0x06, 0x45, none, 0x11, deva | gujr},                      // devanagari, gujarati vowel candra O
	{0x06, 0x46, none, 0x12, deva},                             // devanagari short O
	{0x06, 0x47, none, 0x13, deva | gujr},                      // devanagari, gujarati O
	{0x06, 0x48, none, 0x14, deva | gujr},                      // devanagari AI, gujarati AU
	{0x07, 0x57, none, 0x08, mlym},                             // malayalam II
	{0x09, 0x41, none, 0x0A, deva},                             // devanagari UU
	{0x09, 0x57, none, 0x0A, taml | mlym},                      // tamil, malayalam UU (some styles)
	{0x0E, 0x46, none, 0x10, mlym},                             // malayalam AI
	{0x0F, 0x45, none, 0x0D, deva},                             // devanagari candra E
	{0x0F, 0x46, none, 0x0E, deva},                             // devanagari short E
	{0x0F, 0x47, none, 0x10, deva},                             // devanagari AI
	{0x0F, 0x57, none, 0x10, orya},                             // oriya AI
	{0x12, 0x3E, none, 0x13, mlym},                             // malayalam OO
	{0x12, 0x4C, none, 0x14, telu | knda},                      // telugu, kannada AU
	{0x12, 0x55, none, 0x13, telu},                             // telugu OO
	{0x12, 0x57, none, 0x14, taml | mlym},                      // tamil, malayalam AU
	{0x13, 0x57, none, 0x14, orya},                             // oriya AU
	{0x15, 0x3C, none, 0x58, deva},                             // devanagari qa
	{0x16, 0x3C, none, 0x59, deva | guru},                      // devanagari, gurmukhi khha
	{0x17, 0x3C, none, 0x5A, deva | guru},                      // devanagari, gurmukhi ghha
	{0x1C, 0x3C, none, 0x5B, deva | guru},                      // devanagari, gurmukhi za
	{0x21, 0x3C, none, 0x5C, deva | beng | orya},               // devanagari dddha, bengali, oriya rra
	{0x22, 0x3C, none, 0x5D, deva | beng | orya},               // devanagari, bengali, oriya rha
	{0x23, 0x4D, zwj, 0x7A, mlym},                              // malayalam chillu nn
	{0x24, 0x4D, zwj, 0x4E, beng},                              // bengali khanda ta
	{0x28, 0x3C, none, 0x29, deva},                             // devanagari nnna
	{0x28, 0x4D, zwj, 0x7B, mlym},                              // malayalam chillu n
	{0x2B, 0x3C, none, 0x5E, deva | guru},                      // devanagari, gurmukhi fa
	{0x2F, 0x3C, none, 0x5F, deva | beng},                      // devanagari, bengali yya
	{0x2C, 0x41, 0x41, 0x0B, telu},                             // telugu vocalic R
	{0x30, 0x3C, none, 0x31, deva},                             // devanagari rra
	{0x30, 0x4D, zwj, 0x7C, mlym},                              // malayalam chillu rr
	{0x32, 0x4D, zwj, 0x7D, mlym},                              // malayalam chillu l
	{0x33, 0x3C, none, 0x34, deva},                             // devanagari llla
	{0x33, 0x4D, zwj, 0x7E, mlym},                              // malayalam chillu ll
	{0x35, 0x41, none, 0x2E, telu},                             // telugu MA
	{0x3E, 0x45, none, 0x49, deva | gujr},                      // devanagari, gujarati vowel sign candra O
	{0x3E, 0x46, none, 0x4A, deva},                             // devanagari vowel sign short O
	{0x3E, 0x47, none, 0x4B, deva | gujr},                      // devanagari, gujarati vowel sign O
	{0x3E, 0x48, none, 0x4C, deva | gujr},                      // devanagari, gujarati vowel sign AU
	{0x3F, 0x55, none, 0x40, knda},                             // kannada vowel sign II
	{0x41, 0x41, none, 0x42, guru},                             // gurmukhi vowel sign UU (when stacking)
	{0x46, 0x3E, none, 0x4A, taml | mlym},                      // tamil, malayalam vowel sign O
	{0x46, 0x42, 0x55, 0x4B, knda},                             // kannada vowel sign OO
	{0x46, 0x42, none, 0x4A, knda},                             // kannada vowel sign O
	{0x46, 0x46, none, 0x48, mlym},                             // malayalam vowel sign AI (if reordered twice)
	{0x46, 0x55, none, 0x47, telu | knda},                      // telugu, kannada vowel sign EE
	{0x46, 0x56, none, 0x48, telu | knda},                      // telugu, kannada vowel sign AI
	{0x46, 0x57, none, 0x4C, taml | mlym},                      // tamil, malayalam vowel sign AU
	{0x47, 0x3E, none, 0x4B, beng | orya | taml | mlym},        // bengali, oriya vowel sign O, tamil, malayalam vowel sign OO
	{0x47, 0x57, none, 0x4C, beng | orya},                      // bengali, oriya vowel sign AU
	{0x4A, 0x55, none, 0x4B, knda},                             // kannada vowel sign OO
	{0x72, 0x3F, none, 0x07, guru},                             // gurmukhi I
	{0x72, 0x40, none, 0x08, guru},                             // gurmukhi II
	{0x72, 0x47, none, 0x0F, guru},                             // gurmukhi EE
	{0x73, 0x41, none, 0x09, guru},                             // gurmukhi U
	{0x73, 0x42, none, 0x0A, guru},                             // gurmukhi UU
	{0x73, 0x4B, none, 0x13, guru},                             // gurmukhi OO
}

// NormalizeIndic replaces sequences of characters that spell one character of an Indian script by that character,
// like Lucene's IndicNormalizer.
func NormalizeIndic(text string) string { return ofRunes(normalizeIndic)(text) }

func normalizeIndic(word []rune) []rune {
	for i := 0; i+1 < len(word); i++ {
		flag, base := indicScript(word[i])
		if next, _ := indicScript(word[i+1]); flag == 0 || next != flag {
			continue
		}
		third := rune(none)
		if i+2 < len(word) {
			if f, _ := indicScript(word[i+2]); f == flag {
				third = word[i+2] - base
			}
			if word[i+2] == joiner {
				third = zwj
			}
		}
		for _, c := range compositions {
			if c.scripts&flag == 0 || c.first != word[i]-base || c.second != word[i+1]-base || c.third != none && c.third != third {
				continue
			}
			word[i] = base + c.whole
			word = without(word, i+1)
			if c.third != none {
				word = without(word, i+1)
			}
			break
		}
	}
	return word
}

// indicScript returns the flag of a character's script and the start of its block; flag 0 if it is another script.
func indicScript(r rune) (flag int, base rune) {
	for _, s := range indicScripts {
		if unicode.Is(s.table, r) {
			return s.flag, s.base
		}
	}
	return 0, 0
}
