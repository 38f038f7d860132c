package textindex

import "math/bits"

// plan is a query compiled for one index. It can be evaluated once.
type plan interface {
	// squares returns the sum of the squared weights. Classic scores are divided by its root.
	squares() float32
	// scale multiplies the weights. It is called once, before add.
	scale(norm float32)
	// add adds the matching documents to h, and their scores to the scores in h.
	add(r *run, h *hits)
}

// run is one evaluation. It reuses the memory of intermediate results: a query may have many clauses, but few are
// evaluated at the same time.
type run struct {
	index   *Index
	allowed bitset // nil for all
	free    []*hits
}

// hits is a set of documents with scores, both by ordinal. The score of a document that is not in the set is 0. Sums
// have 64 bits, as in Lucene, and are rounded when complete.
type hits struct {
	set    bitset
	scores []float64
}

func (r *run) hits() *hits {
	if n := len(r.free); n > 0 {
		h := r.free[n-1]
		r.free = r.free[:n-1]
		return h
	}
	n := len(r.index.ids)
	return &hits{set: newBitset(n), scores: make([]float64, n)}
}

// release returns hits for reuse. The caller must not use h afterwards.
func (r *run) release(h *hits) {
	clear(h.set)
	clear(h.scores)
	r.free = append(r.free, h)
}

func (r *run) evaluate(p plan) *hits {
	h := r.hits()
	p.add(r, h)
	return h
}

func (h *hits) add(ordinal uint32, score float32) {
	h.set.set(ordinal)
	h.scores[ordinal] += float64(score)
}

// round rounds complete sums to 32 bits.
func (h *hits) round() {
	h.set.each(func(i uint32) { h.scores[i] = float64(float32(h.scores[i])) })
}

// merge adds the documents and scores of other to h.
func (h *hits) merge(other *hits) {
	other.set.each(func(i uint32) { h.scores[i] += other.scores[i] })
	for i, w := range other.set {
		h.set[i] |= w
	}
}

// maximize adds the documents of other to h, and keeps the higher score of each.
func (h *hits) maximize(other *hits) {
	other.set.each(func(i uint32) { h.scores[i] = max(h.scores[i], other.scores[i]) })
	for i, w := range other.set {
		h.set[i] |= w
	}
}

// intersect keeps the documents that are in both, and adds their scores.
func (h *hits) intersect(other *hits) {
	for i, w := range h.set {
		both := w & other.set[i]
		for lost := w &^ both; lost != 0; lost &= lost - 1 {
			h.scores[i<<6+bits.TrailingZeros64(lost)] = 0
		}
		for rest := both; rest != 0; rest &= rest - 1 {
			at := i<<6 + bits.TrailingZeros64(rest)
			h.scores[at] += other.scores[at]
		}
		h.set[i] = both
	}
}

// enrich adds the scores of other to the documents that are in h.
func (h *hits) enrich(other *hits) {
	for i, w := range h.set {
		for both := w & other.set[i]; both != 0; both &= both - 1 {
			at := i<<6 + bits.TrailingZeros64(both)
			h.scores[at] += other.scores[at]
		}
	}
}

// remove removes the documents of other.
func (h *hits) remove(other *hits) {
	for i, w := range h.set {
		for both := w & other.set[i]; both != 0; both &= both - 1 {
			h.scores[i<<6+bits.TrailingZeros64(both)] = 0
		}
		h.set[i] = w &^ other.set[i]
	}
}

func (r *run) allows(ordinal uint32) bool {
	return r.allowed == nil || r.allowed.has(ordinal)
}

// scorer computes the scores of a term or phrase in one field.
type scorer struct {
	similarity Similarity
	norms      []byte
	table      *[256]float32
	idf, boost float32
	weight     float32
}

func (s *scorer) squares() float32 {
	w := s.idf * s.boost
	return w * w
}

// scale sets the weight. In classic scores the rarity of a term counts twice: for the query and for the document.
func (s *scorer) scale(norm float32) {
	s.weight = s.idf * s.boost
	if s.similarity.classic() {
		s.weight = float32(s.weight*norm) * s.idf
	}
}

func (s *scorer) score(ordinal uint32, frequency float32) float32 {
	return s.similarity.score(s.weight, frequency, s.table[s.norms[ordinal]])
}

// termPlan matches the documents that have a term in a field.
type termPlan struct {
	list *postings // nil if no document has the term; its rarity still counts
	scorer
}

// add dominates the time of searches for common words, so it reads the postings directly, without a cursor.
func (p *termPlan) add(r *run, h *hits) {
	if p.list == nil {
		return
	}
	// Nearly all matches of most terms have frequency 1, so these scores are computed once per length.
	var once [256]float32
	for i := range once {
		once[i] = p.similarity.score(p.weight, 1, p.table[i])
	}
	docs, norms, allowed := p.list.docs, p.norms, r.allowed
	set, scores := h.set, h.scores
	next := uint32(0)
	for len(docs) > 0 {
		v, n := varint(docs)
		docs = docs[n:]
		ordinal := next + uint32(v>>1)
		next = ordinal + 1
		frequency := uint64(1)
		if v&1 == 0 {
			frequency, n = varint(docs)
			docs = docs[n:]
		}
		if allowed != nil && !allowed.has(ordinal) {
			continue
		}
		score := once[norms[ordinal]]
		if frequency > 1 {
			score = p.score(ordinal, float32(frequency))
		}
		set.set(ordinal)
		scores[ordinal] += float64(score)
	}
}

// constantPlan gives the same score to all documents that have one of several terms, or to all documents.
type constantPlan struct {
	lists []*postings
	all   bool
	boost float32
}

func (p *constantPlan) squares() float32   { return p.boost * p.boost }
func (p *constantPlan) scale(norm float32) { p.boost *= norm }

func (p *constantPlan) add(r *run, h *hits) {
	if p.all {
		for i := range uint32(len(r.index.ids)) {
			if r.allows(i) {
				h.add(i, p.boost)
			}
		}
		return
	}
	found := newBitset(len(r.index.ids))
	for _, list := range p.lists {
		for c := list.cursor(); c.advance(); {
			if r.allows(c.ordinal) {
				found.set(c.ordinal)
			}
		}
	}
	found.each(func(i uint32) { h.add(i, p.boost) })
}

// sumPlan sums the scores of its parts; at least one part must match.
type sumPlan struct{ parts []plan }

// sumOf returns a plan for the sum of plans, nil if there are none.
func sumOf(parts []plan) plan {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return &sumPlan{parts}
}

func (p *sumPlan) squares() float32 {
	sum := float32(0)
	for _, part := range p.parts {
		sum += part.squares()
	}
	return sum
}

func (p *sumPlan) scale(norm float32) {
	for _, part := range p.parts {
		part.scale(norm)
	}
}

func (p *sumPlan) add(r *run, h *hits) {
	sum := r.hits()
	for _, part := range p.parts {
		part.add(r, sum)
	}
	sum.round()
	h.merge(sum)
	r.release(sum)
}

// maxPlan uses the maximum of the scores of its parts; at least one part must match.
type maxPlan struct{ parts []plan }

func (p *maxPlan) squares() float32 {
	best := float32(0)
	for _, part := range p.parts {
		best = max(best, part.squares())
	}
	return best
}

func (p *maxPlan) scale(norm float32) {
	for _, part := range p.parts {
		part.scale(norm)
	}
}

func (p *maxPlan) add(r *run, h *hits) {
	best := r.hits()
	for _, part := range p.parts {
		one := r.evaluate(part)
		best.maximize(one)
		r.release(one)
	}
	h.merge(best)
	r.release(best)
}

// booleanPlan combines plans like Lucene's boolean queries. With only prohibited plans it matches nothing.
type booleanPlan struct {
	must, should, not []plan
	coord             bool // multiply scores by the share of matching plans
}

func (p *booleanPlan) squares() float32 {
	sum := float32(0)
	for _, part := range p.must {
		sum += part.squares()
	}
	for _, part := range p.should {
		sum += part.squares()
	}
	return sum
}

func (p *booleanPlan) scale(norm float32) {
	for _, parts := range [][]plan{p.must, p.should, p.not} {
		for _, part := range parts {
			part.scale(norm)
		}
	}
}

func (p *booleanPlan) add(r *run, h *hits) {
	out := r.hits()
	defer r.release(out)
	var matched []uint16 // by ordinal: number of matching optional plans, if coord is set
	if p.coord && len(p.should) > 0 {
		matched = make([]uint16, len(out.scores))
	}
	optional := func(part plan, take func(*hits)) {
		one := r.evaluate(part)
		if matched != nil {
			one.set.each(func(i uint32) { matched[i]++ })
		}
		take(one)
		r.release(one)
	}
	for i, part := range p.must {
		if i == 0 {
			part.add(r, out)
			continue
		}
		one := r.evaluate(part)
		out.intersect(one)
		r.release(one)
	}
	for _, part := range p.should {
		switch {
		case len(p.must) > 0:
			optional(part, out.enrich)
		case matched != nil:
			optional(part, out.merge)
		default:
			part.add(r, out)
		}
	}
	for _, part := range p.not {
		one := r.evaluate(part)
		out.remove(one)
		r.release(one)
	}
	out.round()
	if p.coord {
		p.shrink(out, matched)
	}
	h.merge(out)
}

func (p *booleanPlan) shrink(h *hits, matched []uint16) {
	all := float32(len(p.must) + len(p.should))
	h.set.each(func(i uint32) {
		n := len(p.must)
		if matched != nil {
			n += int(matched[i])
		}
		h.scores[i] = float64(float32(h.scores[i]) * (float32(n) / all))
	})
}
