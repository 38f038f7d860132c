package search

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/go-azsearch/azsearch/models"
)

// pageWalk goes from one page of a query to the next, the way the service says,
// and only as long as that leads somewhere.
type pageWalk struct {
	body []byte
	seen map[[sha256.Size]byte]bool // the requests so far, what they ask for
}

// continues reports whether a page with this continuation is not the last.
func continues(link string, parameters json.RawMessage) bool {
	return link != "" || len(parameters) > 0
}

// advance makes the request for the next page the current one: parameters is its
// body. It goes where the first one went. The service's link says the same, or
// what that looks like from behind a gateway, and a link that says anything else
// must not be followed: our requests carry credentials. An error has
// models.ErrMalformedReply in its chain.
func (w *pageWalk) advance(parameters json.RawMessage) error {
	switch {
	case len(parameters) == 0:
		return fmt.Errorf("%w: it links to another page, but does not say with what parameters", models.ErrMalformedReply)
	case bytes.TrimSpace(parameters)[0] != '{':
		return fmt.Errorf("%w: the parameters of its next page are not an object", models.ErrMalformedReply)
	}
	if w.seen == nil {
		w.seen = map[[sha256.Size]byte]bool{canonical(w.body): true}
	}
	asked := canonical(parameters)
	if w.seen[asked] {
		return fmt.Errorf("%w: its pages go round in a circle", models.ErrMalformedReply)
	}
	w.seen[asked] = true
	w.body = parameters
	return nil
}

// canonical returns a digest of a request that does not depend on the order of
// its members, which is the service's in one and ours in another. Two queries
// with a vector are 20 kB each, and there may be thousands of pages: therefore a
// digest.
func canonical(body []byte) [sha256.Size]byte {
	var v any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&v) == nil {
		if sorted, err := json.Marshal(v); err == nil {
			body = sorted
		}
	}
	return sha256.Sum256(body)
}
