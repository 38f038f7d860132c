package odata

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenIdentifier
	tokenOpen
	tokenClose
	tokenComma
	tokenSlash
	tokenDot
	tokenStar
	tokenColon
	tokenMinus
	tokenOther // = ? ; @alias {…} […]: known to the library, but not valid in an expression

	tokenString
	tokenBoolean
	tokenNull
	tokenNumber
	tokenDateTime
	tokenGeography
	tokenForeign // a literal of a type that fields cannot have
)

// token is one token of an expression. Its text is src[pos:end].
type token struct {
	kind     tokenKind
	typeName string // of a literal, such as Edm.Int32
	pos, end int
}

// lexer splits an expression into the tokens of Microsoft.OData.Core. It reads one token at a time, because the
// position of a reported error depends on how far the library had read.
type lexer struct {
	src string
	tok token // the current token
}

func (l *lexer) text() string { return l.src[l.tok.pos:l.tok.end] }

// is reports whether the current token is the given keyword.
func (l *lexer) is(keyword string) bool {
	return l.tok.kind == tokenIdentifier && l.text() == keyword
}

// advance moves to the next token.
func (l *lexer) advance() error {
	next, err := l.peek()
	if err != nil {
		return err
	}
	l.tok = next
	return nil
}

// syntaxError returns the library's error for an unexpected token. The position is the end of the token, as
// recorded.
func (l *lexer) syntaxError() error { return l.syntaxErrorAt(l.tok.end) }

func (l *lexer) syntaxErrorAt(offset int) error {
	return refuse("Syntax error at position %d in '%s'.", position(l.src, offset), l.src)
}

// expected returns the error for a token other than what, such as "'('".
func (l *lexer) expected(what string) error {
	return refuse("%s expected at position %d in '%s'.", what, position(l.src, l.tok.pos), l.src)
}

// peek returns the token after the current one.
func (l *lexer) peek() (token, error) {
	pos := l.tok.end
	r, size := l.rune(pos)
	for size > 0 && unicode.IsSpace(r) {
		pos += size
		r, size = l.rune(pos)
	}
	if size == 0 {
		return token{kind: tokenEnd, pos: pos, end: pos}, nil
	}
	one := func(kind tokenKind) (token, error) { return token{kind: kind, pos: pos, end: pos + 1}, nil }
	switch r {
	case '(':
		return one(tokenOpen)
	case ')':
		return one(tokenClose)
	case ',':
		return one(tokenComma)
	case '/':
		return one(tokenSlash)
	case '.':
		return one(tokenDot)
	case '*':
		return one(tokenStar)
	case ':':
		return one(tokenColon)
	case '=', '?', ';':
		return one(tokenOther)
	case '\'':
		end, ok := l.quoted(pos)
		if !ok {
			return token{}, refuse("There is an unterminated string literal at position %d in '%s'.", position(l.src, len(l.src)), l.src)
		}
		return token{kind: tokenString, typeName: "Edm.String", pos: pos, end: end}, nil
	case '-':
		if after, _ := l.rune(pos + 1); unicode.IsDigit(after) {
			return l.number(pos)
		}
		if rest := l.src[pos+1:]; strings.HasPrefix(rest, "INF") && l.identifierEnd(pos+1) == pos+4 {
			return token{kind: tokenNumber, typeName: "Edm.Double", pos: pos, end: pos + 4}, nil
		}
		return one(tokenMinus)
	case '{', '[':
		end, err := l.balanced(pos)
		return token{kind: tokenOther, pos: pos, end: end}, err
	case '@':
		return l.alias(pos)
	}
	switch {
	case r == '_' || r == '$' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r):
		return l.word(pos)
	case unicode.IsDigit(r):
		return l.number(pos)
	}
	return token{}, l.invalidCharacter(pos)
}

func (l *lexer) rune(pos int) (rune, int) {
	return utf8.DecodeRuneInString(l.src[min(pos, len(l.src)):])
}

func (l *lexer) invalidCharacter(pos int) error {
	r, _ := l.rune(pos)
	return refuse("Syntax error: character '%c' is not valid at position %d in '%s'.", r, position(l.src, pos), l.src)
}

// quoted returns the end of the string literal that begins at pos. A doubled quote is part of the literal.
func (l *lexer) quoted(pos int) (end int, ok bool) {
	for {
		i := strings.IndexByte(l.src[pos+1:], '\'')
		if i < 0 {
			return len(l.src), false
		}
		if pos += i + 2; pos == len(l.src) || l.src[pos] != '\'' {
			return pos, true
		}
	}
}

// balanced skips a JSON value, which the library reads as a literal.
func (l *lexer) balanced(pos int) (end int, err error) {
	open := l.src[pos]
	shut := open + 2 // ] after [, and } after {
	for depth, i := 0, pos; i < len(l.src); i++ {
		switch l.src[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
	}
	return 0, refuse("Found an unbalanced bracket expression.")
}

// alias reads @name, a parameter alias. Requests cannot define these.
func (l *lexer) alias(pos int) (token, error) {
	r, size := l.rune(pos + 1)
	switch {
	case size == 0:
		return token{}, l.syntaxErrorAt(len(l.src))
	case r != '_' && r != '$' && !unicode.IsLetter(r):
		return token{}, l.invalidCharacter(pos + 1)
	}
	return token{kind: tokenOther, pos: pos, end: l.identifierEnd(pos + 1)}, nil
}

func (l *lexer) identifierEnd(pos int) int {
	for {
		r, size := l.rune(pos)
		if size == 0 || r != '_' && r != '$' && !unicode.IsLetter(r) &&
			!unicode.In(r, unicode.Nd, unicode.Nl, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Cf) {
			return pos
		}
		pos += size
	}
}

// word reads an identifier, a keyword literal, or a literal with a type prefix.
func (l *lexer) word(pos int) (token, error) {
	end := l.identifierEnd(pos)
	t := token{kind: tokenIdentifier, pos: pos, end: end}
	if end < len(l.src) && l.src[end] == '-' {
		if whole := l.literalEnd(end); guid(l.src[pos:whole]) {
			return token{kind: tokenForeign, typeName: "Edm.Guid", pos: pos, end: whole}, nil
		}
	}
	name := l.src[pos:end]
	if end == len(l.src) || l.src[end] != '\'' {
		switch name {
		case "true", "false":
			t.kind, t.typeName = tokenBoolean, "Edm.Boolean"
		case "null":
			t.kind, t.typeName = tokenNull, "<null>"
		case "NaN", "INF":
			t.kind, t.typeName = tokenNumber, "Edm.Double"
		case "NaNf", "NaNF", "INFf", "INFF":
			t.kind, t.typeName = tokenNumber, "Edm.Single"
		}
		return t, nil
	}
	t.kind = tokenForeign
	switch strings.ToLower(name) {
	case "geography":
		t.kind, t.typeName = tokenGeography, "Edm.Geography"
	case "geometry":
		t.typeName = "Edm.Geometry"
	case "duration":
		t.typeName = "Edm.Duration"
	case "binary":
		t.typeName = "Edm.Binary"
	case "null":
		return token{}, l.syntaxErrorAt(end)
	default:
		t.kind = tokenOther
	}
	var ok bool
	if t.end, ok = l.quoted(end); !ok {
		return token{}, refuse("There is an unterminated literal at position %d in '%s'.", position(l.src, len(l.src)), l.src)
	}
	return t, nil
}

// literalEnd returns the end of the text that the library tries to read as a date or GUID.
func (l *lexer) literalEnd(pos int) int {
	if i := strings.IndexAny(l.src[pos:], ",) "); i >= 0 {
		return pos + i
	}
	return len(l.src)
}

// number reads a number, or another literal that begins with a digit.
func (l *lexer) number(pos int) (token, error) {
	digits := func(i int) int {
		for i < len(l.src) && '0' <= l.src[i] && l.src[i] <= '9' {
			i++
		}
		return i
	}
	at := func(i int) byte {
		if i < len(l.src) {
			return l.src[i] | 0x20 // lower case for alphabetic characters
		}
		return 0
	}
	end := digits(pos + 1)
	if end == pos+1 && l.src[pos] != '-' && (l.src[pos] < '0' || l.src[pos] > '9') {
		return token{}, l.invalidCharacter(pos) // a non-ASCII digit
	}
	if l.src[pos] == '0' && at(pos+1) == 'x' {
		for end = pos + 2; end < len(l.src) && strings.IndexByte("0123456789abcdef", at(end)) >= 0; end++ {
		}
		return token{kind: tokenForeign, typeName: "Edm.Binary", pos: pos, end: end}, nil
	}
	if c := at(end); c == '-' || c == ':' || 'a' <= c && c <= 'z' {
		whole := l.literalEnd(end)
		if t, ok := classify(l.src[pos:whole]); ok {
			t.pos, t.end = pos, whole
			return t, nil
		}
	}
	fraction := false
	if end < len(l.src) && l.src[end] == '.' {
		from := end + 1
		if end, fraction = digits(from), true; end == from {
			return token{}, refuse("A digit was expected at position %d in '%s'.", position(l.src, end), l.src)
		}
	}
	if at(end) == 'e' {
		from := end + 1
		if from < len(l.src) && (l.src[from] == '+' || l.src[from] == '-') {
			from++
		}
		if end, fraction = digits(from), true; end == from {
			return token{}, refuse("A digit was expected at position %d in '%s'.", position(l.src, min(end, len(l.src))), l.src)
		}
	}
	t := token{kind: tokenNumber, pos: pos, end: end + 1}
	switch at(end) {
	case 'm':
		t.typeName = "Edm.Decimal"
	case 'd':
		t.typeName = "Edm.Double"
	case 'l':
		t.typeName = "Edm.Int64"
	case 'f':
		t.typeName = "Edm.Single"
	default:
		t.end = end
		var ok bool
		if t.typeName, ok = numberType(l.src[pos:end], fraction); !ok {
			return token{}, refuse("Numeric string '%s' is not a valid Int32/Int64/Double/Decimal.", l.src[pos:end])
		}
	}
	return t, nil
}

// classify recognizes dates, times and GUIDs that begin with a digit.
func classify(text string) (token, bool) {
	if like(text, "0000-00-00") {
		return token{kind: tokenForeign, typeName: "Edm.Date"}, true
	}
	if _, ok := stored.ParseDateTime([]byte(text)); ok {
		return token{kind: tokenDateTime, typeName: "Edm.DateTimeOffset"}, true
	}
	if guid(text) {
		return token{kind: tokenForeign, typeName: "Edm.Guid"}, true
	}
	if like(text, "00:00") || like(text, "00:00:00") || len(text) > 9 && like(text[:9], "00:00:00.") && strings.Trim(text[9:], "0123456789") == "" {
		return token{kind: tokenForeign, typeName: "Edm.TimeOfDay"}, true
	}
	return token{}, false
}

// like matches text against a pattern: 0 stands for a digit, f for a hexadecimal digit.
func like(text, pattern string) bool {
	if len(text) != len(pattern) {
		return false
	}
	for i := range len(text) {
		c := text[i]
		digit := '0' <= c && c <= '9'
		switch pattern[i] {
		case '0':
			if !digit {
				return false
			}
		case 'f':
			if c |= 0x20; !digit && (c < 'a' || c > 'f') {
				return false
			}
		default:
			if c != pattern[i] {
				return false
			}
		}
	}
	return true
}

func guid(text string) bool { return like(text, "ffffffff-ffff-ffff-ffff-ffffffffffff") }
