package analysis

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Small filters, each after its parameters.

type lengthFilter struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

func (p *lengthFilter) filters() ([]filter, error) {
	err := errors.Join(within("min", p.Min, 0, maxTokenLength), within("max", p.Max, 1, maxTokenLength))
	if err == nil && p.Min > p.Max {
		err = errors.New("min must not be greater than max")
	}
	if err != nil {
		return nil, err
	}
	low, high := p.Min, p.Max
	return []filter{dropper(func(t *token) bool {
		n := length16(t.text)
		return n < low || n > high
	})}, nil
}

// limitFilter keeps the first tokens. ConsumeAllTokens does not affect the result.
type limitFilter struct {
	MaxTokenCount    int  `json:"maxTokenCount"`
	ConsumeAllTokens bool `json:"consumeAllTokens"`
}

func (p *limitFilter) filters() ([]filter, error) {
	if err := within("maxTokenCount", p.MaxTokenCount, 1, 1<<31-1); err != nil {
		return nil, err
	}
	return []filter{limit(p.MaxTokenCount)}, nil
}

type limit int

func (n limit) filter(s *stream) {
	if len(s.tokens) > int(n) {
		s.tokens = s.tokens[:n]
		s.next = s.tokens[n-1].pos + 1
	}
}

type truncateFilter struct {
	Length int `json:"length"`
}

func (p *truncateFilter) filters() ([]filter, error) {
	if err := within("length", p.Length, 1, maxTokenLength); err != nil {
		return nil, err
	}
	n := p.Length
	return []filter{stemmer(func(text string) string { return prefix16(text, n) })}, nil
}

type uniqueFilter struct {
	OnlyOnSamePosition bool `json:"onlyOnSamePosition"`
}

func (p *uniqueFilter) filters() ([]filter, error) {
	return []filter{unique(p.OnlyOnSamePosition)}, nil
}

// unique drops duplicate tokens of the whole text or, if true, of one position. Later words move forward, as in the
// service's filter, which counts only the tokens that it keeps.
type unique bool

func (onlyOnSamePosition unique) filter(s *stream) {
	seen := map[string]bool{}
	kept := s.tokens[:0]
	previous, shift := -1, 0
	for _, t := range s.tokens {
		step := t.pos - previous
		previous = t.pos
		if bool(onlyOnSamePosition) && step > 0 {
			clear(seen)
		}
		if seen[t.text] {
			shift += step
			continue
		}
		seen[t.text] = true
		t.pos -= shift
		kept = append(kept, t)
	}
	s.tokens = kept
	s.next -= shift
}

// keywordRepeat emits each token twice: as a keyword, and for stemming.
type keywordRepeat struct{}

func (keywordRepeat) filter(s *stream) {
	out := make([]token, 0, 2*len(s.tokens))
	for _, t := range s.tokens {
		marked := t
		marked.keyword, t.keyword = true, false
		out = append(out, marked, t)
	}
	s.tokens = out
}

type asciiFoldingFilter struct {
	PreserveOriginal bool `json:"preserveOriginal"`
}

func (p *asciiFoldingFilter) filters() ([]filter, error) {
	if p.PreserveOriginal {
		return []filter{foldBeside{}}, nil
	}
	return []filter{mapper(foldASCII)}, nil
}

// foldBeside emits the folded form of a token before the token.
type foldBeside struct{}

func (foldBeside) filter(s *stream) {
	out := make([]token, 0, len(s.tokens))
	for _, t := range s.tokens {
		if folded := foldASCII(t.text); folded != t.text {
			f := t
			f.text = folded
			out = append(out, f)
		}
		out = append(out, t)
	}
	s.tokens = out
}

type elisionFilter struct {
	Articles []string `json:"articles"`
}

func (p *elisionFilter) filters() ([]filter, error) {
	articles := p.Articles
	if len(articles) == 0 {
		articles = frenchArticles
	}
	return []filter{elision(articles)}, nil
}

// frenchArticles is the default of Lucene's filter.
var frenchArticles = strings.Fields("l m t qu n s j d c jusqu quoiqu lorsqu puisqu")

// elision removes an article and its apostrophe.
func elision(articles []string) filter {
	set := newWordSet(articles, true)
	return mapper(func(text string) string {
		at, size := apostropheAt(text)
		if at >= 0 && set.has(text[:at]) {
			return text[at+size:]
		}
		return text
	})
}

// cutApostrophe removes the first apostrophe and everything after it.
func cutApostrophe(text string) string {
	if at, _ := apostropheAt(text); at >= 0 {
		return text[:at]
	}
	return text
}

// apostropheAt returns the offset and size of the first apostrophe; offset -1 if there is none.
func apostropheAt(text string) (at, size int) {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\'':
			return i, 1
		case text[i] == 0xE2 && strings.HasPrefix(text[i:], "\u2019"):
			return i, len("\u2019")
		}
	}
	return -1, 0
}

// cutPossessive removes the English 's.
func cutPossessive(text string) string {
	n := len(text)
	if n < 2 || text[n-1] != 's' && text[n-1] != 'S' {
		return text
	}
	for _, mark := range [...]string{"'", "\u2019", "\uFF07"} {
		if cut, ok := strings.CutSuffix(text[:n-1], mark); ok {
			return cut
		}
	}
	return text
}

// classicFilter removes the dots of acronyms and the 's of possessives that the classic tokenizer kept.
type classicFilter struct{}

func (classicFilter) filter(s *stream) {
	for i := range s.tokens {
		switch t := &s.tokens[i]; t.kind {
		case acronym:
			t.text = strings.ReplaceAll(t.text, ".", "")
		case possessive:
			if n := len(t.text); n >= 2 && t.text[n-2] == '\'' && (t.text[n-1] == 's' || t.text[n-1] == 'S') {
				t.text = t.text[:n-2]
			}
		}
	}
}

func reverse(text string) string {
	b := make([]byte, 0, len(text))
	for len(text) > 0 {
		_, size := utf8.DecodeLastRuneInString(text)
		b = append(b, text[len(text)-size:]...)
		text = text[:len(text)-size]
	}
	return string(b)
}

func trim(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return !notSpace(r) })
}

// length16 returns the length of text in UTF-16 code units, Java's measure.
func length16(text string) int {
	n := 0
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b&0xC0 == 0x80: // inside a character
		case b >= 0xF0:
			n += 2
		default:
			n++
		}
	}
	return n
}

// prefix16 returns the longest prefix of text of at most n UTF-16 code units.
func prefix16(text string, n int) string {
	for at := 0; at < len(text); {
		_, size := utf8.DecodeRuneInString(text[at:])
		if n -= units(size); n < 0 {
			return text[:at]
		}
		at += size
	}
	return text
}

// readyFilter is a filter without parameters.
type readyFilter []filter

func (r readyFilter) filters() ([]filter, error) { return r, nil }

var scandinavianPairs = map[rune]string{'a': "aeo", 'o': "eo"}

// foldScandinavian replaces å, ä, æ, ö, ø and their ASCII spellings by a or o.
func foldScandinavian(text string) string {
	return scandinavian(text, func(vowel, second rune) rune {
		switch unicode.ToLower(vowel) {
		case 'å', 'ä', 'æ', 'a':
			return 'a'
		case 'ö', 'ø', 'o':
			return 'o'
		}
		return vowel
	})
}

// normalizeScandinavian replaces the same spellings by the characters å, æ and ø of Danish and Norwegian.
func normalizeScandinavian(text string) string {
	return scandinavian(text, func(vowel, second rune) rune {
		switch v := unicode.ToLower(vowel); {
		case v == 'ä', v == 'a' && second == 'e':
			return 'æ'
		case v == 'ö', v == 'o' && second != 0:
			return 'ø'
		case v == 'a' && second != 0:
			return 'å'
		}
		return vowel
	})
}

// scandinavian replaces each such vowel or pair of vowels, and keeps the case of the first. second is the other
// vowel of a pair, else 0.
func scandinavian(text string, replace func(vowel, second rune) rune) string {
	if strings.IndexFunc(text, func(r rune) bool { return strings.ContainsRune("aoåäæöøAOÅÄÆÖØ", r) }) < 0 {
		return text
	}
	runes := []rune(text)
	out := runes[:0]
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		if !strings.ContainsRune("aoåäæöø", unicode.ToLower(r)) {
			out = append(out, r)
			continue
		}
		var second rune
		if i+1 < len(runes) {
			if next := unicode.ToLower(runes[i+1]); strings.ContainsRune(scandinavianPairs[unicode.ToLower(r)], next) {
				second = next
				i++
			}
		}
		replacement := replace(unicode.ToLower(r), second)
		if unicode.IsUpper(r) {
			replacement = unicode.ToUpper(replacement)
		}
		out = append(out, replacement)
	}
	return string(out)
}
