package lucene

import (
	"strconv"
	"strings"
)

// Format returns n in full syntax. Parsing the result with operator Or returns n, for every n that ParseFull
// returned for that operator.
func Format(n Node) string {
	var b strings.Builder
	if boolean, ok := n.(Boolean); ok {
		writeClauses(&b, boolean)
	} else {
		write(&b, n)
	}
	return b.String()
}

func writeClauses(b *strings.Builder, n Boolean) {
	for i, c := range n.Clauses {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch c.Occur {
		case Must:
			b.WriteByte('+')
		case MustNot:
			b.WriteByte('-')
		}
		write(b, c.Node)
	}
}

func write(b *strings.Builder, n Node) {
	switch n := n.(type) {
	case MatchAll:
		b.WriteString("*")
	case Term:
		writeField(b, n.Field)
		writeEscaped(b, n.Text)
	case Phrase:
		writeField(b, n.Field)
		b.WriteString(`"`)
		b.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(n.Text))
		b.WriteString(`"`)
		if n.Slop > 0 {
			b.WriteString("~" + strconv.Itoa(n.Slop))
		}
	case Prefix:
		writeField(b, n.Field)
		writeEscaped(b, n.Text)
		b.WriteByte('*')
	case Wildcard:
		writeField(b, n.Field)
		b.WriteString(n.Pattern)
	case Regexp:
		writeField(b, n.Field)
		b.WriteString("/" + n.Pattern + "/")
	case Fuzzy:
		writeField(b, n.Field)
		writeEscaped(b, n.Text)
		b.WriteString("~" + strconv.Itoa(n.Edits))
	case Boolean:
		b.WriteByte('(')
		writeClauses(b, n)
		b.WriteByte(')')
	case Boost:
		write(b, n.Node)
		b.WriteString("^" + strconv.FormatFloat(n.Factor, 'f', -1, 64))
	}
}

func writeField(b *strings.Builder, field string) {
	switch {
	case field == "":
	case isPath(field):
		b.WriteString(field + ":")
	default:
		writeEscaped(b, field)
		b.WriteByte(':')
	}
}

func isPath(field string) bool {
	l := lexer{text: field + ":"}
	return l.path(0) == len(field)
}

// writeEscaped escapes every character that could be an operator, and words that would be read as one.
func writeEscaped(b *strings.Builder, text string) {
	if text == "AND" || text == "OR" || text == "NOT" {
		b.WriteByte('\\')
	}
	for _, r := range text {
		if !isTermStart(r) || r == '&' || r == '|' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
}
