package test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
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
		answer sendertest.Answer
		ended  time.Duration // when the first request has
		option time.Duration
		next   time.Duration // when the second action goes, 0 for with the end of the first
	}{
		"timed out":               {sendertest.Hang, 10 * time.Second, 0, 10*time.Second + wait},
		"cut":                     {sendertest.BreakConnection, 0, 0, wait},
		"answered 502":            {sendertest.Always(502, ""), 0, 0, wait},
		"answered 504":            {sendertest.Always(504, ""), 0, 0, wait},
		"answered 408":            {sendertest.Always(408, ""), 0, 0, wait},
		"cut, with another wait":  {sendertest.BreakConnection, 0, 20 * time.Second, 20 * time.Second},
		"cut, with the wait off":  {sendertest.BreakConnection, 0, -1, 0},
		"answered 500 by itself":  {sendertest.Always(500, ""), 0, 0, 0},
		"answered 503 by itself":  {sendertest.Always(503, ""), 0, 0, 0},
		"answered 429 by itself":  {sendertest.Always(429, ""), 0, 0, 0},
		"answered with malformed": {sendertest.Always(200, "<html>"), 0, 0, 0},
	} {
		for _, late := range []bool{false, true} { // is the second one added when the first has settled?
			t.Run(name+map[bool]string{true: ", added later"}[late], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := sendertest.WithBreaker(t)
					opts.RequestTimeout, opts.UnknownWait = 10*time.Second, c.option
					opts.Retry = retry.Options{Jitter: -1}
					r := sendertest.New(t, opts)
					r.Respond(sendertest.First(1, c.answer))
					retried := c.ended + 800*time.Millisecond
					r.Upload(sendertest.Hotel{ID: "a", Rooms: 1})
					if !late {
						r.Upload(sendertest.Hotel{ID: "a", Rooms: 2})
					}
					flushed := sendertest.Later(r.Flush)
					time.Sleep(retried)
					synctest.Wait()
					if late {
						r.Upload(sendertest.Hotel{ID: "a", Rooms: 2})
						flushed = sendertest.Later(r.Flush)
					}
					r.Upload(sendertest.Hotel{ID: "b"})
					require.NoError(t, r.Flush())
					require.NoError(t, <-flushed)
					var at []time.Duration
					for _, e := range r.Events("completed") {
						if e.Key == "a" {
							at = append(at, e.At)
						}
					}
					assert.Equal(t, []time.Duration{retried, max(retried, c.next)}, at)
					assert.Equal(t, retried, r.Outcome("b").At, "other keys do not wait")
					raw, _ := r.Service.Document("hotels", "a")
					assert.Contains(t, string(raw), `"rooms":2`)
				})
			})
		}
	}
}

// B waits because A of its key was cut. B is taken back: then it is C that waits.
func TestTheNextOneWaitsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		var cutAt time.Duration
		r.Respond(sendertest.First(1, func(_ int, _ *sendertest.Request, _ *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(time.Second)
			cutAt = r.Now()
			return nil, sendertest.ErrReset
		}))
		r.Upload(sendertest.Hotel{ID: "k", Rooms: 1})
		go func() { _ = r.Flush() }()
		time.Sleep(500 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		_, err := r.Sender.IndexDocumentsAndWait(ctx, models.UploadAction(sendertest.Hotel{ID: "k", Rooms: 2}))
		require.Error(t, err, "it waits for UnknownWait")
		require.EqualValues(t, 1, r.Sender.Stats().Completed)
		r.Upload(sendertest.Hotel{ID: "k", Rooms: 3})
		require.NoError(t, ignoreFailed(r.Flush()))
		xs := r.Requests()
		last := xs[len(xs)-1]
		assert.GreaterOrEqual(t, last.At-cutAt, bufferedsender.DefaultUnknownWait, "the service may still be at work on the first")
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
		r := sendertest.New(t, sendertest.WithBreaker(t))
		var cutAt time.Duration
		drift := sendertest.LackingUntil(func() bool { return false })
		r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n == 1 {
				time.Sleep(time.Second)
				cutAt = r.Now()
				return nil, sendertest.ErrReset
			}
			return drift(n, x, req, next)
		})
		r.Upload(sendertest.Hotel{ID: "new-k"})
		r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n == 1 {
				time.Sleep(time.Second)
				cutAt = r.Now()
				return nil, sendertest.ErrReset
			}
			for _, a := range x.Keys {
				if a != "new-k" || n > 2 { // the first action of the key has no rooms
					return drift(n, x, req, next)
				}
			}
			return next()
		})
		go func() { _ = r.Flush() }()
		time.Sleep(500 * time.Millisecond)
		r.Upload(sendertest.Hotel{ID: "new-k", Rooms: 2})
		time.Sleep(2500 * time.Millisecond)
		require.EqualValues(t, 1, r.Sender.Stats().Completed, "the first one")
		r.Upload(sendertest.Hotel{ID: "new-other", Rooms: 1}, sendertest.Hotel{ID: "old-other"})
		go func() { _ = r.Flush() }()
		time.Sleep(time.Minute)
		for i, x := range r.Requests() {
			t.Log(i+1, x.At, x.Keys, x.Status)
			if i > 1 && x.Keys[0] == "new-k" {
				assert.GreaterOrEqual(t, x.At-cutAt, bufferedsender.DefaultUnknownWait)
				break
			}
		}
	})
}
