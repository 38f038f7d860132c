// Package digest computes digests of any number of documents, independent of the order of documents and fields.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"

	"github.com/go-azsearch/azsearch/models"
)

// Sum is the number of documents and a sum of hashes, 128 bits of the SHA-256 of each digest by models.DigestOf. A
// duplicate document counts twice. It detects accidental differences, not deliberate forgery.
type Sum struct {
	Documents int64
	high, low uint64
}

// Of returns the Sum of one JSON document.
func Of(document []byte) (Sum, error) {
	text, err := models.DigestOf(document)
	if err != nil {
		return Sum{}, err
	}
	// Hashed again, so that a sum reveals nothing about the digests of other documents.
	h := sha256.Sum256([]byte(text))
	return Sum{1, binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])}, nil
}

// Add adds the documents of more.
func (s *Sum) Add(more Sum) {
	var carry uint64
	s.Documents += more.Documents
	s.low, carry = bits.Add64(s.low, more.low, 0)
	s.high, _ = bits.Add64(s.high, more.high, carry)
}

// String returns the digest as 32 hexadecimal digits, without the number of documents.
func (s Sum) String() string { return fmt.Sprintf("%016x%016x", s.high, s.low) }

// Parse returns the Sum with the given Documents and String.
func Parse(documents int64, text string) (Sum, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 16 {
		return Sum{}, fmt.Errorf("%q is not a digest", text)
	}
	return Sum{documents, binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, nil
}
