package analysis

import "sort"

// charFilter changes a text before it is cut into tokens, and says where.
type charFilter interface {
	apply(text string) (string, edits)
}

// edit is one replacement: what was at in is now at out.
type edit struct {
	outStart, outEnd int
	inStart, inEnd   int
}

// edits are the replacements that a char filter made, in order. They lead from
// offsets in what it returned to offsets in what it was given.
type edits []edit

// original is the offset before the edits of an offset behind them. Where text
// was removed, it is behind what was removed, as Lucene has it: the end of the
// last word in a bold tag is the end of the tag.
func (e edits) original(offset int) int {
	n := sort.Search(len(e), func(i int) bool { return e[i].outStart > offset })
	if n == 0 {
		return offset
	}
	last := e[n-1]
	if offset >= last.outEnd {
		return last.inEnd + offset - last.outEnd
	}
	return min(last.inStart+offset-last.outStart, last.inEnd)
}

func (e edits) correct(tokens []token) {
	for i := range tokens {
		t := &tokens[i]
		first := sort.Search(len(e), func(i int) bool { return e[i].outEnd > t.start })
		t.changed = t.changed || first < len(e) && e[first].outStart < t.end
		t.start, t.end = e.original(t.start), e.original(t.end)
	}
}

// rewriter builds the text of a char filter and its edits.
type rewriter struct {
	in    string
	out   []byte
	next  int // of in: everything before is in out or replaced
	edits edits
}

// replace puts text in the place of in[start:end].
func (r *rewriter) replace(start, end int, text string) {
	if r.out == nil {
		r.out = make([]byte, 0, len(r.in))
	}
	r.out = append(r.out, r.in[r.next:start]...)
	at := len(r.out)
	r.out = append(r.out, text...)
	r.edits = append(r.edits, edit{at, len(r.out), start, end})
	r.next = end
}

// done is the text with all that was not replaced.
func (r *rewriter) done() (string, edits) {
	if r.edits == nil {
		return r.in, nil
	}
	return string(append(r.out, r.in[r.next:]...)), r.edits
}
