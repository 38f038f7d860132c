package query

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// mostSemanticWords is the number of words of a query that count, from the first.
const mostSemanticWords = 64

// wordSet is a set of words of a query, by their index among the words that count.
type wordSet uint64

// words yields the words of the set in order, because sums of floats depend on the order.
func (s wordSet) words(yield func(word int) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(bits.TrailingZeros64(uint64(s))) {
			return
		}
	}
}

// semanticField is a field for semantic ranking.
type semanticField struct {
	path  []*stored.Field // from the outside in
	kind  semanticKind
	index analysis.Analyzer
	terms map[string]wordSet // the words of the query as terms of the field
}

// semanticKind is the role of a field in a semantic configuration.
type semanticKind uint8

const (
	semanticTitle semanticKind = iota
	semanticKeywords
	semanticContent
	semanticKinds
)

// compile sets the fields of the configuration, in the order of reading, and the terms of the
// query text in each field.
func (sp *semanticPlan) compile(sc *schema.Index) *reply.Error {
	prioritized := sp.configuration.Object("prioritizedFields")
	var tokens [][]analysis.Token // of the text, by field
	add := func(kind semanticKind, uses ...*shape.Object) *reply.Error {
		for _, use := range uses {
			path := use.Str("fieldName")
			// Not a field of the text index, because it need not be searchable. A field that is
			// not has no analyzer, so the standard one is used.
			f := &schema.TextField{Path: path, Fields: sc.Find(path), Definition: sc.Parsed.Field(path)}
			index, search, err := sc.Analyzers(f)
			if err != nil {
				return schema.NotAnalyzed("the field '"+f.Path+"'", err)
			}
			sp.fields = append(sp.fields, semanticField{path: f.Fields, kind: kind, index: index})
			tokens = append(tokens, search.Analyze(sp.text))
		}
		return nil
	}
	if title := prioritized.Object("titleField"); title != nil {
		if err := add(semanticTitle, title); err != nil {
			return err
		}
	}
	if err := add(semanticKeywords, prioritized.Objects("prioritizedKeywordsFields")...); err != nil {
		return err
	}
	if err := add(semanticContent, prioritized.Objects("prioritizedContentFields")...); err != nil {
		return err
	}
	components, err := sc.Components()
	if err != nil {
		return schema.NotAnalyzed("the index '"+sc.Name+"'", err)
	}
	english, err := components.Analyzer("en.lucene")
	if err != nil {
		return schema.NotAnalyzed("the index '"+sc.Name+"'", err)
	}
	places := sp.countWords(tokens, english)
	for i := range sp.fields {
		terms := make(map[string]wordSet)
		for _, t := range tokens[i] {
			if place, counts := places[t.Start]; counts {
				terms[t.Text] |= 1 << place
			}
		}
		sp.fields[i].terms = terms
	}
	sp.asks = isQuestion(sp.text)
	return nil
}

// countWords finds the words of the text that count, and returns the index of each by its
// position in the text. Analyzers may disagree on the end of a word, and may make several
// terms of it. A repeated word is the same word.
func (sp *semanticPlan) countWords(tokens [][]analysis.Token, english analysis.Analyzer) map[int]int {
	ends := make(map[int]int)
	var starts []int
	for _, list := range tokens {
		for _, t := range list {
			end, known := ends[t.Start]
			if !known {
				starts = append(starts, t.Start)
			}
			if !known || t.End < end {
				ends[t.Start] = t.End
			}
		}
	}
	slices.Sort(starts)
	word := func(start int) string { return strings.ToLower(sp.text[start:ends[start]]) }
	small := func(start int) bool {
		opener, _, _ := strings.Cut(strings.ReplaceAll(word(start), "’", "'"), "'") // what's
		return slices.Contains(questionWords, opener) || slices.Contains(persons, opener) || len(english.Analyze(word(start))) == 0
	}
	if large := slices.DeleteFunc(slices.Clone(starts), small); len(large) > 0 {
		starts = large
	}
	places, byWord := make(map[int]int), make(map[string]int)
	for _, start := range starts {
		place, known := byWord[word(start)]
		if !known {
			if place = len(byWord); place == mostSemanticWords {
				break
			}
			byWord[word(start)] = place
		}
		places[start] = place
	}
	sp.words = len(byWord)
	return places
}

// questionWords are the words with which English questions begin, and persons are pronouns.
// Neither counts as a word of the query, nor do the stop words of the English analyzer.
var questionWords = []string{
	"am", "are", "can", "could", "did", "do", "does", "had", "has", "have", "how", "is", "may", "might", "must", "shall", "should",
	"was", "were", "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "would",
}

var persons = []string{"he", "her", "him", "his", "i", "me", "my", "our", "she", "us", "we", "you", "your"}

// isQuestion reports whether a text looks like a question: it ends with a question mark or
// begins like an English question.
func isQuestion(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟") {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	return len(words) > 0 && slices.Contains(questionWords, words[0])
}
