package refusals

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

const noStorage = "Storage quota has been exceeded for this service. You must either delete documents first, or use a higher SKU."

// A full service refuses requests as if the key were wrong. Nothing fails, and nobody is sent to look for a key.
func TestDocumentsWaitForStorageAndTheReasonIsItsQuota(t *testing.T) {
	for _, status := range []int{403, 507} {
		synctest.Test(t, func(t *testing.T) {
			opts := sendertest.WithBreaker(t)
			r := sendertest.New(t, opts)
			r.Respond(sendertest.Always(status, sendertest.ErrorBody(noStorage)))
			r.Upload(sendertest.Hotels("k", 100)...)
			flushed := sendertest.Later(r.Flush)
			time.Sleep(10 * time.Minute)
			h := r.Health()
			require.ErrorIs(t, h.Err, bufferedsender.ErrCircuitOpen)
			assert.Contains(t, h.Reason, noStorage)
			assert.Contains(t, h.Reason, "delete documents or indexes, or choose a larger tier")
			assert.NotContains(t, r.Logs.String(), "admin key")
			r.Respond(nil)
			require.NoError(t, <-flushed)
			r.AllCompleted(100)
		})
	}
}

func TestADocumentThatFailsForStorageHasTheQuotaAsItsReason(t *testing.T) {
	for _, status := range []int{403, 507} {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Outage: bufferedsender.FailSoon{}, Retry: retry.Options{MaxRetries: -1}})
			r.Respond(sendertest.Always(status, sendertest.ErrorBody(noStorage)))
			r.Upload(sendertest.Hotel{ID: "request"})
			require.Error(t, r.Flush())
			r.Respond(sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
				rs[0]["status"], rs[0]["statusCode"], rs[0]["errorMessage"] = false, status, noStorage
				return rs
			}))
			r.Upload(sendertest.Hotel{ID: "document"})
			require.Error(t, r.Flush())
			for _, key := range []string{"request", "document"} {
				assert.Equal(t, models.ReasonQuota, r.Failure(key).Reason, "%s, %d", key, status)
			}
		})
	}
}
