package textindex

import (
	"fmt"
	"math"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
)

// maxClauses is the service's limit on the number of clauses in a query.
const maxClauses = 3000

// Options are the settings for evaluating a query.
type Options struct {
	// Fields are the paths searched by clauses without a field. nil means all.
	Fields []string
	// Weights are factors for the scores of fields, by path. The default is 1.
	Weights map[string]float64
	// Operator joins the terms into which analysis splits a word. It must be the operator that the query was parsed
	// with.
	Operator lucene.Operator
	// Filter has the documents that may match. nil means all. It does not affect scores.
	Filter *IDs
	// Nested includes Document.Nested in the number of documents and the average length for scores. The service did
	// so before it supported vectors.
	Nested bool
}

// UnknownFieldError is returned for a query with a field that the index does not have.
type UnknownFieldError struct{ Path string }

func (e *UnknownFieldError) Error() string {
	return fmt.Sprintf("textindex: no searchable field %q", e.Path)
}

// LimitError is returned for a query that exceeds a limit of the service.
type LimitError struct {
	What  string // such as "clauses"
	Limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("textindex: more than %d %s", e.Limit, e.What)
}

// Search evaluates a query. Its errors are *UnknownFieldError, *LimitError and *PatternError.
func (x *Index) Search(n lucene.Node, o Options) (*Matches, error) {
	if lucene.Clauses(n) > maxClauses {
		return nil, &LimitError{What: "clauses", Limit: maxClauses}
	}
	c, err := x.compiler(o)
	if err != nil {
		return nil, err
	}
	p, err := c.compile(n, 1)
	if err != nil {
		return nil, err
	}
	r := &run{index: x, allowed: x.allowed(o.Filter)}
	if p == nil {
		return &Matches{index: x, hits: r.hits()}, nil
	}
	norm := float32(1)
	if x.similarity.classic() {
		if v := 1 / math.Sqrt(float64(p.squares())); !math.IsInf(v, 0) && !math.IsNaN(v) {
			norm = float32(v)
		}
	}
	p.scale(norm)
	h := r.hits()
	p.add(r, h)
	return &Matches{index: x, hits: h}, nil
}

// allowed returns the set of ordinals that may match, nil for all.
func (x *Index) allowed(filter *IDs) bitset {
	if filter == nil && x.dead == nil {
		return nil
	}
	set := newBitset(len(x.ids))
	for i, id := range x.ids {
		if filter.Has(id) && (x.dead == nil || !x.dead.has(uint32(i))) {
			set.set(uint32(i))
		}
	}
	return set
}

// compiler converts a query to a plan. It analyzes words to terms. A clause whose words analysis removes has no plan
// and is left out.
type compiler struct {
	index   *Index
	fields  []*field // for clauses without a field
	options Options
}

func (x *Index) compiler(o Options) (*compiler, error) {
	c := &compiler{index: x, fields: x.fields, options: o}
	if o.Fields != nil {
		c.fields = nil
		for _, path := range o.Fields {
			f := x.byPath[path]
			if f == nil {
				return nil, &UnknownFieldError{path}
			}
			c.fields = append(c.fields, f)
		}
	}
	return c, nil
}

func (c *compiler) compile(n lucene.Node, boost float32) (plan, error) {
	switch n := n.(type) {
	case lucene.MatchAll:
		return &constantPlan{boost: boost, all: true}, nil
	case lucene.Boost:
		return c.compile(n.Node, boost*float32(n.Factor))
	case lucene.Boolean:
		return c.boolean(n, boost)
	}
	fields, err := c.target(n)
	if err != nil {
		return nil, err
	}
	var parts []plan
	for _, f := range fields {
		weight := boost
		if w, ok := c.options.Weights[f.Path]; ok {
			weight *= float32(w)
		}
		p, err := c.leaf(f, n, weight)
		if err != nil {
			return nil, err
		}
		if p != nil {
			parts = append(parts, p)
		}
	}
	return sumOf(parts), nil
}

// target returns the fields that a leaf searches.
func (c *compiler) target(n lucene.Node) ([]*field, error) {
	path := fieldOf(n)
	if path == "" {
		return c.fields, nil
	}
	f := c.index.byPath[path]
	if f == nil {
		return nil, &UnknownFieldError{path}
	}
	return []*field{f}, nil
}

func fieldOf(n lucene.Node) string {
	switch n := n.(type) {
	case lucene.Term:
		return n.Field
	case lucene.Phrase:
		return n.Field
	case lucene.Prefix:
		return n.Field
	case lucene.Wildcard:
		return n.Field
	case lucene.Regexp:
		return n.Field
	case lucene.Fuzzy:
		return n.Field
	}
	return ""
}

func (c *compiler) boolean(n lucene.Boolean, boost float32) (plan, error) {
	out := &booleanPlan{coord: c.index.similarity.classic()}
	for _, clause := range n.Clauses {
		p, err := c.compile(clause.Node, boost)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		switch clause.Occur {
		case lucene.Must:
			out.must = append(out.must, p)
		case lucene.MustNot:
			out.not = append(out.not, p)
		default:
			out.should = append(out.should, p)
		}
	}
	if len(out.must)+len(out.should)+len(out.not) == 0 {
		return nil, nil
	}
	return out, nil
}

func (c *compiler) leaf(f *field, n lucene.Node, boost float32) (plan, error) {
	switch n := n.(type) {
	case lucene.Term:
		return c.word(f, n.Text, boost), nil
	case lucene.Phrase:
		return c.phrase(f, n.Text, n.Slop, boost)
	case lucene.Fuzzy:
		var parts []plan
		for _, t := range f.similar(n.Text, n.Edits) {
			parts = append(parts, c.term(f, t.term, boost*t.boost))
		}
		return sumOf(parts), nil
	}
	numbers, err := f.expand(n)
	if err != nil {
		return nil, err
	}
	p := &constantPlan{boost: boost}
	for _, number := range numbers {
		p.lists = append(p.lists, &f.lists[number])
	}
	return p, nil
}

// word returns the plan of one word. If analysis makes several terms of it, terms at the same position are
// alternatives, and terms at different positions are joined like separate words.
func (c *compiler) word(f *field, text string, boost float32) plan {
	var units []plan
	for _, u := range f.units(text) {
		units = append(units, c.unit(f, u, boost))
	}
	if len(units) < 2 {
		return sumOf(units)
	}
	out := &booleanPlan{coord: c.index.similarity.classic(), should: units}
	if c.options.Operator == lucene.And {
		out.must, out.should = units, nil
	}
	return out
}

func (c *compiler) unit(f *field, u unit, boost float32) plan {
	var parts []plan
	for _, terms := range u.alternatives {
		if len(terms) == 1 {
			parts = append(parts, c.term(f, terms[0], boost))
			continue
		}
		slots := make([]phraseSlot, len(terms))
		for i, term := range terms {
			slots[i] = phraseSlot{terms: []string{term}, offset: i}
		}
		parts = append(parts, c.phraseOf(f, slots, 0, boost))
	}
	if u.synonyms && len(parts) > 1 {
		return &maxPlan{parts: parts}
	}
	return sumOf(parts)
}

func (c *compiler) term(f *field, term string, boost float32) plan {
	list := f.find(term)
	return &termPlan{
		list:   list,
		scorer: c.scorer(f, c.idf(list), boost),
	}
}

func (c *compiler) idf(list *postings) float32 {
	df := 0
	if list != nil {
		df = list.live(c.index.dead)
	}
	return c.index.similarity.idf(df, c.documents())
}

// documents returns the number of documents for scores.
func (c *compiler) documents() int {
	if c.options.Nested {
		return c.index.rows
	}
	return c.index.Len()
}

func (c *compiler) scorer(f *field, idf, boost float32) scorer {
	average := float32(float64(f.total) / float64(max(c.documents(), 1)))
	if f.total == 0 {
		average = 1
	}
	return scorer{
		similarity: c.index.similarity,
		norms:      f.norms,
		table:      c.index.similarity.normTable(average),
		idf:        idf,
		boost:      boost,
	}
}

func (c *compiler) phrase(f *field, text string, slop int, boost float32) (plan, error) {
	variants, err := f.variants(text)
	if err != nil {
		return nil, err
	}
	var parts []plan
	for _, slots := range variants {
		if len(slots) == 1 {
			var same []plan
			for _, term := range slots[0].terms {
				same = append(same, c.term(f, term, boost))
			}
			parts = append(parts, sumOf(same))
			continue
		}
		parts = append(parts, c.phraseOf(f, slots, slop, boost))
	}
	if len(parts) > 1 {
		return &maxPlan{parts: parts}, nil
	}
	return sumOf(parts), nil
}

func (c *compiler) phraseOf(f *field, slots []phraseSlot, slop int, boost float32) plan {
	idf := float32(0)
	lists := make([][]*postings, len(slots))
	for i, s := range slots {
		for _, term := range s.terms {
			list := f.find(term)
			idf += c.idf(list)
			if list != nil {
				lists[i] = append(lists[i], list)
			}
		}
	}
	return &phrasePlan{slots: slots, lists: lists, slop: slop, scorer: c.scorer(f, idf, boost)}
}
