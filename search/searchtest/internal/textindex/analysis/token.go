package analysis

import (
	"sync"
	"unicode/utf8"
)

// Token is one term of an analyzed text.
type Token struct {
	// Text is the term as it is indexed or looked up.
	Text string
	// Start and End are the offsets, in bytes, of what the term was made of in
	// the text that was given, before any char filter changed it.
	Start, End int
	// Position is the place among the words of the text, from 0. A word that was
	// removed leaves a gap, and terms that stand for one another share a place.
	Position int
}

// Analyzer turns a text into terms. It is safe for concurrent use.
type Analyzer interface {
	// Analyze returns the terms of text in the order of their positions. The
	// caller owns the slice; the terms may share memory with text.
	Analyze(text string) []Token
}

// token is a Token on its way through a chain.
type token struct {
	text       string
	start, end int
	pos        int
	kind       kind
	keyword    bool // stemmers leave it alone
	changed    bool // by a char filter: its bytes are not those at its offsets
}

// exact is whether the place of a part of the token's text is known.
func (t *token) exact() bool { return !t.changed && t.end-t.start == len(t.text) }

// kind is what a tokenizer knows of a token's nature, for the filters that
// treat some differently.
type kind uint8

const (
	word kind = iota
	ideograph
	hiragana
	katakana
	hangul
	acronym    // of the classic tokenizer: with dots
	possessive // of the classic tokenizer: with an apostrophe
	gram       // of the common grams filter: two words
)

// tokenizer appends the tokens of text to dst, with offsets into text.
type tokenizer interface {
	tokenize(dst []token, text string) []token
}

// stream is what passes through a chain.
type stream struct {
	tokens []token
	end    int // offset of the end of the text
	next   int // the position behind the last, words that were removed included
}

// filter changes, adds or removes the tokens of a stream, in place where it can.
type filter interface {
	filter(s *stream)
}

// mapper is a filter that gives every token a new text and does nothing else.
type mapper func(text string) string

func (m mapper) filter(s *stream) {
	for i := range s.tokens {
		s.tokens[i].text = m(s.tokens[i].text)
	}
}

// stemmer is a mapper that leaves keywords alone.
type stemmer func(text string) string

func (m stemmer) filter(s *stream) {
	for i := range s.tokens {
		if t := &s.tokens[i]; !t.keyword {
			t.text = m(t.text)
		}
	}
}

// dropper is a filter that removes the tokens it is true for. The others stay
// where they are.
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

// chain is the analyzer that every definition comes down to.
type chain struct {
	charFilters []charFilter
	tokenizer   tokenizer
	filters     []filter
}

// scratch keeps the memory of chains between texts. What comes back is bounded,
// so that one huge text does not stay in memory for ever.
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
		clear(tokens[:cap(tokens)]) // or they would keep the text alive
		*buffer = tokens[:0]
		scratch.Put(buffer)
	}
	return out
}

// boundary is at, or the start of the character that at is inside of: a filter
// that takes a token apart whose text has other characters than the original,
// as many bytes all the same, can only guess.
func boundary(text string, at int) int {
	for at < len(text) && at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
