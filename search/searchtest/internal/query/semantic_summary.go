package query

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// The number of words that are read of a document, from the service's documentation, and the
// maximum number of words in a passage. The documentation says that most passages are shorter
// than 200 words; recorded ones have up to 60.
const (
	mostTitleWords    = 128
	mostKeywordsWords = 128
	mostSummaryWords  = 2000
	mostPassageWords  = 100
)

// summary is the part of a document that is read, and the text for passages: the content, or
// without content the title or the keywords. Recorded captions show that white space in a
// value becomes one blank, and that a field without a final full stop gets one.
type summary struct {
	found     wordSet // words of the query in all fields
	title     wordSet // words of the query in the title
	text      string
	words     []summaryWord // of text, in order
	sentences []passage     // of text, none longer than the maximum of a passage

	parts  [semanticKinds]string // the text that was read
	states []fieldState          // by field
}

// fieldState is the extent to which a field was read.
type fieldState string

const (
	fieldUsed    fieldState = "used"
	fieldUnused  fieldState = "unused"
	fieldPartial fieldState = "partial"
)

// summaryWord is a word of a text, with the matching words of the query.
type summaryWord struct {
	start, end int
	found      wordSet
}

// passage is a part of the text of a summary, in bytes.
type passage struct{ start, end int }

// summarize reads a document.
func (sp *semanticPlan) summarize(document []byte) *summary {
	s := &summary{states: make([]fieldState, len(sp.fields))}
	left := [semanticKinds]int{semanticTitle: mostTitleWords, semanticKeywords: mostKeywordsWords, semanticContent: mostSummaryWords}
	kind := semanticContent // the kind that passages come from
	for i := range sp.fields {
		f := &sp.fields[i]
		text, words := f.read(document)
		s.states[i] = fieldUsed
		if n := left[f.kind]; len(words) > n {
			end := 0
			if n > 0 {
				end = words[n-1].end
			}
			text, words, s.states[i] = text[:end], words[:n], fieldPartial
		}
		if text == "" {
			s.states[i] = fieldUnused
			continue
		}
		left[f.kind] -= len(words)
		if f.kind != semanticContent {
			left[semanticContent] -= len(words)
		}
		s.found |= foundIn(words)
		if f.kind == semanticTitle {
			s.title = foundIn(words)
		}
		if s.parts[f.kind] != "" {
			s.parts[f.kind] += lineBreak
		}
		s.parts[f.kind] += text
		switch {
		case s.text == "":
			kind = f.kind
		case f.kind == semanticContent && kind != semanticContent:
			kind, s.text, s.words, s.sentences = f.kind, "", nil, nil
		}
		if f.kind == kind {
			s.add(text, words)
		}
	}
	return s
}

// lineBreak separates the values of a collection in the text of the ranker, as recorded.
const lineBreak = "\r\n"

// read returns the text of a field and its words. A word never spans two values of a
// collection.
func (f *semanticField) read(document []byte) (string, []summaryWord) {
	var text strings.Builder
	var words []summaryWord
	for _, value := range schema.AppendTexts(nil, f.path, document) {
		if value = strings.Join(strings.Fields(value), " "); value == "" {
			continue
		}
		if text.Len() > 0 {
			text.WriteString(lineBreak)
		}
		words = f.appendWords(words, text.Len(), value)
		text.WriteString(value)
	}
	return text.String(), words
}

// appendWords appends the words of a value that begins at position at of the text.
func (f *semanticField) appendWords(words []summaryWord, at int, value string) []summaryWord {
	tokens := f.index.Analyze(value)
	slices.SortStableFunc(tokens, func(a, b analysis.Token) int { return cmp.Compare(a.Start, b.Start) })
	for _, t := range tokens {
		if n := len(words); n > 0 && words[n-1].start == at+t.Start {
			words[n-1].end = max(words[n-1].end, at+t.End)
			words[n-1].found |= f.terms[t.Text]
			continue
		}
		words = append(words, summaryWord{at + t.Start, at + t.End, f.terms[t.Text]})
	}
	return words
}

// add appends the text of a field to the text for passages.
func (s *summary) add(text string, words []summaryWord) {
	if s.text != "" {
		s.text += " "
	}
	shift := len(s.text)
	s.text += text
	if last, _ := utf8.DecodeLastRuneInString(text); !strings.ContainsRune(".!?…。！？", last) {
		s.text += "."
	}
	for _, w := range words {
		s.words = append(s.words, summaryWord{shift + w.start, shift + w.end, w.found})
	}
	for start, end := range textindex.Sentences(s.text[shift:]) {
		s.addSentence(passage{shift + start, shift + end})
	}
}

// addSentence appends a sentence. A sentence longer than a passage, such as a table, is split
// into pieces. Words may overlap (shingles, parts of words); a word that does not end within
// its piece belongs to no piece.
func (s *summary) addSentence(p passage) {
	for {
		words := s.in(p)
		if len(words) <= mostPassageWords {
			s.sentences = append(s.sentences, p)
			return
		}
		next := words[mostPassageWords].start
		end := min(words[mostPassageWords-1].end, next)
		s.sentences = append(s.sentences, passage{p.start, p.start + len(strings.TrimRight(s.text[p.start:end], " \r\n"))})
		p.start = next
	}
}

// in returns the words that lie completely in a passage.
func (s *summary) in(p passage) []summaryWord {
	first, _ := slices.BinarySearchFunc(s.words, p.start, func(w summaryWord, start int) int { return cmp.Compare(w.start, start) })
	last := first
	for last < len(s.words) && s.words[last].end <= p.end {
		last++
	}
	return s.words[first:last]
}

// foundIn returns the words of the query among words.
func foundIn(words []summaryWord) (set wordSet) {
	for _, w := range words {
		set |= w.found
	}
	return set
}

// best returns the passage with the largest worth, the first of several. It consists of
// consecutive sentences, up to the maximum number of words of a passage, and of characters
// unless that is 0.
func (s *summary) best(characters int, worth func(wordSet) float64) passage {
	var best passage
	most := -1.0
	characterAt := s.inCharacters()
	last := 0 // last sentence of the passage; for later first sentences it does not decrease
	for first, p := range s.sentences {
		fits := func(last int) bool {
			return (characters == 0 || characterAt[last].end-characterAt[first].start <= characters) &&
				len(s.in(passage{p.start, s.sentences[last].end})) <= mostPassageWords
		}
		if last = max(last, first); fits(first) {
			for last+1 < len(s.sentences) && fits(last+1) {
				last++
			}
			p.end = s.sentences[last].end
		} else {
			p = s.cut(p, characters)
		}
		if w := worth(foundIn(s.in(p))); w > most {
			best, most = p, w
		}
		if p.end == len(s.text) {
			break // later passages are contained in this one
		}
	}
	return best
}

// inCharacters returns the positions of the sentences in the text, in characters.
func (s *summary) inCharacters() []passage {
	out := make([]passage, len(s.sentences))
	at, n := 0, 0
	for i, p := range s.sentences {
		n += utf8.RuneCountInString(s.text[at:p.start])
		out[i].start = n
		n += utf8.RuneCountInString(s.text[p.start:p.end])
		out[i].end = n
		at = p.end
	}
	return out
}

// cut shortens a passage to that many characters, at the end of a word if possible.
func (s *summary) cut(p passage, characters int) passage {
	end := p.start
	for n := 0; n < characters && end < p.end; n++ {
		_, size := utf8.DecodeRuneInString(s.text[end:p.end])
		end += size
	}
	p.end = end
	if words := s.in(p); len(words) > 0 {
		p.end = words[len(words)-1].end
	}
	return p
}

// mark returns a passage with tags around the words of the query, "" if it has none.
// Recorded: the tags include the blanks on both sides of a word and the end of its sentence,
// and consecutive words share their tags.
func (s *summary) mark(p passage, tags textindex.Tags) string {
	var marks []passage
	for _, w := range s.in(p) {
		if w.found == 0 {
			continue
		}
		m := s.around(w, p)
		if n := len(marks); n > 0 && m.start <= marks[n-1].end {
			marks[n-1].end = max(marks[n-1].end, m.end)
			continue
		}
		marks = append(marks, m)
	}
	if len(marks) == 0 {
		return ""
	}
	var b strings.Builder
	at := p.start
	for _, m := range marks {
		b.WriteString(s.text[at:m.start])
		b.WriteString(tags.Pre)
		b.WriteString(s.text[m.start:m.end])
		b.WriteString(tags.Post)
		at = m.end
	}
	b.WriteString(s.text[at:p.end])
	return b.String()
}

// around returns the part of a passage to mark for a word: the word with the adjacent blanks,
// or with the rest of its sentence if no other word follows.
func (s *summary) around(w summaryWord, p passage) passage {
	m := passage{w.start, w.end}
	if m.start > p.start && s.text[m.start-1] == ' ' {
		m.start--
	}
	end := p.end
	if i, _ := slices.BinarySearchFunc(s.sentences, w.end, func(sentence passage, at int) int { return cmp.Compare(sentence.end, at) }); i < len(s.sentences) {
		end = min(end, s.sentences[i].end)
	}
	switch rest := s.text[w.end:end]; {
	case strings.HasPrefix(rest, " "):
		m.end++
	case !strings.ContainsFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsLetter(r) || unicode.IsDigit(r) }):
		m.end = end
	}
	return m
}

// appendDebug appends the text that was read of a document.
func (sp *semanticPlan) appendDebug(dst []byte, s *summary) []byte {
	names := [semanticKinds][]string{}
	states := [semanticKinds][]fieldState{}
	for i := range sp.fields {
		kind := sp.fields[i].kind
		names[kind] = append(names[kind], pathOf(sp.fields[i].path))
		states[kind] = append(states[kind], s.states[i])
	}
	field := func(kind semanticKind, i int) {
		dst = append(dst, `{"name":`...)
		dst = reply.AppendString(dst, names[kind][i])
		dst = append(dst, `,"state":"`+states[kind][i]+`"}`...)
	}
	list := func(kind semanticKind) {
		dst = append(dst, '[')
		for i := range names[kind] {
			if i > 0 {
				dst = append(dst, ',')
			}
			field(kind, i)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `{"titleField":`...)
	if len(names[semanticTitle]) > 0 {
		field(semanticTitle, 0)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"contentFields":`...)
	list(semanticContent)
	dst = append(dst, `,"keywordFields":`...)
	list(semanticKeywords)
	dst = append(dst, `,"rerankerInput":{"title":`...)
	dst = reply.AppendString(dst, s.parts[semanticTitle])
	dst = append(dst, `,"content":`...)
	dst = reply.AppendString(dst, s.parts[semanticContent])
	dst = append(dst, `,"keywords":`...)
	dst = reply.AppendString(dst, s.parts[semanticKeywords])
	return append(dst, "}}"...)
}

// pathOf returns the path of a field as requests write it.
func pathOf(path []*stored.Field) string {
	names := make([]string, len(path))
	for i, f := range path {
		names[i] = f.Name
	}
	return strings.Join(names, "/")
}
