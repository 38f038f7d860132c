package retry_test

import (
	"fmt"
	"testing"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/retry"
)

// The decisions are repeated here, because a test that reads them from the table would accept any table.
var (
	done           = retry.Decision{Verdict: retry.Done}
	fail           = retry.Decision{Verdict: retry.Fail}
	again          = retry.Decision{Verdict: retry.Retry}
	againUnsure    = retry.Decision{Verdict: retry.Retry, Unknown: true}
	hold           = retry.Decision{Verdict: retry.Retry, Pause: true}
	holdUnsure     = retry.Decision{Verdict: retry.Retry, Pause: true, Unknown: true}
	holdUnanswered = retry.Decision{Verdict: retry.Retry, Pause: true, Unknown: true, NoAnswer: true}
	permanent      = retry.Decision{Verdict: retry.Fail, Permanent: true}
	split          = retry.Decision{Verdict: retry.Split}
	splitTooLarge  = retry.Decision{Verdict: retry.Split, TooLarge: true}
)

// row has the decision for one status.
type row struct {
	status int
	why    string
	want   retry.Decision
}

var documentRows = []row{
	{200, "an existing document was changed, or a delete", done},
	{201, "a new document was created", done},
	{400, "the document is wrong and will stay so", fail},
	{404, "a merge of a missing document", fail},
	{409, "a version conflict: another write of the key was faster", again},
	{422, "the index is offline for an update of its definition", again},
	{429, "the document quota of the index, not throttling", fail},
	{503, "the service is busy", holdUnsure},
	{500, "an undocumented 5xx", againUnsure},
	{502, "an undocumented 5xx", againUnsure},
	{504, "an undocumented 5xx", againUnsure},
	{599, "the last 5xx", againUnsure},
	{600, "just above the 5xx", fail},
	{499, "just below the 5xx", fail},
	{207, "the status of a request, not of a document", fail},
	{204, "a success that the service does not use", fail},
	{408, "nothing that a document can have", fail},
	{413, "the status of a request, not of a document", fail},
	{0, "no status", fail},
	{-1, "nonsense", fail},
}

func TestEveryRowOfTheDocumentTable(t *testing.T) {
	for _, r := range documentRows {
		t.Run(fmt.Sprintf("%d %s", r.status, r.why), func(t *testing.T) {
			assert.Equal(t, r.want, retry.ForDocument(r.status))
		})
	}
}

var requestRows = []row{
	{200, "look at the documents", done},
	{207, "look at the documents", done},
	{400, "one action may be the cause: divide the batch", split},
	{401, "the key or the token is wrong", permanent},
	{403, "the key is a query key, or a role is missing", permanent},
	{404, "there is no such index", permanent},
	{408, "the service did not wait for the whole request, or a gateway not for the service", holdUnanswered},
	{409, "the index is being changed", hold},
	{413, "too large: halve it and remember the size", splitTooLarge},
	{422, "the index is offline", hold},
	{429, "throttled", hold},
	{500, "the request may have been applied before the service failed", holdUnsure},
	{502, "a gateway lost the answer", holdUnanswered},
	{503, "the service is busy, and part of the batch may be applied", holdUnsure},
	{504, "a gateway gave up on the answer", holdUnanswered},
	{501, "a proxy or a stage that is being deployed", holdUnsure},
	{505, "a proxy of another age", holdUnsure},
	{507, "no room at the moment", holdUnsure},
	{509, "a proxy's limit of bandwidth", holdUnsure},
	{519, "just below the proxies' own", holdUnsure},
	{520, "the first of the proxies' own", holdUnanswered},
	{524, "a proxy gave up on the answer", holdUnanswered},
	{530, "the last of the proxies' own", holdUnanswered},
	{531, "just above the proxies' own", holdUnsure},
	{599, "the last 5xx", holdUnsure},
	{100, "status 0: no complete answer", permanent},
	{101, "another protocol", permanent},
	{201, "a success that the service does not use", fail},
	{202, "a success that the service does not use", fail},
	{204, "a success that the service does not use", fail},
	{300, "the first redirect", permanent},
	{302, "a redirect that was not followed, to a login page", permanent},
	{405, "not a search service", permanent},
	{407, "a proxy that requires a login", permanent},
	{412, "a condition that batches do not have", permanent},
	{421, "the address leads to the wrong host", permanent},
	{499, "the last 4xx", permanent},
	{99, "no status of HTTP", fail},
	{600, "no status of HTTP", fail},
	{0, "no status", fail},
	{-1, "nonsense", fail},
	{-404, "nonsense", fail},
}

func TestEveryRowOfTheRequestTable(t *testing.T) {
	for _, r := range requestRows {
		t.Run(fmt.Sprintf("%d %s", r.status, r.why), func(t *testing.T) {
			assert.Equal(t, r.want, retry.ForRequest(r.status))
		})
	}
}

// Every status has a row of its own or of its class. A status that is added only to the table fails this test.
func TestEveryStatusIsDecided(t *testing.T) {
	documents, requests := make(map[int]retry.Decision), make(map[int]retry.Decision)
	for status := -700; status < 1100; status++ {
		documents[status], requests[status] = fail, fail
	}
	for status := 100; status <= 599; status++ {
		switch {
		case status >= 520 && status <= 530:
			documents[status], requests[status] = againUnsure, holdUnanswered
		case status >= 500:
			documents[status], requests[status] = againUnsure, holdUnsure
		case status < 200 || status >= 300:
			requests[status] = permanent
		}
	}
	for _, r := range documentRows {
		documents[r.status] = r.want
	}
	for _, r := range requestRows {
		requests[r.status] = r.want
	}
	for status, want := range documents {
		assert.Equal(t, want, retry.ForDocument(status), "document %d", status)
	}
	for status, want := range requests {
		assert.Equal(t, want, retry.ForRequest(status), "request %d", status)
	}
}

// A wait because the service may still be working must not be reported as certain failure.
func TestWhatIsCutOffIsUnknown(t *testing.T) {
	for status := range 1100 {
		for _, d := range []retry.Decision{retry.ForRequest(status), retry.ForDocument(status)} {
			assert.True(t, d.Unknown || !d.NoAnswer, status)
		}
		for _, err := range []error{replyError(status), backoff.Permanent(replyError(status))} {
			d, _ := retry.ForError(err)
			assert.True(t, d.Unknown || !d.NoAnswer, status)
		}
	}
}

func TestVerdictsHaveNames(t *testing.T) {
	for verdict, name := range map[retry.Verdict]string{
		retry.Fail: "fail", retry.Done: "done", retry.Retry: "retry", retry.Split: "split", 17: "unknown",
	} {
		assert.Equal(t, name, verdict.String())
	}
	assert.Equal(t, retry.Fail, retry.Verdict(0), "an unset verdict must not repeat anything, nor pass for success")
}

// A call that is not a batch follows the table of batches, except for statuses with another meaning for it, and those
// that waiting does not end.
func TestCallsAreRetriedAtTheStatusesOfAzuresClients(t *testing.T) {
	statuses := retry.CallStatuses()
	assert.Equal(t, []int{408, 429, 500, 502, 503, 504}, statuses)
	for _, status := range statuses {
		assert.Equal(t, retry.Retry, retry.ForRequest(status).Verdict, status)
	}
	statuses[0] = 0
	assert.Equal(t, 408, retry.CallStatuses()[0], "a caller may change its own copy only")
}

func TestOnlyTwoStatusesThrottle(t *testing.T) {
	for status := -1; status < 1100; status++ {
		assert.Equal(t, status == 429 || status == 503, retry.Throttles(status), status)
	}
}
