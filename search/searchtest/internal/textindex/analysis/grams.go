package analysis

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// gramTokenizer makes a token of every sequence of min to max characters within a run of characters for which keep
// is true. With edge it uses only sequences at the beginning of a run. Each token has its own position.
type gramTokenizer struct {
	min, max int
	keep     func(rune) bool // nil accepts all
	edge     bool
}

func (t gramTokenizer) tokenize(dst []token, text string) []token {
	pos := 0
	inRun := false
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		kept := t.keep == nil || t.keep(r)
		if kept && (!t.edge || !inRun) {
			end := at
			for n := 1; n <= t.max && end < len(text); n++ {
				r, size := utf8.DecodeRuneInString(text[end:])
				if t.keep != nil && !t.keep(r) {
					break
				}
				end += size
				if n >= t.min {
					dst = append(dst, token{text: text[at:end], start: at, end: end, pos: pos})
					pos++
				}
			}
		}
		inRun = kept
		at += size
	}
	return dst
}

// gramFilter makes the same sequences of each token, all with the position and offsets of the token.
type gramFilter struct {
	min, max int
}

func (f gramFilter) filter(s *stream) {
	var out []token
	for _, t := range s.tokens {
		for at := range t.text {
			end := at
			for n := 1; n <= f.max && end < len(t.text); n++ {
				_, size := utf8.DecodeRuneInString(t.text[end:])
				end += size
				if n >= f.min {
					g := t
					g.text = t.text[at:end]
					out = append(out, g)
				}
			}
		}
	}
	s.tokens = out
}

// edgeGramFilter makes the sequences of min to max characters at the beginning or end of each token.
type edgeGramFilter struct {
	min, max int
	back     bool
}

func (f edgeGramFilter) filter(s *stream) {
	var out []token
	for _, t := range s.tokens {
		at := 0 // length of the gram in bytes
		for n := 1; n <= f.max && at < len(t.text); n++ {
			g := t
			if f.back {
				_, size := utf8.DecodeLastRuneInString(t.text[:len(t.text)-at])
				at += size
				g.text = t.text[len(t.text)-at:]
			} else {
				_, size := utf8.DecodeRuneInString(t.text[at:])
				at += size
				g.text = t.text[:at]
			}
			if n >= f.min {
				out = append(out, g)
			}
		}
	}
	s.tokens = out
}

// Parameters.

// gramSizes are the common parameters. limit is 0 for the first version of the filters, which had no limit.
type gramSizes struct {
	MinGram int `json:"minGram"`
	MaxGram int `json:"maxGram"`
}

func (p gramSizes) check(limit int) error {
	if limit == 0 {
		limit = 1<<31 - 1
	}
	err := errors.Join(within("minGram", p.MinGram, 1, limit), within("maxGram", p.MaxGram, 1, limit))
	if err == nil && p.MinGram > p.MaxGram {
		err = fmt.Errorf("minGram %d must not be greater than maxGram %d", p.MinGram, p.MaxGram)
	}
	return err
}

type gramTokenizerSpec struct {
	gramSizes
	TokenChars []string `json:"tokenChars"`
	edge       bool
}

func (p *gramTokenizerSpec) tokenizer() (tokenizer, error) {
	if err := p.check(maxTokenLength); err != nil {
		return nil, err
	}
	keep, err := tokenChars(p.TokenChars)
	if err != nil {
		return nil, err
	}
	return gramTokenizer{p.MinGram, p.MaxGram, keep, p.edge}, nil
}

// tokenChars returns a function that reports whether a character is in one of the named classes. Without classes it
// returns nil, which accepts all characters.
func tokenChars(classes []string) (func(rune) bool, error) {
	if len(classes) == 0 {
		return nil, nil
	}
	var tests []func(rune) bool
	for _, name := range classes {
		test, ok := charClasses[name]
		if !ok {
			return nil, fmt.Errorf("there is no class of tokenChars '%s'", name)
		}
		tests = append(tests, test)
	}
	return func(r rune) bool {
		for _, test := range tests {
			if test(r) {
				return true
			}
		}
		return false
	}, nil
}

var charClasses = map[string]func(rune) bool{
	"letter":      unicode.IsLetter,
	"digit":       unicode.IsDigit,
	"whitespace":  func(r rune) bool { return !notSpace(r) },
	"punctuation": unicode.IsPunct,
	"symbol":      unicode.IsSymbol,
}

type gramFilterSpec struct {
	gramSizes
	limit int
}

func (p *gramFilterSpec) filters() ([]filter, error) {
	if err := p.check(p.limit); err != nil {
		return nil, err
	}
	return []filter{gramFilter{p.MinGram, p.MaxGram}}, nil
}

type edgeGramFilterSpec struct {
	gramSizes
	Side  string `json:"side"`
	limit int
}

func (p *edgeGramFilterSpec) filters() ([]filter, error) {
	if err := p.check(p.limit); err != nil {
		return nil, err
	}
	if p.Side != "front" && p.Side != "back" {
		return nil, fmt.Errorf("side must be 'front' or 'back', not '%s'", p.Side)
	}
	return []filter{edgeGramFilter{p.MinGram, p.MaxGram, p.Side == "back"}}, nil
}
