package bufferedsender_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// guilty refuses whole requests that carry one of the keys, without naming it.
func guilty(status int, keys ...string) answer {
	return func(_ int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		for _, key := range keys {
			if slices.Contains(x.keys, key) {
				return reply(req, status, refusal("the service's own words")), nil
			}
		}
		return next()
	}
}

func TestG9RefusedBatchIsHalvedAndUsesNoAttempt(t *testing.T) {
	for name, f := range map[string]answer{
		"413": func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if len(x.keys) > 1 {
				return reply(req, 413, ""), nil
			}
			return next()
		},
		"400 that names no document": func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if len(x.keys) > 1 {
				return reply(req, 400, refusal("The request is invalid.")), nil
			}
			return next()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: -1}}) // one attempt is all there is
				r.respond(f)
				r.upload(hotels("k", 33)...)
				require.NoError(t, r.flush())
				assert.Zero(t, r.now(), "a split waits for nothing")
				for _, e := range r.seen("sent", "completed") {
					assert.Equal(t, 1, e.attempt, "attempts of %s", e.key)
				}
				for _, e := range r.seen("batch") {
					b := e.batch
					if b.StatusCode != 200 {
						assert.True(t, b.Split)
						assert.Zero(t, b.Succeeded+b.Failed+b.Retried)
						assert.Error(t, b.Err)
					}
				}
				assert.Zero(t, r.sender.Stats().Retries)
				assert.NotZero(t, r.sender.Stats().Splits)
				first := r.requests()
				assert.Equal(t, 33, len(first[0].keys))
				assert.InDelta(t, 33/2, len(first[1].keys), 1, "halves")
			})
		})
	}
}

func TestG9GuiltyActionFailsAloneWithTheServicesMessage(t *testing.T) {
	for _, status := range []int{400, 413} {
		for _, bad := range [][]string{{"k-0"}, {"k-99"}, {"k-50"}, {"k-0", "k-1", "k-57"}} {
			t.Run(fmt.Sprint(status, bad), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, nil)
					r.respond(guilty(status, bad...))
					r.upload(hotels("k", 100)...)
					require.Equal(t, len(bad), flushFailures(t, r.flush()))
					for _, key := range bad {
						failure := r.failure(key)
						assert.Equal(t, status, failure.Status)
						assert.ErrorContains(t, failure, "the service's own words")
						assert.False(t, failure.Exhausted, "another try is of no use")
					}
					assert.Len(t, r.seen("completed"), 100-len(bad))
					assert.LessOrEqual(t, len(r.requests()), 2*8*len(bad), "bisection, not one by one")
				})
			})
		}
	}
	t.Run("and is found at once if the service names it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.respond(func(_ int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if at := slices.Index(x.keys, "k-77"); at >= 0 {
					return reply(req, 400, refusal(fmt.Sprintf("The request is invalid. Details: actions : %d: Document key cannot be missing or empty.", at))), nil
				}
				return next()
			})
			r.upload(hotels("k", 1000)...)
			require.Equal(t, 1, flushFailures(t, r.flush()))
			assert.Equal(t, 400, r.failure("k-77").Status)
			assert.Len(t, r.indexed(), 999)
			assert.LessOrEqual(t, len(r.requests()), 4, "the whole, the guilty one, the rest in halves")
		})
	})
	t.Run("nor does a name that is wrong harm anyone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.respond(func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if slices.Contains(x.keys, "k-7") {
					return reply(req, 400, refusal(fmt.Sprintf("actions : %d: it was this one", []int{3, 99999, 0}[n%3]))), nil
				}
				return next()
			})
			r.upload(hotels("k", 20)...)
			require.Equal(t, 1, flushFailures(t, r.flush()))
			assert.Equal(t, 400, r.failure("k-7").Status)
			assert.Len(t, r.indexed(), 19)
		})
	})
	t.Run("which the emulator refuses for a wrong type", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := searchtest.NewServer(nil)
			require.NoError(t, srv.CreateIndex(hotelIndex))
			sender, err := bufferedsender.New[models.Document](newClient(t, srv), &bufferedsender.Options[models.Document]{Logger: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			closeAtLast(t, sender)
			for i := range 20 {
				doc := models.Document{"id": fmt.Sprint(i), "rooms": i}
				if i == 13 {
					doc["rooms"] = "thirteen"
				}
				if i == 17 {
					doc["pool"] = true
				}
				require.NoError(t, sender.UploadDocuments(t.Context(), doc))
			}
			var failed *bufferedsender.FlushError
			require.ErrorAs(t, sender.Flush(t.Context()), &failed)
			require.Len(t, failed.Errors, 2)
			found := []string{failed.Errors[0].Key, failed.Errors[1].Key}
			slices.Sort(found)
			assert.Equal(t, []string{"13", "17"}, found)
			assert.EqualValues(t, 18, srv.DocumentCount("hotels"))
			require.NoError(t, sender.Close(t.Context()))
		})
	})
}

func TestG9LearnedSizeLimit(t *testing.T) {
	const size = 500
	batch := func(r *rig, prefix string, n int) error {
		for i := range n {
			r.upload(sized(fmt.Sprint(prefix, "-", i), size))
		}
		return r.flush()
	}
	tooLarge := func(r *rig) (n int) {
		for _, x := range r.requests() {
			if x.status == 413 {
				n++
			}
		}
		return n
	}
	opts := hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 100_000}}
	t.Run("keeps the requests below what the service takes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &opts)
			r.faults(searchtest.Fault{OverBytes: 20_000})
			require.NoError(t, batch(r, "k", 4000))
			refused := tooLarge(r)
			assert.NotZero(t, refused)
			assert.Less(t, 5*refused, len(r.requests()), "of %d requests", len(r.requests()))
			assert.Less(t, r.sender.Stats().BatchBytesLimit, opts.Limits.MaxBatchBytes)
		})
	})
	t.Run("recovers after successes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &opts)
			r.faults(searchtest.Fault{OverBytes: 3_000})
			require.NoError(t, batch(r, "k", 400))
			require.Less(t, r.sender.Stats().BatchBytesLimit, 7_000)
			r.srv.SetFaults(nil)
			require.NoError(t, batch(r, "l", 10_000))
			assert.Equal(t, opts.Limits.MaxBatchBytes, r.sender.Stats().BatchBytesLimit)
			largest := 0
			for _, x := range r.requests()[1:] {
				if x.status == 200 {
					largest = max(largest, x.bytes)
				}
			}
			assert.Greater(t, largest, opts.Limits.MaxBatchBytes-2*size)
		})
	})
	t.Run("one giant document does not shrink everyone's batches for good", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &opts)
			r.respond(guilty(413, "giant"))
			r.upload(hotels("before", 50)...)
			r.upload(sized("giant", 90_000))
			r.upload(hotels("after", 50)...)
			require.Equal(t, 1, flushFailures(t, r.flush()))
			assert.Equal(t, 413, r.failure("giant").Status)
			n := len(r.requests())
			require.NoError(t, batch(r, "k", 10_000))
			assert.Equal(t, opts.Limits.MaxBatchBytes, r.sender.Stats().BatchBytesLimit)
			assert.Less(t, len(r.requests())-n, 2*10_000*size/opts.Limits.MaxBatchBytes, "requests, of at least 50")
		})
	})
	t.Run("lets a document pass that is larger than the limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &opts)
			r.faults(searchtest.Fault{OverActions: 2}) // 413 for another reason than size
			require.NoError(t, batch(r, "k", 40))
			r.upload(sized("large", 90_000))
			require.NoError(t, r.flush())
			assert.Equal(t, "completed", r.outcome("large").kind)
		})
	})
}

func TestG9SplitKeepsOrderAndBooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 16, MaxInFlight: 4}})
		r.faults(searchtest.Fault{OverActions: 3})
		for v := range 10 {
			for k := range 16 {
				r.upload(hotel{ID: fmt.Sprint("k", k), Rooms: v + 1})
			}
		}
		require.NoError(t, r.flush())
		for k := range 16 {
			rooms := []int{}
			for _, e := range r.seen("completed") {
				if e.key == fmt.Sprint("k", k) {
					rooms = append(rooms, e.action.Document.Rooms)
				}
			}
			assert.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, rooms)
		}
	})
	t.Run("and Close ends amid splits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.respond(func(_ int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				select {
				case <-time.After(time.Second):
				case <-req.Context().Done():
					return nil, req.Context().Err()
				}
				if len(x.keys) > 1 {
					return reply(req, 413, ""), nil
				}
				return next()
			})
			r.upload(hotels("k", 64)...)
			closed := closeError(t, r.sender.Close(within(t, 7500*time.Millisecond)))
			cut := r.requests()[len(r.requests())-1]
			assert.Equal(t, len(cut.keys), closed.Unknown, "requests that were refused have applied nothing")
			assert.Equal(t, 64, closed.Unknown+closed.Unsent+len(r.indexed()))
		})
	})
}

// rewrite lets the emulator answer and changes the body of the reply.
func rewrite(change func(body []byte) []byte) answer {
	return func(_ int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
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
