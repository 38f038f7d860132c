package textindex

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxPatternLength is the service's limit on the length of a prefix, wildcard pattern or regular expression, in
	// characters.
	maxPatternLength = 1000
	// maxRegexpDepth limits the nesting in a regular expression.
	maxRegexpDepth = 100
	// maxInterval is the maximum number of numbers in an interval <n-m>.
	maxInterval = 1000
)

// PatternError is returned for an invalid or unsupported prefix, wildcard pattern or regular expression.
type PatternError struct {
	Pattern string
	Reason  string
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("textindex: pattern %q: %s", e.Pattern, e.Reason)
}

// termMatcher is a regular expression in Lucene's dialect. Go's linear-time engine has neither complements nor
// intersections. For whole terms they are combined from the results of several expressions; inside an expression
// they are unsupported.
type termMatcher struct {
	plain *regexp.Regexp // nil if op is set
	op    byte           // & | ~ or 0
	of    []*termMatcher
}

func (m *termMatcher) match(term string) bool {
	switch m.op {
	case '&':
		for _, of := range m.of {
			if !of.match(term) {
				return false
			}
		}
		return true
	case '|':
		for _, of := range m.of {
			if of.match(term) {
				return true
			}
		}
		return false
	case '~':
		return !m.of[0].match(term)
	}
	return m.plain.MatchString(term)
}

// prefix returns literal text at the start of every match.
func (m *termMatcher) prefix() string {
	if m.plain == nil {
		return ""
	}
	prefix, _ := m.plain.LiteralPrefix()
	return prefix
}

// parseRegexp parses an expression that must match a whole term. Its errors are *PatternError.
//
// The dialect has | & ? * + {n,m} ~ [ ] . # @ " " ( ) <n-m> and \, which makes the next character literal. ^ and $
// are literal outside classes, and there are no classes such as \d.
func parseRegexp(pattern string) (*termMatcher, error) {
	p := &regexpParser{pattern: pattern}
	if err := checkLength(pattern); err != nil {
		return nil, err
	}
	if pattern == "" {
		return p.compile(expression{})
	}
	e, err := p.union(0)
	if err == nil && p.at < len(pattern) {
		err = p.fail(fmt.Sprintf("unexpected %q at %d", pattern[p.at], p.at))
	}
	if err != nil {
		return nil, err
	}
	return p.compile(e)
}

func checkLength(pattern string) error {
	if utf8.RuneCountInString(pattern) > maxPatternLength {
		return &PatternError{Pattern: pattern, Reason: fmt.Sprintf("it is longer than %d characters", maxPatternLength)}
	}
	return nil
}

// expression is an expression in Go's syntax or, if op is set, a combination of others.
type expression struct {
	text string
	op   byte
	of   []expression
}

type regexpParser struct {
	pattern string
	at      int
}

func (p *regexpParser) fail(reason string) error {
	return &PatternError{Pattern: p.pattern, Reason: reason}
}

func (p *regexpParser) compile(e expression) (*termMatcher, error) {
	if e.op == 0 {
		plain, err := regexp.Compile(`(?s)\A(?:` + e.text + `)\z`)
		if err != nil {
			return nil, p.fail(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		return &termMatcher{plain: plain}, nil
	}
	m := &termMatcher{op: e.op}
	for _, of := range e.of {
		sub, err := p.compile(of)
		if err != nil {
			return nil, err
		}
		m.of = append(m.of, sub)
	}
	return m, nil
}

// next consumes c if it is the next character, and reports whether it was.
func (p *regexpParser) next(c byte) bool {
	if p.at < len(p.pattern) && p.pattern[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *regexpParser) union(depth int) (expression, error) {
	if depth > maxRegexpDepth {
		return expression{}, p.fail(fmt.Sprintf("it is nested more than %d deep", maxRegexpDepth))
	}
	return p.list('|', func() (expression, error) {
		return p.list('&', func() (expression, error) { return p.concatenation(depth) })
	})
}

// list parses expressions separated by an operator.
func (p *regexpParser) list(op byte, one func() (expression, error)) (expression, error) {
	var all []expression
	plain := op == '|'
	for {
		e, err := one()
		if err != nil {
			return e, err
		}
		all = append(all, e)
		plain = plain && e.op == 0
		if !p.next(op) {
			break
		}
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case plain:
		texts := make([]string, len(all))
		for i, e := range all {
			texts[i] = e.text
		}
		return expression{text: "(?:" + strings.Join(texts, "|") + ")"}, nil
	}
	return expression{op: op, of: all}, nil
}

func (p *regexpParser) concatenation(depth int) (expression, error) {
	var all []expression
	for p.at < len(p.pattern) && !strings.ContainsRune("|&)", rune(p.pattern[p.at])) {
		e, err := p.repetition(depth)
		if err != nil {
			return e, err
		}
		all = append(all, e)
	}
	switch len(all) {
	case 0:
		return expression{}, p.fail(fmt.Sprintf("something is missing at %d", p.at))
	case 1:
		return all[0], nil
	}
	var b strings.Builder
	for _, e := range all {
		if e.op != 0 {
			return e, p.partial(e.op)
		}
		b.WriteString(e.text)
	}
	return expression{text: b.String()}, nil
}

func (p *regexpParser) partial(op byte) error {
	return p.fail(fmt.Sprintf("%q is supported only where it stands for the whole term", op))
}

func (p *regexpParser) repetition(depth int) (expression, error) {
	e, err := p.complement(depth)
	for err == nil && p.at < len(p.pattern) {
		repeat := ""
		switch c := p.pattern[p.at]; c {
		case '?', '*', '+':
			repeat = string(c)
			p.at++
		case '{':
			if repeat, err = p.count(); err != nil {
				return e, err
			}
		default:
			return e, nil
		}
		if e.op != 0 {
			return e, p.partial(e.op)
		}
		e.text = "(?:" + e.text + ")" + repeat
	}
	return e, err
}

// count parses {n}, {n,} or {n,m}.
func (p *regexpParser) count() (string, error) {
	end := strings.IndexByte(p.pattern[p.at:], '}')
	if end < 0 {
		return "", p.fail("a { is never closed")
	}
	text := p.pattern[p.at : p.at+end+1]
	low, high, comma := strings.Cut(text[1:len(text)-1], ",")
	if !isNumber(low) || comma && high != "" && !isNumber(high) {
		return "", p.fail(fmt.Sprintf("%s is not a number of repetitions", text))
	}
	p.at += len(text)
	return text, nil
}

func (p *regexpParser) complement(depth int) (expression, error) {
	// Repeated ~ are counted in a loop, not by recursion, because there can be as many as the pattern is long.
	not := false
	for p.next('~') {
		not = !not
		depth++
	}
	e, err := p.simple(depth)
	if not && err == nil {
		e = expression{op: '~', of: []expression{e}}
	}
	return e, err
}

func (p *regexpParser) simple(depth int) (expression, error) {
	if p.at == len(p.pattern) {
		return expression{}, p.fail("something is missing at its end")
	}
	r, n := utf8.DecodeRuneInString(p.pattern[p.at:])
	p.at += n
	switch r {
	case '.':
		return expression{text: "."}, nil
	case '#':
		return expression{text: `[^\x00-\x{10FFFF}]`}, nil
	case '@':
		return expression{text: "(?:.*)"}, nil
	case '[':
		return p.class()
	case '"':
		end := strings.IndexByte(p.pattern[p.at:], '"')
		if end < 0 {
			return expression{}, p.fail("a \" is never closed")
		}
		text := p.pattern[p.at : p.at+end]
		p.at += end + 1
		return expression{text: "(?:" + regexp.QuoteMeta(text) + ")"}, nil
	case '(':
		if p.next(')') {
			return expression{text: "(?:)"}, nil
		}
		e, err := p.union(depth + 1)
		if err != nil {
			return e, err
		}
		if !p.next(')') {
			return e, p.fail("a ( is never closed")
		}
		if e.op == 0 {
			e.text = "(?:" + e.text + ")"
		}
		return e, nil
	case '<':
		return p.interval()
	case '\\':
		if p.at == len(p.pattern) {
			return expression{}, p.fail("it ends in a backslash")
		}
		r, n = utf8.DecodeRuneInString(p.pattern[p.at:])
		p.at += n
	case '?', '*', '+', '{':
		return expression{}, p.fail(fmt.Sprintf("%q at %d has nothing to repeat", r, p.at-1))
	}
	return expression{text: regexp.QuoteMeta(string(r))}, nil
}

// class parses the rest of a class after [.
func (p *regexpParser) class() (expression, error) {
	var b strings.Builder
	b.WriteByte('[')
	if p.next('^') {
		b.WriteByte('^')
	}
	for first := true; first || !p.next(']'); first = false {
		from, err := p.classRune()
		if err != nil {
			return expression{}, err
		}
		to := from
		if p.next('-') {
			if p.at < len(p.pattern) && p.pattern[p.at] == ']' {
				to = '-' // - is the last character
				fmt.Fprintf(&b, `\x{%x}`, from)
				from = '-'
			} else if to, err = p.classRune(); err != nil {
				return expression{}, err
			}
		}
		if to < from {
			return expression{}, p.fail(fmt.Sprintf("the range %c-%c is empty", from, to))
		}
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, from, to)
	}
	b.WriteByte(']')
	return expression{text: b.String()}, nil
}

func (p *regexpParser) classRune() (rune, error) {
	p.next('\\')
	if p.at == len(p.pattern) {
		return 0, p.fail("a [ is never closed")
	}
	r, n := utf8.DecodeRuneInString(p.pattern[p.at:])
	p.at += n
	return r, nil
}

// interval parses the rest of an interval after <. If both numbers have the same number of digits, the number in the
// term must have it, too.
func (p *regexpParser) interval() (expression, error) {
	end := strings.IndexByte(p.pattern[p.at:], '>')
	if end < 0 {
		return expression{}, p.fail("a < is never closed")
	}
	text := p.pattern[p.at : p.at+end]
	p.at += end + 1
	from, to, ok := strings.Cut(text, "-")
	if !ok || !isNumber(from) || !isNumber(to) {
		return expression{}, p.fail(fmt.Sprintf("<%s> is not an interval of numbers", text))
	}
	low, errLow := strconv.Atoi(from)
	high, errHigh := strconv.Atoi(to)
	if errLow != nil || errHigh != nil || max(high-low, low-high) >= maxInterval {
		return expression{}, p.fail(fmt.Sprintf("<%s> has more than %d numbers", text, maxInterval))
	}
	low, high = min(low, high), max(low, high)
	format := "0*%d"
	if len(from) == len(to) {
		format = "%0" + strconv.Itoa(len(from)) + "d"
	}
	var numbers []string
	for n := low; n <= high; n++ {
		numbers = append(numbers, fmt.Sprintf(format, n))
	}
	return expression{text: "(?:" + strings.Join(numbers, "|") + ")"}, nil
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
