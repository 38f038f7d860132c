package analysis

import (
	"errors"
	"fmt"
	"strings"
)

// wordSet is a set of words, compared without regard to case if ignoreCase is set.
type wordSet struct {
	words      map[string]struct{}
	ignoreCase bool
}

func newWordSet(words []string, ignoreCase bool) wordSet {
	s := wordSet{make(map[string]struct{}, len(words)), ignoreCase}
	for _, w := range words {
		if ignoreCase {
			w = lower(w)
		}
		s.words[w] = struct{}{}
	}
	return s
}

func (s wordSet) has(w string) bool {
	if s.ignoreCase {
		w = lower(w)
	}
	_, ok := s.words[w]
	return ok
}

// stopFilter drops the words in the set.
func stopFilter(s wordSet) filter {
	return dropper(func(t *token) bool { return s.has(t.text) })
}

// suggestStopFilter drops the words in the set, but keeps one at the very end of the text: it may be the start of a
// longer word that is still being typed.
type suggestStopFilter struct{ words wordSet }

func (f suggestStopFilter) filter(s *stream) {
	last := len(s.tokens) - 1
	i := -1
	dropper(func(t *token) bool {
		i++
		return f.words.has(t.text) && (i < last || t.end < s.end)
	}).filter(s)
}

func within(name string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("%s must be between %d and %d, not %d", name, low, high, value)
	}
	return nil
}

// Parameters.

type stopwordsFilter struct {
	Stopwords      []string `json:"stopwords"`
	StopwordsList  *string  `json:"stopwordsList"`
	IgnoreCase     bool     `json:"ignoreCase"`
	RemoveTrailing bool     `json:"removeTrailing"`
}

func (p *stopwordsFilter) filters() ([]filter, error) {
	list := p.Stopwords
	switch {
	case len(list) > 0 && p.StopwordsList != nil && *p.StopwordsList != "":
		return nil, errors.New("stopwords and stopwordsList cannot both be given")
	case len(list) == 0:
		name := "english"
		if p.StopwordsList != nil && *p.StopwordsList != "" {
			name = *p.StopwordsList
		}
		words, ok := stopwordLists[strings.ToLower(name)]
		if !ok {
			return nil, fmt.Errorf("there is no stopwordsList '%s'", name)
		}
		if words == nil {
			return nil, unsupportedPart("the stop words of '" + name + "' are not available")
		}
		list = words()
	}
	set := newWordSet(list, p.IgnoreCase)
	if !p.RemoveTrailing {
		return []filter{suggestStopFilter{set}}, nil
	}
	return []filter{stopFilter(set)}, nil
}

type keepFilter struct {
	KeepWords     []string `json:"keepWords"`
	KeepWordsCase bool     `json:"keepWordsCase"`
}

func (p *keepFilter) filters() ([]filter, error) {
	if p.KeepWords == nil {
		return nil, errors.New("keepWords is missing")
	}
	words := p.KeepWords
	if p.KeepWordsCase {
		words = make([]string, len(p.KeepWords))
		for i, w := range p.KeepWords {
			words[i] = lower(w)
		}
	}
	set := newWordSet(words, false)
	return []filter{dropper(func(t *token) bool { return !set.has(t.text) })}, nil
}

type keywordMarkerFilter struct {
	Keywords   []string `json:"keywords"`
	IgnoreCase bool     `json:"ignoreCase"`
}

func (p *keywordMarkerFilter) filters() ([]filter, error) {
	if p.Keywords == nil {
		return nil, errors.New("keywords is missing")
	}
	return []filter{keywordMarker{newWordSet(p.Keywords, p.IgnoreCase)}}, nil
}

type keywordMarker struct{ words wordSet }

func (f keywordMarker) filter(s *stream) {
	for i := range s.tokens {
		if f.words.has(s.tokens[i].text) {
			s.tokens[i].keyword = true
		}
	}
}

type stemmerOverrideFilter struct {
	Rules []string `json:"rules"`
}

func (p *stemmerOverrideFilter) filters() ([]filter, error) {
	if p.Rules == nil {
		return nil, errors.New("rules is missing")
	}
	stems := make(stemOverride, len(p.Rules))
	for _, rule := range p.Rules {
		words, stem, ok := strings.Cut(rule, "=>")
		stem = strings.TrimSpace(stem)
		if !ok || stem == "" {
			return nil, fmt.Errorf("the rule '%s' is not of the form 'word => stem'", rule)
		}
		for w := range strings.SplitSeq(words, ",") {
			if w = strings.TrimSpace(w); w == "" {
				return nil, fmt.Errorf("the rule '%s' is not of the form 'word => stem'", rule)
			}
			stems[w] = stem
		}
	}
	return []filter{stems}, nil
}

// stemOverride gives words fixed stems, and marks them as keywords, which stemmers skip.
type stemOverride map[string]string

func (f stemOverride) filter(s *stream) {
	for i := range s.tokens {
		t := &s.tokens[i]
		if stem, ok := f[t.text]; ok && !t.keyword {
			t.text, t.keyword = stem, true
		}
	}
}

// commonGrams joins frequent words with their neighbours.
type commonGrams struct {
	words wordSet
	query bool
}

type commonGramFilter struct {
	CommonWords []string `json:"commonWords"`
	IgnoreCase  bool     `json:"ignoreCase"`
	QueryMode   bool     `json:"queryMode"`
}

func (p *commonGramFilter) filters() ([]filter, error) {
	if p.CommonWords == nil {
		return nil, errors.New("commonWords is missing")
	}
	return []filter{commonGrams{newWordSet(p.CommonWords, p.IgnoreCase), p.QueryMode}}, nil
}

func (f commonGrams) filter(s *stream) {
	out := make([]token, 0, len(s.tokens)*3/2)
	for i, t := range s.tokens {
		out = append(out, t)
		if i+1 == len(s.tokens) {
			break
		}
		next := s.tokens[i+1]
		if f.words.has(t.text) || f.words.has(next.text) {
			out = append(out, token{text: t.text + "_" + next.text, start: t.start, end: next.end, pos: t.pos, kind: gram})
		}
	}
	if f.query {
		out = withoutGrammed(out)
	}
	s.tokens = out
}

// withoutGrammed removes the words that are part of a gram.
func withoutGrammed(tokens []token) []token {
	out := make([]token, 0, len(tokens))
	for i, t := range tokens {
		before := i > 0 && tokens[i-1].kind == gram
		after := i+1 < len(tokens) && tokens[i+1].kind == gram
		if t.kind == gram || !after && (i+1 < len(tokens) || !before) {
			out = append(out, t)
		}
	}
	return out
}
