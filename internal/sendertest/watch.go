package sendertest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Event is one callback as seen by a test.
type Event[D any] struct {
	At      time.Duration // since the rig began
	Kind    string        // "added", "sent", "completed", "failed" or "batch"
	Key     string
	Action  models.IndexDocumentsAction[D]
	Attempt int          // of a terminal event: the number of attempts
	Err     error        // of "failed"
	Unknown bool         // of "failed"
	Batch   events.Batch // of "batch"
}

// Request is one indexing request as seen by the service.
type Request struct {
	At, End time.Duration // since the rig began; End is 0 while it is under way
	Keys    []string      // of its actions, in order
	Actions []string      // their types, such as "upload"
	Body    []byte
	Bytes   int // the size of Body
	Status  int // 0 if there was no reply
	Context context.Context
}

// recorder returns handlers that record events, and check Stats at each.
func (r *RigOf[D]) recorder() events.Handlers[D] {
	note := func(e Event[D]) {
		e.At = r.Now()
		r.CheckStats()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}
	return events.Handlers[D]{
		ActionAdded: func(_ context.Context, e *events.ActionAdded[D]) error {
			note(Event[D]{Kind: "added", Key: e.Key, Action: e.Action})
			return nil
		},
		ActionSent: func(_ context.Context, e *events.ActionSent[D]) {
			note(Event[D]{Kind: "sent", Key: e.Key, Action: e.Action, Attempt: e.Attempt})
		},
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[D]) {
			note(Event[D]{Kind: "completed", Key: e.Key, Action: e.Action, Attempt: e.Attempts})
		},
		ActionFailed: func(_ context.Context, e *events.ActionFailed[D]) {
			note(Event[D]{Kind: "failed", Key: e.Key, Action: e.Action, Attempt: e.Attempts, Err: e.Err, Unknown: e.Unknown})
		},
		BatchCompleted: func(_ context.Context, b *events.Batch) {
			note(Event[D]{Kind: "batch", Batch: *b})
		},
	}
}

// intercept checks every request: one action of a key in flight, and no request over its limits.
func (r *RigOf[D]) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/docs/search.index") {
		return next(req)
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(raw))
	var body struct {
		Value []struct {
			Action string `json:"@search.action"`
			ID     any    `json:"id"` // any type, because tests try other types of keys
		}
	}
	if !assert.NoError(r.T, json.Unmarshal(raw, &body), "a request is not JSON: %q", raw) {
		return nil, err
	}
	x := &Request{At: r.Now(), Bytes: len(raw), Body: raw, Context: req.Context()}
	for _, v := range body.Value {
		key, _ := v.ID.(string)
		x.Keys = append(x.Keys, key)
		x.Actions = append(x.Actions, v.Action)
	}
	r.CheckStats()
	r.mu.Lock()
	r.requests = append(r.requests, x)
	r.open++
	assert.LessOrEqual(r.T, r.open, orDefault(r.opts.Limits.MaxInFlight, 1), "requests at once, over the limit")
	n, decide := len(r.requests), r.answer
	for _, key := range x.Keys {
		assert.False(r.T, r.inFlight[key], "two actions of %s are in flight", key)
		r.inFlight[key] = true
	}
	r.mu.Unlock()
	assert.LessOrEqual(r.T, len(x.Keys), orDefault(r.opts.Limits.MaxBatchActions, bufferedsender.DefaultMaxBatchActions), "actions of a request, over the limit")
	assert.LessOrEqual(r.T, x.Bytes, orDefault(r.opts.Limits.MaxBatchBytes, search.DefaultMaxBatchBytes), "bytes of a request, over the limit")
	assert.NotEmpty(r.T, x.Keys, "an empty request")

	var resp *http.Response
	if decide != nil {
		resp, err = decide(n, x, req, func() (*http.Response, error) { return next(req) })
	} else {
		resp, err = next(req)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open--
	x.End = r.Now()
	if err == nil {
		x.Status = resp.StatusCode
	}
	for _, key := range x.Keys {
		delete(r.inFlight, key)
	}
	return resp, err
}

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}
