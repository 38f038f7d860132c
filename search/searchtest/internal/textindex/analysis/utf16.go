package analysis

import "unicode/utf8"

// UTF16 counts the UTF-16 code units of a text, in which the service tells
// offsets. The zero value is not useful: see NewUTF16.
type UTF16 struct {
	text        string
	ascii       bool
	bytes, unit int // the last offset that was asked for
}

// NewUTF16 returns a counter for text.
func NewUTF16(text string) *UTF16 {
	ascii := true
	for i := 0; i < len(text) && ascii; i++ {
		ascii = text[i] < utf8.RuneSelf
	}
	return &UTF16{text: text, ascii: ascii}
}

// Offset is the number of UTF-16 code units before the byte at offset. Asking in
// ascending order costs one walk over the text in all. It is not safe for
// concurrent use.
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
