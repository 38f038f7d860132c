package corpus

import "strings"

// Keys are the keys of consecutive documents in one string: a single allocation without pointers for the garbage
// collector.
type Keys string

// A key is KeyPrefix and the document's number in KeyDigits digits.
const (
	KeyPrefix = "doc-"
	KeyDigits = 8
	keyBytes  = len(KeyPrefix) + KeyDigits
	// MaxDocuments is the number of possible keys.
	MaxDocuments = 100_000_000
)

// KeysOf returns the keys of the documents with numbers from from to to-1.
func KeysOf(from, to int) Keys {
	var all strings.Builder
	all.Grow((to - from) * keyBytes)
	for i := from; i < to; i++ {
		all.WriteString(KeyPrefix)
		for unit := MaxDocuments / 10; unit > 0; unit /= 10 {
			all.WriteByte(byte('0' + i/unit%10))
		}
	}
	return Keys(all.String())
}

// Len returns the number of keys.
func (k Keys) Len() int { return len(k) / keyBytes }

// At returns the key at index i, counted from the first.
func (k Keys) At(i int) string { return string(k[i*keyBytes : (i+1)*keyBytes]) }
