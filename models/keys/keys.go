// Package keys makes legal document keys from any string and checks keys. The package is stable.
//
// A key of Azure AI Search has 1 to 1024 characters: ASCII letters, digits, underscores, dashes and equal signs. It
// must not start with an underscore. Keys are case-sensitive. Paths, URLs, e-mail addresses and names of blobs break
// these rules. Encode makes a key that Decode reverses; Hash makes a short key for a string that is too long for
// Encode.
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

// MaxEncodable is the largest number of bytes for which Encode makes a legal key of every string. Longer strings may
// need Hash.
const MaxEncodable = (maxLength - len(encodedPrefix)) * 3 / 4

// The rules for keys, the values of InvalidKeyError.Rule.
const (
	ruleNotEmpty          = "a key must not be empty"
	ruleLength            = "a key must not be longer than 1024 bytes"
	ruleCharacters        = "a key can only contain letters, digits, underscore (_), dash (-) and equal sign (=)"
	ruleLeadingUnderscore = "a key must not start with an underscore"
)

// InvalidKeyError means that a key is not legal.
type InvalidKeyError struct {
	// Key is the invalid key.
	Key string
	// Rule is the violated rule, as a sentence.
	Rule string
}

func (e *InvalidKeyError) Error() string {
	const shown = 60
	if len(e.Key) > shown {
		return fmt.Sprintf("invalid document key %q… (%d bytes): %s", e.Key[:shown], len(e.Key), e.Rule)
	}
	return fmt.Sprintf("invalid document key %q: %s", e.Key, e.Rule)
}

// ErrHashed is in the error chain of Decode for a key that Hash made, which cannot be reversed.
var ErrHashed = errors.New("key is a hash")

// ErrNotEncoded is in the error chain of Decode for a key that starts like a result of Encode but is not one.
var ErrNotEncoded = errors.New("key was not made by Encode")

// A plain key never has one of these prefixes, because Encode encodes the strings that start with one of them.
const (
	encodedPrefix = "b64-"
	hashedPrefix  = "sha256-"
)

var encoding = base64.RawURLEncoding.Strict()

// Validate returns nil if key is legal, otherwise an *InvalidKeyError. It does not allocate for a legal key.
func Validate(key string) error {
	rule := broken(key)
	if rule == "" {
		return nil
	}
	return &InvalidKeyError{Key: key, Rule: rule}
}

// Encode returns a key that is unique to s and that Decode converts back to s. A legal key is returned unchanged,
// unless it starts with "b64-" or "sha256-"; any other string becomes "b64-" and its URL-safe base64. s may be empty
// and need not be UTF-8.
//
// The result is a legal key if s has at most MaxEncodable bytes. Check longer results with Validate, and consider
// Hash.
//
// If you encode a result of Encode again, decode twice as well.
func Encode(s string) string {
	if plain(s) {
		return s
	}
	b := make([]byte, len(encodedPrefix)+encoding.EncodedLen(len(s)))
	copy(b, encodedPrefix)
	encoding.Encode(b[len(encodedPrefix):], []byte(s))
	return string(b)
}

// Decode returns the string from which Encode made key. If key is not a legal key, the error is an *InvalidKeyError;
// otherwise it has ErrHashed or ErrNotEncoded in its chain.
func Decode(key string) (string, error) {
	encoded, ok := strings.CutPrefix(key, encodedPrefix)
	switch {
	case ok:
		// Results longer than maxLength are accepted: Decode reverses Encode for every string.
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

// Hash returns a legal key of 50 bytes for s: "sha256-" and the URL-safe base64 of its SHA-256. It cannot be
// reversed, so store s in a field of the document if it is needed. The result differs from every result of Encode.
func Hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hashedPrefix + encoding.EncodeToString(sum[:])
}

// plain reports whether Encode returns s unchanged.
func plain(s string) bool {
	return broken(s) == "" && !strings.HasPrefix(s, encodedPrefix) && !strings.HasPrefix(s, hashedPrefix)
}

// broken returns the first violated rule, or "".
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
