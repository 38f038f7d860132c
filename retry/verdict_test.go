package retry_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/retry"
)

// The decisions that occur, written out here a second time: a test that read
// them from the table would agree with any table.
var (
	done       = retry.Decision{Verdict: retry.Done}
	fail       = retry.Decision{Verdict: retry.Fail}
	again      = retry.Decision{Verdict: retry.Retry}
	hold       = retry.Decision{Verdict: retry.Retry, Pause: true}
	holdUnsure = retry.Decision{Verdict: retry.Retry, Pause: true, Unknown: true}
	permanent  = retry.Decision{Verdict: retry.Fail, Permanent: true}
	split      = retry.Decision{Verdict: retry.Split}
	splitLearn = retry.Decision{Verdict: retry.Split, Learn: true}
)

// row says what one status means.
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
	{503, "the service is busy", hold},
	{500, "an undocumented 5xx", again},
	{502, "an undocumented 5xx", again},
	{504, "an undocumented 5xx", again},
	{599, "the last 5xx", again},
	{600, "just above the 5xx", fail},
	{499, "just below the 5xx", fail},
	{207, "the status of a request, not of a document", fail},
	{204, "a success that the service does not give", fail},
	{408, "nothing that a document can have", fail},
	{413, "the status of a request, not of a document", fail},
	{0, "no status", fail},
	{-1, "nonsense", fail},
}

func TestEveryRowOfTheDocumentTable(t *testing.T) {
	for _, r := range documentRows {
		t.Run(fmt.Sprintf("%d %s", r.status, r.why), func(t *testing.T) {
			assert.Equal(t, r.want, retry.Document(r.status))
		})
	}
}

var requestRows = []row{
	{200, "look at the documents", done},
	{207, "look at the documents", done},
	{400, "one action may spoil the batch: cut down to it", split},
	{401, "the key or the token is wrong", permanent},
	{403, "the key is a query key, or a role is missing", permanent},
	{404, "there is no such index", permanent},
	{408, "the service did not wait for the whole request", hold},
	{409, "the index is being changed", hold},
	{413, "too large: halve it and remember the size", splitLearn},
	{422, "the index is offline", hold},
	{429, "throttled", hold},
	{500, "it may have been applied before the service stumbled", holdUnsure},
	{502, "a gateway lost the answer", holdUnsure},
	{503, "the service is busy", hold},
	{504, "a gateway gave up on the answer", holdUnsure},
	{501, "it will not be implemented in a minute", fail},
	{505, "the HTTP version stays the same", fail},
	{599, "an undocumented 5xx", fail},
	{201, "a success that the service does not give", fail},
	{202, "a success that the service does not give", fail},
	{204, "a success that the service does not give", fail},
	{302, "a redirect that nobody followed", fail},
	{405, "not a search service", fail},
	{412, "a condition that batches do not have", fail},
	{0, "no status", fail},
	{-1, "nonsense", fail},
}

func TestEveryRowOfTheRequestTable(t *testing.T) {
	for _, r := range requestRows {
		t.Run(fmt.Sprintf("%d %s", r.status, r.why), func(t *testing.T) {
			assert.Equal(t, r.want, retry.Request(r.status))
		})
	}
}

// A status that nobody thought of is reported, not repeated and not taken for a
// success. This also fails for a row that is added to a table but not here.
func TestAStatusThatNobodyThoughtOfFails(t *testing.T) {
	documents, requests := make(map[int]bool), make(map[int]bool)
	for _, r := range documentRows {
		documents[r.status] = true
	}
	for _, r := range requestRows {
		requests[r.status] = true
	}
	for status := -10; status < 1100; status++ {
		if !documents[status] {
			want := fail
			if status/100 == 5 {
				want = again
			}
			assert.Equal(t, want, retry.Document(status), "document %d", status)
		}
		if !requests[status] {
			assert.Equal(t, fail, retry.Request(status), "request %d", status)
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
