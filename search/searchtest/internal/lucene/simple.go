package lucene

import "strings"

// maxSimpleDepth is the nesting from which parentheses are ignored. The simple syntax has no errors.
const maxSimpleDepth = 100

// ParseSimple parses the simple syntax: + | - "phrase" prefix* ( ) and \. It never fails. It skips operators that
// join nothing, and parentheses and quotes that are not closed. A text without a word matches nothing; a single *
// matches everything.
//
// Operators have no precedence: each applies to everything before it in the same parentheses. A negated clause
// matches everything else, so joined by Or it adds documents, as documented by the service.
func ParseSimple(text string, op Operator) Node {
	if strings.Trim(text, " \t\r\n") == "*" {
		return MatchAll{}
	}
	p := simpleParser{text: text, op: occurOf(op), closes: closings(text)}
	if top := p.parse(0, len(text), 0); top != nil {
		return top
	}
	return Boolean{}
}

type simpleParser struct {
	text   string
	op     Occur
	closes map[int]int // offset of each ( to the offset of its )
}

// level is the state inside one pair of parentheses.
type level struct {
	top      Node
	joined   bool  // top is a Boolean that this level made with operator last
	last     Occur // previous operator, if joined
	next     Occur // operator for the next clause, if explicit
	explicit bool  // next is set
	not      bool
}

func (p *simpleParser) parse(i, end, depth int) Node {
	var l level
	for i < end {
		switch c := p.text[i]; c {
		case '(':
			closing, ok := p.closes[i]
			switch {
			case !ok || depth == maxSimpleDepth:
				i++
			case closing == i+1:
				l.explicit = false // its operand is empty
				i += 2
			default:
				l.add(p.parse(i+1, closing, depth+1), p.op)
				i = closing + 1
			}
		case ')', ' ', '\t', '\n', '\r':
			i++
		case '"':
			i = p.phrase(&l, i+1, end)
		case '+', '|':
			if !l.explicit && l.top != nil {
				l.explicit, l.next = true, Should
				if c == '+' {
					l.next = Must
				}
			}
			i++
		case '-':
			l.not = !l.not
			i++
			continue // applies to what follows immediately
		default:
			i = p.word(&l, i, end)
		}
		l.not = false
	}
	return l.top
}

func (p *simpleParser) phrase(l *level, start, end int) int {
	var b strings.Builder
	i := start
	for i < end && p.text[i] != '"' {
		if p.text[i] == '\\' {
			if i++; i == end {
				break
			}
		}
		b.WriteByte(p.text[i])
		i++
	}
	switch i {
	case end:
		return start // not closed: the quote is skipped
	case start:
		l.explicit = false
	default:
		l.add(Phrase{Text: b.String()}, p.op)
	}
	return i + 1
}

func (p *simpleParser) word(l *level, i, end int) int {
	var b strings.Builder
	prefix := false
	for i < end && !strings.ContainsRune("\"|+() \t\r\n", rune(p.text[i])) {
		if p.text[i] == '\\' {
			prefix = false
			if i++; i == end {
				break
			}
			b.WriteByte(p.text[i])
			i++
			continue
		}
		prefix = p.text[i] == '*' && b.Len() > 0
		b.WriteByte(p.text[i])
		i++
	}
	switch text := b.String(); {
	case text == "":
	case prefix:
		l.add(Prefix{Text: text[:len(text)-1]}, p.op)
	default:
		l.add(Term{Text: text}, p.op)
	}
	return i
}

// add joins a clause to the previous ones. If the operator changes, these become one clause, because they are
// evaluated first.
func (l *level) add(n Node, op Occur) {
	if n == nil {
		return
	}
	if l.not {
		n = Boolean{Clauses: []Clause{{MustNot, n}, {Should, MatchAll{}}}}
	}
	if l.top == nil {
		l.top = n
		l.explicit = false
		return
	}
	if l.explicit {
		op = l.next
	}
	if l.joined && l.last == op {
		top := l.top.(Boolean)
		top.Clauses = append(top.Clauses, Clause{op, n})
		l.top = top
	} else {
		l.top = Boolean{Clauses: []Clause{{op, l.top}, {op, n}}}
	}
	l.joined, l.last, l.explicit = true, op, false
}

// closings pairs unescaped parentheses in one pass. Searching each partner separately would take quadratic time.
func closings(text string) map[int]int {
	var open []int
	closes := make(map[int]int)
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '(':
			open = append(open, i)
		case ')':
			if n := len(open); n > 0 {
				closes[open[n-1]] = i
				open = open[:n-1]
			}
		}
	}
	return closes
}

func occurOf(op Operator) Occur {
	if op == And {
		return Must
	}
	return Should
}
