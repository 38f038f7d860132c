package batching

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// guilty refuses whole requests with one of the keys, without naming it.
func guilty(status int, keys ...string) sendertest.Answer {
	return func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		for _, key := range keys {
			if slices.Contains(x.Keys, key) {
				return sendertest.Reply(req, status, sendertest.ErrorBody("The request is invalid. Details: the service's own words")), nil
			}
		}
		return next()
	}
}

func TestARefusedBatchIsHalvedAndUsesNoAttempt(t *testing.T) {
	for name, f := range map[string]sendertest.Answer{
		"413": func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if len(x.Keys) > 1 {
				return sendertest.Reply(req, 413, ""), nil
			}
			return next()
		},
		"400 that names no document": func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if len(x.Keys) > 1 {
				return sendertest.Reply(req, 400, sendertest.ErrorBody("The request is invalid. Details: something in it is.")), nil
			}
			return next()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: -1}}) // only one attempt
				r.Respond(f)
				r.Upload(sendertest.Hotels("k", 33)...)
				require.NoError(t, r.Flush())
				assert.Zero(t, r.Now(), "a split waits for nothing")
				for _, e := range r.Events("sent", "completed") {
					assert.Equal(t, 1, e.Attempt, "attempts of %s", e.Key)
				}
				for _, e := range r.Events("batch") {
					b := e.Batch
					if b.StatusCode != 200 {
						assert.True(t, b.Split)
						assert.Zero(t, b.Succeeded+b.Failed+b.Retried)
						assert.Error(t, b.Err)
					}
				}
				assert.Zero(t, r.Sender.Stats().Retries)
				assert.NotZero(t, r.Sender.Stats().Splits)
				first := r.Requests()
				assert.Equal(t, 33, len(first[0].Keys))
				assert.InDelta(t, 33/2, len(first[1].Keys), 1, "halves")
			})
		})
	}
}

func TestTheGuiltyActionFailsAloneWithTheServicesMessage(t *testing.T) {
	for _, status := range []int{400, 413} {
		for _, bad := range [][]string{{"k-0"}, {"k-99"}, {"k-50"}, {"k-0", "k-1", "k-57"}} {
			t.Run(fmt.Sprint(status, bad), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := sendertest.New(t, nil)
					r.Respond(guilty(status, bad...))
					r.Upload(sendertest.Hotels("k", 100)...)
					require.Equal(t, len(bad), sendertest.FlushFailures(t, r.Flush()))
					for _, key := range bad {
						failure := r.Failure(key)
						assert.Equal(t, status, failure.Status)
						assert.ErrorContains(t, failure, "the service's own words")
						assert.False(t, failure.Exhausted, "a retry is useless")
					}
					assert.Len(t, r.Events("completed"), 100-len(bad))
					assert.LessOrEqual(t, len(r.Requests()), 2*8*len(bad), "bisection, not one by one")
				})
			})
		}
	}
	t.Run("the service names the document, and it is found at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if at := slices.Index(x.Keys, "k-77"); at >= 0 {
					return sendertest.Reply(req, 400, sendertest.ErrorBody(fmt.Sprintf("The request is invalid. Details: actions : %d: Document key cannot be missing or empty.", at))), nil
				}
				return next()
			})
			r.Upload(sendertest.Hotels("k", 1000)...)
			require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
			assert.Equal(t, 400, r.Failure("k-77").Status)
			assert.Len(t, r.Indexed(), 999)
			assert.LessOrEqual(t, len(r.Requests()), 4, "the whole, the guilty document, and the rest in halves")
		})
	})
	t.Run("a wrong name harms no other document", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if slices.Contains(x.Keys, "k-7") {
					return sendertest.Reply(req, 400, sendertest.ErrorBody(fmt.Sprintf("actions : %d: it was this one", []int{3, 99999, 0}[n%3]))), nil
				}
				return next()
			})
			r.Upload(sendertest.Hotels("k", 20)...)
			require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
			assert.Equal(t, 400, r.Failure("k-7").Status)
			assert.Len(t, r.Indexed(), 19)
		})
	})
	t.Run("a document that the emulator refuses for a wrong type", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := searchtest.NewServer(nil)
			require.NoError(t, srv.CreateIndex(sendertest.HotelIndex))
			sender, err := bufferedsender.New[models.Document](sendertest.NewClient(t, srv), &bufferedsender.Options[models.Document]{Logger: sendertest.NoLog})
			require.NoError(t, err)
			sendertest.CloseAtEnd(t, sender)
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
			require.ErrorAs(t, sender.Flush(t.Context(), nil), &failed)
			require.Len(t, failed.Errors, 2)
			found := []string{failed.Errors[0].Key, failed.Errors[1].Key}
			slices.Sort(found)
			assert.Equal(t, []string{"13", "17"}, found)
			assert.EqualValues(t, 18, srv.DocumentCount("hotels"))
			require.NoError(t, sender.Close(t.Context()))
		})
	})
}

func TestTheSizeLimitOfTheServiceIsLearned(t *testing.T) {
	testkit.Long(t)
	const size = 500
	batch := func(r *sendertest.Rig, prefix string, n int) error {
		for i := range n {
			r.Upload(sendertest.HotelOfSize(fmt.Sprint(prefix, "-", i), size))
		}
		return r.Flush()
	}
	tooLarge := func(r *sendertest.Rig) (n int) {
		for _, x := range r.Requests() {
			if x.Status == 413 {
				n++
			}
		}
		return n
	}
	opts := sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 100_000}}
	t.Run("keeps the requests below the service's limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &opts)
			r.Faults(searchtest.Fault{OverBytes: 20_000})
			require.NoError(t, batch(r, "k", 4000))
			refused := tooLarge(r)
			assert.NotZero(t, refused)
			assert.Less(t, 5*refused, len(r.Requests()), "of %d requests", len(r.Requests()))
			assert.Less(t, r.Sender.Stats().BatchBytesLimit, opts.Limits.MaxBatchBytes)
		})
	})
	t.Run("recovers after successes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &opts)
			r.Faults(searchtest.Fault{OverBytes: 3_000})
			require.NoError(t, batch(r, "k", 400))
			require.Less(t, r.Sender.Stats().BatchBytesLimit, 7_000)
			r.Service.SetFaults(nil)
			require.NoError(t, batch(r, "l", 10_000))
			assert.Equal(t, opts.Limits.MaxBatchBytes, r.Sender.Stats().BatchBytesLimit)
			largest := 0
			for _, x := range r.Requests()[1:] {
				if x.Status == 200 {
					largest = max(largest, x.Bytes)
				}
			}
			assert.Greater(t, largest, opts.Limits.MaxBatchBytes-2*size)
		})
	})
	t.Run("one giant document does not reduce the size of all later batches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &opts)
			r.Respond(guilty(413, "giant"))
			r.Upload(sendertest.Hotels("before", 50)...)
			r.Upload(sendertest.HotelOfSize("giant", 90_000))
			r.Upload(sendertest.Hotels("after", 50)...)
			require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
			assert.Equal(t, 413, r.Failure("giant").Status)
			n := len(r.Requests())
			require.NoError(t, batch(r, "k", 10_000))
			assert.Equal(t, opts.Limits.MaxBatchBytes, r.Sender.Stats().BatchBytesLimit)
			assert.Less(t, len(r.Requests())-n, 2*10_000*size/opts.Limits.MaxBatchBytes, "requests, of at least 50")
		})
	})
	t.Run("lets a document pass that is larger than the limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &opts)
			r.Faults(searchtest.Fault{OverActions: 2}) // 413 for another reason than size
			require.NoError(t, batch(r, "k", 40))
			r.Upload(sendertest.HotelOfSize("large", 90_000))
			require.NoError(t, r.Flush())
			assert.Equal(t, "completed", r.Outcome("large").Kind)
		})
	})
}

func TestASplitKeepsOrderAndAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 16, MaxInFlight: 4}})
		r.Faults(searchtest.Fault{OverActions: 3})
		for v := range 10 {
			for k := range 16 {
				r.Upload(sendertest.Hotel{ID: fmt.Sprint("k", k), Rooms: v + 1})
			}
		}
		require.NoError(t, r.Flush())
		for k := range 16 {
			rooms := []int{}
			for _, e := range r.Events("completed") {
				if e.Key == fmt.Sprint("k", k) {
					rooms = append(rooms, e.Action.Document.Rooms)
				}
			}
			assert.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, rooms)
		}
	})
	t.Run("Close ends during splits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				select {
				case <-time.After(time.Second):
				case <-req.Context().Done():
					return nil, req.Context().Err()
				}
				if len(x.Keys) > 1 {
					return sendertest.Reply(req, 413, ""), nil
				}
				return next()
			})
			r.Upload(sendertest.Hotels("k", 64)...)
			closed := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, 7500*time.Millisecond)))
			cut := r.Requests()[len(r.Requests())-1]
			assert.Equal(t, len(cut.Keys), closed.Unknown, "requests that were refused have applied nothing")
			assert.Equal(t, 64, closed.Unknown+closed.Unsent+len(r.Indexed()))
		})
	})
}

// A refused request has one pause, so that its documents are sent together again.
func TestARefusedRequestDoesNotComeBackInTinyParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 1000}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		r.Respond(func(n int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n == 8 {
				time.Sleep(10 * time.Millisecond)
				return sendertest.Reply(req, 429, ""), nil
			}
			time.Sleep(5 * time.Millisecond)
			return next()
		})
		r.Upload(sendertest.Hotels("k", 8000)...)
		require.NoError(t, r.Close())
		assert.Len(t, r.Requests(), 9)
	})
}

func TestA413OfARequestFromBeforeSetControlDoesNotWidenThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 100_000}})
		r.Faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Second), Status: 413})
		var docs []sendertest.Hotel
		for i := range 2000 {
			docs = append(docs, sendertest.HotelOfSize(fmt.Sprint("k-", i), 150))
		}
		r.Upload(docs[:1000]...)
		synctest.Wait()
		require.Len(t, r.Requests(), 1)
		_, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchBytes: 2000}})
		require.NoError(t, err)
		r.Upload(docs[1000:]...)
		require.NoError(t, r.Close())
		for _, x := range r.Requests()[1:] {
			require.LessOrEqual(t, x.Bytes, 2000)
		}
		assert.LessOrEqual(t, r.Sender.Stats().BatchBytesLimit, 2000)
	})
}

func TestThePartsOfARefusedBatchKeepToNewLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 8}})
		r.Faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Second), Status: 413})
		r.Upload(sendertest.Hotels("k", 8)...)
		synctest.Wait()
		_, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: 1}})
		require.NoError(t, err)
		require.NoError(t, r.Close())
		wire := r.Requests()
		require.Len(t, wire, 9)
		for _, x := range wire[1:] {
			assert.Len(t, x.Keys, 1)
		}
	})
}
