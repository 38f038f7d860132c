package analysis

import "sort"

// charFilter changes a text before it is tokenized, and returns the changes.
type charFilter interface {
	apply(text string) (string, edits)
}

// edit is one replacement: in[inStart:inEnd] became out[outStart:outEnd].
type edit struct {
	outStart, outEnd int
	inStart, inEnd   int
}

// edits are the replacements of one char filter, in order. They map offsets in its output to offsets in its input.
type edits []edit

// original returns the input offset of an output offset. Where text was removed, it is the offset after the removed
// text, as in Lucene: the last word in a bold tag ends at the end of the tag.
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

// rewriter builds the output of a char filter and its edits.
type rewriter struct {
	in    string
	out   []byte
	next  int // offset in in: all text before it is in out or replaced
	edits edits
}

// replace replaces in[start:end] by text.
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

// done returns the output, including the rest of in, and the edits.
func (r *rewriter) done() (string, edits) {
	if r.edits == nil {
		return r.in, nil
	}
	return string(append(r.out, r.in[r.next:]...)), r.edits
}
