package models

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Row is a document in a comparison: its key and the version or digest that identifies its state. Both sides of a
// comparison must fill in the same fields.
type Row struct {
	Key string
	// Version is a number that increases with each change: a sequence, or the time of the change. 0 means none.
	Version int64
	// Digest is any string that differs whenever documents differ, see DigestOf. "" means none.
	Digest string
	// Hidden means that the document exists but must not be in the index, for example a draft. Only sources have such
	// rows.
	Hidden bool
	// Problem is the reason why the document cannot be compared, for example a version that is not a number. A comparison
	// skips the key and reports it. "" means none.
	Problem string
}

// DigestOf returns a digest of fields of a JSON document. The digest is the same for the document as uploaded and as
// the service returns it. Therefore it ignores the order of fields, the notation of numbers and times, fractions of a
// millisecond, which the service truncates, names that begin with "@", and the "crs" of a point. A missing field,
// null and an empty list are equal, also within an object. fields are top-level names. Without them all fields count,
// so the digests are equal only if both sides have the same fields.
//
// Numbers are compared as float64, except integers that float64 would change. So a field that rounds its values
// (Edm.Single and smaller, such as vectors) has different digests on both sides and must be left out. An integer
// above 2^53 in an Edm.Double may differ too. The error means that the document is not a JSON object.
func DigestOf(document []byte, fields ...string) (string, error) {
	at := wire.Space(document, 0)
	if _, ok := wire.Check(document); !ok || document[at] != '{' {
		var all map[string]any
		err := json.Unmarshal(document, &all)
		if err == nil {
			err = errors.New("it is null, and not an object")
		}
		return "", fmt.Errorf("the document for a digest: %w", err)
	}
	p, _ := plains.Get().(*plain)
	if p == nil {
		p = &plain{}
	}
	defer plains.Put(p)
	p.src, p.out = document, p.out[:0]
	if _, something := p.object(at, fields); !something {
		p.out = append(p.out, "null"...)
	}
	sum := sha256.Sum256(p.out)
	p.src = nil
	return hex.EncodeToString(sum[:16]), nil
}
