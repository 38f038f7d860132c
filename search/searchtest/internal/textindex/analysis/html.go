package analysis

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// htmlStrip removes tags and comments, and resolves character references. A block tag becomes a line end, so that
// the words before and after it stay separate. Scripts and styles are removed with their contents.
type htmlStrip struct{}

func (htmlStrip) charFilter() (charFilter, error) { return htmlStrip{}, nil }

// inlineTags are the tags that are removed without a line end.
var inlineTags = newWordSet(strings.Fields(`
a abbr acronym b basefont bdo big cite code dfn em font i img input kbd label q s samp select small span strike strong sub sup textarea
tt u var
`), false)

func (htmlStrip) apply(text string) (string, edits) {
	r := rewriter{in: text}
	for at := 0; at < len(text); {
		i := strings.IndexAny(text[at:], "<&")
		if i < 0 {
			break
		}
		at += i
		if text[at] == '&' {
			if out, size := entity(text[at:]); size > 0 {
				r.replace(at, at+size, out)
				at += size
				continue
			}
			at++
			continue
		}
		out, size := markup(text[at:])
		if size == 0 {
			at++
			continue
		}
		r.replace(at, at+size, out)
		at += size
	}
	return r.done()
}

// entity returns the replacement and the size of the character reference at the start of text; size 0 if there is
// none.
func entity(text string) (out string, size int) {
	end := 1
	if end < len(text) && text[end] == '#' {
		return numericEntity(text)
	}
	for end < len(text) && isAlnum(text[end]) && end < 32 {
		end++
	}
	if end == 1 {
		return "", 0
	}
	name := text[:end] + ";"
	out = html.UnescapeString(name)
	if out == name || strings.HasSuffix(out, ";") && len(out) > 1 {
		return "", 0
	}
	if end < len(text) && text[end] == ';' {
		end++
	}
	return out, end
}

func numericEntity(text string) (out string, size int) {
	base, start := 10, 2
	if start < len(text) && (text[start] == 'x' || text[start] == 'X') {
		base, start = 16, 3
	}
	end := start
	for end < len(text) && end-start < 8 && isAlnum(text[end]) {
		if _, err := strconv.ParseUint(text[end:end+1], base, 8); err != nil {
			break
		}
		end++
	}
	n, err := strconv.ParseUint(text[start:end], base, 32)
	if err != nil || !utf8.ValidRune(rune(n)) || n > utf8.MaxRune {
		return "", 0
	}
	if end < len(text) && text[end] == ';' {
		end++
	}
	return string(rune(n)), end
}

// markup returns the replacement and the size of the tag, comment or declaration at the start of text; size 0 if
// there is none.
func markup(text string) (out string, size int) {
	switch {
	case strings.HasPrefix(text, "<!--"):
		return "", upTo(text, "-->")
	case strings.HasPrefix(text, "<![CDATA["):
		return cdata(text)
	case strings.HasPrefix(text, "<!"):
		return "", upTo(text, ">")
	case strings.HasPrefix(text, "<?"):
		return "", upTo(text, ">")
	}
	at := 1
	closing := at < len(text) && text[at] == '/'
	if closing {
		at++
	}
	start := at
	for at < len(text) && (isAlnum(text[at]) || at > start && strings.IndexByte(":_-.", text[at]) >= 0) {
		at++
	}
	if at == start || text[start] >= '0' && text[start] <= '9' {
		return "", 0
	}
	name := strings.ToLower(text[start:at])
	for at < len(text) && text[at] != '>' {
		switch c := text[at]; c {
		case '"', '\'':
			end := strings.IndexByte(text[at+1:], c)
			if end < 0 {
				return "", 0
			}
			at += end + 2
		case '<':
			return "", 0
		default:
			at++
		}
	}
	if at >= len(text) {
		return "", 0
	}
	selfClosing := text[at-1] == '/'
	at++
	if !closing && !selfClosing && (name == "script" || name == "style") {
		if end := indexFold(text[at:], "</"+name); end >= 0 {
			if size := upTo(text[at+end:], ">"); size > 0 {
				at += end + size
			}
		}
	}
	if inlineTags.has(name) {
		return "", at
	}
	return "\n", at
}

func cdata(text string) (out string, size int) {
	if size = upTo(text, "]]>"); size == 0 {
		return "", 0
	}
	return text[len("<![CDATA[") : size-len("]]>")], size
}

// upTo returns the offset of the end of mark in text, or 0.
func upTo(text, mark string) int {
	if i := strings.Index(text, mark); i >= 0 {
		return i + len(mark)
	}
	return 0
}

// indexFold is strings.Index without regard to the case of ASCII characters.
func indexFold(text, lowerMark string) int {
	for i := 0; i+len(lowerMark) <= len(text); i++ {
		if strings.EqualFold(text[i:i+len(lowerMark)], lowerMark) {
			return i
		}
	}
	return -1
}

func isAlnum(b byte) bool {
	return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// hexRune parses four hexadecimal digits.
func hexRune(text string) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:4], 16, 16)
	return rune(n), err == nil && utf8.ValidRune(rune(n))
}
