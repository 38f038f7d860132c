package outcomes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func renamed(rs []sendertest.WireResult, to func(i int, key string) string) []sendertest.WireResult {
	for i, r := range rs {
		r["key"] = to(i, r["key"].(string))
	}
	return rs
}

// malformedReplies are wrong replies to k-0 … k-4. unclear are the keys without a clear outcome in the reply.
var malformedReplies = map[string]struct {
	reply   sendertest.Answer
	unclear []string
}{
	"empty":                  {sendertest.RewriteTo(""), sendertest.IDs(sendertest.Hotels("k", 5))},
	"malformed":              {sendertest.RewriteTo("<html>OK</html>"), sendertest.IDs(sendertest.Hotels("k", 5))},
	"null":                   {sendertest.RewriteTo("null"), sendertest.IDs(sendertest.Hotels("k", 5))},
	"an empty object":        {sendertest.RewriteTo("{}"), sendertest.IDs(sendertest.Hotels("k", 5))},
	"a list":                 {sendertest.RewriteTo("[]"), sendertest.IDs(sendertest.Hotels("k", 5))},
	"a string":               {sendertest.RewriteTo(`"OK"`), sendertest.IDs(sendertest.Hotels("k", 5))},
	"no list":                {sendertest.RewriteTo(`{"value":null}`), sendertest.IDs(sendertest.Hotels("k", 5))},
	"a list of nothing":      {sendertest.RewriteTo(`{"value":[]}`), sendertest.IDs(sendertest.Hotels("k", 5))},
	"a list of null":         {sendertest.RewriteTo(`{"value":[null,null,null,null,null]}`), sendertest.IDs(sendertest.Hotels("k", 5))},
	"a list of numbers":      {sendertest.RewriteTo(`{"value":[1,2,3,4,5]}`), sendertest.IDs(sendertest.Hotels("k", 5))},
	"results without keys":   {sendertest.RewriteTo(`{"value":[{"status":true,"statusCode":200},{"status":true,"statusCode":200},{"status":true,"statusCode":200},{"status":true,"statusCode":200},{"status":true,"statusCode":200}]}`), sendertest.IDs(sendertest.Hotels("k", 5))},
	"cut off in the middle":  {sendertest.Rewrite(func(b []byte) []byte { return b[:len(b)/2] }), sendertest.IDs(sendertest.Hotels("k", 5))},
	"cut off before the end": {sendertest.Rewrite(func(b []byte) []byte { return bytes.TrimRight(b[:len(b)-1], "}") }), sendertest.IDs(sendertest.Hotels("k", 5))},
	"the right number of keys, all unknown": {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
		return renamed(rs, func(_ int, key string) string { return "x" + key })
	}), sendertest.IDs(sendertest.Hotels("k", 5))},
	"keys in another case": {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
		return renamed(rs, func(_ int, key string) string { return strings.ToUpper(key) })
	}), sendertest.IDs(sendertest.Hotels("k", 5))},
	"the last result missing":      {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult { return rs[:4] }), []string{"k-4"}},
	"the first result missing":     {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult { return rs[1:] }), []string{"k-0"}},
	"one result twice for another": {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult { rs[2] = rs[3]; return rs }), []string{"k-2", "k-3"}},
	"an unknown key among them":    {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult { rs[1]["key"] = "who"; return rs }), []string{"k-1"}},
	"one result too many": {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
		return append(rs, sendertest.WireResult{"key": "who", "status": true, "statusCode": 200})
	}), nil},
	"one result twice":           {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult { return append(rs, rs[1]) }), []string{"k-1"}},
	"an error text of a success": {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult { rs[1]["errorMessage"] = "no"; return rs }), []string{"k-1"}},
	"a success with status 400":  {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult { rs[1]["statusCode"] = 400; return rs }), []string{"k-1"}},
	"a member twice":             {sendertest.Rewrite(func(b []byte) []byte { return bytes.Replace(b, []byte(`{"key"`), []byte(`{"status":false,"key"`), 1) }), sendertest.IDs(sendertest.Hotels("k", 5))},
	"a member in another case":   {sendertest.Rewrite(func(b []byte) []byte { return bytes.Replace(b, []byte(`"status":`), []byte(`"Status":`), 1) }), sendertest.IDs(sendertest.Hotels("k", 5))},
	"an error next to results":   {sendertest.Rewrite(func(b []byte) []byte { return bytes.Replace(b, []byte(`{"value"`), []byte(`{"error":{},"value"`), 1) }), sendertest.IDs(sendertest.Hotels("k", 5))},
	"another order":              {sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult { slices.Reverse(rs); return rs }), nil},
}

func TestMalformedReplies(t *testing.T) {
	for name, c := range malformedReplies {
		t.Run("once: retried, and nothing is lost: "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, nil)
				r.Respond(sendertest.First(1, c.reply))
				r.Upload(sendertest.Hotels("k", 5)...)
				require.NoError(t, r.Flush())
				for _, d := range sendertest.Hotels("k", 5) {
					want := 1
					if slices.Contains(c.unclear, d.ID) {
						want = 2
					}
					assert.Equal(t, want, r.Outcome(d.ID).Attempt, "attempts of %s", d.ID)
				}
			})
		})
		t.Run("always: failed with ErrNoResult: "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 2}})
				// Clear results are only in the first reply, so that later replies are wrong about the same keys.
				r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					if n == 1 || len(c.unclear) == 5 {
						return c.reply(n, x, req, next)
					}
					return sendertest.Results(func([]sendertest.WireResult) []sendertest.WireResult { return nil })(n, x, req, next)
				})
				r.Upload(sendertest.Hotels("k", 5)...)
				require.Equal(t, len(c.unclear), sendertest.FlushFailures(t, r.Flush()))
				for _, key := range c.unclear {
					failure := r.Failure(key)
					assert.ErrorIs(t, failure, bufferedsender.ErrNoResult)
					assert.Equal(t, 3, failure.Attempts)
					assert.True(t, failure.Unknown, "the action may have been applied")
				}
			})
		})
	}
	t.Run("whose connection breaks in the middle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 1}})
			r.Faults(searchtest.Fault{Body: searchtest.BodyTruncated})
			r.Upload(sendertest.Hotels("k", 5)...)
			require.Equal(t, 5, sendertest.FlushFailures(t, r.Flush()))
			assert.Equal(t, 2, r.Failure("k-0").Attempts)
			assert.True(t, r.Failure("k-0").Unknown)
		})
	})
}

func TestResultsPairByKeyNeverByPosition(t *testing.T) {
	for name, shuffle := range map[string]func([]sendertest.WireResult){
		"reversed": func(rs []sendertest.WireResult) { slices.Reverse(rs) },
		"by key": func(rs []sendertest.WireResult) {
			slices.SortFunc(rs, func(a, b sendertest.WireResult) int { return strings.Compare(a["key"].(string), b["key"].(string)) })
		},
		"rotated": func(rs []sendertest.WireResult) { rs[0], rs[1], rs[2] = rs[2], rs[0], rs[1] },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, nil)
				r.Faults(sendertest.RefuseKeys("k-3", "k-11"))
				r.Respond(sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult { shuffle(rs); return rs }))
				r.Upload(sendertest.Hotels("k", 20)...)
				require.Equal(t, 2, sendertest.FlushFailures(t, r.Flush()))
				assert.Equal(t, "refused", r.Failure("k-3").Message)
				assert.Equal(t, "refused", r.Failure("k-11").Message)
			})
		})
	}
	t.Run("keys that JSON writes in two ways", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(sendertest.Rewrite(func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte(`"k-`), []byte(`"\u006b\u002d`)) }))
			r.Upload(sendertest.Hotels("k", 3)...)
			require.NoError(t, r.Flush())
			assert.Len(t, r.Requests(), 1)
		})
	})
}

func TestContradictionsAreNoSuccess(t *testing.T) {
	for name, change := range map[string]func([]sendertest.WireResult) []sendertest.WireResult{
		"not succeeded and 200": func(rs []sendertest.WireResult) []sendertest.WireResult { rs[1]["status"] = false; return rs },
		"succeeded and 503":     func(rs []sendertest.WireResult) []sendertest.WireResult { rs[1]["statusCode"] = 503; return rs },
		"success first, then 503": func(rs []sendertest.WireResult) []sendertest.WireResult {
			return append(rs, sendertest.WireResult{"key": "k-1", "status": false, "statusCode": 503, "errorMessage": "busy"})
		},
		"503 first, then success": func(rs []sendertest.WireResult) []sendertest.WireResult {
			return append([]sendertest.WireResult{{"key": "k-1", "status": false, "statusCode": 503, "errorMessage": "busy"}}, rs...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, nil)
				r.Respond(sendertest.First(1, sendertest.Results(change)))
				r.Upload(sendertest.Hotels("k", 3)...)
				require.NoError(t, r.Flush())
				assert.Equal(t, 2, r.Outcome("k-1").Attempt, "after an unintelligible reply the action is sent again")
				assert.Equal(t, 1, r.Outcome("k-0").Attempt)
			})
		})
	}
}

// An Indexer of a user may return anything.
func TestAnIndexerThatReturnsNonsenseCompletesNothing(t *testing.T) {
	for name, result := range map[string]models.IndexDocumentsResult{
		"nothing":         {},
		"a status alone":  {StatusCode: 200},
		"too many":        {StatusCode: 200, Results: make([]models.IndexingResult, 5000)},
		"statuses of 0":   {StatusCode: 200, Results: []models.IndexingResult{{Key: "k-0", Succeeded: true}, {Key: "k-1"}}},
		"status negative": {StatusCode: -7, Results: []models.IndexingResult{{Key: "k-0", StatusCode: -1}, {Key: "k-1", StatusCode: 1 << 30}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sender, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{Index: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					return result, nil
				}}, &sendertest.Options{Retry: retry.Options{MaxRetries: 1}, Logger: sendertest.NoLog})
				require.NoError(t, err)
				sendertest.CloseAtEnd(t, sender)
				require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotels("k", 2)...))
				require.Equal(t, 2, sendertest.FlushFailures(t, sender.Flush(t.Context(), nil)))
				require.NoError(t, sender.Close(t.Context()))
			})
		})
	}
	t.Run("a client that panics", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			sender, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
				if n++; n == 1 {
					panic(fmt.Sprint("attempt ", n))
				}
				return sendertest.AcceptAll(ctx, body)
			}}, &sendertest.Options{Logger: sendertest.NoLog})
			require.NoError(t, err)
			sendertest.CloseAtEnd(t, sender)
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotels("k", 2)...))
			err = sender.Close(t.Context())
			s := sender.Stats()
			assert.Equal(t, err == nil, s.Completed == 2, "a panic of the Indexer is an outcome: %+v, %v", s, err)
		})
	})
}

// The rows of the verdict table, from the view of an action.
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
		{503, gaveUp + 1, models.ReasonBusy, true}, // the first time others passed
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
		{501, gaveUp, models.ReasonUnreachable, true}, // like every unknown 5xx
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
					requests += 2 // before the last attempt two of them were sent alone
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
				assert.Len(t, r.Requests(), gaveUp+2, "two actions were sent alone before the last attempt")
				failure := r.Failure("k-2")
				assert.Zero(t, failure.Status)
				assert.Error(t, failure.Err)
				assert.Equal(t, models.ReasonUnreachable, failure.Reason)
				assert.True(t, failure.Unknown, "an error without details may have occurred after sending")
			})
		})
	}
}
