package refusals

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// naming refuses a request and names every bad action in it, as the service does: in the message, and optionally in
// the details.
func naming(bad func(key string) bool, details bool) sendertest.Answer {
	return func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		var texts, list []string
		for i, key := range x.Keys {
			if bad(key) {
				texts = append(texts, fmt.Sprintf("%d: The vector of %s is too short.", i, key))
				list = append(list, fmt.Sprintf(`{"code":"BadVector","message":"%d: The vector of %s is too short. Parameters: actions"}`, i, key))
			}
		}
		if len(texts) == 0 {
			return next()
		}
		if !details {
			list = nil
		}
		return sendertest.Reply(req, 400, fmt.Sprintf(`{"error":{"code":"OperationNotAllowed","message":"The request is invalid. Details: actions : %s","details":[%s]}}`,
			strings.Join(texts, " "), strings.Join(list, ","))), nil
	}
}

func TestWhatAReplyNamesFailsInFewRequestsWithItsOwnWords(t *testing.T) {
	for _, c := range []struct {
		name     string
		details  bool
		requests int
	}{
		{"with structure: batches, the rest of each, and the named ones of each together", true, 3 * 5},
		{"as text alone, which may quote a document: the named ones by bisection", false, 3*5 + 2*250},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := sendertest.WithBreaker(t)
				opts.Limits.MaxBatchActions = 1000
				r := sendertest.New(t, opts)
				bad := map[string]bool{}
				for i := range 250 {
					bad[fmt.Sprint("k-", 20*i+i%20)] = true
				}
				r.Respond(naming(func(key string) bool { return bad[key] }, c.details))
				r.Upload(sendertest.Hotels("k", 5000)...)
				assert.Equal(t, 250, sendertest.FlushFailures(t, r.Flush()))
				assert.EqualValues(t, 4750, r.Sender.Stats().Completed)
				assert.LessOrEqual(t, len(r.Requests()), c.requests)
				failure := r.Failure("k-4989")
				assert.Equal(t, models.ReasonDocument, failure.Reason)
				assert.ErrorContains(t, failure, "The vector of k-4989 is too short.")
				assert.NotContains(t, failure.Error(), "k-4968", "messages about others do not concern it")
				assert.Zero(t, r.Sender.Stats().HeldApart)
			})
		})
	}
}

func TestAnIndexThatRefusesEveryDocumentByNameHoldsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const mendedAt = 5 * time.Minute
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(naming(func(string) bool { return r.Now() < mendedAt }, true))
		r.Upload(sendertest.Hotels("k", 3000)...)
		require.NoError(t, r.Sender.Flush(sendertest.Within(t, time.Hour), nil), "no document is at fault")
		assert.EqualValues(t, 3000, r.Sender.Stats().Completed)
	})
}
