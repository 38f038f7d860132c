package lucene

import (
	"strings"
	"unicode/utf8"
)

// kind is the kind of a token in full syntax. Tokens and their priority (the longer one, then the one listed first)
// are those of Lucene's classic query parser, because they determine the columns in the service's messages.
type kind uint8

const (
	eof kind = iota
	and
	or
	not
	plus
	minus
	bareOperator // + - or ! before white space: a word that analysis removes
	leftParen
	rightParen
	colon
	star
	caret
	quoted
	term
	tilde
	prefixTerm
	wildTerm
	regexpTerm
	rangeStart
	number
)

type token struct {
	kind       kind
	start, end int // byte offsets
}

// lexer reads a token only when the parser needs it, so that a later lexical error does not hide an earlier syntax
// error.
type lexer struct {
	text       string
	at         int
	afterCaret bool // only a number may follow
}

func (l *lexer) next() (token, *SyntaxError) {
	if l.afterCaret {
		l.afterCaret = false
		return l.number()
	}
	for l.at < len(l.text) {
		r, n := l.rune(l.at)
		if !isSpace(r) {
			break
		}
		l.at += n
	}
	start := l.at
	if start == len(l.text) {
		return token{eof, start, start}, nil
	}
	k, end := l.scan(start)
	if end < 0 {
		return token{}, l.unreadable(-end)
	}
	l.at = end
	l.afterCaret = k == caret
	return token{k, start, end}, nil
}

// scan returns the kind and end of the token at start. A negative end means that there is no token; its absolute
// value is the offset up to which the text was read.
func (l *lexer) scan(start int) (kind, int) {
	switch c := l.text[start]; c {
	case '(':
		return leftParen, start + 1
	case ')':
		return rightParen, start + 1
	case ':':
		return colon, start + 1
	case '^':
		return caret, start + 1
	case '[', '{':
		return rangeStart, start + 1
	case ']', '}':
		return eof, -(start + 1)
	case '+', '-', '!':
		if r, n := l.rune(start + 1); n > 0 && isSpace(r) {
			return bareOperator, start + 1 + n
		}
		return map[byte]kind{'+': plus, '-': minus, '!': not}[c], start + 1
	case '"':
		return l.delimited(start, '"', quoted)
	case '/':
		return l.delimited(start, '/', regexpTerm)
	case '~':
		return tilde, l.similarity(start + 1)
	}
	if end := l.path(start); end > 0 {
		return term, end
	}
	return l.word(start)
}

// delimited reads up to the next delimiter that is not escaped.
func (l *lexer) delimited(start int, delimiter byte, k kind) (kind, int) {
	for i := start + 1; i < len(l.text); i++ {
		switch l.text[i] {
		case '\\':
			i++
		case delimiter:
			return k, i + 1
		}
	}
	return eof, -len(l.text)
}

// similarity reads the number after ~.
func (l *lexer) similarity(i int) int {
	i = l.digits(i)
	if i+1 < len(l.text) && l.text[i] == '.' && isDigit(l.text[i+1]) {
		i = l.digits(i + 1)
	}
	return i
}

func (l *lexer) digits(i int) int {
	for i < len(l.text) && isDigit(l.text[i]) {
		i++
	}
	return i
}

// number reads the number after ^. Lucene allows no white space there.
func (l *lexer) number() (token, *SyntaxError) {
	start := l.at
	if start == len(l.text) {
		return token{eof, start, start}, nil
	}
	if !isDigit(l.text[start]) {
		_, n := l.rune(start)
		return token{}, l.unreadable(start + n)
	}
	l.at = l.similarity(start)
	return token{number, start, l.at}, nil
}

// maxPath is the maximum length of a path: ten levels of names of 128 characters. Without a limit a text with many
// slashes would take quadratic time.
const maxPath = 10 * 129

// path reads the name of a sub-field, as in Address/City:Seattle. Lucene's lexer would read a regular expression;
// the service does not.
func (l *lexer) path(start int) int {
	slashes := 0
	for i := start; i < min(len(l.text), start+maxPath); i++ {
		switch c := l.text[i]; {
		case isNameByte(c):
		case c == '/' && isNameByte(l.text[i-1]):
			slashes++
		case c == ':' && slashes > 0 && l.text[i-1] != '/':
			return i
		default:
			return -1
		}
	}
	return -1
}

func (l *lexer) word(start int) (kind, int) {
	wild, last := 0, 0 // number of wildcards, and offset of the last one
	i := start
	for i < len(l.text) {
		r, n := l.rune(i)
		switch {
		case r == '\\':
			i++
			if i == len(l.text) {
				if i-1 > start {
					// The word ends before the backslash, which is not a token.
					return l.wordKind(start, i-1, wild, last), i - 1
				}
				return eof, -len(l.text)
			}
			_, n = l.rune(i)
		case r == '*' || r == '?':
			wild, last = wild+1, i
		case (r == '-' || r == '+') && i > start:
		case r == '~' && i > start && l.joins(i+1):
			// business~analyst: inside a word ~ is not an operator
		case !isTermStart(r):
			return l.wordKind(start, i, wild, last), i
		}
		i += n
	}
	return l.wordKind(start, i, wild, last), i
}

// joins reports whether the ~ before offset i is inside a word.
func (l *lexer) joins(i int) bool {
	r, n := l.rune(i)
	return n > 0 && isTermStart(r) && !isDigit(l.text[i])
}

func (l *lexer) wordKind(start, end, wild, last int) kind {
	switch text := l.text[start:end]; {
	case text == "AND" || text == "&&":
		return and
	case text == "OR" || text == "||":
		return or
	case text == "NOT":
		return not
	case text == "*":
		return star
	case wild == 1 && last == end-1 && l.text[last] == '*':
		return prefixTerm
	case wild > 0:
		return wildTerm
	}
	return term
}

// rune decodes the character at i; its size is 0 at the end of the text.
func (l *lexer) rune(i int) (rune, int) {
	if i >= len(l.text) {
		return 0, 0
	}
	return utf8.DecodeRuneInString(l.text[i:])
}

// unreadable returns the error for characters that begin no token. Lucene counts the characters read so far, plus
// one at the end of the text.
func (l *lexer) unreadable(read int) *SyntaxError {
	column := utf16Len(l.text[:read])
	if read == len(l.text) {
		column++
	}
	return &SyntaxError{Line: 1, Column: column}
}

func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\u3000'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameByte(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isTermStart reports whether a word can begin with r. An escaped character can begin one, too.
func isTermStart(r rune) bool {
	return !isSpace(r) && !strings.ContainsRune(`+-!():^[]"{}~*?\/`, r)
}

// utf16Len returns the length of s in UTF-16 units, as Java and the service count.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}
