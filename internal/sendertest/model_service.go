package sendertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// faultKinds are the faults that intercept can produce.
var faultKinds = []string{
	"408", "413", "429", "429 wait", "500", "502", "503", "504", "400", "400 named", "400 property", "401", "403", "404", "409",
	"302", "405", "520", "429 past",
	"cut before", "cut after", "refused", "hang", "slow", "slow after",
	"empty", "malformed", "truncated", "missing", "extra", "repeated", "contradicting", "shuffled", "wrong status",
	"doc 400", "doc 404", "doc 409", "doc 422", "doc 429", "doc 503", "doc 500",
}

type result struct {
	Key          string  `json:"key"`
	Status       bool    `json:"status"`
	ErrorMessage *string `json:"errorMessage"`
	StatusCode   int     `json:"statusCode"`
}

// intercept simulates a failing service, and checks each request.
//
//archtest:long owed: the answers of a service by chance
func (s *schedule) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/docs/search.index") {
		return next(req)
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var body struct{ Value []map[string]json.RawMessage }
	if err := json.Unmarshal(raw, &body); err != nil {
		s.fail("a request is not JSON: %v in %q", err, raw)
		return nil, err
	}
	keys := s.enter(raw, body.Value)
	defer s.leave(keys)

	s.mu.Lock()
	kind := ""
	if s.requests < len(s.faults) {
		kind = s.faults[s.requests]
	}
	if s.requests >= s.lacksFrom && s.requests < s.lacksTo && kind == "" {
		kind = "400 property"
	}
	s.requests++
	lucky := s.rnd.IntN(max(1, len(body.Value)))
	s.mu.Unlock()

	forward := func(value []map[string]json.RawMessage) (*http.Response, []result, error) {
		again, err := json.Marshal(map[string]any{"value": value})
		if err != nil {
			return nil, nil, err
		}
		r := req.Clone(req.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(again)), int64(len(again))
		if kind == "" {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		}
		resp, err := next(r)
		if err != nil || resp.StatusCode > 207 {
			return resp, nil, err
		}
		defer resp.Body.Close()
		var reply struct{ Value []result }
		err = json.NewDecoder(resp.Body).Decode(&reply)
		return resp, reply.Value, err
	}
	answer := func(status int, text string, headers ...string) *http.Response {
		resp := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
			Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text))}
		for i := 0; i < len(headers); i += 2 {
			resp.Header.Set(headers[i], headers[i+1])
		}
		return resp
	}
	oops := func(message string) string { return fmt.Sprintf(`{"error":{"code":"","message":%q}}`, message) }

	switch kind {
	case "408", "413", "429", "500", "502", "503", "504", "400", "401", "403", "404", "409", "302", "405", "520":
		status, err := strconv.Atoi(kind)
		orPanic(err)
		return answer(status, oops("model says "+kind)), nil
	case "429 wait":
		return answer(429, oops("wait"), "Retry-After", "2"), nil
	case "429 past":
		return answer(429, oops("wait"), "Retry-After", "Fri, 02 Jan 1998 15:04:05 GMT"), nil
	case "400 property":
		if bytes.Contains(raw, []byte(`"a":`)) {
			return answer(400, oops("The request is invalid. Details: The property 'a' does not exist on type 'search.documentFields'.")), nil
		}
	case "400 named":
		return answer(400, oops(fmt.Sprintf("The request is invalid. Details: actions : %d: bad.", lucky))), nil
	case "cut before", "refused":
		return nil, ErrReset
	case "hang":
		<-req.Context().Done()
		return nil, req.Context().Err()
	case "slow":
		select {
		case <-time.After(300 * time.Millisecond):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	value := body.Value
	var refusal *result
	if status, ok := strings.CutPrefix(kind, "doc "); ok {
		message := "model says " + status
		code, err := strconv.Atoi(status)
		orPanic(err)
		refusal = &result{Key: keys[lucky], ErrorMessage: &message, StatusCode: code}
		value = slices.Delete(slices.Clone(value), lucky, lucky+1)
	}
	var resp *http.Response
	var results []result
	if len(value) > 0 {
		resp, results, err = forward(value)
		if err != nil || resp.StatusCode > 207 {
			return resp, err
		}
	}
	if refusal != nil {
		results = slices.Insert(results, lucky, *refusal)
	}
	switch kind {
	case "cut after":
		return nil, ErrReset
	case "slow after":
		select {
		case <-time.After(300 * time.Millisecond):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	case "empty":
		return answer(200, ""), nil
	case "malformed":
		return answer(200, "<html>OK</html>"), nil
	case "missing":
		results = slices.Delete(results, lucky, lucky+1)
	case "extra":
		results = append(results, result{Key: "nobody", Status: true, StatusCode: 200})
	case "repeated":
		results = append(results, results[lucky])
	case "contradicting":
		other := results[lucky]
		other.Status, other.StatusCode = !other.Status, 700-other.StatusCode
		results = append(results, other)
	case "wrong status":
		results[lucky].Status = !results[lucky].Status
	case "shuffled":
		s.mu.Lock()
		s.rnd.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
		s.mu.Unlock()
	}
	text, err := json.Marshal(map[string]any{"value": results})
	if err != nil {
		return nil, err
	}
	if kind == "truncated" {
		text = text[:len(text)/2]
	}
	status := 200
	if slices.ContainsFunc(results, func(r result) bool { return !r.Status }) {
		status = 207
	}
	return answer(status, string(text)), nil
}

// otherPrefix begins the keys of the other sender, which has no hooks.
const otherPrefix = "o-"

// enter checks a request and records its keys.
func (s *schedule) enter(raw []byte, value []map[string]json.RawMessage) (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(value) == 0 {
		s.errorf("a request without actions")
		return nil
	}
	for _, v := range value {
		var key string
		if err := json.Unmarshal(v["id"], &key); err != nil {
			s.errorf("a document has no key: %v", v)
		}
		keys = append(keys, key)
		if s.inFlight[key]++; s.inFlight[key] > 1 {
			s.errorf("two actions of key %s are in flight", key)
		}
	}
	limits, sender := s.largest, s.sender
	if strings.HasPrefix(keys[0], otherPrefix) {
		limits, sender = s.rules[0].Limits, s.other
	} else {
		s.arrives(keys[0], len(value), len(raw))
	}
	if len(raw) > limits.MaxBatchBytes || len(value) > limits.MaxBatchActions {
		s.errorf("a request has %d actions and %d bytes", len(value), len(raw))
	}
	st := sender.Stats()
	s.observed.apart = s.observed.apart || st.HeldApart > 0
	if over := int64(s.observed.heldBytes); st.PendingActions > limits.MaxBufferedActions+s.observed.heldActions || st.PendingBytes > limits.MaxBufferedBytes+over {
		s.errorf("over the high-water mark: %+v", st)
	} else if st.Accepted != st.Completed+st.Failed+st.Unsent+int64(st.PendingActions) {
		s.errorf("an inconsistent snapshot: %+v", st)
	}
	return keys
}

func (s *schedule) leave(keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		s.inFlight[key]--
	}
}
