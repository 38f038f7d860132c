package analysis

import (
	"errors"
	"strings"
)

// decompounder adds the dictionary words found inside a token.
type decompounder struct {
	words                     wordSet
	minWord, minPart, maxPart int
	longest                   bool
}

type dictionaryDecompounderFilter struct {
	WordList         []string `json:"wordList"`
	MinWordSize      int      `json:"minWordSize"`
	MinSubwordSize   int      `json:"minSubwordSize"`
	MaxSubwordSize   int      `json:"maxSubwordSize"`
	OnlyLongestMatch bool     `json:"onlyLongestMatch"`
}

func (p *dictionaryDecompounderFilter) filters() ([]filter, error) {
	if p.WordList == nil {
		return nil, errors.New("wordList is missing")
	}
	err := errors.Join(
		within("minWordSize", p.MinWordSize, 1, maxTokenLength),
		within("minSubwordSize", p.MinSubwordSize, 1, maxTokenLength),
		within("maxSubwordSize", p.MaxSubwordSize, 1, maxTokenLength),
	)
	if err != nil {
		return nil, err
	}
	return []filter{&decompounder{newWordSet(p.WordList, false), p.MinWordSize, p.MinSubwordSize, p.MaxSubwordSize, p.OnlyLongestMatch}}, nil
}

func (f *decompounder) filter(s *stream) {
	var out []token
	for _, t := range s.tokens {
		out = append(out, t)
		runes := []rune(t.text)
		if len(runes) < f.minWord {
			continue
		}
		for i := 0; i+f.minPart <= len(runes); i++ {
			best := ""
			for n := f.minPart; n <= f.maxPart && i+n <= len(runes); n++ {
				w := string(runes[i : i+n])
				if !f.words.has(w) {
					continue
				}
				if f.longest {
					best = w
					continue
				}
				out = append(out, at(t, w))
			}
			if best != "" {
				out = append(out, at(t, best))
			}
		}
	}
	s.tokens = out
}

// at returns a token with another text at the place of t.
func at(t token, text string) token {
	t.text, t.keyword = strings.Clone(text), false
	return t
}
