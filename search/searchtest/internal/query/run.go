package query

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/facets"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/vectors"
)

// fusedTexts is the number of text results that take part in a hybrid query.
const fusedTexts = 1000

// found is the outcome of a search.
type found struct {
	rows    []odata.Row // of the page, in order
	total   int64       // of all pages
	buckets [][]facets.Bucket
	marks   *textindex.Highlighter // nil without highlighting
	more    bool                   // there are results after this page
	ranked  []semanticHit          // the first of the rows, in their order
	answers []semanticAnswer       // best first
}

// run carries out a search on a view.
func (p *searchPlan) run(v *View) (*found, *reply.Error) {
	r := &running{searchPlan: p, view: v}
	if err := r.match(); err != nil {
		return nil, err
	}
	if err := r.collect(); err != nil {
		return nil, err
	}
	return r.finish()
}

// running is the state of a search while it runs.
type running struct {
	*searchPlan
	view *View

	calls  []*textindex.Matches // matches of the full-text calls of the filter
	passed *textindex.IDs       // documents that pass the filter; nil without a filter
	hits   []odata.Row          // all results, in no order
	scored bool                 // hits have different scores
}

// Matches and Score implement odata.Scorer.
func (r *running) Matches(call int, id uint32) bool {
	_, ok := r.calls[call].Score(id)
	return ok
}

func (r *running) Score(call int, id uint32) float64 {
	score, _ := r.calls[call].Score(id)
	return float64(score)
}

// match evaluates the filter.
func (r *running) match() *reply.Error {
	for i := range r.matchers {
		m, err := r.search(r.matchers[i].query, r.matchers[i].text)
		if err != nil {
			return err
		}
		r.calls = append(r.calls, m)
	}
	if r.filter == nil || r.query == nil && len(r.vectors) == 0 {
		return nil // collect evaluates it for all documents
	}
	r.passed = new(textindex.IDs)
	r.candidates(func(id uint32, data []byte) {
		if r.filter.Match(data, id, r) {
			r.passed.Add(id)
		}
	})
	return nil
}

// candidates calls f for each document that may pass the filter, in the order of the ids: those
// with the keys in the filter, or all.
func (r *running) candidates(f func(id uint32, data []byte)) {
	if r.filter != nil {
		if keys, ok := r.filter.Among(r.sc.Key.Ordinal); ok {
			r.view.of(keys, f)
			return
		}
	}
	r.view.all(f)
}

// search evaluates a text query.
func (r *running) search(query lucene.Node, o textindex.Options) (*textindex.Matches, *reply.Error) {
	m, err := r.view.text.Search(query, o)
	if err != nil {
		return nil, refuseText(err)
	}
	return m, nil
}

// refuseText returns the refusal of a query that was parsed but cannot be evaluated.
func refuseText(err error) *reply.Error {
	message := strings.TrimPrefix(err.Error(), "textindex: ")
	if unknown := (*textindex.UnknownFieldError)(nil); errors.As(err, &unknown) {
		message = "The field '" + unknown.Path + "' in the search query is not a searchable field of the index.\r\nParameter name: search"
	}
	return &reply.Error{Status: http.StatusBadRequest, Message: message}
}

// scores reports whether the filter has calls that score.
func (r *running) scores() bool {
	return r.filter != nil && slices.ContainsFunc(r.filter.Matches(), func(m odata.Match) bool { return m.Scoring })
}

// collect finds the documents and their scores.
func (r *running) collect() *reply.Error {
	switch {
	case len(r.vectors) > 0:
		return r.collectVectors()
	case r.query != nil:
		return r.collectText()
	}
	if bound, ok := r.walks(); ok {
		r.collectFrom(bound)
	} else {
		r.collectAll()
	}
	return nil
}

// walks reports whether the search is one page of a walk by keys, which reads neither documents with smaller keys nor
// those after the page. bound is the first key that may be on it. A filter with a list of keys needs no walk.
func (p *searchPlan) walks() (bound string, ok bool) {
	if p.filter == nil || p.needsText() || len(p.vectors) > 0 || len(p.facets) > 0 || p.count || p.profile != nil || p.semantic != nil || !p.order.Ascending(p.sc.Key.Ordinal) {
		return "", false
	}
	if bound, ok = p.filter.Above(p.sc.Key.Ordinal); !ok {
		return "", false
	}
	_, named := p.filter.Among(p.sc.Key.Ordinal)
	return bound, !named
}

// collectFrom finds the documents of a page of a walk, and whether another page follows.
func (r *running) collectFrom(bound string) {
	most := r.skip + min(r.top, largestPage) + 1
	r.view.from(bound, func(id uint32, data []byte) bool {
		if r.filter.Match(data, id, r) {
			r.add(id, data, 1)
		}
		return int64(len(r.hits)) < most
	})
}

// collectAll finds all documents that pass the filter. Their score is 1, or that of the
// scoring calls in the filter.
func (r *running) collectAll() {
	scores := r.scores()
	r.scored = scores || r.profile != nil
	r.candidates(func(id uint32, data []byte) {
		score := 1.0
		switch {
		case scores:
			var ok bool
			if score, ok = r.filter.Score(data, id, r); !ok {
				return
			}
		case r.filter != nil && !r.filter.Match(data, id, r):
			return
		}
		r.add(id, data, score)
	})
}

// add adds a hit.
func (r *running) add(id uint32, data []byte, score float64) {
	if r.profile != nil {
		score *= r.profile.boost(data)
	}
	r.hits = append(r.hits, odata.Row{ID: id, Score: score, Document: data})
}

// collectText finds the documents that match the search text.
func (r *running) collectText() *reply.Error {
	o := r.text
	o.Filter = r.passed
	m, err := r.search(r.query, o)
	if err != nil {
		return err
	}
	r.scored = true
	scores := r.scores()
	r.hits = make([]odata.Row, 0, m.Len())
	for id, score := range m.All() {
		data, total := r.view.document(id), float64(score)
		if scores {
			more, _ := r.filter.Score(data, id, r)
			total += more
		}
		r.add(id, data, total)
	}
	return nil
}

// collectVectors finds the nearest neighbors. It fuses several lists, and that of the text,
// into one.
func (r *running) collectVectors() *reply.Error {
	r.scored = true
	accept := func(id uint32) bool { return r.passed.Has(id) }
	var rankings []vectors.Ranking
	var only []vectors.Neighbor // the neighbors of a single list
	for i := range r.vectors {
		l := &r.vectors[i]
		among := accept
		if r.postFilter || r.passed == nil {
			among = nil
		}
		near, err := l.nearest(r.view, among)
		if err != nil {
			return &reply.Error{Status: http.StatusBadRequest, Message: err.Error()}
		}
		if r.postFilter {
			near = slices.DeleteFunc(near, func(n vectors.Neighbor) bool { return !accept(n.ID) })
		}
		only = near
		ids := make([]uint32, len(near))
		for i, n := range near {
			ids[i] = n.ID
		}
		rankings = append(rankings, vectors.Ranking{IDs: ids, Weight: l.weight})
	}
	if !r.fuses() {
		for _, n := range only {
			r.add(n.ID, r.view.document(n.ID), n.Score)
		}
		return nil
	}
	if r.query != nil {
		// The weights of a profile apply to the list of the text, its functions to the fused
		// scores.
		profile := r.profile
		r.profile = nil
		err := r.collectText()
		r.profile = profile
		if err != nil {
			return err
		}
		best := odata.NewTop(&odata.Order{}, fusedTexts)
		for _, hit := range r.hits {
			best.Add(hit)
		}
		text := vectors.Ranking{Weight: 1}
		for _, row := range best.Rows() {
			text.IDs = append(text.IDs, row.ID)
		}
		rankings = append(rankings, text)
	}
	r.hits = r.hits[:0]
	for _, f := range vectors.Fuse(rankings...) {
		r.add(f.ID, r.view.document(f.ID), f.Score)
	}
	return nil
}

// finish counts and orders the results and selects the page.
func (r *running) finish() (*found, *reply.Error) {
	out := &found{total: int64(len(r.hits))}
	for _, f := range r.facets {
		c := f.NewCounter()
		for i := range r.hits {
			c.Add(r.hits[i].Document)
		}
		out.buckets = append(out.buckets, c.Buckets())
	}
	size := min(r.top, largestPage)
	last := min(r.skip+size, int64(len(r.hits)))
	ranked := min(r.mostReranked(), int64(len(r.hits)))
	rows := r.hits // in the order of writing
	if r.ordered || r.scored {
		best := odata.NewTop(r.order, int(max(last, ranked)))
		for i := range r.hits {
			best.Add(r.hits[i])
		}
		rows = best.Rows()
	}
	if ranked > 0 {
		r.rerank(rows[:ranked], out)
		out.ranked = out.ranked[min(r.skip, ranked):]
	}
	out.rows = rows[min(r.skip, last):last]
	// A page shorter than the requested top is followed by another one.
	out.more = int64(len(r.hits)) > r.skip+size && (r.unlimited || r.top > size)
	if len(r.highlights) > 0 && r.query != nil {
		marks, err := r.view.text.Highlighter(r.query, r.text)
		if err != nil {
			return nil, refuseText(err)
		}
		out.marks = marks
	}
	return out, nil
}
