package outcomes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

// In all tests the rig checks that no two actions of a key are in flight. These tests check the order.
func TestOneActionPerKeyIsInFlightAndSettledInOrder(t *testing.T) {
	const keys, versions = 5, 20
	cut := func(after bool) sendertest.Answer {
		return func(n int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n%3 != 0 {
				return next()
			}
			if after {
				if _, err := next(); err != nil {
					return nil, err
				}
			}
			return nil, errors.New("connection reset by peer")
		}
	}
	for name, c := range map[string]struct {
		script []searchtest.Fault
		answer sendertest.Answer
	}{
		"without trouble":                   {},
		"across retries of one document":    {script: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Ratio: 0.3, Status: 409}}}}},
		"across throttled documents":        {script: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: 503}}}}},
		"across throttled requests":         {script: []searchtest.Fault{{Every: 3, Status: 503}}},
		"across splits":                     {script: []searchtest.Fault{{OverActions: 2}}},
		"across requests refused for good":  {script: []searchtest.Fault{{Every: 4, Status: 404}}},
		"across cuts before the commit":     {answer: cut(false)},
		"across cuts after the commit":      {answer: cut(true)},
		"across missing results":            {script: []searchtest.Fault{{Every: 2, Results: searchtest.ResultsMissing}}},
		"across slow replies":               {script: []searchtest.Fault{{Every: 2, ReplyDelay: searchtest.Duration(30 * time.Second)}}},
		"across timeouts after the commit":  {script: []searchtest.Fault{{Every: 4, ReplyDelay: searchtest.Duration(3 * time.Minute)}}},
		"across documents refused for good": {script: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Ratio: 0.3, Status: 400}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 4}, AutoFlushInterval: time.Millisecond})
				r.Faults(c.script...)
				r.Respond(c.answer)
				for v := range versions {
					for k := range keys {
						action := models.UploadAction(sendertest.Hotel{ID: fmt.Sprint("k", k), Rooms: v + 1}).WithTag(v)
						require.NoError(t, r.Sender.IndexDocuments(sendertest.Within(t, time.Hour), action))
					}
				}
				r.Flush()
				settled, last := map[string]int{}, map[string]int{}
				for _, e := range r.Events("completed", "failed") {
					assert.Equal(t, settled[e.Key], e.Action.Tag, "next outcome of %s", e.Key)
					settled[e.Key]++
					if e.Kind == "completed" {
						last[e.Key] = e.Action.Document.Rooms
					}
				}
				for k := range keys {
					key := fmt.Sprint("k", k)
					assert.Equal(t, versions, settled[key])
					if r.UnknownOutcome(key) {
						continue
					}
					var stored sendertest.Hotel
					raw, _ := r.Service.Document("hotels", key)
					if raw != nil {
						require.NoError(t, json.Unmarshal(raw, &stored))
					}
					assert.Equal(t, last[key], stored.Rooms, "the index holds the last version of %s that completed", key)
				}
			})
		})
	}
	t.Run("keys are compared byte for byte", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Upload(sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "A"}, sendertest.Hotel{ID: "b"})
			require.NoError(t, r.Flush())
			assert.Equal(t, [][]string{{"a", "A", "b"}}, sendertest.KeysOf(r.Requests()))
			assert.Equal(t, []string{"A", "a", "b"}, r.Indexed())
		})
	})
	t.Run("a waiting action of a busy key does not hold back other keys", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxInFlight: 1}})
			r.Upload(sendertest.Hotel{ID: "a", Rooms: 1}, sendertest.Hotel{ID: "a", Rooms: 2}, sendertest.Hotel{ID: "a", Rooms: 3}, sendertest.Hotel{ID: "b"}, sendertest.Hotel{ID: "c"})
			require.NoError(t, r.Flush())
			assert.Equal(t, [][]string{{"a", "b", "c"}, {"a"}, {"a"}}, sendertest.KeysOf(r.Requests()))
		})
	})
	t.Run("different actions end as if applied one by one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 4}, AutoFlushInterval: time.Millisecond})
			add := func(a sendertest.Action) {
				require.NoError(t, r.Sender.IndexDocuments(sendertest.Within(t, time.Hour), a))
			}
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Status: 503}, {Nth: 4, Status: 409}}})
			add(models.MergeAction(sendertest.Hotel{ID: "k", Name: "too early"}))
			add(models.UploadAction(sendertest.Hotel{ID: "k", Name: "x", Rooms: 1}))
			add(models.DeleteAction(sendertest.Hotel{ID: "k"}))
			add(models.MergeOrUploadAction(sendertest.Hotel{ID: "k", Name: "y"}))
			add(models.MergeAction(sendertest.Hotel{ID: "k", Rooms: 7}))
			require.Error(t, r.Flush())
			var kinds []string
			for _, e := range r.Events("completed", "failed") {
				kinds = append(kinds, string(e.Action.Type)+" "+e.Kind)
			}
			assert.Equal(t, []string{"merge failed", "upload completed", "delete completed", "mergeOrUpload completed", "merge completed"}, kinds)
			raw, _ := r.Service.Document("hotels", "k")
			assert.JSONEq(t, `{"id":"k","name":"y","rooms":7}`, string(raw))
		})
	})
}

// A service that has not replied may still be working, and would apply the older write last.
func TestTheNextActionOfAKeyWaitsAfterARequestWithoutAReply(t *testing.T) {
	const wait = 5 * time.Second
	for name, c := range map[string]struct {
		answer sendertest.Answer
		ended  time.Duration // of the first request
		option time.Duration
		next   time.Duration // time of the second action, 0: at the end of the first
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
		for _, late := range []bool{false, true} { // true: the second is added after the first has settled
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

// B waits because A of its key was cut. After B is withdrawn, C has to wait.
func TestTheActionBehindOneThatWasWithdrawnWaitsToo(t *testing.T) {
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
		_, err := r.Sender.IndexDocumentsAndWait(ctx, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k", Rooms: 2})}, nil)
		require.Error(t, err, "the call waits for UnknownWait")
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

// B waits because A of its key was cut. Setting B apart must not end the wait.
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
		require.EqualValues(t, 1, r.Sender.Stats().Completed, "the first action is completed")
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
