package search

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/go-azsearch/azsearch/models"
)

// pageWalk iterates over the pages of a query with the parameters of the service. It stops with an error if a page
// repeats.
type pageWalk struct {
	body []byte
	seen map[[sha256.Size]byte]bool // digests of the requests so far
}

// continues reports whether a page with this continuation is followed by another.
func continues(link string, parameters json.RawMessage) bool {
	return link != "" || len(parameters) > 0
}

// advance makes the request for the next page the current one. parameters is its body. The URL stays that of the
// first request: the service's link is the same URL, or its form behind a gateway. Any other link must not be
// followed, because the request carries credentials. An error has models.ErrMalformedReply in its chain.
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

// canonical returns a digest of a request that does not depend on the order of its members, because the service
// orders them differently. A digest saves memory: a query with a vector takes 20 kB, and there may be thousands of
// pages.
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
