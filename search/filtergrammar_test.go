package search_test

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// filterToken is a word, a punctuation mark, or a quoted literal with its prefix ("" or "geography").
type filterToken struct {
	kind string // "word", "mark", "quoted"
	text string // the value of a quoted literal
	tag  string // the prefix of the quotes
}

// filterTokens splits a filter by the grammar of OData. It shares no code with the writer.
func filterTokens(s string) ([]filterToken, error) {
	var tokens []filterToken
	for s != "" {
		switch c := s[0]; {
		case c == ' ':
			s = s[1:]
		case strings.IndexByte("(),:", c) >= 0:
			tokens = append(tokens, filterToken{kind: "mark", text: s[:1]})
			s = s[1:]
		default:
			end := strings.IndexAny(s, " (),:'")
			if end < 0 {
				end = len(s)
			}
			word, rest := s[:end], s[end:]
			if !strings.HasPrefix(rest, "'") {
				tokens = append(tokens, filterToken{kind: "word", text: word})
				s = rest
				continue
			}
			var b strings.Builder
			for rest = rest[1:]; ; {
				i := strings.IndexByte(rest, '\'')
				if i < 0 {
					return nil, fmt.Errorf("a string does not end: %q", s)
				}
				b.WriteString(rest[:i])
				rest = rest[i+1:]
				if !strings.HasPrefix(rest, "'") {
					break
				}
				b.WriteByte('\'')
				rest = rest[1:]
			}
			tokens = append(tokens, filterToken{kind: "quoted", text: b.String(), tag: word})
			s = rest
		}
	}
	return tokens, nil
}

// filterTree is a parsed filter: an operator with operands, or a leaf.
type filterTree struct {
	op       string // "and", "or", "not", "any t", "all t", or the leaf itself
	operands []filterTree
}

// String writes every operator with parentheses. Nested operands of the same and/or are one flat list, because the
// order of joining does not matter.
func (t filterTree) String() string {
	if len(t.operands) == 0 {
		return t.op
	}
	var parts []string
	for _, o := range t.flat() {
		parts = append(parts, o.String())
	}
	return t.op + "(" + strings.Join(parts, "; ") + ")"
}

func (t filterTree) flat() []filterTree {
	var out []filterTree
	for _, o := range t.operands {
		if o.op == t.op && (t.op == "and" || t.op == "or") {
			out = append(out, o.flat()...)
		} else {
			out = append(out, o)
		}
	}
	return out
}

// filterParser parses filters by recursive descent, with the precedence that the service documents: or, and,
// comparison, not.
type filterParser struct {
	tokens []filterToken
}

func parseFilter(s string) (tree filterTree, err error) {
	tokens, err := filterTokens(s)
	if err != nil {
		return tree, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v in %q", r, s)
		}
	}()
	p := filterParser{tokens}
	tree = p.or()
	if len(p.tokens) > 0 {
		return tree, fmt.Errorf("%q is left over in %q", p.tokens, s)
	}
	return tree, nil
}

func (p *filterParser) peek(kind, text string) bool {
	return len(p.tokens) > 0 && p.tokens[0].kind == kind && p.tokens[0].text == text
}

func (p *filterParser) take(kind, text string) bool {
	if !p.peek(kind, text) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *filterParser) next() filterToken {
	if len(p.tokens) == 0 {
		panic("the filter ends too early")
	}
	token := p.tokens[0]
	p.tokens = p.tokens[1:]
	return token
}

func (p *filterParser) list(op string, operand func() filterTree) filterTree {
	operands := []filterTree{operand()}
	for p.take("word", op) {
		operands = append(operands, operand())
	}
	if len(operands) == 1 {
		return operands[0]
	}
	return filterTree{op, operands}
}

func (p *filterParser) or() filterTree  { return p.list("or", p.and) }
func (p *filterParser) and() filterTree { return p.list("and", p.comparison) }

func (p *filterParser) comparison() filterTree {
	left := p.unary()
	for _, op := range []string{"eq", "ne", "gt", "ge", "lt", "le"} {
		if p.take("word", op) {
			if len(left.operands) > 0 {
				panic("a condition is compared")
			}
			right := p.unary()
			return filterTree{op: left.op + " " + op + " " + right.op}
		}
	}
	return left
}

func (p *filterParser) unary() filterTree {
	if p.take("word", "not") {
		return filterTree{"not", []filterTree{p.unary()}}
	}
	return p.primary()
}

func (p *filterParser) primary() filterTree {
	if p.take("mark", "(") {
		tree := p.or()
		if !p.take("mark", ")") {
			panic("a parenthesis is not closed")
		}
		return tree
	}
	token := p.next()
	if token.kind == "quoted" {
		return filterTree{op: fmt.Sprintf("%s%q", token.tag, token.text)}
	}
	if token.kind != "word" {
		panic("unexpected " + token.text)
	}
	for _, r := range token.text {
		if r == utf8.RuneError || r < ' ' {
			panic("not a word: " + token.text)
		}
	}
	if !p.take("mark", "(") {
		return filterTree{op: token.text}
	}
	path, function, _ := strings.Cut(token.text, "/")
	for strings.Contains(function, "/") {
		var more string
		more, function, _ = strings.Cut(function, "/")
		path += "/" + more
	}
	if function == "any" || function == "all" {
		if p.take("mark", ")") {
			return filterTree{op: token.text + "()"}
		}
		variable := p.next()
		if variable.kind != "word" || !p.take("mark", ":") {
			panic("no range variable")
		}
		body := p.or()
		if !p.take("mark", ")") {
			panic("a lambda is not closed")
		}
		return filterTree{path + " " + function + " " + variable.text, []filterTree{body}}
	}
	var arguments []string
	for {
		arguments = append(arguments, p.unary().op)
		if p.take("mark", ")") {
			break
		}
		if !p.take("mark", ",") {
			panic("arguments of " + token.text)
		}
	}
	return filterTree{op: token.text + "<" + strings.Join(arguments, "|") + ">"}
}
