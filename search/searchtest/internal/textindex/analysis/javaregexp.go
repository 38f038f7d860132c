package analysis

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// javaRegexp compiles a regular expression in Java's syntax for Go's engine. If Go's engine cannot run it, the error
// is an unsupportedPart; if Java could not compile it either, another error.
//
// Three differences remain. CASE_INSENSITIVE ignores the case of non-ASCII characters, too, as Java does with
// UNICODE_CASE. \b uses ASCII words only. And $ does not match before a line end at the end of the text.
func javaRegexp(pattern, flags string) (*regexp.Regexp, error) {
	t := translator{in: pattern}
	prefix := ""
	for flag := range strings.SplitSeq(flags, "|") {
		switch strings.TrimSpace(flag) {
		case "":
		case "CASE_INSENSITIVE":
			prefix += "i"
		case "UNICODE_CASE": // Go's engine always does this
		case "MULTILINE":
			prefix += "m"
		case "DOTALL":
			prefix += "s"
			t.dotAll = true
		case "UNIX_LINES":
			t.unixLines = true
		case "COMMENTS":
			t.comments = true
		case "LITERAL":
			t.literal = true
		case "CANON_EQ":
			return nil, unsupportedPart("the flag CANON_EQ of its pattern")
		default:
			return nil, fmt.Errorf("there is no flag '%s' of regular expressions", strings.TrimSpace(flag))
		}
	}
	out := regexp.QuoteMeta(pattern)
	if !t.literal {
		if err := t.translate(); err != nil {
			return nil, err
		}
		out = t.out.String()
	}
	if prefix != "" {
		out = "(?" + prefix + ")" + out
	}
	re, err := regexp.Compile(out)
	if err != nil {
		return nil, fmt.Errorf("the pattern '%s' is not a regular expression: %w", pattern, err)
	}
	return re, nil
}

// translator translates Java's syntax to Go's.
type translator struct {
	in                                   string
	at                                   int
	out                                  strings.Builder
	dotAll, unixLines, comments, literal bool
}

func (t *translator) unsupported(what string) error {
	return unsupportedPart(fmt.Sprintf("its pattern '%s' has %s, which Go's regular expressions do not support", t.in, what))
}

func (t *translator) translate() error {
	for t.at < len(t.in) {
		c := t.in[t.at]
		switch {
		case c == '\\':
			if err := t.escape(false); err != nil {
				return err
			}
			continue
		case c == '[':
			if err := t.class(); err != nil {
				return err
			}
			continue
		case c == '(':
			if err := t.group(); err != nil {
				return err
			}
			continue
		case c == '.' && !t.dotAll:
			if t.unixLines {
				t.out.WriteString(`[^\n]`)
			} else {
				t.out.WriteString(`[^\n\r\x{85}\x{2028}\x{2029}]`)
			}
		case c == '*' || c == '+' || c == '?' || c == '}':
			t.out.WriteByte(c)
			if t.at+1 < len(t.in) && t.in[t.at+1] == '+' {
				return t.unsupported("a possessive quantifier")
			}
		case t.comments && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
		case t.comments && c == '#':
			for t.at < len(t.in) && t.in[t.at] != '\n' {
				t.at++
			}
		default:
			t.out.WriteByte(c)
		}
		t.at++
	}
	return nil
}

// group copies the start of a group.
func (t *translator) group() error {
	rest := t.in[t.at:]
	switch {
	case !strings.HasPrefix(rest, "(?"):
		t.out.WriteByte('(')
		t.at++
		return nil
	case strings.HasPrefix(rest, "(?:"):
		t.out.WriteString("(?:")
		t.at += 3
		return nil
	case strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!") || strings.HasPrefix(rest, "(?<=") || strings.HasPrefix(rest, "(?<!"):
		return t.unsupported("look-around")
	case strings.HasPrefix(rest, "(?>"):
		return t.unsupported("an atomic group")
	case strings.HasPrefix(rest, "(?<"):
		end := strings.IndexByte(rest, '>')
		if end < 0 {
			return fmt.Errorf("the pattern '%s' has a group without a name", t.in)
		}
		t.out.WriteString("(?P<" + rest[3:end+1])
		t.at += end + 1
		return nil
	}
	end := strings.IndexAny(rest, ":)")
	if end < 0 {
		return fmt.Errorf("the pattern '%s' has an open group", t.in)
	}
	flags := rest[2:end]
	if strings.Trim(flags, "imsu-") != "" {
		return t.unsupported("the flags '" + flags + "' inside")
	}
	if strings.Contains(flags, "s") {
		t.dotAll = true // from here on Go's flag decides about .
	}
	flags = strings.TrimSuffix(strings.ReplaceAll(flags, "u", ""), "-")
	if flags == "" && rest[end] == ')' {
		t.at += end + 1
		return nil
	}
	t.out.WriteString("(?" + flags + rest[end:end+1])
	t.at += end + 1
	return nil
}

// javaClasses are the escapes with another meaning in Go, as members of a class.
var javaClasses = map[byte]string{
	's': `\t\n\v\f\r `,
	'h': `\t \x{A0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}`,
	'v': `\n\v\f\r\x{85}\x{2028}\x{2029}`,
}

// javaProperties are the property names that Go does not have, as members of a class.
var javaProperties = map[string]string{
	"Lower": "a-z", "Upper": "A-Z", "ASCII": `\x00-\x7F`, "Alpha": "A-Za-z", "Digit": "0-9", "Alnum": "0-9A-Za-z",
	"Punct": `!-/:-@\[-` + "`" + `{-~`, "Graph": "!-~", "Print": " -~", "Blank": ` \t`, "Cntrl": `\x00-\x1F\x7F`,
	"XDigit": "0-9A-Fa-f", "Space": `\t\n\v\f\r `,
	"IsAlphabetic": `\p{L}\p{Nl}\p{Mn}\p{Mc}`, "javaLowerCase": `\p{Ll}`, "javaUpperCase": `\p{Lu}`, "IsLowercase": `\p{Ll}`,
	"IsUppercase": `\p{Lu}`, "IsLetter": `\p{L}`, "IsDigit": `\p{Nd}`, "IsPunctuation": `\p{P}`, "IsWhite_Space": `\t-\r \x{85}\p{Z}`,
}

// escape copies an escape sequence, inside or outside a class.
func (t *translator) escape(inClass bool) error {
	if t.at+1 >= len(t.in) {
		return fmt.Errorf("the pattern '%s' ends in a backslash", t.in)
	}
	c := t.in[t.at+1]
	write := func(members string, negate bool) {
		switch {
		case !negate && inClass:
			t.out.WriteString(members)
		case negate:
			t.out.WriteString("[^" + members + "]")
		default:
			t.out.WriteString("[" + members + "]")
		}
	}
	switch {
	case c == 'Q':
		quoted, _, _ := strings.Cut(t.in[t.at+2:], `\E`)
		t.out.WriteString(regexp.QuoteMeta(quoted))
		t.at = min(t.at+2+len(quoted)+2, len(t.in))
		return nil
	case c >= '1' && c <= '9' || c == 'k':
		return t.unsupported("a back reference")
	case strings.IndexByte("GXRNcC", c) >= 0:
		return t.unsupported(`\` + string(c))
	case strings.IndexByte("SHV", c) >= 0:
		if inClass {
			return t.unsupported(`\` + string(c) + " in a class")
		}
		write(javaClasses[c|0x20], true)
	case javaClasses[c] != "":
		write(javaClasses[c], false)
	case c == 'Z' && !inClass:
		t.out.WriteString(`\z`)
	case c == 'e':
		t.out.WriteString(`\x1B`)
	case c == '0':
		end := t.at + 2
		for end < len(t.in) && end < t.at+5 && t.in[end] >= '0' && t.in[end] <= '7' {
			end++
		}
		n, err := strconv.ParseUint(t.in[t.at+2:end], 8, 8)
		if err != nil {
			return fmt.Errorf(`the pattern '%s' has a wrong \0`, t.in)
		}
		fmt.Fprintf(&t.out, `\x{%x}`, n)
		t.at = end
		return nil
	case c == 'u':
		if t.at+6 > len(t.in) {
			return fmt.Errorf(`the pattern '%s' has a wrong \u`, t.in)
		}
		n, err := strconv.ParseUint(t.in[t.at+2:t.at+6], 16, 16)
		if err != nil || !utf8.ValidRune(rune(n)) {
			return fmt.Errorf(`the pattern '%s' has a wrong \u`, t.in)
		}
		fmt.Fprintf(&t.out, `\x{%x}`, n)
		t.at += 6
		return nil
	case c == 'p' || c == 'P':
		return t.property(c == 'P', inClass, write)
	case c == 'b' && inClass:
		return fmt.Errorf(`the pattern '%s' has \b in a class`, t.in)
	case c >= utf8.RuneSelf || c == '<' || c == '>' || c == '"' || c == '\'' || c == ' ' || c == '_' || c < ' ':
		_, size := utf8.DecodeRuneInString(t.in[t.at+1:])
		t.out.WriteString(regexp.QuoteMeta(t.in[t.at+1 : t.at+1+size]))
		t.at += 1 + size
		return nil
	default: // \d, \w, \b, \t, \x41, \. and others have the same meaning
		t.out.WriteString(t.in[t.at : t.at+2])
	}
	t.at += 2
	return nil
}

// property copies \p{Name}.
func (t *translator) property(negate, inClass bool, write func(string, bool)) error {
	rest := t.in[t.at+2:]
	name, size := "", 0
	if strings.HasPrefix(rest, "{") {
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return fmt.Errorf("the pattern '%s' has an open property", t.in)
		}
		name, size = rest[1:end], end+1
	} else if rest != "" {
		name, size = rest[:1], 1
	}
	t.at += 2 + size
	if members, ok := javaProperties[name]; ok {
		if negate && inClass {
			return t.unsupported(`\P{` + name + "} in a class")
		}
		write(members, negate)
		return nil
	}
	for _, prefix := range []string{"script=", "sc=", "general_category=", "gc=", "Is"} {
		if after, ok := strings.CutPrefix(name, prefix); ok {
			name = after
			break
		}
	}
	p := `\p{`
	if negate {
		p = `\P{`
	}
	if _, err := regexp.Compile(p + name + "}"); err != nil {
		return t.unsupported("the property '" + name + "'")
	}
	t.out.WriteString(p + name + "}")
	return nil
}

// class copies a class in brackets.
func (t *translator) class() error {
	t.out.WriteByte('[')
	t.at++
	first := true
	if t.at < len(t.in) && t.in[t.at] == '^' {
		t.out.WriteByte('^')
		t.at++
	}
	for t.at < len(t.in) {
		c := t.in[t.at]
		switch {
		case c == ']' && !first:
			t.out.WriteByte(']')
			t.at++
			return nil
		case c == ']':
			return fmt.Errorf("the pattern '%s' has an empty class", t.in)
		case c == '[':
			return t.unsupported("a class in a class")
		case strings.HasPrefix(t.in[t.at:], "&&"):
			return t.unsupported("an intersection of classes")
		case c == '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case t.comments && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			t.at++
			continue
		default:
			t.out.WriteByte(c)
			t.at++
		}
		first = false
	}
	return fmt.Errorf("the pattern '%s' has an open class", t.in)
}

// replacement is a replacement in Java's syntax: $1 and ${name} are groups, and a backslash makes the next character
// literal.
type replacement []replacementPart

type replacementPart struct {
	text  string
	group int // -1 for text
}

func javaReplacement(text string, re *regexp.Regexp) (replacement, error) {
	var out replacement
	var plain []byte
	flush := func() {
		if len(plain) > 0 {
			out = append(out, replacementPart{string(plain), -1})
			plain = nil
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			plain = append(plain, text[i])
		case c == '\\':
			return nil, fmt.Errorf("the replacement '%s' ends in a backslash", text)
		case c != '$':
			plain = append(plain, c)
		case strings.HasPrefix(text[i:], "${"):
			end := strings.IndexByte(text[i:], '}')
			group := -1
			if end > 0 {
				group = re.SubexpIndex(text[i+2 : i+end])
			}
			if group < 0 {
				return nil, fmt.Errorf("the replacement '%s' names a group that is not there", text)
			}
			flush()
			out = append(out, replacementPart{group: group})
			i += end
		default:
			digits := 0 // as many as form the number of an existing group
			for i+1+digits < len(text) && text[i+1+digits] >= '0' && text[i+1+digits] <= '9' {
				n, err := strconv.Atoi(text[i+1 : i+2+digits])
				if err != nil || n > re.NumSubexp() {
					break
				}
				digits++
			}
			if digits == 0 {
				return nil, fmt.Errorf("the replacement '%s' names a group that is not there", text)
			}
			group, _ := strconv.Atoi(text[i+1 : i+1+digits])
			flush()
			out = append(out, replacementPart{group: group})
			i += digits
		}
	}
	flush()
	return out, nil
}

// expand returns the replacement for the match m of text.
func (r replacement) expand(text string, m []int) string {
	if len(r) == 1 && r[0].group < 0 {
		return r[0].text
	}
	var b strings.Builder
	for _, p := range r {
		switch {
		case p.group < 0:
			b.WriteString(p.text)
		case m[2*p.group] >= 0:
			b.WriteString(text[m[2*p.group]:m[2*p.group+1]])
		}
	}
	return b.String()
}
