package models

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Row is a document as a comparison sees it: its key, and what tells one state of the document from another. Both
// sides of a comparison fill in the same fields.
type Row struct {
	Key string
	// Version is a number that rises with each change: a sequence, or the time of the change. 0: it has none.
	Version int64
	// Digest is anything that differs when the document does, see DigestOf; "": it has none.
	Digest string
	// Hidden says that the document exists and is not to be in the index: a draft, for example. Only sources have
	// such rows.
	Hidden bool
	// Problem says why the document cannot be compared: its version is no number, for example. A comparison leaves the
	// key out, and names it. "": none.
	Problem string
}

// DigestOf returns a digest of some fields of a document in JSON: the same for the document as it was uploaded, and
// as the service returns it. So the order of fields does not count, nor how numbers and times are written, nor what
// of a time is less than a millisecond, which the service cuts off, nor what begins with an "@"; a field that is
// missing, null or an empty list is the same, and so is one in an object, and the "crs" of a point. fields are names
// at the top level; none means all that the document has, which is only the same on both sides if they have the same
// fields.
//
// Numbers are compared as float64, and integers that it would change as they are: what a field of type Edm.Single or
// smaller rounds, such as vectors, is different, so leave it out, and an integer above 2^53 in a field of type
// Edm.Double may be. An error says that the document is not one object in JSON.
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
