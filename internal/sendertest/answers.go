package sendertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Answer replies to a request instead of the emulator, which it may call by next. n counts the requests of a rig from
// 1.
type Answer func(n int, x *Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error)

// ErrReset is the error of a broken connection.
var ErrReset = errors.New("connection reset by peer")

// Always answers every request in the same way. Headers are name, value pairs.
func Always(status int, body string, headers ...string) Answer {
	return func(_ int, _ *Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return Reply(req, status, body, headers...), nil
	}
}

// Failing is the answer of a failing service.
var Failing = Always(http.StatusInternalServerError, ErrorBody("out of order"))

// Unauthorized is the answer to a wrong key: the service has certainly not applied anything.
var Unauthorized = Always(http.StatusUnauthorized, ErrorBody("who are you?"))

// Hang answers no request until its context ends.
func Hang(_ int, _ *Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// BreakConnection breaks the connection before the request arrives.
func BreakConnection(int, *Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
	return nil, ErrReset
}

// LackingProperty is the answer of an index that lacks a property of the first action.
func LackingProperty(property string) Answer {
	return Always(400, ErrorBody(fmt.Sprintf("The request is invalid. Details: actions : 0: The property '%s' does not exist on type 'search.documentFields'. Make sure to only use property names that are defined by the type.", property)))
}

// When makes a answer requests for which is returns true, and the emulator all others.
func When(is func(n int, x *Request) bool, a Answer) Answer {
	return func(n int, x *Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if is(n, x) {
			return a(n, x, req, next)
		}
		return next()
	}
}

// First makes a answer the first n requests, and the emulator all others.
func First(n int, a Answer) Answer {
	return func(i int, x *Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if i <= n {
			return a(i, x, req, next)
		}
		return next()
	}
}

// Before returns a condition for [When]: requests that arrive before the time.
func Before(at time.Duration) func(int, *Request) bool {
	return func(_ int, x *Request) bool { return x.At < at }
}

// Carrying returns a condition for [When]: requests with one of the keys.
func Carrying(keys ...string) func(int, *Request) bool {
	return func(_ int, x *Request) bool {
		return slices.ContainsFunc(x.Keys, func(key string) bool { return slices.Contains(keys, key) })
	}
}

// LackingUntil is the answer of an index that lacks the property rooms until `mended` returns true. Until then a
// request with a key that begins with "new-" is refused as a whole.
func LackingUntil(mended func() bool) Answer {
	return When(func(_ int, x *Request) bool {
		for _, key := range x.Keys {
			if strings.HasPrefix(key, "new-") && !mended() {
				return true
			}
		}
		return false
	}, LackingProperty("rooms"))
}

// Seconds delays each request by f seconds, before the emulator answers it.
func Seconds(f func(n int, x *Request) float64) Answer {
	return func(n int, x *Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		time.Sleep(time.Duration(f(n, x) * float64(time.Second)))
		return next()
	}
}

// Rewrite lets the emulator answer, and changes the body of the reply.
func Rewrite(change func(body []byte) []byte) Answer {
	return func(_ int, _ *Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		req.Header.Del("Accept-Encoding")
		resp, err := next()
		if err != nil {
			return nil, err
		}
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		raw = change(raw)
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		resp.Header.Del("Content-Length")
		return resp, nil
	}
}

// RewriteTo lets the emulator apply the request, and replaces the body of the reply.
func RewriteTo(body string) Answer { return Rewrite(func([]byte) []byte { return []byte(body) }) }

// WireResult is the result of a document in a reply.
type WireResult map[string]any

// Results lets the emulator answer, and changes the list of results in the reply.
func Results(change func(rs []WireResult) []WireResult) Answer {
	return Rewrite(func(raw []byte) []byte {
		var body struct {
			Value []WireResult `json:"value"`
		}
		if err := json.Unmarshal(raw, &body); err != nil {
			panic(err)
		}
		body.Value = change(body.Value)
		raw, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		return raw
	})
}

// RefuseKeys returns a fault of the emulator that refuses documents whose keys match.
func RefuseKeys(patterns ...string) searchtest.Fault {
	return searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: patterns, Status: 400, Message: "refused"}}}
}

// Reply returns a response to a request. Headers are name, value pairs.
func Reply(req *http.Request, status int, body string, headers ...string) *http.Response {
	resp := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	for i := 0; i < len(headers); i += 2 {
		resp.Header.Set(headers[i], headers[i+1])
	}
	return resp
}

// ErrorBody returns the body of an error in the format of the service.
func ErrorBody(message string) string {
	return fmt.Sprintf(`{"error":{"code":"","message":%q}}`, message)
}

// FaultScripts are faults of a service, by description; nil is none.
var FaultScripts = map[string][]searchtest.Fault{
	"nothing goes wrong":               nil,
	"single documents meet 503":        {{Documents: []searchtest.DocumentFault{{Ratio: 0.3, Status: 503}}}},
	"single documents meet 409 or 422": {{Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: 409}, {Ratio: 0.2, Status: 422}}}},
	"single documents are refused":     {{Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: 400}, {Ratio: 0.1, Status: 429}, {Ratio: 0.1, Status: 404}}}},
	"every third request is throttled": {{Every: 3, Status: 429, RetryAfter: searchtest.Duration(2 * time.Second)}},
	"the service is always too busy":   {{Status: 503}},
	"requests are too large":           {{OverActions: 3}},
	"requests are refused":             {{Every: 2, Status: 400}},
	"the key is wrong":                 {{Status: 403}},
	"connections break before":         {{Every: 3, Cut: searchtest.CutBeforeCommit}},
	"connections break after":          {{Every: 3, Cut: searchtest.CutAfterCommit}},
	"replies are malformed":            {{Every: 3, Body: searchtest.BodyMalformed}},
	"replies are cut off":              {{Every: 3, Body: searchtest.BodyTruncated}},
	"results are missing":              {{Every: 2, Results: searchtest.ResultsMissing}},
	"results name unknown keys":        {{Results: searchtest.ResultsUnknownKey}},
	"replies come late":                {{Every: 4, ReplyDelay: searchtest.Duration(2 * time.Minute)}},
}
