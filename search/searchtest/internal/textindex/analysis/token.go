package analysis

import (
	"sync"
	"unicode/utf8"
)

// Token is one term of an analyzed text.
type Token struct {
	// Text is the term to index or to look up.
	Text string
	// Start and End are the byte offsets of the term's source in the original text, before any char filter.
	Start, End int
	// Position is the index among the words of the text, from 0. A removed word leaves a gap; alternative terms share
	// a position.
	Position int
}

// Analyzer converts a text to terms. It is safe for concurrent use.
type Analyzer interface {
	// Analyze returns the terms of text, ordered by position. The caller owns the slice; the terms may share memory
	// with text.
	Analyze(text string) []Token
}

// token is a Token inside a chain.
type token struct {
	text       string
	start, end int
	pos        int
	kind       kind
	keyword    bool // stemmers skip it
	changed    bool // a char filter changed it: its text differs from the original at its offsets
}

// exact reports whether offsets in the token's text can be mapped to the original.
func (t *token) exact() bool { return !t.changed && t.end-t.start == len(t.text) }

// kind classifies a token for the filters that treat some kinds differently.
type kind uint8

const (
	word kind = iota
	ideograph
	hiragana
	katakana
	hangul
	acronym    // with dots, from the classic tokenizer
	possessive // with an apostrophe, from the classic tokenizer
	gram       // two words, from the common grams filter
)

// tokenizer appends the tokens of text to dst, with offsets into text.
type tokenizer interface {
	tokenize(dst []token, text string) []token
}

// stream is the data that passes through the filters of a chain.
type stream struct {
	tokens []token
	end    int // offset of the end of the text
	next   int // position after the last word, including removed words
}

// filter changes, adds or removes the tokens of a stream, in place if possible.
type filter interface {
	filter(s *stream)
}

// mapper is a filter that only replaces the text of each token.
type mapper func(text string) string

func (m mapper) filter(s *stream) {
	for i := range s.tokens {
		s.tokens[i].text = m(s.tokens[i].text)
	}
}

// stemmer is a mapper that skips keywords.
type stemmer func(text string) string

func (m stemmer) filter(s *stream) {
	for i := range s.tokens {
		if t := &s.tokens[i]; !t.keyword {
			t.text = m(t.text)
		}
	}
}

// dropper is a filter that removes the tokens for which it returns true. The positions of the others do not change.
type dropper func(t *token) bool

func (d dropper) filter(s *stream) {
	kept := s.tokens[:0]
	for i := range s.tokens {
		if !d(&s.tokens[i]) {
			kept = append(kept, s.tokens[i])
		}
	}
	s.tokens = kept
}

// chain is the implementation of all analyzers.
type chain struct {
	charFilters []charFilter
	tokenizer   tokenizer
	filters     []filter
}

// scratch reuses the memory of chains between texts. Slices above maxScratch are not kept, so that one huge text
// does not occupy memory permanently.
var scratch = sync.Pool{New: func() any { return new([]token) }}

const maxScratch = 1 << 14 // tokens

func (c *chain) Analyze(text string) []Token {
	filtered := text
	var edits []edits
	for _, f := range c.charFilters {
		out, e := f.apply(filtered)
		if e != nil {
			edits = append(edits, e)
		}
		filtered = out
	}

	buffer := scratch.Get().(*[]token)
	tokens := c.tokenizer.tokenize((*buffer)[:0], filtered)
	for i := len(edits) - 1; i >= 0; i-- {
		edits[i].correct(tokens)
	}
	s := stream{tokens: tokens, end: len(text)}
	if n := len(tokens); n > 0 {
		s.next = tokens[n-1].pos + 1
	}
	for _, f := range c.filters {
		f.filter(&s)
	}

	out := make([]Token, len(s.tokens))
	for i, t := range s.tokens {
		out[i] = Token{Text: t.text, Start: boundary(text, t.start), End: boundary(text, t.end), Position: t.pos}
	}
	if cap(s.tokens) > cap(tokens) {
		tokens = s.tokens
	}
	if cap(tokens) <= maxScratch {
		clear(tokens[:cap(tokens)]) // so that they do not keep the text in memory
		*buffer = tokens[:0]
		scratch.Put(buffer)
	}
	return out
}

// boundary returns at, or the start of the character that contains at. An offset can be inside a character if a
// filter split a token whose text has other characters than the original, but the same number of bytes.
func boundary(text string, at int) int {
	for at < len(text) && at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
