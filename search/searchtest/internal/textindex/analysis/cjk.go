package analysis

import (
	"fmt"
	"unicode/utf8"
)

// bigrams joins neighbouring characters of Chinese, Japanese and Korean text to pairs. A character without a
// neighbour stays alone. With unigrams, all single characters stay, too.
type bigrams struct {
	kinds    [gram + 1]bool // kinds of characters to join
	unigrams bool
}

type cjkBigramFilter struct {
	IgnoreScripts  []string `json:"ignoreScripts"`
	OutputUnigrams bool     `json:"outputUnigrams"`
}

var scriptKinds = map[string]kind{"han": ideograph, "hiragana": hiragana, "katakana": katakana, "hangul": hangul}

func (p *cjkBigramFilter) filters() ([]filter, error) {
	f := &bigrams{unigrams: p.OutputUnigrams}
	for _, k := range scriptKinds {
		f.kinds[k] = true
	}
	for _, script := range p.IgnoreScripts {
		k, ok := scriptKinds[script]
		if !ok {
			return nil, fmt.Errorf("there is no script '%s' to ignore", script)
		}
		f.kinds[k] = false
	}
	return []filter{f}, nil
}

func (f *bigrams) filter(s *stream) {
	var out []token
	var row []token // adjacent characters
	pos, previous := -1, -1
	flush := func() {
		for i, t := range row {
			if f.unigrams || len(row) == 1 {
				pos++
				t.pos = pos
				out = append(out, t)
			}
			if i+1 == len(row) {
				break
			}
			next := row[i+1]
			if !f.unigrams {
				pos++
			}
			out = append(out, token{text: t.text + next.text, start: t.start, end: next.end, pos: pos})
		}
		row = row[:0]
	}
	for _, t := range s.tokens {
		step := t.pos - previous
		previous = t.pos
		if !f.kinds[t.kind] {
			flush()
			pos += step
			t.pos = max(pos, 0)
			out = append(out, t)
			continue
		}
		if n := len(row); n > 0 && row[n-1].end != t.start {
			flush()
		}
		row = append(row, characters(t)...)
	}
	flush()
	s.tokens = out
	s.next = pos + 1
}

// characters splits a token into its characters.
func characters(t token) []token {
	var out []token
	exact := t.exact()
	for at := 0; at < len(t.text); {
		_, size := utf8.DecodeRuneInString(t.text[at:])
		c := t
		c.text = t.text[at : at+size]
		if exact {
			c.start, c.end = t.start+at, t.start+at+size
		}
		out = append(out, c)
		at += size
	}
	return out
}
