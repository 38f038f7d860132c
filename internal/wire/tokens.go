package wire

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// StringEnd returns the index after a string whose first quote is before i. It tests eight bytes at a time:
// subtractions set the high bit of each byte that is too small. A borrow carries only to higher bytes, so the lowest
// match is correct. If ok is false, end is the index of the invalid byte.
func StringEnd(src []byte, i int) (end int, ok bool) {
	for {
		for i+8 <= len(src) {
			w := binary.LittleEndian.Uint64(src[i:])
			quote, slash := w^ones*'"', w^ones*'\\'
			found := ((w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
			if found != 0 {
				i += bits.TrailingZeros64(found) / 8
				break
			}
			i += 8
		}
		for i < len(src) && src[i] >= ' ' && src[i] != '"' && src[i] != '\\' {
			i++ // fewer than eight bytes are left
		}
		if i == len(src) {
			return i, false
		}
		switch src[i] {
		case '"':
			return i + 1, true
		case '\\':
			if i, ok = escapeEnd(src, i+1); !ok {
				return i, false
			}
		default:
			return i, false // a control character
		}
	}
}

// escapeEnd returns the index after an escape whose backslash is before i.
func escapeEnd(src []byte, i int) (end int, ok bool) {
	if i == len(src) {
		return i, false
	}
	switch src[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1, true
	case 'u':
		for range 4 {
			i++
			if i == len(src) {
				return i, false
			}
			if c := src[i]; (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return i, false
			}
		}
		return i + 1, true
	}
	return i, false
}

// NumberEnd returns the index after the number that begins at i, which must be a byte of src. If ok is false, end is
// the index of the invalid byte.
func NumberEnd(src []byte, i int) (end int, ok bool) {
	if src[i] == '-' {
		i++
	}
	if i < len(src) && src[i] == '0' {
		i++
	} else if i, ok = digitsEnd(src, i); !ok {
		return i, false
	}
	if i < len(src) && src[i] == '.' {
		if i, ok = digitsEnd(src, i+1); !ok {
			return i, false
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		return digitsEnd(src, i)
	}
	return i, true
}

// digitsEnd returns the index after the digits that begin at i. At least one is required.
func digitsEnd(src []byte, i int) (end int, ok bool) {
	start := i
	for i < len(src) && src[i]-'0' <= 9 {
		i++
	}
	return i, i > start
}

// WordEnd returns the index after word (true, false or null), whose first character is at i. If ok is false, end is
// the index of the invalid byte.
func WordEnd(src []byte, i int, word string) (end int, ok bool) {
	for n := range len(word) {
		if i+n == len(src) || src[i+n] != word[n] {
			return i + n, false
		}
	}
	return i + len(word), true
}
