package search_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
)

// closable is a body that records whether it was closed.
type closable struct {
	io.Reader
	closed bool
}

func (c *closable) Close() error { c.closed = true; return nil }

type policyFunc func(*policy.Request) (*http.Response, error)

func (f policyFunc) Do(req *policy.Request) (*http.Response, error) { return f(req) }

// A Transport, or a policy that answers without sending, can return such replies. None causes a panic or counts as a
// success.
func TestAnOddReplyOfTheCallersCodeIsAnError(t *testing.T) {
	for name, odd := range map[string]*http.Response{
		"nothing":                 nil,
		"an empty response":       {},
		"a success without body":  {StatusCode: 200},
		"an error without body":   {StatusCode: 503},
		"a redirect without body": {StatusCode: 307},
		"an unused status":        {StatusCode: 299},
	} {
		answer := func() (*http.Response, error) {
			if odd == nil {
				return nil, nil //nolint:nilnil // violates the contract of a Transport
			}
			resp := *odd
			return &resp, nil
		}
		answers := policyFunc(func(*policy.Request) (*http.Response, error) { return answer() })
		perCall, perRetry := options(nil), options(nil)
		perCall.Transport, perRetry.Transport = reply(200, "{}"), reply(200, "{}")
		perCall.PerCallPolicies = []policy.Policy{answers}
		perRetry.PerRetryPolicies = []policy.Policy{answers}
		for place, opts := range map[string]*search.ClientOptions{
			"Transport":        options(doer{func(*http.Request) (*http.Response, error) { return answer() }}),
			"PerCallPolicies":  perCall,
			"PerRetryPolicies": perRetry,
		} {
			for operation, do := range operations(t, testEndpoint, opts, false) {
				if operation == "delete" && odd != nil && odd.StatusCode == http.StatusOK {
					continue // answered without a body
				}
				t.Run(fmt.Sprintf("%s of %s/%s", name, place, operation), func(t *testing.T) {
					require.NotPanics(t, func() { require.Error(t, do()) })
				})
			}
		}
	}
}

// A policy that answers without sending need not say to which request.
func TestAReplyOfNoRequestIsRead(t *testing.T) {
	opts := options(reply(200, "{}"))
	opts.PerRetryPolicies = []policy.Policy{policyFunc(func(*policy.Request) (*http.Response, error) {
		resp := response(http.StatusMultiStatus, `{"value":[{"key":"1","status":false,"errorMessage":"no","statusCode":400}]}`)
		resp.Request = nil
		return resp, nil
	})}
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	_, err = search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}}, nil)
	require.ErrorContains(t, err, "400 no")
}

// No other code could close the body.
func TestAResponseBesideAnErrorIsClosed(t *testing.T) {
	body := &closable{Reader: strings.NewReader(okOne)}
	transport := doer{func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: body}, io.ErrUnexpectedEOF
	}}
	_, err := newClient(t, transport).IndexDocumentsRaw(t.Context(), newBody("x"))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.True(t, body.closed)
}

// A Transport may continue to read the body of an answered attempt, as net/http does, even if a policy has read and
// replaced the body.
func TestAttemptsOfEveryRequestHaveABodyOfTheirOwn(t *testing.T) {
	reads := policyFunc(func(req *policy.Request) (*http.Response, error) {
		if req.Raw().Body != nil {
			_, err := io.ReadAll(req.Raw().Body)
			assert.NoError(t, err)
			assert.NoError(t, req.RewindBody())
		}
		return req.Next()
	})
	for _, policies := range [][]policy.Policy{nil, {reads}} {
		var (
			first    io.Reader
			attempts int
			sent     string
		)
		opts := options(doer{func(req *http.Request) (*http.Response, error) {
			if req.Body == nil {
				return response(200, "{}"), nil
			}
			if attempts++; attempts == 1 {
				first = req.Body
				_, _ = first.Read(make([]byte, 4))
				return response(503, ""), nil
			}
			begin := make([]byte, 3)
			_, _ = io.ReadFull(req.Body, begin)
			_, _ = first.Read(make([]byte, 10))
			rest, err := io.ReadAll(req.Body)
			sent = string(begin) + string(rest)
			assert.EqualValues(t, req.ContentLength, len(sent))
			return response(400, ""), err
		}})
		opts.PerRetryPolicies = policies
		for name, do := range operations(t, testEndpoint, opts, false) {
			t.Run(fmt.Sprintf("%s, read by a policy %v", name, policies != nil), func(t *testing.T) {
				attempts, sent = 0, ""
				_ = do()
				if attempts > 1 {
					assert.True(t, strings.HasPrefix(sent, "{") && strings.HasSuffix(strings.TrimSpace(sent), "}"), sent)
				}
			})
		}
	}
}
