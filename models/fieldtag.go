package models

import (
	"fmt"
	"slices"
	"strings"
)

// fieldTag is a parsed `search` tag. Its words are those of the table at FieldsOf.
type fieldTag struct {
	skip   bool
	words  []string          // words without a value
	values map[string]string // words with a value
}

var (
	plainWords = []string{"key", "searchable", "filterable", "sortable", "facetable", "retrievable", "hidden", "sensitivityLabel"}
	valueWords = []string{
		"analyzer", "searchAnalyzer", "indexAnalyzer", "normalizer", "synonymMaps", "permissionFilter",
		"type", "dimensions", "vectorProfile", "vectorEncoding", "stored",
	}
)

// parseTag returns the tag, and the problems with its words.
func parseTag(tag string) (fieldTag, []string) {
	t := fieldTag{values: map[string]string{}}
	var problems []string
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if tag == "-" {
		t.skip = true
		return t, nil
	}
	if tag == "" {
		return t, nil
	}
	for part := range strings.SplitSeq(tag, ",") {
		word, value, hasValue := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case part == "" && !hasValue:
			problem("the tag has an empty word")
		case word == "-":
			problem(`"-" cannot be combined with other words`)
		case slices.Contains(plainWords, word) && hasValue:
			problem("%q takes no value: name it to turn it on, leave it out to turn it off", word)
		case slices.Contains(valueWords, word) && value == "":
			problem("%q needs a value: %s=…", word, word)
		case slices.Contains(t.words, word) || t.values[word] != "":
			problem("%q appears twice", word)
		case slices.Contains(plainWords, word):
			t.words = append(t.words, word)
		case slices.Contains(valueWords, word):
			t.values[word] = value
		default:
			problem("%q is not a word of the tag%s", word, meant(word))
		}
	}
	return t, problems
}

func (t fieldTag) has(word string) bool {
	return slices.Contains(t.words, word) || t.values[word] != ""
}

// anyOf returns the first of words that is in the tag, or "".
func (t fieldTag) anyOf(words ...string) string {
	for _, w := range words {
		if t.has(w) {
			return w
		}
	}
	return ""
}

// meant suggests a word that resembles an unknown one.
func meant(word string) string {
	for _, w := range slices.Concat(plainWords, valueWords) {
		if strings.EqualFold(w, word) || len(word) >= 4 && strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)) {
			return fmt.Sprintf("; is it %q?", w)
		}
	}
	return ""
}
