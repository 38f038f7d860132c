package encode_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stringsOf holds a string in every position that a string can have.
type stringsOf struct {
	Plain  string
	Named  plainString
	Quoted string `json:",string"`
	Text   givenText
	Any    any
	Slice  []string
	Keys   map[string]string
	Texts  map[givenKey]plainString
	Bytes  []byte
}

// givenKey is a struct key with MarshalText.
type givenKey struct{ S string }

func (k givenKey) MarshalText() ([]byte, error) { return []byte(k.S), nil }

func newStringsOf(s string) *stringsOf {
	return &stringsOf{
		Plain: s, Named: plainString(s), Quoted: s, Text: givenText(s), Any: s, Slice: []string{s, s},
		Keys: map[string]string{s: s, "m": "", s + "a": ""}, Texts: map[givenKey]plainString{{s}: plainString(s)}, Bytes: []byte(s),
	}
}

func FuzzStrings(f *testing.F) {
	f.Add(plain)
	for _, s := range specials {
		f.Add(s)
		f.Add("1234567" + s + "1234567")
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkWritten(t, s)
		checkWritten(t, newStringsOf(s))
	})
}

// Each special byte or character is tried at each offset of strings with about the length of a word.
func TestASpecialCharacterIsSeenAtEveryOffset(t *testing.T) {
	all := append([]string(nil), specials...)
	for b := range 256 {
		all = append(all, string([]byte{byte(b)}))
	}
	for _, special := range all {
		for _, length := range []int{0, 1, 7, 8, 9, 15, 16, 17, 33} {
			for at := range length + 1 {
				checkWritten(t, plain[:at]+special+plain[at:length])
			}
		}
	}
}

// The word-wise scan subtracts and may borrow from a neighbouring byte, so special characters next to each other, or
// a word apart, must both be found.
func TestTwoSpecialCharactersDoNotHideEachOther(t *testing.T) {
	bytesOf := []byte{0, 1, 0x1f, 0x20, 0x21, '"', '"' + 1, '"' - 1, '\\', '\\' + 1, '\\' - 1, 0x7f, 0x80, 0x81, 0x9f, 0xa0, 0xa2, 0xdc, 0xe2, 0xff, 'a'}
	for _, a := range bytesOf {
		for _, b := range bytesOf {
			for at := range 8 {
				s := []byte("abcdefghijkl")
				s[at], s[at+1] = a, b
				checkWritten(t, string(s))
				s = []byte("abcdefghijklmnopqrst")
				s[at], s[at+8] = a, b
				checkWritten(t, string(s))
			}
		}
	}
}

// Up to four bytes decide whether text is valid UTF-8.
func TestEveryStartOfACharacterIsJudgedAlike(t *testing.T) {
	seconds := []byte{0x00, 'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xa8, 0xbf, 0xc0, 0xff}
	for first := 0x80; first < 0x100; first++ {
		for _, second := range seconds {
			for _, third := range []byte{'a', 0x80, 0xa7, 0xa8, 0xa9, 0xaa, 0xbf, 0xe2} {
				checkWritten(t, string([]byte{byte(first), second, third}))
				checkWritten(t, string([]byte{'x', byte(first), second, third, 0x80, 'y'}))
			}
		}
	}
}

func TestAStringIsWrittenAlikeEverywhere(t *testing.T) {
	for _, special := range specials {
		for _, length := range []int{0, 7, 8, 9, 17} {
			for _, at := range []int{0, length / 2, length} {
				s := plain[:at] + special + plain[at:length]
				checkWritten(t, newStringsOf(s))
				checkWritten(t, *newStringsOf(s))
			}
		}
	}
}

func TestLongStrings(t *testing.T) {
	for _, n := range []int{1 << 10, 1<<16 - 1, 1 << 20} {
		for _, s := range []string{"a", "é", "\"", "\x00", "\xff", "<世>\n"} {
			checkWritten(t, strings.Repeat(s, n/len(s)))
		}
	}
}

func TestByteSlicesOfEveryLength(t *testing.T) {
	for n := range 100 {
		b := bytes.Repeat([]byte{0xfb, 0xff, 0x00, '<'}, n)[:n]
		checkWritten(t, b)
		checkWritten(t, plainBytes(b))
		checkWritten(t, struct{ B []byte }{b})
	}
}

func TestRandomStrings(t *testing.T) {
	for seed := range uint64(5000) {
		s := randomChoices(seed).text()
		v, err := compare(s)
		require.NoError(t, err, fmt.Sprintf("seed %d", seed))
		require.Equal(t, same, v)
	}
}
