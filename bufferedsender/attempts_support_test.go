package bufferedsender_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/stretchr/testify/assert"
)

// guarded returns options with a breaker, as senders have it by default: rigs have
// none otherwise.
func guarded(t *testing.T) *hotelOptions {
	t.Helper()
	return &hotelOptions{Outage: bufferedsender.Hold{Breaker: newBreaker(t, nil)}}
}

// reset is a connection that breaks.
func reset(int, *exchange, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
	return nil, errReset
}

// when answers the requests for which it is true by a, the emulator the others.
func when(is func(n int, x *exchange) bool, a answer) answer {
	return func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if is(n, x) {
			return a(n, x, req, next)
		}
		return next()
	}
}

// carrying is for when: requests with one of the keys.
func carrying(keys ...string) func(int, *exchange) bool {
	return func(_ int, x *exchange) bool {
		return slices.ContainsFunc(x.keys, func(key string) bool { return slices.Contains(keys, key) })
	}
}

// until is for when: requests that start before the time.
func until(at time.Duration) func(int, *exchange) bool {
	return func(_ int, x *exchange) bool { return x.at < at }
}

// lacking is the answer of an index that lacks a property of the first action.
func lacking(property string) answer {
	return always(400, refusal(fmt.Sprintf("The request is invalid. Details: actions : 0: The property '%s' does not exist on type 'search.documentFields'. Make sure to only use property names that are defined by the type.", property)))
}

// roomless returns n documents without a property that others have.
func roomless(prefix string, n int) []hotel {
	docs := hotels(prefix, n)
	for i := range docs {
		docs[i].Rooms = 0
	}
	return docs
}

// nothingFailed checks that all was completed, n actions.
func (r *rig) nothingFailed(n int) {
	r.t.Helper()
	s := r.sender.Stats()
	assert.EqualValues(r.t, n, s.Completed)
	assert.Zero(r.t, s.Failed)
	assert.Zero(r.t, s.Unsent)
}

// onlyFailed checks that one action failed, and returns why.
func (r *rig) onlyFailed(key string, completed int) *bufferedsender.ActionError {
	r.t.Helper()
	s := r.sender.Stats()
	assert.EqualValues(r.t, completed, s.Completed)
	assert.EqualValues(r.t, 1, s.Failed)
	return r.failure(key)
}
