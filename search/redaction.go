package search

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
)

// The lengths in bytes from which a credential in a header, and a secret in a definition, is searched for in replies.
// Shorter values may be words of an explanation.
const (
	shortestCredential = 16
	shortestSecret     = 6
)

// sent returns the secrets that a request carried, the longest first: the credential, the token of a user, and the
// secrets of a definition. The service, or a gateway in front of it, may quote them in an explanation.
func sent(req *http.Request) []string {
	var all []string
	for name, values := range req.Header {
		for _, value := range values {
			if scheme, token, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "bearer") {
				value = token
			}
			if secret(name) && len(value) >= shortestCredential {
				all = append(all, value)
			}
		}
	}
	var lent *lentBody
	switch body := req.Body.(type) {
	case *lentBody:
		lent = body
	case *attemptBody:
		lent = body.lent
	}
	if lent != nil && !strings.Contains(req.URL.Path, "/docs/") { // documents may be large, and are the caller's
		for _, s := range wire.Secrets(lent.whole()) {
			if len(s) >= shortestSecret && s[0] != '<' { // "<unchanged>" is none
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return all
}

// whole returns the body, nil if it was taken back. A transport that still sends it, although the reply is there,
// may miss the rest; a further attempt rewinds it.
func (b *lentBody) whole() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.body == nil {
		return nil
	}
	if _, err := b.body.Seek(0, io.SeekStart); err != nil {
		return nil
	}
	body, _ := io.ReadAll(b.body) // what was read is enough to search
	return body
}

// withoutSent returns text with wire.Hidden in place of secrets, as written or encoded: see spelling.
func withoutSent(text string, secrets []string) string {
	for _, s := range secrets {
		text = hide(text, s)
	}
	return text
}

// withoutCutSent is withoutSent for a text that was cut off, perhaps within a secret.
func withoutCutSent(text string, secrets []string) string {
	text = withoutSent(text, secrets)
	for _, s := range secrets {
		for n := len(s) - 1; n >= shortestSecret; n-- {
			if whole, cut := strings.CutSuffix(text, s[:n]); cut {
				return whole + wire.Hidden
			}
		}
	}
	return text
}

// hideSent hides the credentials of a request to index documents in its results. Most results have no message, or that
// of the one before.
func hideSent(results []models.IndexingResult, req *http.Request) {
	var secrets []string
	before, shown := "", ""
	for i := range results {
		message := &results[i].ErrorMessage
		if *message == "" {
			continue
		}
		if secrets == nil {
			secrets = sent(req)
		}
		if *message != before {
			before, shown = *message, withoutSent(*message, secrets)
		}
		*message = shown
	}
}
