package wire

import "unicode/utf8"

// FirstInvalid returns where text stops to be UTF-8, its length if it does not.
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
