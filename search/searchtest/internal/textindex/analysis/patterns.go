package analysis

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// splitTokenizer makes tokens of the texts between the matches of an expression or, if group is not negative, of
// that group of each match. It drops empty tokens.
type splitTokenizer struct {
	re    *regexp.Regexp
	group int
}

func (t splitTokenizer) tokenize(dst []token, text string) []token {
	pos, start := 0, 0
	emit := func(start, end int) {
		if end > start {
			dst = append(dst, token{text: text[start:end], start: start, end: end, pos: pos})
			pos++
		}
	}
	for _, m := range t.re.FindAllStringSubmatchIndex(text, -1) {
		if t.group >= 0 {
			if m[2*t.group] >= 0 {
				emit(m[2*t.group], m[2*t.group+1])
			}
			continue
		}
		emit(start, m[0])
		start = m[1]
	}
	if t.group < 0 {
		emit(start, len(text))
	}
	return dst
}

type patternTokenizerSpec struct {
	Pattern string `json:"pattern"`
	Flags   string `json:"flags"`
	Group   int    `json:"group"`
}

func (p *patternTokenizerSpec) tokenizer() (tokenizer, error) {
	re, err := javaRegexp(p.Pattern, p.Flags)
	if err != nil {
		return nil, err
	}
	if err := within("group", p.Group, -1, re.NumSubexp()); err != nil {
		return nil, err
	}
	return splitTokenizer{re, p.Group}, nil
}

// patternReplacer replaces every match in a token or in the whole text.
type patternReplacer struct {
	re   *regexp.Regexp
	with replacement
}

func newPatternReplacer(pattern, with *string) (*patternReplacer, error) {
	if pattern == nil || with == nil {
		return nil, errors.New("pattern and replacement must be given")
	}
	re, err := javaRegexp(*pattern, "")
	if err != nil {
		return nil, err
	}
	r, err := javaReplacement(*with, re)
	if err != nil {
		return nil, err
	}
	return &patternReplacer{re, r}, nil
}

func (p *patternReplacer) apply(text string) (string, edits) {
	r := rewriter{in: text}
	for _, m := range p.re.FindAllStringSubmatchIndex(text, -1) {
		r.replace(m[0], m[1], p.with.expand(text, m))
	}
	return r.done()
}

type patternReplaceCharFilter struct {
	Pattern     *string `json:"pattern"`
	Replacement *string `json:"replacement"`
}

func (p *patternReplaceCharFilter) charFilter() (charFilter, error) {
	f, err := newPatternReplacer(p.Pattern, p.Replacement)
	if err != nil {
		return nil, err
	}
	return f, nil
}

type patternReplaceFilter struct {
	Pattern     *string `json:"pattern"`
	Replacement *string `json:"replacement"`
}

func (p *patternReplaceFilter) filters() ([]filter, error) {
	f, err := newPatternReplacer(p.Pattern, p.Replacement)
	if err != nil {
		return nil, err
	}
	return []filter{mapper(func(text string) string {
		out, _ := f.apply(text)
		return out
	})}, nil
}

type patternCaptureFilter struct {
	Patterns         []string `json:"patterns"`
	PreserveOriginal bool     `json:"preserveOriginal"`
}

func (p *patternCaptureFilter) filters() ([]filter, error) {
	if p.Patterns == nil {
		return nil, errors.New("patterns is missing")
	}
	f := &patternCapture{preserve: p.PreserveOriginal}
	for _, pattern := range p.Patterns {
		re, err := javaRegexp(pattern, "")
		if err != nil {
			return nil, err
		}
		f.res = append(f.res, re)
	}
	return []filter{f}, nil
}

// patternCapture makes a token of each group of each match, ordered by start, all at the place of the original
// token. A token without a match stays.
type patternCapture struct {
	res      []*regexp.Regexp
	preserve bool
}

func (f *patternCapture) filter(s *stream) {
	var out []token
	for _, t := range s.tokens {
		captures := f.captures(t.text)
		if f.preserve || len(captures) == 0 {
			out = append(out, t)
		}
		for _, c := range captures {
			n := t
			n.text = t.text[c[0]:c[1]]
			out = append(out, n)
		}
	}
	s.tokens = out
}

// captures returns the offsets of the groups, merged from all expressions by start.
func (f *patternCapture) captures(text string) [][2]int {
	lists := make([][][2]int, 0, len(f.res))
	for _, re := range f.res {
		var list [][2]int
		for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
			for g := 2; g < len(m); g += 2 {
				if m[g] < 0 || m[g] == m[g+1] || f.preserve && m[g] == 0 && m[g+1] == len(text) {
					continue // the group did not match, or equals the preserved token
				}
				list = append(list, [2]int{m[g], m[g+1]})
			}
		}
		lists = append(lists, list)
	}
	var out [][2]int
	for {
		first := -1
		for i, list := range lists {
			if len(list) > 0 && (first < 0 || list[0][0] < lists[first][0][0]) {
				first = i
			}
		}
		if first < 0 {
			return out
		}
		out = append(out, lists[first][0])
		lists[first] = lists[first][1:]
	}
}

// mappings replaces texts by others. At each place it replaces the longest match.
type mappings struct {
	with    map[string]string
	longest int           // in bytes
	firsts  map[byte]bool // the first bytes of all texts
}

type mappingCharFilter struct {
	Mappings []string `json:"mappings"`
}

func (p *mappingCharFilter) charFilter() (charFilter, error) {
	if p.Mappings == nil {
		return nil, errors.New("mappings is missing")
	}
	f := &mappings{with: map[string]string{}, firsts: map[byte]bool{}}
	for _, m := range p.Mappings {
		from, to, ok := strings.Cut(m, "=>")
		from, to = strings.TrimSpace(from), strings.TrimSpace(to)
		if !ok || from == "" {
			return nil, fmt.Errorf("the mapping '%s' is not of the form 'a=>b'", m)
		}
		from, err := unescapeMapping(from)
		if err != nil {
			return nil, fmt.Errorf("the mapping '%s': %w", m, err)
		}
		to, err = unescapeMapping(to)
		if err != nil {
			return nil, fmt.Errorf("the mapping '%s': %w", m, err)
		}
		if _, twice := f.with[from]; twice {
			return nil, fmt.Errorf("the mapping of '%s' is there twice", from)
		}
		f.with[from] = to
		f.firsts[from[0]] = true
		f.longest = max(f.longest, len(from))
	}
	return f, nil
}

func (f *mappings) apply(text string) (string, edits) {
	r := rewriter{in: text}
next:
	for at := 0; at < len(text); {
		if f.firsts[text[at]] {
			for n := min(f.longest, len(text)-at); n > 0; n-- {
				if to, ok := f.with[text[at:at+n]]; ok {
					r.replace(at, at+n, to)
					at += n
					continue next
				}
			}
		}
		at++
	}
	return r.done()
}

// unescapeMapping resolves the escapes in one side of a mapping.
func unescapeMapping(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		if i++; i == len(text) {
			return "", errors.New("it ends in a backslash")
		}
		switch c := text[i]; c {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r, ok := hexRune(text[i+1:])
			if !ok {
				return "", errors.New(`it has a wrong \u`)
			}
			b.WriteRune(r)
			i += 4
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}
