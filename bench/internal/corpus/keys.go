package corpus

import "strings"

// Keys are the keys of consecutive documents, one after the other in one string:
// a single allocation, and nothing for the collector to look through.
type Keys string

// A key is KeyPrefix and the number of the document with KeyDigits digits.
const (
	KeyPrefix = "doc-"
	KeyDigits = 8
	keyBytes  = len(KeyPrefix) + KeyDigits
	// MaxDocuments is how many such keys there are.
	MaxDocuments = 100_000_000
)

// KeysOf returns the keys of the documents with the numbers from (included) to
// (not included).
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

// Len returns how many keys there are.
func (k Keys) Len() int { return len(k) / keyBytes }

// At returns the key of the document that is i after the first.
func (k Keys) At(i int) string { return string(k[i*keyBytes : (i+1)*keyBytes]) }
