package sendertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// Requests returns the requests so far, in order of arrival.
func (r *RigOf[D]) Requests() []*Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// RequestsSince returns the requests that arrived at or after a time.
func (r *RigOf[D]) RequestsSince(at time.Duration) []*Request {
	return slices.DeleteFunc(r.Requests(), func(x *Request) bool { return x.At < at })
}

// RequestGaps returns the times between the requests.
func (r *RigOf[D]) RequestGaps() (gaps []time.Duration) {
	xs := r.Requests()
	for i := 1; i < len(xs); i++ {
		gaps = append(gaps, xs[i].At-xs[i-1].At)
	}
	return gaps
}

// AppliedKeys returns the keys of the requests that the service answered with 200
// or 207, in the order of the requests.
func (r *RigOf[D]) AppliedKeys() (keys []string) {
	for _, x := range r.Requests() {
		if x.Status == 200 || x.Status == 207 {
			keys = append(keys, x.Keys...)
		}
	}
	return keys
}

// Traveled returns the actions of all requests, each as "upload {…}" with the
// properties in the order of their names.
func (r *RigOf[D]) Traveled() (all []string) {
	r.T.Helper()
	for _, x := range r.Requests() {
		var body struct{ Value []map[string]any }
		require.NoError(r.T, json.Unmarshal(x.Body, &body))
		for _, v := range body.Value {
			typ := v["@search.action"]
			delete(v, "@search.action")
			doc, err := json.Marshal(v)
			require.NoError(r.T, err)
			all = append(all, fmt.Sprintf("%s %s", typ, doc))
		}
	}
	return all
}

// Events returns the events of the given kinds, all of them without any.
func (r *RigOf[D]) Events(kinds ...string) []Event[D] {
	if len(kinds) == 0 {
		return slices.Clone(r.noted())
	}
	return r.selected(func(e *Event[D]) bool { return slices.Contains(kinds, e.Kind) })
}

// noted returns all events without a copy, because there are many. Later events are appended, and none is changed.
func (r *RigOf[D]) noted() []Event[D] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clip(r.events)
}

// selected returns the events for which wanted returns true.
func (r *RigOf[D]) selected(wanted func(e *Event[D]) bool) (found []Event[D]) {
	all := r.noted()
	for i := range all {
		if wanted(&all[i]) {
			found = append(found, all[i])
		}
	}
	return found
}

// Outcome returns the terminal event of a key, which must have exactly one.
func (r *RigOf[D]) Outcome(key string) Event[D] {
	r.T.Helper()
	ends := r.selected(func(e *Event[D]) bool { return e.Key == key && (e.Kind == "completed" || e.Kind == "failed") })
	require.Len(r.T, ends, 1, "terminal events of %s", key)
	return ends[0]
}

// Failure returns the *ActionError of a key, which must have failed.
func (r *RigOf[D]) Failure(key string) *bufferedsender.ActionError {
	r.T.Helper()
	e := r.Outcome(key)
	require.Equal(r.T, "failed", e.Kind, "outcome of %s", key)
	var failure *bufferedsender.ActionError
	require.ErrorAs(r.T, e.Err, &failure)
	return failure
}

// UnknownOutcome reports whether an action of the key failed but may have been applied.
func (r *RigOf[D]) UnknownOutcome(key string) bool {
	return r.selected(func(e *Event[D]) bool { return e.Kind == "failed" && e.Key == key && e.Unknown }) != nil
}

// AllCompleted checks that n actions were completed and none failed.
func (r *RigOf[D]) AllCompleted(n int) {
	r.T.Helper()
	s := r.Sender.Stats()
	assert.EqualValues(r.T, n, s.Completed)
	assert.Zero(r.T, s.Failed)
	assert.Zero(r.T, s.Unsent)
}

// OnlyFailed checks that just the action of key failed, and returns its error.
func (r *RigOf[D]) OnlyFailed(key string, completed int) *bufferedsender.ActionError {
	r.T.Helper()
	s := r.Sender.Stats()
	assert.EqualValues(r.T, completed, s.Completed)
	assert.EqualValues(r.T, 1, s.Failed)
	return r.Failure(key)
}

// Health returns the health of the sender when all goroutines of the bubble are blocked.
func (r *RigOf[D]) Health() bufferedsender.Health {
	synctest.Wait()
	return r.Sender.Health()
}

// Indexed returns the keys in the index, sorted.
func (r *RigOf[D]) Indexed() []string {
	keys := []string{}
	for key := range r.Service.Documents("hotels") {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// KeysOf returns the keys of each request.
func KeysOf(xs []*Request) (keys [][]string) {
	for _, x := range xs {
		keys = append(keys, x.Keys)
	}
	return keys
}

// Times returns the times at which requests arrived.
func Times(xs []*Request) []time.Duration {
	at := []time.Duration{}
	for _, x := range xs {
		at = append(at, x.At)
	}
	return at
}
