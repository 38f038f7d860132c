package analysis

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// wordDelimiter splits words at punctuation, changes of case and digits, and can join the parts again, like Lucene's
// WordDelimiterFilter.
type wordDelimiter struct {
	wordDelimiterFilter
	protected wordSet
}

type wordDelimiterFilter struct {
	GenerateWordParts     bool     `json:"generateWordParts"`
	GenerateNumberParts   bool     `json:"generateNumberParts"`
	CatenateWords         bool     `json:"catenateWords"`
	CatenateNumbers       bool     `json:"catenateNumbers"`
	CatenateAll           bool     `json:"catenateAll"`
	SplitOnCaseChange     bool     `json:"splitOnCaseChange"`
	PreserveOriginal      bool     `json:"preserveOriginal"`
	SplitOnNumerics       bool     `json:"splitOnNumerics"`
	StemEnglishPossessive bool     `json:"stemEnglishPossessive"`
	ProtectedWords        []string `json:"protectedWords"`
}

func (p *wordDelimiterFilter) filters() ([]filter, error) {
	return []filter{&wordDelimiter{*p, newWordSet(p.ProtectedWords, false)}}, nil
}

// charType is the filter's class of a character. A character without case counts as both cases.
type charType uint8

const (
	lowerCase charType = 1 << iota
	upperCase
	digitType
	delimiter

	alphabetic = lowerCase | upperCase
)

func charTypeOf(r rune) charType {
	switch {
	case unicode.Is(unicode.Lu, r):
		return upperCase
	case unicode.Is(unicode.Ll, r):
		return lowerCase
	case unicode.In(r, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M):
		return alphabetic
	case unicode.IsNumber(r):
		return digitType
	}
	return delimiter
}

// part is a piece of a word: text[start:end].
type part struct {
	start, end int
	kind       charType // alphabetic for either case
}

// parts splits text. whole is true if there is one part that covers text, except for delimiters around it and a
// possessive.
func (f *wordDelimiter) parts(text string) (parts []part, whole bool) {
	typeAt := func(at int) (charType, int) {
		r, size := utf8.DecodeRuneInString(text[at:])
		return charTypeOf(r), size
	}
	start, end := 0, len(text)
	for start < end {
		t, size := typeAt(start)
		if t != delimiter {
			break
		}
		start += size
	}
	for end > start {
		r, size := utf8.DecodeLastRuneInString(text[:end])
		if charTypeOf(r) != delimiter {
			break
		}
		end -= size
	}
	last := end
	if f.endsWithPossessive(text, end, end) {
		last -= 2
	}
	for at := start; at < end; {
		t, size := typeAt(at)
		if t == delimiter {
			at += size
			continue
		}
		p := part{start: at, kind: t}
		if t&alphabetic != 0 {
			p.kind = alphabetic
		}
		at += size
		for at < end {
			next, size := typeAt(at)
			if f.breaks(t, next) {
				break
			}
			t = next
			at += size
		}
		p.end = at
		parts = append(parts, p)
		if at+2 <= end && f.endsWithPossessive(text, at+2, end) {
			at += 2
		}
	}
	return parts, len(parts) == 1 && parts[0].start == start && parts[0].end == last
}

// endsWithPossessive reports whether text[:at] ends in a possessive 's. end is the end of the text without
// delimiters.
func (f *wordDelimiter) endsWithPossessive(text string, at, end int) bool {
	if !f.StemEnglishPossessive || at < 3 || text[at-2] != '\'' || text[at-1] != 's' && text[at-1] != 'S' {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at-2])
	if charTypeOf(before)&alphabetic == 0 {
		return false
	}
	if at == end {
		return true
	}
	after, _ := utf8.DecodeRuneInString(text[at:])
	return charTypeOf(after) == delimiter
}

func (f *wordDelimiter) breaks(last, next charType) bool {
	switch {
	case last&next != 0:
		return false
	case next == delimiter:
		return true
	case last&alphabetic != 0 && next&alphabetic != 0:
		// Upper to lower case is within a word: it begins with the capital.
		return f.SplitOnCaseChange && last&upperCase == 0
	}
	return f.SplitOnNumerics
}

// piece is an output: one part, or several joined.
type piece struct {
	text       string
	start, end int // in the token's text; later in the original
	count      int // number of parts
	kind       charType
	step       int // position increment
}

func (p *piece) add(text string, q part) {
	if p.count == 0 {
		p.start, p.kind = q.start, q.kind
	}
	p.text += text[q.start:q.end]
	p.end = q.end
	p.count++
}

func (f *wordDelimiter) filter(s *stream) {
	var out []token
	previous, pos, pending := -1, -1, 0
	for _, t := range s.tokens {
		pending += t.pos - previous
		step := t.pos - previous
		previous = t.pos
		parts, whole := f.parts(t.text)
		emit := func(text string, start, end, step int) {
			pos += step
			n := t
			n.text, n.start, n.end, n.pos = text, start, end, max(pos, 0)
			out = append(out, n)
			pos = n.pos
		}
		switch {
		case len(parts) == 1 && parts[0].start == 0 && parts[0].end == len(t.text), f.protected.has(t.text):
			emit(t.text, t.start, t.end, pending)
			pending = 0
			continue
		case len(parts) == 0 && !f.PreserveOriginal:
			if step == 1 && len(out) > 0 {
				pending--
			}
			continue
		}
		if f.PreserveOriginal {
			emit(t.text, t.start, t.end, pending)
			pending = 0
		}
		if len(parts) == 0 {
			continue
		}
		p := parts[0]
		if whole {
			// A word in punctuation is emitted whatever the parameters are.
			step := 0
			if !f.PreserveOriginal {
				step = max(1, pending)
			}
			start, end := f.offsets(&t, p.start, p.end)
			emit(t.text[p.start:p.end], start, end, step)
			pending = 0
			continue
		}
		pieces := f.pieces(t.text, parts, pending)
		for i := range pieces {
			p := &pieces[i]
			p.start, p.end = f.offsets(&t, p.start, p.end)
		}
		slices.SortStableFunc(pieces, func(a, b piece) int {
			if a.start != b.start {
				return a.start - b.start
			}
			return b.step - a.step // pieces that advance the position first
		})
		for _, p := range pieces {
			emit(p.text, p.start, p.end, p.step)
		}
		if len(pieces) > 0 {
			pending = 0
		}
	}
	s.tokens = out
	s.next = pos + 1
}

// offsets returns the original offsets of text[start:end] of the token. If they cannot be mapped, it returns those
// of the whole token.
func (f *wordDelimiter) offsets(t *token, start, end int) (int, int) {
	if t.exact() {
		return t.start + start, t.start + end
	}
	return t.start, t.end
}

// pieces returns the outputs for the parts of a word: the parts, joined runs of one kind, and all parts joined.
// pending is the distance in positions from the previous word.
func (f *wordDelimiter) pieces(text string, parts []part, pending int) []piece {
	var out []piece
	placed := false              // a piece was emitted since the last run
	beside := f.PreserveOriginal // the next piece is at the position of the whole word
	position := func(joined bool) int {
		step := pending
		switch {
		case placed && joined:
			step = 0
		case !placed && beside:
			placed, beside = true, false
			return 0 // pending stays for the next piece
		default:
			step = max(1, step)
		}
		placed, pending = true, 0
		return step
	}
	var run, all piece
	lastCount := 0
	flush := func() {
		lastCount = run.count
		if run.count != 1 || !f.generates(run.kind) { // a single part was emitted already
			run.step = position(true)
			pending = 0
			out = append(out, run)
		}
		run = piece{}
	}
	for _, p := range parts {
		if run.count > 0 && run.kind&p.kind == 0 {
			flush()
			placed = false
		}
		if p.kind&alphabetic != 0 && f.CatenateWords || p.kind&digitType != 0 && f.CatenateNumbers {
			run.add(text, p)
		}
		if f.CatenateAll {
			all.add(text, p)
		}
		if f.generates(p.kind) {
			out = append(out, piece{text: text[p.start:p.end], start: p.start, end: p.end, step: position(false)})
		}
	}
	if run.count > 0 {
		flush()
	}
	if all.count > lastCount { // otherwise it equals the last run
		all.step = position(true)
		out = append(out, all)
	}
	return out
}

func (f *wordDelimiter) generates(kind charType) bool {
	return kind&alphabetic != 0 && f.GenerateWordParts || kind&digitType != 0 && f.GenerateNumberParts
}
