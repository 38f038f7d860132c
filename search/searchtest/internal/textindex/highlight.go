package textindex

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// Tags are written before and after each match.
type Tags struct{ Pre, Post string }

// Highlighter marks the matches of a query in texts of documents. It is safe for concurrent use.
type Highlighter struct {
	index  *Index
	fields map[*field]*marks
}

// marks are the terms, patterns and phrases to mark in one field.
type marks struct {
	terms    map[string]bool
	patterns []func(term string) bool
	phrases  []markedPhrase
}

type markedPhrase struct {
	slots []phraseSlot
	slop  int
}

// Highlighter returns a highlighter for a query. Prohibited clauses mark nothing. A clause with a field marks only
// that field. Its errors are those of Search.
func (x *Index) Highlighter(n lucene.Node, o Options) (*Highlighter, error) {
	if lucene.Clauses(n) > maxClauses {
		return nil, &LimitError{What: "clauses", Limit: maxClauses}
	}
	c, err := x.compiler(o)
	if err != nil {
		return nil, err
	}
	h := &Highlighter{index: x, fields: make(map[*field]*marks)}
	if err := h.collect(c, n); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *Highlighter) collect(c *compiler, n lucene.Node) error {
	switch n := n.(type) {
	case lucene.MatchAll:
		return nil
	case lucene.Boost:
		return h.collect(c, n.Node)
	case lucene.Boolean:
		for _, clause := range n.Clauses {
			if clause.Occur == lucene.MustNot {
				continue
			}
			if err := h.collect(c, clause.Node); err != nil {
				return err
			}
		}
		return nil
	}
	fields, err := c.target(n)
	if err != nil {
		return err
	}
	for _, f := range fields {
		m := h.fields[f]
		if m == nil {
			m = &marks{terms: make(map[string]bool)}
			h.fields[f] = m
		}
		if err := m.add(f, n); err != nil {
			return err
		}
	}
	return nil
}

func (m *marks) add(f *field, n lucene.Node) error {
	switch n := n.(type) {
	case lucene.Term:
		for _, u := range f.units(n.Text) {
			for _, terms := range u.alternatives {
				slots := make([]phraseSlot, len(terms))
				for i, term := range terms {
					slots[i] = phraseSlot{[]string{term}, i}
				}
				m.phrase(slots, 0)
			}
		}
	case lucene.Phrase:
		variants, err := f.variants(n.Text)
		if err != nil {
			return err
		}
		for _, slots := range variants {
			m.phrase(slots, n.Slop)
		}
	case lucene.Prefix:
		if err := checkLength(n.Text); err != nil {
			return err
		}
		prefix := strings.ToLower(n.Text)
		m.patterns = append(m.patterns, func(term string) bool { return strings.HasPrefix(term, prefix) })
	case lucene.Wildcard:
		if err := checkLength(n.Pattern); err != nil {
			return err
		}
		m.patterns = append(m.patterns, parseWildcard(strings.ToLower(n.Pattern)).match)
	case lucene.Regexp:
		r, err := parseRegexp(strings.ToLower(n.Pattern))
		if err != nil {
			return err
		}
		m.patterns = append(m.patterns, r.match)
	case lucene.Fuzzy:
		for _, t := range f.similar(n.Text, n.Edits) {
			m.terms[t.term] = true
		}
	}
	return nil
}

func (m *marks) phrase(slots []phraseSlot, slop int) {
	if len(slots) > 1 {
		m.phrases = append(m.phrases, markedPhrase{slots, slop})
		return
	}
	for _, term := range slots[0].terms {
		m.terms[term] = true
	}
}

// find returns the spans of text to mark with their terms, ordered by start.
func (m *marks) find(a analysis.Analyzer, text string) []markedSpan {
	tokens := a.Analyze(text)
	marked := make([]bool, len(tokens))
	for i, t := range tokens {
		marked[i] = m.terms[t.Text]
		for _, match := range m.patterns {
			marked[i] = marked[i] || match(t.Text)
		}
	}
	for _, p := range m.phrases {
		p.mark(tokens, marked)
	}
	var spans []markedSpan
	for i, t := range tokens {
		if marked[i] && t.End > t.Start {
			spans = append(spans, markedSpan{span{t.Start, t.End}, t.Text})
		}
	}
	slices.SortStableFunc(spans, func(a, b markedSpan) int { return cmp.Compare(a.start, b.start) })
	return spans
}

type markedSpan struct {
	span
	term string
}

// mark marks the tokens of each occurrence of the phrase.
func (p markedPhrase) mark(tokens []analysis.Token, marked []bool) {
	matcher := newPhraseMatcher(p.slots, p.slop)
	at := make([][]int, len(p.slots)) // token indexes for matcher.positions
	for i, s := range p.slots {
		for j, t := range tokens {
			if slices.Contains(s.terms, t.Text) {
				matcher.positions[i] = append(matcher.positions[i], uint32(t.Position))
				at[i] = append(at[i], j)
			}
		}
	}
	matcher.each(func(int) {
		for i, j := range matcher.at {
			marked[at[i][j]] = true
		}
	})
}

// Fragments returns the marked sentences of a field that have matches: the best ones, at most limit, in the order of
// the text. values are the texts of the field: one, or those of a collection. It returns nil if nothing matches or
// the index does not have the field.
func (h *Highlighter) Fragments(path string, values []string, limit int, tags Tags) []string {
	f := h.index.byPath[path]
	m := h.fields[f]
	if m == nil {
		return nil
	}
	type fragment struct {
		text  string
		score float64
	}
	var fragments []fragment
	for _, value := range values {
		spans := m.find(f.Index, value)
		for _, s := range sentences(value) {
			// Tokens may overlap, such as n-grams or parts of words: each text is marked once. A token that continues
			// after the sentence is marked up to the end of the sentence.
			var inside []markedSpan
			for ; len(spans) > 0 && spans[0].start < s.end; spans = spans[1:] {
				m := spans[0]
				if m.end = min(m.end, s.end); m.end <= s.start {
					continue // white space between sentences
				}
				if n := len(inside); n > 0 && m.start < inside[n-1].end {
					inside[n-1].end = max(inside[n-1].end, m.end)
					continue
				}
				inside = append(inside, m)
			}
			if len(inside) > 0 {
				fragments = append(fragments, fragment{wrap(value, s, inside, tags), worth(s, inside)})
			}
		}
	}
	kept := make([]int, len(fragments))
	for i := range kept {
		kept[i] = i
	}
	slices.SortStableFunc(kept, func(a, b int) int { return cmp.Compare(fragments[b].score, fragments[a].score) })
	kept = kept[:min(len(kept), limit)]
	sort.Ints(kept)
	var texts []string
	for _, i := range kept {
		texts = append(texts, fragments[i].text)
	}
	return texts
}

// worth returns the score of a sentence: different terms count more than repetitions, short sentences more than long
// ones, and early sentences slightly more than late ones. The constants are those of Lucene's passage scorer.
func worth(s span, inside []markedSpan) float64 {
	const k1, b, pivot = 1.2, 0.75, 87
	times := make(map[string]float64)
	for _, m := range inside {
		times[m.term]++
	}
	length := k1 * ((1 - b) + b*float64(s.end-s.start)/pivot)
	// Floats must be added in the order of the text, because the sum depends on the order.
	sum := 0.0
	for _, m := range inside {
		if n := times[m.term]; n > 0 {
			sum += n / (n + length)
			times[m.term] = 0
		}
	}
	return sum * (1 + 1/math.Log(pivot+float64(s.start)))
}

// wrap returns the part s of text with tags around its marked spans.
func wrap(text string, s span, marked []markedSpan, tags Tags) string {
	var b strings.Builder
	at := s.start
	for _, m := range marked {
		// A span can extend beyond the sentence, for example into white space.
		start, end := max(m.start, at), min(m.end, s.end)
		if start >= end {
			continue
		}
		b.WriteString(text[at:start])
		b.WriteString(tags.Pre)
		b.WriteString(text[start:end])
		b.WriteString(tags.Post)
		at = end
	}
	b.WriteString(text[at:s.end])
	return b.String()
}
