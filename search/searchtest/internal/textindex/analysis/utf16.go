package analysis

import "unicode/utf8"

// UTF16 converts byte offsets in a text to UTF-16 code units, the unit of the service's offsets. Use NewUTF16; the
// zero value is not usable. It is not safe for concurrent use.
type UTF16 struct {
	text        string
	ascii       bool
	bytes, unit int // the last converted offset
}

// NewUTF16 returns a converter for text.
func NewUTF16(text string) *UTF16 {
	ascii := true
	for i := 0; i < len(text) && ascii; i++ {
		ascii = text[i] < utf8.RuneSelf
	}
	return &UTF16{text: text, ascii: ascii}
}

// Offset returns the number of UTF-16 code units before byte offset. Calls with ascending offsets take one pass over
// the text in total.
func (u *UTF16) Offset(offset int) int {
	offset = min(offset, len(u.text))
	if u.ascii {
		return offset
	}
	if offset < u.bytes {
		u.bytes, u.unit = 0, 0
	}
	for u.bytes < offset {
		_, size := utf8.DecodeRuneInString(u.text[u.bytes:])
		u.bytes += size
		u.unit += units(size)
	}
	return u.unit
}
