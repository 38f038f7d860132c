package bufferedsender_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A service that has not answered may still be at work, and would apply the older
// write last.
func TestTheNextActionOfAKeyWaitsAfterARequestWithoutAReply(t *testing.T) {
	const wait = 5 * time.Second
	for name, c := range map[string]struct {
		answer answer
		ended  time.Duration // when the first request has
		option time.Duration
		next   time.Duration // when the second action goes, 0 for with the end of the first
	}{
		"timed out":               {hang, 10 * time.Second, 0, 10*time.Second + wait},
		"cut":                     {reset, 0, 0, wait},
		"answered 502":            {always(502, ""), 0, 0, wait},
		"answered 504":            {always(504, ""), 0, 0, wait},
		"answered 408":            {always(408, ""), 0, 0, wait},
		"cut, with another wait":  {reset, 0, 20 * time.Second, 20 * time.Second},
		"cut, with the wait off":  {reset, 0, -1, 0},
		"answered 500 by itself":  {always(500, ""), 0, 0, 0},
		"answered 503 by itself":  {always(503, ""), 0, 0, 0},
		"answered 429 by itself":  {always(429, ""), 0, 0, 0},
		"answered with malformed": {always(200, "<html>"), 0, 0, 0},
	} {
		for _, late := range []bool{false, true} { // is the second one added when the first has settled?
			t.Run(name+map[bool]string{true: ", added later"}[late], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := guarded(t)
					opts.RequestTimeout, opts.UnknownWait = 10*time.Second, c.option
					opts.Retry = retry.Options{Jitter: -1}
					r := newRig(t, opts)
					r.respond(onlyFirst(1, c.answer))
					retried := c.ended + 800*time.Millisecond
					r.upload(hotel{ID: "a", Rooms: 1})
					if !late {
						r.upload(hotel{ID: "a", Rooms: 2})
					}
					flushed := later(r.flush)
					time.Sleep(retried)
					synctest.Wait()
					if late {
						r.upload(hotel{ID: "a", Rooms: 2})
						flushed = later(r.flush)
					}
					r.upload(hotel{ID: "b"})
					require.NoError(t, r.flush())
					require.NoError(t, <-flushed)
					var at []time.Duration
					for _, e := range r.seen("completed") {
						if e.key == "a" {
							at = append(at, e.at)
						}
					}
					assert.Equal(t, []time.Duration{retried, max(retried, c.next)}, at)
					assert.Equal(t, retried, r.outcome("b").at, "other keys do not wait")
					raw, _ := r.srv.Document("hotels", "a")
					assert.Contains(t, string(raw), `"rooms":2`)
				})
			})
		}
	}
}

// B waits because A of its key was cut. B is taken back: then it is C that waits.
func TestTheNextOneWaitsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, guarded(t))
		var cutAt time.Duration
		r.respond(onlyFirst(1, func(_ int, _ *exchange, _ *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(time.Second)
			cutAt = r.now()
			return nil, errReset
		}))
		r.upload(hotel{ID: "k", Rooms: 1})
		go func() { _ = r.flush() }()
		time.Sleep(500 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		_, err := r.sender.IndexDocumentsAndWait(ctx, models.UploadAction(hotel{ID: "k", Rooms: 2}))
		require.Error(t, err, "it waits for UnknownWait")
		require.EqualValues(t, 1, r.sender.Stats().Completed)
		r.upload(hotel{ID: "k", Rooms: 3})
		require.NoError(t, ignoreFailed(r.flush()))
		xs := r.requests()
		last := xs[len(xs)-1]
		assert.GreaterOrEqual(t, last.at-cutAt, bufferedsender.DefaultUnknownWait, "the service may still be at work on the first")
	})
}

func ignoreFailed(err error) error {
	if failed := (*bufferedsender.FlushError)(nil); errors.As(err, &failed) {
		return nil
	}
	return err
}

// B waits because A of its key was cut. That B is to be held apart ends no waiting.
func TestAGroupDoesNotSendWhatWaitsBehindACutRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, guarded(t))
		var cutAt time.Duration
		drift := drifted(func() bool { return false })
		r.respond(func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n == 1 {
				time.Sleep(time.Second)
				cutAt = r.now()
				return nil, errReset
			}
			return drift(n, x, req, next)
		})
		r.upload(hotel{ID: "new-k"})
		r.respond(func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n == 1 {
				time.Sleep(time.Second)
				cutAt = r.now()
				return nil, errReset
			}
			for _, a := range x.keys {
				if a != "new-k" || n > 2 { // the first action of the key has no rooms
					return drift(n, x, req, next)
				}
			}
			return next()
		})
		go func() { _ = r.flush() }()
		time.Sleep(500 * time.Millisecond)
		r.upload(hotel{ID: "new-k", Rooms: 2})
		time.Sleep(2500 * time.Millisecond)
		require.EqualValues(t, 1, r.sender.Stats().Completed, "the first one")
		r.upload(hotel{ID: "new-other", Rooms: 1}, hotel{ID: "old-other"})
		go func() { _ = r.flush() }()
		time.Sleep(time.Minute)
		for i, x := range r.requests() {
			t.Log(i+1, x.at, x.keys, x.status)
			if i > 1 && x.keys[0] == "new-k" {
				assert.GreaterOrEqual(t, x.at-cutAt, bufferedsender.DefaultUnknownWait)
				break
			}
		}
	})
}
