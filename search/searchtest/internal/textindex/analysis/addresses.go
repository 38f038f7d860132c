package analysis

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// addressTokenizer is the standard tokenizer, except that it keeps mail addresses and URLs whole.
type addressTokenizer struct {
	words standardTokenizer
}

type uaxURLEmailTokenizerSpec struct {
	MaxTokenLength int `json:"maxTokenLength"`
}

func (p *uaxURLEmailTokenizerSpec) tokenizer() (tokenizer, error) {
	if err := within("maxTokenLength", p.MaxTokenLength, 1, maxTokenLength); err != nil {
		return nil, err
	}
	return addressTokenizer{standardTokenizer{p.MaxTokenLength}}, nil
}

// addressRE matches a URL with a scheme, a mail address, or a host name with an optional port, path, query and
// fragment. Lucene lists all top-level domains; this expression accepts two ASCII characters and the common generic
// ones.
var addressRE = sync.OnceValue(func() *regexp.Regexp {
	const (
		label = `[\p{L}\p{Nd}](?:[-\p{L}\p{Nd}]*[\p{L}\p{Nd}])?`
		top   = `(?i:[a-z]{2}|com|net|org|edu|gov|mil|int|info|biz|name|pro|aero|coop|museum|mobi|asia|tel|travel|jobs|cat|post|xxx|arpa|app|dev|cloud|online|shop|site|xyz|tech|store|blog|page|wiki|news|live|world|systems|network|agency|email|digital|solutions|services|support|company|software|design|media|works|zone|team|group|space|website|test|example|invalid|localhost)`
		host  = `(?:` + label + `\.)+` + top
		ip    = `(?:\d{1,3}\.){3}\d{1,3}|\[[0-9A-Fa-f:.]+\]`
		rest  = `(?::\d+)?(?:/(?:[-\w.~!$&'()*+,;=:@%/\p{L}\p{Nd}]*))?(?:\?[-\w.~!$&'()*+,;=:@%/?]*)?(?:#[-\w.~!$&'()*+,;=:@%/?]*)?`
		mail  = "(?:[\\w!#$%&'*+/=?^`{|}~-]+(?:\\.[\\w!#$%&'*+/=?^`{|}~-]+)*)@(?:" + host + `|` + label + `(?:\.` + label + `)*\.` + top + `|\[(?:` + ip + `)\])`
	)
	return longest(`(?i:https?|ftp|file)://(?:[\w.~!$&'()*+,;=:%-]+@)?(?:` + ip + `|` + label + `(?:\.` + label + `)*)?` + rest +
		`|(?i:mailto:)?` + mail + `|(?:` + host + `|(?:\d{1,3}\.){3}\d{1,3})` + rest)
})

func (t addressTokenizer) tokenize(dst []token, text string) []token {
	re, first, at := addressRE(), len(dst), 0
	words := func(end int) {
		from := len(dst)
		dst = t.words.tokenize(dst, text[at:end])
		for i := from; i < len(dst); i++ {
			dst[i].start += at
			dst[i].end += at
		}
	}
	for from := 0; from < len(text); {
		m := re.FindStringIndex(text[from:])
		if m == nil {
			break
		}
		start, end := from+m[0], from+m[1]
		end = start + len(strings.TrimRight(text[start:end], ".,;:!?'"))
		if !t.stands(text, start, end) {
			_, size := utf8.DecodeRuneInString(text[start:])
			from = start + size
			for from < len(text) { // the rest of the word cannot be an address either
				c, size := classAt(text, from)
				if c != letter && c != digit && c != extend {
					break
				}
				from += size
			}
			continue
		}
		words(start)
		if length16(text[start:end]) <= t.words.max {
			dst = append(dst, token{text: text[start:end], start: start, end: end})
		} else {
			at = start
			words(end)
		}
		at, from = end, end
	}
	words(len(text))
	for i := first; i < len(dst); i++ {
		dst[i].pos = i - first
	}
	return dst
}

// stands reports whether text[start:end] is not a part of a longer word.
func (t addressTokenizer) stands(text string, start, end int) bool {
	if start > 0 {
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		if c := classOf(before); c == letter || c == digit || c == joiner {
			return false
		}
	}
	if end < len(text) {
		if c, _ := classAt(text, end); c == letter || c == digit || c == joiner {
			return false
		}
	}
	return true
}
