package textindex

import (
	"cmp"
	"slices"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// Suggester is the index for suggestions and autocompletion: the words of its source fields as written, in order.
// Recorded replies show that it does not use the analyzers of the fields: in a stemmed field it completes whole
// words, also words that the field's analyzer removes.
//
// Readers may be concurrent; Put and Delete need exclusive access.
type Suggester struct {
	index    *Index
	analyzer analysis.Analyzer
}

// NewSuggester returns an empty suggester for the fields with these paths. The analyzer must give each word its own
// position; the service uses standard.lucene.
func NewSuggester(paths []string, a analysis.Analyzer) *Suggester {
	var fields []Field
	for _, path := range paths {
		fields = append(fields, Field{Path: path, Index: a, Search: a})
	}
	s := &Suggester{index: New(Config{Fields: fields}), analyzer: a}
	for _, f := range s.index.fields {
		f.stream = new(stream)
	}
	return s
}

// Put adds a document with the texts of each field. Ids must grow, as in Index.Put.
func (s *Suggester) Put(id uint32, values [][]string) {
	s.index.Put(id, Document{Values: values})
}

// Delete removes a document, and reports whether it existed.
func (s *Suggester) Delete(id uint32) bool { return s.index.Delete(id) }

// Len returns the number of documents.
func (s *Suggester) Len() int { return s.index.Len() }

// TypedText is the text that a user has typed so far, with search options.
type TypedText struct {
	Text string
	// Fields are paths of fields of the suggester. nil means all.
	Fields []string
	// Fuzzy allows one edit in one word.
	Fuzzy bool
	// Filter has the documents to search. nil means all.
	Filter *IDs
}

// Suggestion is a document with all typed words in one value of a field; the last typed word may be a prefix.
type Suggestion struct {
	ID    uint32
	Path  string // the first matching field; in a fuzzy search, the best matching one
	Value int    // index of the value in the field
	Score float32
}

// Suggestions is the result of Suggest. List is ordered by score, best first, then by id.
type Suggestions struct {
	List []Suggestion

	analyzer analysis.Analyzer
	words    []typedWord
}

// typedWord is one word of the typed text.
type typedWord struct {
	*editMatcher // nil unless the search is fuzzy
	text         string
	last         bool // it may be a prefix
	start        int  // offset in the text
}

// words returns the words of a text.
func (s *Suggester) words(t TypedText) []typedWord {
	tokens := s.analyzer.Analyze(t.Text)
	words := make([]typedWord, len(tokens))
	for i, token := range tokens {
		words[i] = typedWord{text: token.Text, start: token.Start, last: i == len(tokens)-1}
		if t.Fuzzy {
			words[i].editMatcher = newEditMatcher(token.Text, 1)
		}
	}
	return words
}

// edits returns the distance of a term from the word, 0 or 1, and false if it is greater.
func (w typedWord) edits(term string) (int, bool) {
	if w.last && len(term) >= len(w.text) && term[:len(w.text)] == w.text || term == w.text {
		return 0, true
	}
	if w.editMatcher == nil {
		return 0, false
	}
	return w.distance(term, w.last)
}

// candidates are the terms of a field that match a typed word. Edits are stored by term number, because whole texts
// are checked against them and a map would be slower.
type candidates struct {
	numbers []uint32
	edits   []int8 // by number; absent for other terms
}

const absent = -1

func newCandidates(f *field) *candidates {
	c := &candidates{edits: make([]int8, len(f.terms))}
	for i := range c.edits {
		c.edits[i] = absent
	}
	return c
}

func (c *candidates) add(n uint32, edits int) {
	c.numbers = append(c.numbers, n)
	c.edits[n] = int8(edits)
}

// of returns the edits of a term, false if it is not a candidate.
func (c *candidates) of(n uint32) (int, bool) {
	if n == none || c.edits[n] == absent {
		return 0, false
	}
	return int(c.edits[n]), true
}

// candidates returns the terms of a field that match the word.
func (w typedWord) candidates(f *field) *candidates {
	found := newCandidates(f)
	switch {
	case w.editMatcher != nil:
		for i, term := range f.terms {
			if edits, ok := w.edits(term); ok {
				found.add(uint32(i), edits)
			}
		}
	case w.last:
		for _, n := range f.withPrefix(w.text) {
			found.add(n, 0)
		}
	default:
		if n, ok := f.byTerm[w.text]; ok {
			found.add(n, 0)
		}
	}
	return found
}

// Suggest finds documents. For scores all terms that match a typed word count as one term, so a rare term does not
// raise the score. Its error is an *UnknownFieldError.
func (s *Suggester) Suggest(t TypedText) (*Suggestions, error) {
	fields, err := s.fields(t.Fields)
	if err != nil {
		return nil, err
	}
	out := &Suggestions{analyzer: s.analyzer, words: s.words(t)}
	if len(out.words) == 0 {
		return out, nil
	}
	allowed := s.index.allowed(t.Filter)
	place := make([]int32, len(s.index.ids)) // index in the list plus one
	for _, f := range fields {
		s.search(f, out.words, allowed, func(ordinal uint32, value int, score float32) {
			found := Suggestion{s.index.ids[ordinal], f.Path, value, score}
			switch at := place[ordinal]; {
			case at == 0:
				out.List = append(out.List, found)
				place[ordinal] = int32(len(out.List))
			case score > out.List[at-1].Score && t.Fuzzy:
				out.List[at-1] = found
			case score > out.List[at-1].Score:
				out.List[at-1].Score = score
			}
		})
	}
	slices.SortFunc(out.List, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

func (s *Suggester) fields(paths []string) ([]*field, error) {
	c, err := s.index.compiler(Options{Fields: paths})
	if err != nil {
		return nil, err
	}
	return c.fields, nil
}

// search finds the documents with all words in one value of a field.
func (s *Suggester) search(f *field, words []typedWord, allowed bitset, found func(uint32, int, float32)) {
	m := valueMatcher{
		words: make([]*candidates, len(words)),
		times: make([]int, len(words)),
		least: make([]int, len(words)),
	}
	scorers := make([]scorer, len(words))
	var common bitset
	c := compiler{index: s.index, options: Options{Nested: true}}
	for i, w := range words {
		m.words[i] = w.candidates(f)
		having := f.having(m.words[i].numbers, len(s.index.ids), s.index.dead)
		scorers[i] = c.scorer(f, s.index.similarity.idf(having.len(), c.documents()), 1)
		scorers[i].scale(1)
		if common == nil {
			common = having
			continue
		}
		for j := range common {
			common[j] &= having[j]
		}
	}
	common.each(func(ordinal uint32) {
		if allowed != nil && !allowed.has(ordinal) {
			return
		}
		value := m.match(f.stream.of(ordinal))
		if value < 0 {
			return
		}
		score := float32(0)
		for i, n := range m.times {
			score += scorers[i].score(ordinal, float32(n))
		}
		found(ordinal, value, score)
	})
}

// having returns the live documents that have any of several terms.
func (f *field) having(terms []uint32, n int, dead bitset) bitset {
	set := newBitset(n)
	for _, term := range terms {
		for c := f.lists[term].cursor(); c.advance(); {
			if dead == nil || !dead.has(c.ordinal) {
				set.set(c.ordinal)
			}
		}
	}
	return set
}

// valueMatcher searches the values of a document for words. It is reused between documents.
type valueMatcher struct {
	words []*candidates
	times []int // by word: occurrences in the whole text
	least []int // by word: fewest edits in the current value
}

// match returns the first value that has all words with at most one edit in total, -1 if there is none.
func (m *valueMatcher) match(terms []uint32) int {
	const missing = 2
	clear(m.times)
	value := -1
	for at := 0; len(terms) > 0; at++ {
		for i := range m.least {
			m.least[i] = missing
		}
		n := slices.Index(terms, none)
		if n < 0 {
			n = len(terms)
		}
		for _, term := range terms[:n] {
			for i, w := range m.words {
				if edits, ok := w.of(term); ok {
					m.times[i]++
					m.least[i] = min(m.least[i], edits)
				}
			}
		}
		terms = terms[min(n+1, len(terms)):]
		sum := 0
		for _, edits := range m.least {
			sum += edits
		}
		if value < 0 && sum < missing {
			value = at
		}
	}
	return value
}

// Mark returns the whole text with tags around every typed word.
func (s *Suggestions) Mark(text string, tags Tags) string {
	var marked []markedSpan
	for _, t := range s.analyzer.Analyze(text) {
		for _, w := range s.words {
			if _, ok := w.edits(t.Text); ok {
				marked = append(marked, markedSpan{span{t.Start, t.End}, t.Text})
				break
			}
		}
	}
	return wrap(text, span{0, len(text)}, marked, tags)
}
