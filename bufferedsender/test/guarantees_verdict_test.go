package test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The rows of the verdict table, as an action meets them.
func TestVerdictsOfTheService(t *testing.T) {
	const gaveUp = 1 + 2 // MaxRetries is 2
	for _, c := range []struct {
		status, attempts int
		reason           models.Reason
		unknown          bool
	}{
		{400, 1, models.ReasonDocument, false},
		{404, 1, models.ReasonMissingDocument, false},
		{429, 1, models.ReasonQuota, false},
		{409, gaveUp, models.ReasonConflict, false},
		{422, gaveUp, models.ReasonConflict, false},
		{500, gaveUp, models.ReasonUnreachable, true},
		{504, gaveUp, models.ReasonUnreachable, true},
		{503, gaveUp + 1, models.ReasonBusy, true}, // the first time others got through
	} {
		t.Run(fmt.Sprintf("document %d", c.status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 2}})
				r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Status: c.status, Message: "because"}}})
				r.Upload(sendertest.Hotels("k", 3)...)
				require.Error(t, r.Flush())
				failure := r.Failure("k-1")
				assert.Equal(t, bufferedsender.ActionError{Key: "k-1", Type: "upload", Reason: c.reason, Status: c.status, Message: "because",
					Attempts: c.attempts, Exhausted: c.attempts > 1, Unknown: c.unknown}, *failure)
				assert.Equal(t, 1, r.Outcome("k-0").Attempt)
				assert.Equal(t, 1, r.Outcome("k-2").Attempt)
			})
		})
	}
	for _, c := range []struct {
		status, attempts int
		reason           models.Reason
		unknown          bool
	}{
		{429, gaveUp, models.ReasonBusy, false},
		{503, gaveUp, models.ReasonBusy, true},
		{502, gaveUp, models.ReasonUnreachable, true},
		{504, gaveUp, models.ReasonUnreachable, true},
		{500, gaveUp, models.ReasonUnreachable, true},
		{501, gaveUp, models.ReasonUnreachable, true}, // like every 5xx that nobody knows
		{520, gaveUp, models.ReasonUnreachable, true},
		{408, gaveUp, models.ReasonUnreachable, true},
		{401, 1, models.ReasonCredentials, false},
		{403, 1, models.ReasonCredentials, false},
		{404, 1, models.ReasonNoIndex, false},
		{405, 1, models.ReasonNoIndex, false},
		{302, 1, models.ReasonNoIndex, false},
	} {
		t.Run(fmt.Sprintf("request %d", c.status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 2}})
				r.Respond(sendertest.Always(c.status, sendertest.ErrorBody("the service's own words")))
				r.Upload(sendertest.Hotels("k", 3)...)
				require.Error(t, r.Flush())
				requests := c.attempts
				if c.attempts > 1 {
					requests++ // before the last attempt one of them went ahead alone
				}
				assert.Len(t, r.Requests(), requests)
				for _, d := range sendertest.Hotels("k", 3) {
					failure := r.Failure(d.ID)
					assert.Equal(t, c.status, failure.Status)
					assert.Equal(t, c.attempts, failure.Attempts)
					assert.Equal(t, c.attempts > 1, failure.Exhausted)
					assert.Equal(t, c.reason, failure.Reason)
					assert.Equal(t, c.unknown, failure.Unknown)
					assert.ErrorContains(t, failure, "the service's own words")
					var status retry.StatusError
					assert.ErrorAs(t, failure, &status)
				}
				assert.Empty(t, r.Indexed())
			})
		})
	}
	for name, f := range map[string]sendertest.Answer{
		"refused": func(int, *sendertest.Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return nil, errors.New("connection refused")
		},
		"never answered": sendertest.Hang,
	} {
		t.Run("connection "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 2}, RequestTimeout: 5 * time.Second})
				r.Respond(f)
				r.Upload(sendertest.Hotels("k", 3)...)
				require.Error(t, r.Flush())
				assert.Len(t, r.Requests(), gaveUp+1, "before the last attempt one of them went ahead alone")
				failure := r.Failure("k-2")
				assert.Zero(t, failure.Status)
				assert.Error(t, failure.Err)
				assert.Equal(t, models.ReasonUnreachable, failure.Reason)
				assert.True(t, failure.Unknown, "an error that says no more may have come after sending")
			})
		})
	}
}
