package jsontext

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Lossless returns an error if decoding a JSON text changes what it says, as decoders do without an error: they
// replace what is not UTF-8 and half of a character by U+FFFD, and keep only the last value of a member. It does not
// check the syntax.
func Lossless(text []byte) error {
	if !utf8.Valid(text) {
		return fmt.Errorf("the text is not UTF-8, from byte %d of the record", wire.FirstInvalid(text)+1)
	}
	if i := HalfCharacter(text); i >= 0 {
		return fmt.Errorf("half of a character: %s without its other half", text[i:i+6])
	}
	if name, twice := repeated(text); twice {
		return fmt.Errorf("the record has two values of %q", name)
	}
	return nil
}

// repeated returns the first name that an object of the text has twice.
func repeated(text []byte) (name string, twice bool) {
	var names []map[string]bool // of the objects and arrays that are open
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			names = append(names, nil)
		case '}', ']':
			names = names[:max(len(names)-1, 0)]
		case '"':
			end, ok := wire.StringEnd(text, i+1)
			if !ok {
				return "", false
			}
			quoted := text[i:end]
			i = end - 1
			if next := wire.Space(text, end); next == len(text) || text[next] != ':' || len(names) == 0 {
				continue
			}
			name, _ := wire.Unquote(quoted)
			top := &names[len(names)-1]
			if (*top)[name] {
				return name, true
			}
			if *top == nil {
				*top = map[string]bool{}
			}
			(*top)[name] = true
		}
	}
	return "", false
}

// HalfCharacter returns the position of an escaped surrogate without its other half in JSON, negative if there is
// none. Such a string is valid JSON but not valid text; a service replaces it, or refuses the whole request.
func HalfCharacter(text []byte) int {
	for i := 0; ; i += 2 {
		n := bytes.IndexByte(text[min(i, len(text)):], '\\')
		if n < 0 {
			return n
		}
		i += n
		switch high, low := surrogate(text[i:]), surrogate(text[min(i+6, len(text)):]); {
		case high == 0:
		case utf16.DecodeRune(high, low) == unicode.ReplacementChar:
			return i
		default:
			i += 10
		}
	}
}

// surrogate returns the escaped surrogate at the beginning of s, or 0.
func surrogate(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if r := rune(n); err == nil && utf16.IsSurrogate(r) {
		return r
	}
	return 0
}
