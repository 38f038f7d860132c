package search

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// pageWalk goes from one page of a query to the next, the way the service says,
// and only as long as that leads somewhere.
type pageWalk struct {
	client *Client
	url    string
	body   []byte
	seen   map[[sha256.Size]byte]bool // the requests so far, what they ask for
}

func newPageWalk(c *Client, body []byte) *pageWalk {
	return &pageWalk{client: c, url: c.conn.url(c.docs + "/search.post.search"), body: body}
}

// continues reports whether a page with this continuation is not the last.
func continues(link string, parameters json.RawMessage) bool {
	return link != "" || len(parameters) > 0
}

// advance makes the request for the next page the current one: parameters is
// its body and link where it goes, which the service makes the address of the
// first request. An error has models.ErrMalformedReply in its chain.
func (w *pageWalk) advance(link string, parameters json.RawMessage) error {
	switch {
	case len(parameters) == 0:
		return fmt.Errorf("%w: it links to another page, but does not say with what parameters", models.ErrMalformedReply)
	case bytes.TrimSpace(parameters)[0] != '{':
		return fmt.Errorf("%w: the parameters of its next page are not an object", models.ErrMalformedReply)
	}
	if link != "" {
		address, err := w.client.conn.nextPage(link)
		if err != nil {
			return fmt.Errorf("%w: the link to its next page %w", models.ErrMalformedReply, err)
		}
		w.url = address
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

// nextPage checks that a link of a reply leads to the service that it came from:
// our requests carry credentials, and a reply may not say where these go.
func (c *connection) nextPage(link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", errors.New("is not a URL")
	}
	path, root := u.EscapedPath(), c.endpoint.EscapedPath()
	switch {
	case u.Scheme != c.endpoint.Scheme || !strings.EqualFold(hostPort(u), hostPort(c.endpoint)) || u.User != nil:
		return "", fmt.Errorf("leads to %s, not to the endpoint %s: credentials do not go there", u.Redacted(), c.root)
	case !strings.HasPrefix(path, root+"/") || slices.ContainsFunc(strings.Split(u.Path, "/"), climbs):
		return "", fmt.Errorf("leads out of the endpoint %s", c.root)
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String(), nil
}

// climbs reports whether a part of a path leads out of what is before it.
func climbs(segment string) bool { return segment == ".." || segment == "." }

// hostPort returns the host of a URL and its port, also where it is the usual
// one of the scheme.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Hostname() + ":" + port
}
