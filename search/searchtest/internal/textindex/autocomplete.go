package textindex

import (
	"cmp"
	"slices"
	"strings"
)

// AutocompleteMode determines which words are completed.
type AutocompleteMode uint8

const (
	// OneTerm completes the last word, whatever precedes it.
	OneTerm AutocompleteMode = iota
	// TwoTerms completes the last word, and adds the word that follows it in a document.
	TwoTerms
	// OneTermWithContext completes the last word to a word that follows the previous word in a document. A single
	// word has no completion.
	OneTermWithContext
)

// Completion is one completion of the typed text.
type Completion struct {
	Text          string // the completed or added words
	QueryPlusText string // the typed text with its last words replaced by Text
}

// Autocomplete returns completions: first those that begin exactly with the typed text, then those with one edit,
// each group ordered by text. QueryPlusText has tags around Text. Its error is an *UnknownFieldError.
//
// Fuzzy completions leave out common English words such as "more", as the service does; its exact rule is not known.
func (s *Suggester) Autocomplete(t TypedText, mode AutocompleteMode, tags Tags) ([]Completion, error) {
	fields, err := s.fields(t.Fields)
	if err != nil {
		return nil, err
	}
	words := s.words(t)
	first := len(words) - 1 // index of the first word to complete
	if mode == OneTermWithContext {
		first--
	}
	if first < 0 {
		return nil, nil
	}
	found := make(map[string]int) // edits by text
	allowed := s.index.allowed(t.Filter)
	for _, f := range fields {
		c := completer{field: f, suggester: s, allowed: allowed, found: found}
		switch mode {
		case OneTerm:
			c.one(words[first])
		case TwoTerms:
			c.two(words[first])
		case OneTermWithContext:
			c.afterContext(words[first], words[first+1])
		}
	}
	texts := make([]string, 0, len(found))
	for text := range found {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int {
		return cmp.Or(cmp.Compare(found[a], found[b]), strings.Compare(a, b))
	})
	head := t.Text[:words[first].start]
	completions := make([]Completion, len(texts))
	for i, text := range texts {
		completions[i] = Completion{Text: text, QueryPlusText: head + tags.Pre + text + tags.Post}
	}
	return completions, nil
}

// completer collects the completions in one field.
type completer struct {
	*field
	suggester *Suggester
	allowed   bitset
	found     map[string]int
}

func (c *completer) add(text string, edits int) {
	if known, ok := c.found[text]; !ok || edits < known {
		c.found[text] = edits
	}
}

// endings returns the terms to which a word can be completed.
func (c *completer) endings(w typedWord) *candidates {
	all := w.candidates(c.field)
	if w.editMatcher == nil {
		return all
	}
	kept := newCandidates(c.field)
	for _, n := range all.numbers {
		if edits, _ := all.of(n); edits == 0 || !commonWords[c.terms[n]] {
			kept.add(n, edits)
		}
	}
	return kept
}

func (c *completer) one(w typedWord) {
	endings := c.endings(w)
	for _, n := range endings.numbers {
		for at := c.lists[n].cursor(); at.advance(); {
			if c.allowed == nil || c.allowed.has(at.ordinal) {
				edits, _ := endings.of(n)
				c.add(c.terms[n], edits)
				break
			}
		}
	}
}

// two pairs each ending with each term that follows it. An ending that no term follows is a completion without a
// second word.
func (c *completer) two(w typedWord) {
	endings := c.endings(w)
	followed := make(map[uint32]bool)
	c.pairs(endings, func(a, b uint32) bool {
		followed[a] = followed[a] || b != none
		return b != none
	}, func(a, b uint32) {
		edits, _ := endings.of(a)
		c.add(c.terms[a]+" "+c.terms[b], edits)
	})
	for n, ok := range followed {
		if !ok {
			edits, _ := endings.of(n)
			c.add(c.terms[n], edits)
		}
	}
}

func (c *completer) afterContext(context, w typedWord) {
	contexts, endings := context.candidates(c.field), c.endings(w)
	edits := func(a, b uint32) (int, bool) {
		before, _ := contexts.of(a)
		after, ok := endings.of(b)
		return before + after, ok && before+after <= 1
	}
	c.pairs(contexts, func(a, b uint32) bool {
		_, ok := edits(a, b)
		return ok
	}, func(a, b uint32) {
		n, _ := edits(a, b)
		c.add(c.terms[a]+" "+c.terms[b], n)
	})
}

// pairs calls add once for each pair of a term in first and the term after it for which wanted returns true. At the
// end of a text the second term is empty.
func (c *completer) pairs(first *candidates, wanted func(a, b uint32) bool, add func(a, b uint32)) {
	type pair struct{ a, b uint32 }
	seen := make(map[pair]bool)
	having := c.having(first.numbers, len(c.suggester.index.ids), c.suggester.index.dead)
	having.each(func(ordinal uint32) {
		if c.allowed != nil && !c.allowed.has(ordinal) {
			return
		}
		text := c.stream.of(ordinal)
		for i, a := range text {
			if _, ok := first.of(a); !ok {
				continue
			}
			b := uint32(none)
			if i+1 < len(text) {
				b = text[i+1]
			}
			if wanted(a, b) && !seen[pair{a, b}] {
				seen[pair{a, b}] = true
				add(a, b)
			}
		}
	})
}

// commonWords are the words that fuzzy completion leaves out.
var commonWords = func() map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(`
a about above after again against all am an and any are as at be because been before being below between both but by can did do does
doing down during each few for from further had has have having he her here hers herself him himself his how i if in into is it its
itself just me more most my myself no nor not now of off on once only or other our ours ourselves out over own same she should so
some such than that the their theirs them themselves then there these they this those through to too under until up very was we were
what when where which while who whom why will with you your yours yourself yourselves
`) {
		set[word] = true
	}
	return set
}()
