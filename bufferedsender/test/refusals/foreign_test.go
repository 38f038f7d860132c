package refusals

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// Replies of gateways and firewalls, and replies of the service about something else, say nothing about documents.

// saidOfNothing are replies that are not about documents, although their status may be that of a refusal.
var saidOfNothing = map[string]struct {
	status int
	body   string
}{
	"a page of a gateway":           {400, "<html><body><h1>400 Bad Request</h1></body></html>"},
	"a page of HTTP.sys":            {400, "<HTML><BODY><h2>Bad Request - Invalid Hostname</h2><p>HTTP Error 400. The request hostname is invalid.</p></BODY></HTML>"},
	"no body":                       {400, ""},
	"JSON of a gateway":             {400, `{"statusCode":400,"message":"no healthy upstream"}`},
	"JSON with an error that names": {400, `{"error":"invalid_request","error_description":"bad"}`},
	"JSON with a number as code":    {400, `{"error":{"code":400,"message":"The request is invalid.","status":"INVALID_ARGUMENT"}}`},
	"another service of Azure":      {400, sendertest.ErrorBody("Unsupported resource type")},
	"the api-version":               {400, sendertest.ErrorBody("The version indicated by the api-version query string parameter does not exist.")},
	"the api-version in a request":  {400, sendertest.ErrorBody("The request is invalid. Details: The api-version '2030-01-01' is not supported.")},
	"the name of the host":          {400, sendertest.ErrorBody("The request is invalid. Details: the host name is unknown.")},
	"401 as a page":                 {401, "<html>log in</html>"},
	"403 as a page":                 {403, "<html>Application Gateway</html>"},
	"404 as a page":                 {404, "<html>nothing here</html>"},
	"405 as a page":                 {405, "<html>no</html>"},
	"413 as a page":                 {413, "<html>nginx</html>"},
	"413 without a body":            {413, ""},
	"302 without a body":            {302, ""},
	"307 as a page":                 {307, "<html>moved</html>"},
	"415 as a page":                 {415, "<html>no</html>"},
	"431 as a page":                 {431, "<html>no</html>"},
	"451 as a page":                 {451, "<html>no</html>"},
}

// speaking gives the same reply to every request, unless it is quiet.
type speaking struct {
	status int
	body   string
	quiet  atomic.Bool
	only   string // only requests with this key; "" for all
	times  atomic.Int64
}

func (s *speaking) answer(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
	if s.quiet.Load() || s.only != "" && !slices.Contains(x.Keys, s.only) {
		return next()
	}
	s.times.Add(1)
	return sendertest.Reply(req, s.status, s.body), nil
}

func TestNoDocumentFailsForAReplyThatIsNotAboutDocuments(t *testing.T) {
	hiccups, documents := testkit.Cases(1, 3, 3), testkit.Cases(120, 300, 300)
	for name, c := range saidOfNothing {
		for _, size := range []int{1, 100} { // documents per request
			t.Run(fmt.Sprintf("%s, %d a request", name, size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := sendertest.WithBreaker(t)
					opts.Limits.MaxBatchActions = size
					r := sendertest.New(t, opts)
					front := &speaking{status: c.status, body: c.body}
					r.Respond(front.answer)
					for hiccup := range hiccups {
						front.quiet.Store(false)
						r.Upload(sendertest.Hotels(fmt.Sprint("k", hiccup), documents)...)
						time.Sleep(6 * time.Second)
						front.quiet.Store(true)
						began := time.Now()
						require.NoError(t, r.Flush())
						assert.LessOrEqual(t, time.Since(began), 8*time.Second, "sending resumes soon after an outage of 6 s")
						time.Sleep(10 * time.Second)
					}
					assert.Positive(t, front.times.Load())
					s := r.Sender.Stats()
					assert.EqualValues(t, documents*hiccups, s.Completed)
					assert.Zero(t, s.Failed)
				})
			})
		}
	}
}

func TestADocumentThatAFirewallDislikesFailsAloneAfterAMinuteWithItsWords(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		reason models.Reason
		words  string
	}{
		{400, "<html>Request blocked, reference 17</html>", models.ReasonGateway, "Request blocked, reference 17"},
		{403, "<html>Request blocked, reference 17</html>", models.ReasonGateway, "Request blocked, reference 17"},
		{413, "<html>too large for nginx</html>", models.ReasonTooLarge, "too large for nginx"},
		{400, sendertest.ErrorBody("words that are not known here"), models.ReasonDocument, "words that are not known here"},
	} {
		t.Run(fmt.Sprint(c.status, c.words), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := sendertest.WithBreaker(t)
				opts.Limits.MaxBatchActions = 50
				r := sendertest.New(t, opts)
				r.Respond((&speaking{status: c.status, body: c.body, only: "k-42"}).answer)
				began := time.Now()
				r.Upload(sendertest.Hotels("k", 100)...)
				for i := 0; r.Sender.Stats().Failed == 0 && i < 600; i++ { // other traffic
					r.Upload(sendertest.Hotel{ID: fmt.Sprint("other-", i)})
					time.Sleep(time.Second)
				}
				assert.GreaterOrEqual(t, time.Since(began), time.Minute)
				require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
				assert.Equal(t, int64(1), r.Sender.Stats().Failed)
				failure := r.Failure("k-42")
				assert.Equal(t, c.reason, failure.Reason)
				assert.Equal(t, c.status, failure.Status)
				assert.ErrorContains(t, failure, c.words)
				assert.Equal(t, events.HealthStateHealthy, r.Sender.Health().State)
			})
		})
	}
}

// The service quotes the content of a document, which must not change the meaning of the message.
func TestAValueThatReadsLikeAnAddressIsJudgedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		words := "The request is invalid. Details: Cannot convert the literal 'o'brien, hostname db1, api-version' to the expected type 'Edm.Int32'."
		r.Respond((&speaking{status: 400, body: sendertest.ErrorBody(words), only: "k-42"}).answer)
		began := time.Now()
		r.Upload(sendertest.Hotels("k", 100)...)
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		assert.Less(t, time.Since(began), 10*time.Second)
		assert.Equal(t, models.ReasonDocument, r.OnlyFailed("k-42", 99).Reason)
	})
}

// The service has unrecorded messages; a header identifies its replies.
func TestAnUnknownWordingOfTheServiceIsJudgedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if slices.Contains(x.Keys, "k-42") {
				return sendertest.Reply(req, 400, sendertest.ErrorBody("Unsupported surrogate pair."), "elapsed-time", "3"), nil
			}
			return next()
		})
		began := time.Now()
		r.Upload(sendertest.Hotels("k", 100)...)
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		assert.Less(t, time.Since(began), 10*time.Second)
		assert.Equal(t, models.ReasonDocument, r.OnlyFailed("k-42", 99).Reason)
	})
}

func TestADocumentThatIsRefusedAloneHoldsNoOthers(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{"302 without a body": {302, ""}, "403 without a body": {403, ""}, "404 without a body": {404, ""}, "403 as a page": {403, "<html>"}} {
		for _, others := range []int{2, 10, 300} {
			t.Run(fmt.Sprintf("%s, %d others", name, others), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := sendertest.New(t, sendertest.WithBreaker(t))
					r.Respond((&speaking{status: c.status, body: c.body, only: "poison"}).answer)
					r.Upload(sendertest.Hotel{ID: "poison"})
					r.Upload(sendertest.Hotels("k", others)...)
					time.Sleep(10 * time.Minute)
					assert.Equal(t, int64(others), r.Sender.Stats().Completed)
					_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
				})
			})
		}
	}
}

func TestWhereNothingIsHeldOneBadDocumentFailsNoOthers(t *testing.T) {
	for name, opts := range map[string]*sendertest.Options{
		"FailSoon":   {Outage: bufferedsender.FailSoon{}},
		"no retries": {Retry: retry.Options{MaxRetries: -1}},
	} {
		for what, body := range map[string]string{
			"a page": "<html>no</html>", "unknown words": sendertest.ErrorBody("Unsupported surrogate pair."), "no body": "",
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := sendertest.New(t, opts)
					r.Respond((&speaking{status: 400, body: body, only: "k-42"}).answer)
					r.Upload(sendertest.Hotels("k", 500)...)
					require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
					assert.Equal(t, 400, r.OnlyFailed("k-42", 499).Status)
				})
			})
		}
	}
}

// The refusal of a new field with an array or object has another message than that of a plain value.
func TestAnIndexThatLacksAFieldOfAnyTypeHoldsItsDocumentsAfterTwenty(t *testing.T) {
	for name, value := range map[string]string{
		"plain": `1`, "vector": `[0.5,0.25]`, "collection": `["a"]`, "complex": `{"city":"Bern"}`, "point": `{"type":"Point","coordinates":[7.4,46.9]}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, sendertest.WithBreaker(t))
				var raw []models.RawAction
				for i := range 500 {
					raw = append(raw, models.RawAction{
						Key: fmt.Sprint("k-", i), Type: models.ActionTypeUpload, Document: fmt.Appendf(nil, `{"id":"k-%d","added":%s}`, i, value),
					})
				}
				require.NoError(t, r.Sender.Raw().Add(t.Context(), raw...))
				time.Sleep(time.Minute)
				s := r.Sender.Stats()
				assert.Equal(t, int64(20), s.Failed)
				assert.Equal(t, 480, s.PendingActions)
				assert.Equal(t, models.ReasonIndex, r.Failure("k-0").Reason)
				_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
			})
		})
	}
}
