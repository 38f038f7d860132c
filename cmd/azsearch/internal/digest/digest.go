// Package digest is for commands that compare documents in bulk: a digest of any number of documents that is the same
// whatever their order and that of their fields.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"

	"github.com/go-azsearch/azsearch/models"
)

// Sum is the digest of documents: the sum of the digests of each, by models.DigestOf, and how many there are. A
// document
// that is there twice counts twice. It is for differences that happen, not for those that somebody makes on purpose.
type Sum struct {
	Documents int64
	high, low uint64
}

// Of returns the digest of one document in JSON.
func Of(document []byte) (Sum, error) {
	text, err := models.DigestOf(document)
	if err != nil {
		return Sum{}, err
	}
	// Once more, so that a sum of digests says nothing about that of another document.
	h := sha256.Sum256([]byte(text))
	return Sum{1, binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])}, nil
}

// Add adds documents.
func (s *Sum) Add(more Sum) {
	var carry uint64
	s.Documents += more.Documents
	s.low, carry = bits.Add64(s.low, more.low, 0)
	s.high, _ = bits.Add64(s.high, more.high, carry)
}

// String is the digest in 32 hexadecimal digits, without the number of documents.
func (s Sum) String() string { return fmt.Sprintf("%016x%016x", s.high, s.low) }

// Parse reads what String and Documents have.
func Parse(documents int64, text string) (Sum, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 16 {
		return Sum{}, fmt.Errorf("%q is no digest", text)
	}
	return Sum{documents, binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, nil
}
