package lucene

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth limits the nesting of parentheses in the full syntax.
const maxDepth = 100

// defaultEdits is the number of edits for ~ without a number.
const defaultEdits = 2

// SyntaxError is the position of an error in a query in full syntax.
type SyntaxError struct {
	Line int // always 1, as in Lucene's messages
	// Column is Lucene's column, in UTF-16 units: for an unexpected token the number of units before it; for text
	// that is not a token the number of units read, plus one at the end of the text.
	Column int
	// Reason is set if the error is not in Lucene's grammar.
	Reason string
}

func (e *SyntaxError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("lucene: line %d, column %d: %s", e.Line, e.Column, e.Reason)
	}
	return fmt.Sprintf("lucene: cannot be read at line %d, column %d", e.Line, e.Column)
}

// ParseFull parses the full Lucene syntax. Its errors are *SyntaxError.
//
// AND, OR, NOT, + and - have no precedence: as in Lucene's classic parser each makes the adjacent clauses required,
// optional or prohibited; op determines the others. Ranges and words that begin with a wildcard are refused. A text
// without a clause matches nothing; a single * matches everything.
func ParseFull(text string, op Operator) (Node, error) {
	p := &fullParser{lexer: lexer{text: text}, op: op}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == eof {
		return Boolean{}, nil
	}
	n, err := p.query("", 0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != eof {
		return nil, p.unexpected()
	}
	return n, nil
}

type fullParser struct {
	lexer
	op    Operator
	tok   token
	ahead *token // the token after tok, if it was read already
}

// conjunction is the operator between two clauses, modifier the one before a clause.
type (
	conjunction uint8
	modifier    uint8
)

const (
	conjNone conjunction = iota
	conjAnd
	conjOr
)

const (
	modNone modifier = iota
	modRequired
	modNot
)

func (p *fullParser) advance() *SyntaxError {
	if p.ahead != nil {
		p.tok, p.ahead = *p.ahead, nil
		return nil
	}
	var err *SyntaxError
	p.tok, err = p.next()
	return err
}

func (p *fullParser) peek() (kind, *SyntaxError) {
	if p.ahead == nil {
		t, err := p.next()
		if err != nil {
			return eof, err
		}
		p.ahead = &t
	}
	return p.ahead.kind, nil
}

func (p *fullParser) query(field string, depth int) (Node, *SyntaxError) {
	var clauses []Clause
	plain := false // the first clause has no modifier
	for first := true; ; first = false {
		conj := conjNone
		if !first {
			switch p.tok.kind {
			case eof, rightParen:
				if len(clauses) == 1 && plain {
					return clauses[0].Node, nil
				}
				return Boolean{Clauses: clauses}, nil
			case and:
				conj = conjAnd
			case or:
				conj = conjOr
			}
			if conj != conjNone {
				if err := p.advance(); err != nil {
					return nil, err
				}
			}
		}
		mod, err := p.modifier()
		if err != nil {
			return nil, err
		}
		n, err := p.clause(field, depth)
		if err != nil {
			return nil, err
		}
		if first {
			plain = mod == modNone
		}
		clauses = p.join(clauses, conj, mod, n)
	}
}

// join appends a clause, and corrects the occur of the previous one: AND and OR affect both sides.
func (p *fullParser) join(clauses []Clause, conj conjunction, mod modifier, n Node) []Clause {
	if last := len(clauses) - 1; last >= 0 && clauses[last].Occur != MustNot {
		switch {
		case conj == conjAnd:
			clauses[last].Occur = Must
		case conj == conjOr && p.op == And:
			clauses[last].Occur = Should
		}
	}
	occur := Should
	switch {
	case mod == modNot:
		occur = MustNot
	case p.op == And && conj != conjOr, mod == modRequired && p.op == Or, conj == conjAnd:
		occur = Must
	}
	return append(clauses, Clause{occur, n})
}

func (p *fullParser) modifier() (modifier, *SyntaxError) {
	switch p.tok.kind {
	case plus:
		return modRequired, p.advance()
	case minus, not:
		return modNot, p.advance()
	}
	return modNone, nil
}

func (p *fullParser) clause(field string, depth int) (Node, *SyntaxError) {
	if p.tok.kind == term || p.tok.kind == star {
		next, err := p.peek()
		if err != nil {
			return nil, err
		}
		if next == colon {
			if field, err = p.unescape(p.tok.start, p.tok.end); err != nil {
				return nil, err
			}
			if err := p.skip(2); err != nil {
				return nil, err
			}
		}
	}
	if p.tok.kind != leftParen {
		return p.leaf(field)
	}
	if depth == maxDepth {
		return nil, p.refused(fmt.Sprintf("parentheses are nested more than %d deep", maxDepth))
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.query(field, depth+1)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != rightParen {
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	factor, err := p.boost()
	return boosted(n, factor), err
}

// leaf parses a word, phrase or pattern with its attached operators.
func (p *fullParser) leaf(field string) (Node, *SyntaxError) {
	t := p.tok
	switch t.kind {
	case term, star, prefixTerm, wildTerm, regexpTerm, bareOperator, quoted:
	case rangeStart:
		return nil, p.refused("ranges are not supported; use a filter")
	default:
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	factor, err := p.boost()
	if err != nil {
		return nil, err
	}
	var similarity *token
	if p.tok.kind == tilde {
		tok := p.tok
		similarity = &tok
		if err := p.advance(); err != nil {
			return nil, err
		}
		if factor == 1 {
			if factor, err = p.boost(); err != nil {
				return nil, err
			}
		}
	}
	n, err := p.atom(field, t, similarity)
	if err != nil {
		return nil, err
	}
	return boosted(n, factor), nil
}

func (p *fullParser) atom(field string, t token, similarity *token) (Node, *SyntaxError) {
	raw := p.text[t.start:t.end]
	switch t.kind {
	case quoted:
		text, err := p.unescape(t.start+1, t.end-1)
		return Phrase{Field: field, Text: text, Slop: p.slop(similarity)}, err
	case star:
		if field == "" || field == "*" {
			return MatchAll{}, nil
		}
		return Wildcard{Field: field, Pattern: "*"}, nil
	case prefixTerm:
		text, err := p.unescape(t.start, t.end-1)
		return Prefix{Field: field, Text: text}, err
	case wildTerm:
		if raw[0] == '*' || raw[0] == '?' {
			return nil, p.misplaced(t, "a word must not start with a wildcard")
		}
		return Wildcard{Field: field, Pattern: raw}, nil
	case regexpTerm:
		return Regexp{Field: field, Pattern: raw[1 : len(raw)-1]}, nil
	case bareOperator:
		return Term{Field: field, Text: raw[:1]}, nil
	}
	text, err := p.unescape(t.start, t.end)
	if err != nil || similarity == nil {
		return Term{Field: field, Text: text}, err
	}
	edits, err := p.edits(text, *similarity)
	return Fuzzy{Field: field, Text: text, Edits: edits}, err
}

// boost parses ^ and its factor; it returns 1 if there is none.
func (p *fullParser) boost() (float64, *SyntaxError) {
	if p.tok.kind != caret {
		return 1, nil
	}
	if err := p.advance(); err != nil {
		return 0, err
	}
	if p.tok.kind != number {
		return 0, p.unexpected()
	}
	factor, err := strconv.ParseFloat(p.text[p.tok.start:p.tok.end], 32)
	if err != nil || factor == 0 {
		return 0, p.refused("a boost must be a number above 0")
	}
	return factor, p.advance()
}

// edits returns the number of edits for ~. A number below 1 is a minimum similarity.
func (p *fullParser) edits(text string, t token) (int, *SyntaxError) {
	digits := p.text[t.start+1 : t.end]
	if digits == "" {
		return defaultEdits, nil
	}
	v, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil || v >= defaultEdits:
		return defaultEdits, nil
	case v < 1 && v > 0:
		return min(int((1-v)*float64(utf8.RuneCountInString(text))), defaultEdits), nil
	case v != float64(int(v)):
		return 0, p.misplaced(t, "a number of edits has no fraction")
	}
	return int(v), nil
}

func (p *fullParser) slop(t *token) int {
	if t == nil {
		return 0
	}
	v, err := strconv.ParseFloat(p.text[t.start+1:t.end], 64)
	if err != nil {
		return 0
	}
	return int(min(v, 1<<20))
}

// unescape returns the text between two offsets without backslashes. \uXXXX is a UTF-16 unit.
func (p *fullParser) unescape(start, end int) (string, *SyntaxError) {
	raw := p.text[start:end]
	if !strings.ContainsRune(raw, '\\') {
		return raw, nil
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			b.WriteByte(raw[i])
			continue
		}
		i++ // the lexer ensures that a character follows
		if raw[i] != 'u' {
			b.WriteByte(raw[i])
			continue
		}
		if i+4 >= len(raw) {
			return "", p.at(start, "a \\u escape needs four digits")
		}
		unit, err := strconv.ParseUint(raw[i+1:i+5], 16, 16)
		if err != nil {
			return "", p.at(start, "a \\u escape needs four hexadecimal digits")
		}
		b.WriteRune(rune(unit))
		i += 4
	}
	return b.String(), nil
}

func (p *fullParser) skip(n int) *SyntaxError {
	for range n {
		if err := p.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (p *fullParser) unexpected() *SyntaxError        { return p.at(p.tok.start, "") }
func (p *fullParser) refused(why string) *SyntaxError { return p.at(p.tok.start, why) }
func (p *fullParser) misplaced(t token, why string) *SyntaxError {
	return p.at(t.start, why)
}

func (p *fullParser) at(offset int, why string) *SyntaxError {
	return &SyntaxError{Line: 1, Column: utf16Len(p.text[:offset]), Reason: why}
}

func boosted(n Node, factor float64) Node {
	if factor == 1 || n == nil {
		return n
	}
	return Boost{Node: n, Factor: factor}
}
