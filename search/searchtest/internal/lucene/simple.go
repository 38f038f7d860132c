package lucene

import "strings"

// maxSimpleDepth bounds the nesting of parentheses in the simple syntax, which
// refuses nothing: deeper ones are read as if they were not there.
const maxSimpleDepth = 100

// ParseSimple reads the simple syntax: + | - "phrase" prefix* ( ) and \. It never
// fails. What has no meaning where it stands (an operator with nothing to
// join, a parenthesis or a quote that is never closed) is skipped. A text
// with no word in it matches nothing; a lone * matches everything.
//
// Operators have no precedence: each applies to everything before it in the same
// parentheses. A negated clause becomes "everything but": joined by Or it
// therefore adds documents, as the service documents.
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
	closes map[int]int // offset of each ( to that of its )
}

// level is what has been read inside one pair of parentheses.
type level struct {
	top      Node
	joined   bool  // top is a Boolean made by this level with the operator last
	last     Occur // the operator before, once joined
	next     Occur // the operator read for the next clause
	explicit bool  // next holds one
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
				l.explicit = false // what it was meant for is not there
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
			continue // it holds for what follows at once
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
		return start // never closed: the quote is skipped
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

// add joins a clause to what was read before. When the operator changes, all of
// that becomes one clause: it was evaluated first.
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

// closings pairs the parentheses of text that are not escaped, in one pass: to
// look for each one's partner when it is met would take quadratic time.
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
