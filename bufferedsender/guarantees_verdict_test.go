package bufferedsender_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The rows of the verdict table, as an action meets them.
func TestVerdictsOfTheService(t *testing.T) {
	const gaveUp = 1 + 2 // MaxRetries is 2
	for _, c := range []struct{ status, attempts int }{
		{400, 1}, {404, 1}, {429, 1}, {409, gaveUp}, {422, gaveUp}, {500, gaveUp}, {504, gaveUp},
		{503, gaveUp + 1}, // the first time others got through
	} {
		t.Run(fmt.Sprintf("document %d", c.status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 2}})
				r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Status: c.status, Message: "because"}}})
				r.upload(hotels("k", 3)...)
				require.Error(t, r.flush())
				failure := r.failure("k-1")
				assert.Equal(t, bufferedsender.ActionError{Key: "k-1", Type: "upload", Status: c.status, Message: "because",
					Attempts: c.attempts, Exhausted: c.attempts > 1}, *failure)
				assert.Equal(t, 1, r.outcome("k-0").attempt)
				assert.Equal(t, 1, r.outcome("k-2").attempt)
			})
		})
	}
	for _, c := range []struct{ status, attempts int }{
		{429, gaveUp}, {503, gaveUp}, {502, gaveUp}, {504, gaveUp}, {500, gaveUp}, {408, gaveUp}, {401, 1}, {403, 1}, {404, 1}, {501, 1}, {405, 1},
	} {
		t.Run(fmt.Sprintf("request %d", c.status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 2}})
				r.respond(always(c.status, refusal("the service's own words")))
				r.upload(hotels("k", 3)...)
				require.Error(t, r.flush())
				assert.Len(t, r.requests(), c.attempts)
				for _, d := range hotels("k", 3) {
					failure := r.failure(d.ID)
					assert.Equal(t, c.status, failure.Status)
					assert.Equal(t, c.attempts, failure.Attempts)
					assert.Equal(t, c.attempts > 1, failure.Exhausted)
					assert.ErrorContains(t, failure, "the service's own words")
					var status retry.StatusError
					assert.ErrorAs(t, failure, &status)
				}
				assert.Empty(t, r.indexed())
			})
		})
	}
	for name, f := range map[string]answer{
		"refused": func(int, *exchange, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return nil, errors.New("connection refused")
		},
		"never answered": hang,
	} {
		t.Run("connection "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 2}, RequestTimeout: 5 * time.Second})
				r.respond(f)
				r.upload(hotels("k", 3)...)
				require.Error(t, r.flush())
				assert.Len(t, r.requests(), gaveUp)
				failure := r.failure("k-2")
				assert.Zero(t, failure.Status)
				assert.Error(t, failure.Err)
				if name == "never answered" {
					assert.True(t, failure.Unknown, "it was cut after sending")
				}
			})
		})
	}
}
