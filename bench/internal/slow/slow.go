// Package slow has common parts of the in-memory services of benchmarks. A request to them takes time, but hardly any
// processor time.
package slow

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Wait waits for d. It returns early if ctx ends.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Keys returns the keys in the body of a request, without decoding JSON. The key field must be named id, and no other
// field may have that name.
func Keys(body io.Reader) ([]string, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	const before = `"id":"`
	rest := string(raw)
	keys := make([]string, 0, strings.Count(rest, before))
	for {
		_, after, ok := strings.Cut(rest, before)
		if !ok {
			return keys, nil
		}
		var key string
		if key, rest, ok = strings.Cut(after, `"`); !ok {
			return nil, io.ErrUnexpectedEOF
		}
		keys = append(keys, key)
	}
}

// Applied returns the reply to a request whose documents were all applied.
func Applied(keys []string) models.IndexDocumentsResult {
	r := models.IndexDocumentsResult{StatusCode: http.StatusOK, Results: make([]models.IndexingResult, len(keys))}
	for i, key := range keys {
		r.Results[i] = models.IndexingResult{Key: key, Succeeded: true, StatusCode: http.StatusOK}
	}
	return r
}

// Refusal is the reply to a request that is refused as a whole.
type Refusal struct {
	Status int
	Text   string
}

func (e Refusal) Error() string { return fmt.Sprintf("%d: %s", e.Status, e.Text) }

// HTTPStatus implements retry.StatusError.
func (e Refusal) HTTPStatus() int { return e.Status }
