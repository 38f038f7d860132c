package wire

import "unicode/utf8"

// FirstInvalid returns the index of the first byte that is not valid UTF-8, or the length of text.
func FirstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}
