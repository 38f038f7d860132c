package odata

import "github.com/go-azsearch/azsearch/search/searchtest/internal/stored"

// maxClauses is the maximum number of comparisons and function calls in a filter. The service documents that
// hundreds are a risk; this is the limit of its search engine.
const maxClauses = 1024

// Options are the fields and settings for compiling expressions.
type Options struct {
	// Fields are the fields of the index by name.
	Fields map[string]*stored.Field

	// Normalize returns the normalizer of a string field, nil if it has none. Constants and stored values are
	// normalized before a comparison. The normalizer must be safe for concurrent use. A nil Normalize means that no
	// field has one.
	Normalize func(f *stored.Field) func(text string) string

	// NoFullText refuses search.ismatch and search.ismatchscoring, for suggest and autocomplete.
	NoFullText bool
}

func (o *Options) normalizer(f *stored.Field) func(string) string {
	if o.Normalize == nil || f.Type != stored.String {
		return nil
	}
	return o.Normalize(f)
}

// Match is a call of search.ismatch or search.ismatchscoring.
type Match struct {
	Text    string
	Fields  []*stored.Field // searchable; nil means all searchable fields
	Paths   []string        // paths of Fields as written
	Full    bool            // full Lucene syntax instead of simple syntax
	All     bool            // searchMode=all
	Scoring bool            // search.ismatchscoring
}

// Matcher evaluates the full-text calls of a filter. call is the index in [Filter.Matches].
type Matcher interface {
	Matches(call int, id uint32) bool
}

// Scorer is a Matcher that also returns the scores of scoring calls.
type Scorer interface {
	Matcher

	// Score returns the score of a document that the call matches.
	Score(call int, id uint32) float64
}

// Filter is a compiled $filter. It is safe for concurrent use.
type Filter struct {
	root    predicate
	matches []Match
}

// CompileFilter parses a $filter and checks it against the fields. Its error is an [*Error].
func CompileFilter(text string, o *Options) (*Filter, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	b := &binder{options: o}
	root, err := b.bind(x)
	if err != nil {
		return nil, err
	}
	condition, ok, err := b.condition(root)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, refuse(notBoolean)
	}
	return &Filter{root: condition, matches: b.matches}, nil
}

// Matches returns the full-text calls of the filter in the order of the text.
func (f *Filter) Matches() []Match { return f.matches }

// Match reports whether a stored document matches. m may be nil if Matches is empty. It allocates nothing, except in
// normalizers.
func (f *Filter) Match(document []byte, id uint32, m Matcher) bool {
	return f.root.match(document, id, m)
}

// Score reports whether a stored document matches, and returns the sum of the scores of the search.ismatchscoring
// calls that contribute to the match: in an "or" only the terms that match, below a "not" none.
func (f *Filter) Score(document []byte, id uint32, s Scorer) (score float64, ok bool) {
	return scoreOf(f.root, document, id, s)
}

func scoreOf(p predicate, document []byte, id uint32, s Scorer) (score float64, ok bool) {
	switch p := p.(type) {
	case and:
		for _, term := range p {
			part, holds := scoreOf(term, document, id, s)
			if !holds {
				return 0, false
			}
			score += part
		}
		return score, true
	case or:
		for _, term := range p {
			if part, holds := scoreOf(term, document, id, s); holds {
				score, ok = score+part, true
			}
		}
		return score, ok
	case *matchCall:
		if p.scoring && s.Matches(p.index, id) {
			return s.Score(p.index, id), true
		}
	}
	return 0, p.match(document, id, s)
}
