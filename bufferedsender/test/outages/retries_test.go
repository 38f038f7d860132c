package outages

import (
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

// bounded returns the delay for a failing service, given the random back-off and the duration of the failure.
func bounded(draw, failing time.Duration) time.Duration {
	return min(draw, max(time.Second, failing), 30*time.Second)
}

func TestNothingWaitsLongerForAServiceThanItHasFailed(t *testing.T) {
	broken := func(int, *sendertest.Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
		return nil, errors.New("connection refused")
	}
	for name, f := range map[string]sendertest.Answer{
		"a throttled request": sendertest.Always(503, sendertest.ErrorBody("busy")),
		"a throttled document": func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			return sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
				rs[0]["status"], rs[0]["statusCode"] = false, 503
				return rs
			})(n, x, req, next)
		},
		"a document with a 5xx": func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			return sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
				rs[0]["status"], rs[0]["statusCode"] = false, 500
				return rs
			})(n, x, req, next)
		},
		"a broken connection": broken,
		"a malformed reply":   sendertest.RewriteTo("malformed"),
	} {
		t.Run("pauses double and never overflow, after "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 100, Jitter: -1}})
				r.Respond(f)
				r.Upload(sendertest.Hotels("k", 1)...)
				require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
				gaps := r.RequestGaps()
				require.Len(t, gaps, 100)
				draw, failing := 800*time.Millisecond, time.Duration(0)
				for i, gap := range gaps {
					assert.Equal(t, bounded(draw, failing), gap, "before attempt %d", i+2)
					draw, failing = min(2*draw, time.Minute), failing+gap
				}
			})
		})
		t.Run("pauses are jittered, after "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 60}})
				r.Respond(f)
				r.Upload(sendertest.Hotels("k", 1)...)
				require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
				seen, bound, failing := map[time.Duration]bool{}, 800*time.Millisecond, time.Duration(0)
				for _, gap := range r.RequestGaps() {
					assert.GreaterOrEqual(t, gap, time.Duration(0))
					assert.LessOrEqual(t, gap, bounded(bound, failing))
					seen[gap] = true
					bound, failing = min(2*bound, time.Minute), failing+gap
				}
				assert.Greater(t, len(seen), 20) // half of the random values exceed the bound of 30 s
			})
		})
	}
	t.Run("pauses are not cut short by Flush, additions or full batches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 5}, AutoFlushInterval: time.Millisecond, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
			r.Faults(searchtest.Fault{Count: 1, Status: 503})
			r.Upload(sendertest.Hotels("k", 5)...)
			time.Sleep(time.Second)
			r.Upload(sendertest.Hotels("l", 12)...)
			require.NoError(t, r.Flush())
			assert.Equal(t, 10*time.Second, r.Requests()[1].At)
		})
	})
}

// If other documents pass, a failing document says nothing about the service: its delays follow Options.Retry.
func TestBackOffOfADocumentDoublesToItsCap(t *testing.T) {
	busy := sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
		rs[0]["status"], rs[0]["statusCode"] = false, 409
		return rs
	})
	t.Run("the delay never overflows", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 100, Jitter: -1}})
			r.Respond(busy)
			r.Upload(sendertest.Hotels("k", 1)...)
			require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
			gaps := r.RequestGaps()
			require.Len(t, gaps, 100)
			want := 800 * time.Millisecond
			for i, gap := range gaps {
				assert.Equal(t, want, gap, "before attempt %d", i+2)
				want = min(2*want, time.Minute)
			}
		})
	})
	t.Run("the delay with jitter", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 60}})
			r.Respond(busy)
			r.Upload(sendertest.Hotels("k", 1)...)
			require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
			seen, bound := map[time.Duration]bool{}, 800*time.Millisecond
			for _, gap := range r.RequestGaps() {
				assert.LessOrEqual(t, gap, bound)
				seen[gap] = true
				bound = min(2*bound, time.Minute)
			}
			assert.Greater(t, len(seen), 50)
		})
	})
}

func TestRetryAfterIsAFloorOfThePause(t *testing.T) {
	for _, form := range []searchtest.RetryAfterForm{searchtest.RetryAfterSeconds, searchtest.RetryAfterDate, searchtest.RetryAfterMS, searchtest.RetryAfterXMS} {
		for _, status := range []int{429, 503} {
			for name, c := range map[string]struct{ delay, header, want time.Duration }{
				"longer than the back-off":  {time.Millisecond, 97 * time.Second, 97 * time.Second},
				"shorter than the back-off": {20 * time.Second, 7 * time.Second, 20 * time.Second},
			} {
				t.Run(fmt.Sprintf("%s %d, %s", form, status, name), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{Delay: c.delay, MaxDelay: c.delay, Jitter: -1}})
						r.Faults(searchtest.Fault{Count: 2, Status: status, RetryAfter: searchtest.Duration(c.header), RetryAfterForm: form})
						r.Upload(sendertest.Hotels("k", 3)...)
						require.NoError(t, r.Flush())
						assert.Equal(t, []time.Duration{c.want, c.want}, r.RequestGaps())
					})
				})
			}
		}
	}
	t.Run("a Retry-After of this moment, of the past, or without sense does not count", func(t *testing.T) {
		const want = 10 * time.Second // the back-off
		for _, header := range []string{"Fri, 31 Dec 1999 00:00:00 GMT", "0", "-5", "soon", ""} {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
				r.Respond(sendertest.First(1, sendertest.Always(503, sendertest.ErrorBody("busy"), "Retry-After", header)))
				r.Upload(sendertest.Hotels("k", 3)...)
				require.NoError(t, r.Flush())
				assert.Equal(t, []time.Duration{want}, r.RequestGaps(), "Retry-After: %s", header)
			})
		}
	})
	t.Run("Close ends an absurdly long pause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(sendertest.Always(429, sendertest.ErrorBody("busy"), "Retry-After", "99999999999999999999"))
			r.Upload(sendertest.Hotels("k", 3)...)
			closed := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, 5*time.Minute)))
			assert.Equal(t, 3, closed.Unsent)
			assert.Len(t, r.Requests(), 1)
			assert.Equal(t, 5*time.Minute, r.Now())
		})
	})
}

func TestAThrottledReplyPausesTheWholeSender(t *testing.T) {
	for name, fault := range map[string]searchtest.Fault{
		"a request with 429":  {Count: 1, Status: 429},
		"a request with 503":  {Count: 1, Status: 503},
		"a request with 500":  {Count: 1, Status: 500},
		"a request with 502":  {Count: 1, Status: 502},
		"a request with 504":  {Count: 1, Status: 504},
		"a request with 408":  {Count: 1, Status: 408},
		"a document with 503": {Count: 1, Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Status: 503}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxInFlight: 4}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
				r.Faults(fault)
				r.Upload(sendertest.Hotels("k", 3)...)
				synctest.Wait()
				r.Upload(sendertest.Hotels("l", 20)...) // full batches, other keys, free slots
				require.NoError(t, r.Flush())
				xs := r.Requests()
				require.Greater(t, len(xs), 3)
				for _, x := range xs[1:] {
					assert.Equal(t, 10*time.Second, x.At)
				}
				assert.EqualValues(t, 1, r.Sender.Stats().Pauses)
			})
		})
	}
	t.Run("the longest of several pauses counts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxInFlight: 2}})
			// A millisecond, or the second request may see the pause before it is sent.
			r.Faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Millisecond), Status: 503, RetryAfter: searchtest.Duration(100 * time.Second)},
				searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Second), Status: 503, RetryAfter: searchtest.Duration(5 * time.Second)})
			r.Upload(sendertest.Hotels("k", 6)...)
			require.NoError(t, r.Flush())
			for _, x := range r.Requests()[2:] {
				assert.Equal(t, 100*time.Second+time.Millisecond, x.At)
			}
		})
	})
}

func TestARefusedDocumentDelaysOnlyItsKey(t *testing.T) {
	for _, status := range []int{409, 422} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
				r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Nth: 1, Status: status}}})
				r.Upload(sendertest.Hotels("k", 3)...)
				time.Sleep(time.Second)
				r.Upload(sendertest.Hotel{ID: "k-1", Rooms: 99}) // waits for the earlier action of its key
				r.Upload(sendertest.Hotels("l", 6)...)
				synctest.Wait()
				for _, d := range sendertest.Hotels("l", 6) {
					assert.Equal(t, time.Second, r.Outcome(d.ID).At, d.ID)
				}
				require.NoError(t, r.Flush())
				var at []time.Duration
				for _, e := range r.Events("completed") {
					if e.Key == "k-1" {
						at = append(at, e.At)
					}
				}
				assert.Equal(t, []time.Duration{10 * time.Second, 10 * time.Second}, at)
				assert.Zero(t, r.Sender.Stats().Pauses)
				raw, _ := r.Service.Document("hotels", "k-1")
				assert.Contains(t, string(raw), "99")
			})
		})
	}
}

// With separate random delays a batch would come back as a hundred requests.
func TestDocumentsRefusedTogetherComeBackTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Ratio: 1, Nth: 1, Status: 409}}})
		r.Upload(sendertest.Hotels("k", 100)...)
		require.NoError(t, r.Flush())
		assert.Len(t, r.Requests(), 2)
	})
}

func TestRetriedActionsGoFirst(t *testing.T) {
	t.Run("retried actions before new ones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 4}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
			r.Faults(searchtest.Fault{Count: 1, Status: 503})
			r.Upload(sendertest.Hotels("old", 4)...)
			synctest.Wait()
			r.Upload(sendertest.Hotels("new", 10)...)
			require.NoError(t, r.Flush())
			assert.Equal(t, sendertest.IDs(sendertest.Hotels("old", 4)), r.Requests()[1].Keys)
		})
	})
	t.Run("together with new ones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 4}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
			r.Faults(searchtest.Fault{Count: 1, Documents: []searchtest.DocumentFault{{Keys: []string{"old-[12]"}, Status: 409}}},
				searchtest.Fault{Delay: searchtest.Duration(4 * time.Second)})
			r.Upload(sendertest.Hotels("old", 4)...)
			synctest.Wait()
			r.Upload(sendertest.Hotels("new", 30)...)
			require.NoError(t, r.Flush())
			for _, x := range r.Requests() {
				if x.At == 12*time.Second { // the first after they are due
					assert.Equal(t, []string{"old-1", "old-2"}, x.Keys[:2])
					assert.Len(t, x.Keys, 4)
				}
			}
		})
	})
	for name, opts := range map[string]sendertest.Options{
		"without a timer": {AutoFlushInterval: -1}, "without auto-flush": {DisableAutoFlush: true}, "with a long timer": {AutoFlushInterval: time.Hour},
	} {
		t.Run("retried actions do not wait for a fuller batch "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Limits.MaxBatchActions = 3
				opts.Retry = retry.Options{Delay: 10 * time.Second, Jitter: -1}
				r := sendertest.New(t, &opts)
				r.Faults(searchtest.Fault{Delay: searchtest.Duration(time.Second), Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Nth: 1, Status: 409}}})
				r.Upload(sendertest.Hotels("k", 3)...)
				if opts.DisableAutoFlush {
					require.Error(t, r.Sender.Flush(sendertest.Within(t, time.Millisecond), nil), "no call waits any longer")
				}
				time.Sleep(time.Minute)
				assert.Equal(t, 12*time.Second, r.Outcome("k-1").At)
			})
		})
	}
	t.Run("the parts of a split wait for no timer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 8}, AutoFlushInterval: -1})
			r.Faults(searchtest.Fault{OverActions: 3})
			r.Upload(sendertest.Hotels("k", 8)...)
			synctest.Wait()
			assert.Len(t, r.Indexed(), 8)
		})
	})
}

// The timer that Close, Flush and pauses share must not be lost.
func TestAPauseEndsForWhateverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, AutoFlushInterval: -1, Retry: retry.Options{MaxRetries: 20, Delay: time.Second, Jitter: -1}})
		r.Faults(searchtest.Fault{Every: 2, Status: 503, RetryAfter: searchtest.Duration(7 * time.Second)})
		for i := range 20 {
			require.NoError(t, r.Sender.IndexDocuments(t.Context(), models.UploadAction(sendertest.Hotel{ID: fmt.Sprint(i)})))
		}
		time.Sleep(time.Hour)
		assert.Len(t, r.Indexed(), 20)
	})
}
