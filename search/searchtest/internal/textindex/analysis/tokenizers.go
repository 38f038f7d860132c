package analysis

import (
	"unicode"
	"unicode/utf8"
)

const (
	defaultTokenLength = 255
	maxTokenLength     = 300
)

// runTokenizer makes a token of each maximal run of characters for which keep is true. It splits tokens longer than
// max UTF-16 code units.
type runTokenizer struct {
	keep func(rune) bool
	max  int
}

func (t runTokenizer) tokenize(dst []token, text string) []token {
	pos, start, room := 0, -1, 0
	emit := func(end int) {
		if start >= 0 {
			dst = append(dst, token{text: text[start:end], start: start, end: end, pos: pos})
			pos++
			start = -1
		}
	}
	for at := 0; at < len(text); {
		r, size := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[at:])
		}
		if !t.keep(r) {
			emit(at)
		} else {
			if start >= 0 && units(size) > room {
				emit(at)
			}
			if start < 0 {
				start, room = at, t.max
			}
			room -= units(size)
		}
		at += size
	}
	emit(len(text))
	return dst
}

// notSpace reports whether a character is not white space in Java's sense, by which no-break spaces belong to words.
func notSpace(r rune) bool {
	switch r {
	case 0x1C, 0x1D, 0x1E, 0x1F:
		return false
	case 0x85, 0xA0, 0x2007, 0x202F:
		return true
	}
	return !unicode.IsSpace(r)
}

// wholeTokenizer makes one token of the whole text; none if the text is empty.
type wholeTokenizer struct{}

func (wholeTokenizer) tokenize(dst []token, text string) []token {
	if text == "" {
		return dst
	}
	return append(dst, token{text: text, end: len(text)})
}

// Parameters.

type standardTokenizerSpec struct {
	MaxTokenLength int `json:"maxTokenLength"`
	unbounded      bool
}

func (p *standardTokenizerSpec) tokenizer() (tokenizer, error) {
	limit := maxTokenLength
	if p.unbounded {
		limit = 1 << 20
	}
	if err := within("maxTokenLength", p.MaxTokenLength, 1, limit); err != nil {
		return nil, err
	}
	return standardTokenizer{p.MaxTokenLength}, nil
}

// keywordTokenizerSpec has the parameters of a KeywordTokenizer. bufferSize does not affect the result.
type keywordTokenizerSpec struct {
	BufferSize int `json:"bufferSize"`
}

func (p *keywordTokenizerSpec) tokenizer() (tokenizer, error) {
	return wholeTokenizer{}, within("bufferSize", p.BufferSize, 1, 1<<31-1)
}

type keywordTokenizerV2Spec struct {
	MaxTokenLength int `json:"maxTokenLength"`
}

func (p *keywordTokenizerV2Spec) tokenizer() (tokenizer, error) {
	if err := within("maxTokenLength", p.MaxTokenLength, 1, maxTokenLength); err != nil {
		return nil, err
	}
	return runTokenizer{func(rune) bool { return true }, p.MaxTokenLength}, nil
}

// ready is a tokenizer without parameters.
type ready struct{ t tokenizer }

func (r ready) tokenizer() (tokenizer, error) { return r.t, nil }

// absent is a component of the service that this package does not have.
type absent string

func (a absent) tokenizer() (tokenizer, error) { return nil, unsupportedPart(a) }
func (a absent) filters() ([]filter, error)    { return nil, unsupportedPart(a) }
