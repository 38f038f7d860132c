// Package keys is for everyone whose identifiers are not legal document keys:
// it makes legal keys out of any string, and says what is wrong with a key.
// The package is stable.
//
// Azure AI Search allows 1 to 1024 letters, digits, underscores, dashes and
// equal signs (ASCII), the first not being an underscore. Keys are case-sensitive.
// Paths, URLs, e-mail addresses and the names of blobs break these rules. Encode
// makes a key that Decode turns back; Hash makes a short one for strings that
// are too long for that.
package keys

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// maxLength is the length of the longest legal key, in bytes.
const maxLength = 1024

// MaxEncodable is the number of bytes up to which Encode makes a legal key of
// any string. Longer strings may need Hash.
const MaxEncodable = (maxLength - len(encodedPrefix)) * 3 / 4

// The rules a key can break, as InvalidKeyError.Rule holds them.
const (
	ruleNotEmpty          = "a key must not be empty"
	ruleLength            = "a key must not be longer than 1024 bytes"
	ruleCharacters        = "a key can only contain letters, digits, underscore (_), dash (-) and equal sign (=)"
	ruleLeadingUnderscore = "a key must not start with an underscore"
)

// InvalidKeyError says that a key is not legal.
type InvalidKeyError struct {
	// Key is the key as it was given.
	Key string
	// Rule is the broken rule, as a sentence.
	Rule string
}

func (e *InvalidKeyError) Error() string {
	const shown = 60
	if len(e.Key) > shown {
		return fmt.Sprintf("invalid document key %q… (%d bytes): %s", e.Key[:shown], len(e.Key), e.Rule)
	}
	return fmt.Sprintf("invalid document key %q: %s", e.Key, e.Rule)
}

// ErrHashed is in the chain of Decode's error about a key made by Hash, which
// cannot be turned back.
var ErrHashed = errors.New("the key is a hash")

// ErrNotEncoded is in the chain of Decode's error about a key that starts like
// the keys that Encode makes but is not one of them.
var ErrNotEncoded = errors.New("the key was not made by Encode")

// Neither prefix can be mistaken for a plain key, because Encode encodes the
// strings that start with one of them.
const (
	encodedPrefix = "b64-"
	hashedPrefix  = "sha256-"
)

var encoding = base64.RawURLEncoding.Strict()

// Validate returns nil if key is legal and an *InvalidKeyError otherwise. It
// does not allocate for a legal key.
func Validate(key string) error {
	rule := broken(key)
	if rule == "" {
		return nil
	}
	return &InvalidKeyError{Key: key, Rule: rule}
}

// Encode returns a key that stands for s and for no other string, and that
// Decode turns back into s. A string that is a legal key stays as it is, unless
// it starts with "b64-" or "sha256-"; any other becomes "b64-" and its URL-safe
// base64. s need not be UTF-8 and may be empty.
//
// The result is a legal key if s has at most MaxEncodable bytes. Check longer
// ones with Validate, and consider Hash for them.
//
// Encode what it returned a second time only if you also decode twice.
func Encode(s string) string {
	if plain(s) {
		return s
	}
	b := make([]byte, len(encodedPrefix)+encoding.EncodedLen(len(s)))
	copy(b, encodedPrefix)
	encoding.Encode(b[len(encodedPrefix):], []byte(s))
	return string(b)
}

// Decode returns the string that Encode made key of. The error is an
// *InvalidKeyError if key is not a legal key at all, and otherwise has ErrHashed
// or ErrNotEncoded in its chain.
func Decode(key string) (string, error) {
	encoded, ok := strings.CutPrefix(key, encodedPrefix)
	switch {
	case ok:
		// Longer than maxLength is no reason to refuse: Decode reverses Encode for
		// every string.
		b, err := encoding.DecodeString(encoded)
		if err != nil {
			return "", fmt.Errorf("decode document key: %w: %w", ErrNotEncoded, err)
		}
		if s := string(b); !plain(s) && !strings.ContainsAny(encoded, "\r\n") {
			return s, nil
		}
		return "", fmt.Errorf("decode document key: %w", ErrNotEncoded)
	case strings.HasPrefix(key, hashedPrefix):
		return "", fmt.Errorf("decode document key: %w", ErrHashed)
	}
	if err := Validate(key); err != nil {
		return "", err
	}
	return key, nil
}

// Hash returns a legal key of 50 bytes for s: "sha256-" and the URL-safe base64
// of its SHA-256. It cannot be turned back, so keep s in a field of the document
// if it is needed. It never returns what Encode returns for any string.
func Hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hashedPrefix + encoding.EncodeToString(sum[:])
}

// plain reports whether Encode leaves s alone.
func plain(s string) bool {
	return broken(s) == "" && !strings.HasPrefix(s, encodedPrefix) && !strings.HasPrefix(s, hashedPrefix)
}

// broken returns the first rule that key breaks, or "".
func broken(key string) string {
	switch {
	case key == "":
		return ruleNotEmpty
	case len(key) > maxLength:
		return ruleLength
	case key[0] == '_':
		return ruleLeadingUnderscore
	}
	for i := range len(key) {
		if !legal[key[i]] {
			return ruleCharacters
		}
	}
	return ""
}

var legal = func() (table [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=" {
		table[c] = true
	}
	return table
}()
