package analysis

import (
	"unicode"
	"unicode/utf8"
)

const (
	defaultTokenLength = 255
	maxTokenLength     = 300
)

// runTokenizer makes a token of each longest run of characters that keep
// accepts. A longer token than max is cut after max UTF-16 code units.
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

// notSpace is what Java calls a character that is no white space: the no-break
// spaces belong to words.
func notSpace(r rune) bool {
	switch r {
	case 0x1C, 0x1D, 0x1E, 0x1F:
		return false
	case 0x85, 0xA0, 0x2007, 0x202F:
		return true
	}
	return !unicode.IsSpace(r)
}

// wholeTokenizer makes one token of the text, none of an empty one.
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

// keywordTokenizerSpec is a KeywordTokenizer, whose bufferSize is how much is
// read at once and changes nothing.
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

// absent is a component that the service has and this package has not.
type absent string

func (a absent) tokenizer() (tokenizer, error) { return nil, unsupportedPart(a) }
func (a absent) filters() ([]filter, error)    { return nil, unsupportedPart(a) }
