package analysis

import (
	"regexp"
	"strings"
	"sync"
)

// classicTokenizer makes a token of the longest match of its grammar, from left to right. It drops tokens longer
// than max UTF-16 code units, which leaves a gap in positions.
type classicTokenizer struct {
	max int
}

func (t classicTokenizer) tokenize(dst []token, text string) []token {
	g := classicGrammar()
	for pos, m := range g.token.FindAllStringIndex(text, -1) {
		w := text[m[0]:m[1]]
		if length16(w) <= t.max {
			dst = append(dst, token{text: w, start: m[0], end: m[1], pos: pos, kind: g.kindOf(w)})
		}
	}
	return dst
}

// classicGrammar returns the grammar of Lucene's ClassicTokenizer. Each Chinese or Japanese character is a token.
// The long grammar is compiled on first use.
var classicGrammar = sync.OnceValue(func() grammar {
	const cj = `\x{3040}-\x{30FF}\x{3100}-\x{312F}\x{31F0}-\x{31FF}\x{3300}-\x{337F}\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF}\x{FF65}-\x{FF9F}`
	const letter = `[^\P{L}` + cj + `]`
	const either = `(?:` + letter + `|\p{Nd})`
	parts := strings.NewReplacer(
		"LETTER", letter, "ALPHANUM", either+`+`, "DIGITS", either+`*\p{Nd}`+either+`*`, "ALPHA", letter+`+`, "MARK", `[-_/.,]`, "CJ", "["+cj+"]",
	)
	const (
		acronym    = `LETTER\.(?:LETTER\.)+`
		apostrophe = `ALPHA(?:'ALPHA)+`
		company    = `ALPHA[&@]ALPHA`
		mail       = `ALPHANUM(?:[-._]ALPHANUM)*@ALPHANUM(?:[-.]ALPHANUM)+`
		host       = `ALPHANUM(?:\.ALPHANUM)+`
		number     = `ALPHANUMMARKDIGITS|DIGITSMARKALPHANUM|ALPHANUM(?:MARKDIGITSMARKALPHANUM)+|DIGITS(?:MARKALPHANUMMARKDIGITS)+` +
			`|ALPHANUMMARKDIGITS(?:MARKALPHANUMMARKDIGITS)+|DIGITSMARKALPHANUM(?:MARKDIGITSMARKALPHANUM)+`
	)
	return grammar{
		longest(parts.Replace("ALPHANUM|" + apostrophe + "|" + acronym + "|" + company + "|" + mail + "|" + host + "|" + number + "|CJ")),
		regexp.MustCompile(parts.Replace("^" + acronym + "$")),
		regexp.MustCompile(parts.Replace("^" + apostrophe + "$")),
	}
})

type grammar struct{ token, acronym, apostrophe *regexp.Regexp }

func longest(expression string) *regexp.Regexp {
	re := regexp.MustCompile(expression)
	re.Longest()
	return re
}

func (g grammar) kindOf(text string) kind {
	switch {
	case strings.IndexByte(text, '.') >= 0 && g.acronym.MatchString(text):
		return acronym
	case strings.IndexByte(text, '\'') >= 0 && g.apostrophe.MatchString(text):
		return possessive
	}
	return word
}

type classicTokenizerSpec struct {
	MaxTokenLength int `json:"maxTokenLength"`
}

func (p *classicTokenizerSpec) tokenizer() (tokenizer, error) {
	if err := within("maxTokenLength", p.MaxTokenLength, 1, maxTokenLength); err != nil {
		return nil, err
	}
	return classicTokenizer{p.MaxTokenLength}, nil
}
