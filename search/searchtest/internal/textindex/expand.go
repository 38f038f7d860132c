package textindex

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
)

// maxExpansions is the maximum number of terms for a fuzzy word: the nearest ones.
const maxExpansions = 50

// expand returns the numbers of the terms that a pattern matches, in the order of the terms. It does not analyze
// patterns, but converts them to lower case, because nearly all analyzers do that with terms.
func (f *field) expand(n lucene.Node) ([]uint32, error) {
	switch n := n.(type) {
	case lucene.Prefix:
		if err := checkLength(n.Text); err != nil {
			return nil, err
		}
		return f.withPrefix(strings.ToLower(n.Text)), nil
	case lucene.Wildcard:
		if err := checkLength(n.Pattern); err != nil {
			return nil, err
		}
		w := parseWildcard(strings.ToLower(n.Pattern))
		return f.matching(w.prefix, w.match), nil
	case lucene.Regexp:
		m, err := parseRegexp(strings.ToLower(n.Pattern))
		if err != nil {
			return nil, err
		}
		return f.matching(m.prefix(), m.match), nil
	}
	panic("textindex: not a pattern")
}

func (d *dictionary) matching(prefix string, match func(string) bool) []uint32 {
	var numbers []uint32
	for _, n := range d.withPrefix(prefix) {
		if match(d.terms[n]) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// similarTerm is a term that matches a fuzzy word.
type similarTerm struct {
	term  string
	edits int
	boost float32 // 1 for the word itself, less per edit
}

// similar returns the terms with at most the given number of edits from text, nearest first, then in the order of
// the terms.
func (d *dictionary) similar(text string, edits int) []similarTerm {
	text = strings.ToLower(text)
	word := newEditMatcher(text, edits)
	length := utf8.RuneCountInString(text)
	var found []similarTerm
	for _, n := range d.sorted() {
		term := d.terms[n]
		distance, ok := word.distance(term, false)
		if !ok {
			continue
		}
		boost := float32(1)
		if distance > 0 {
			boost -= float32(distance) / float32(min(length, utf8.RuneCountInString(term)))
		}
		if boost > 0 {
			found = append(found, similarTerm{term, distance, boost})
		}
	}
	slices.SortStableFunc(found, func(a, b similarTerm) int { return cmp.Compare(b.boost, a.boost) })
	return found[:min(len(found), maxExpansions)]
}

// editMatcher measures the edit distance of terms from a word. Insertions, deletions, replacements and swaps of
// neighbouring characters count one each.
type editMatcher struct {
	word  []rune
	limit int
	rows  [3][]int
}

func newEditMatcher(word string, limit int) *editMatcher {
	m := &editMatcher{word: []rune(word), limit: limit}
	for i := range m.rows {
		m.rows[i] = make([]int, len(m.word)+1)
	}
	return m
}

// distance returns the distance of term or, if prefix is true, of its nearest prefix. It returns false if that
// exceeds the limit.
func (m *editMatcher) distance(term string, prefix bool) (int, bool) {
	n := len(m.word)
	if !prefix && (len(term) > 4*(n+m.limit) || len(term) < n-m.limit) {
		return 0, false
	}
	before, last, row := m.rows[0], m.rows[1], m.rows[2]
	for i := range last {
		last[i] = i
	}
	best := last[n]
	previous, count := rune(-1), 0
	for _, r := range term {
		count++
		row[0] = count
		least := count
		for i, w := range m.word {
			d := min(row[i], last[i+1]) + 1
			if w == r {
				d = min(d, last[i])
			} else {
				d = min(d, last[i]+1)
			}
			if i > 0 && count > 1 && w == previous && m.word[i-1] == r {
				d = min(d, before[i-1]+1)
			}
			row[i+1] = d
			least = min(least, d)
		}
		best = min(best, row[n])
		before, last, row = last, row, before
		previous = r
		if least > m.limit {
			// No later row can be better: a swap reaches back only one row.
			break
		}
	}
	if prefix {
		return best, best <= m.limit
	}
	if count != utf8.RuneCountInString(term) {
		return 0, false
	}
	return last[n], last[n] <= m.limit
}

// wildcard is a pattern, split into literal texts, * and ?.
type wildcard struct {
	prefix string // literal text at the start of all matches
	pieces []wildcardPiece
}

type wildcardPiece struct {
	text string // one character; "" if kind is not 0
	kind byte   // 0 for text, else * or ?
}

func parseWildcard(pattern string) *wildcard {
	w := new(wildcard)
	fixed := true
	for i := 0; i < len(pattern); {
		r, n := utf8.DecodeRuneInString(pattern[i:])
		i += n
		piece := wildcardPiece{}
		switch {
		case r == '*' || r == '?':
			piece.kind = byte(r)
			fixed = false
		case r == '\\' && i < len(pattern):
			_, n = utf8.DecodeRuneInString(pattern[i:])
			piece.text = pattern[i : i+n]
			i += n
		default:
			piece.text = pattern[i-n : i]
		}
		if fixed {
			w.prefix += piece.text
		}
		w.pieces = append(w.pieces, piece)
	}
	return w
}

// match takes time proportional to the product of pattern and term at most, because it retries only the last *.
func (w *wildcard) match(term string) bool {
	p, t := 0, 0
	retryPiece, retryTerm := -1, 0
	for t < len(term) {
		if p < len(w.pieces) {
			piece := w.pieces[p]
			switch {
			case piece.kind == '*':
				retryPiece, retryTerm = p, t
				p++
				continue
			case piece.kind == '?':
				_, n := utf8.DecodeRuneInString(term[t:])
				t += n
				p++
				continue
			case strings.HasPrefix(term[t:], piece.text):
				t += len(piece.text)
				p++
				continue
			}
		}
		if retryPiece < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(term[retryTerm:])
		retryTerm += n
		p, t = retryPiece+1, retryTerm
	}
	for p < len(w.pieces) && w.pieces[p].kind == '*' {
		p++
	}
	return p == len(w.pieces)
}
