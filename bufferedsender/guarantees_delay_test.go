package bufferedsender_test

import (
	"errors"
	"fmt"
	"net/http"
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

// gaps returns the times between the requests.
func (r *rig) gaps() (ds []time.Duration) {
	xs := r.requests()
	for i := 1; i < len(xs); i++ {
		ds = append(ds, xs[i].at-xs[i-1].at)
	}
	return ds
}

// bounded is how long to wait for a service that fails, when the back-off says
// draw and the service has failed for so long.
func bounded(draw, failing time.Duration) time.Duration {
	return min(draw, max(time.Second, failing), 30*time.Second)
}

func TestNothingWaitsLongerForAServiceThanItHasFailed(t *testing.T) {
	broken := func(int, *exchange, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
		return nil, errors.New("connection refused")
	}
	for name, f := range map[string]answer{
		"a throttled request": always(503, refusal("busy")),
		"a throttled document": func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			return results(func(rs []wireResult) []wireResult { rs[0]["status"], rs[0]["statusCode"] = false, 503; return rs })(n, x, req, next)
		},
		"a document with a 5xx": func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			return results(func(rs []wireResult) []wireResult { rs[0]["status"], rs[0]["statusCode"] = false, 500; return rs })(n, x, req, next)
		},
		"a broken connection": broken,
		"a malformed reply":   whole("rubbish"),
	} {
		t.Run("pauses double and never overflow, after "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 100, Jitter: -1}})
				r.respond(f)
				r.upload(hotels("k", 1)...)
				require.Equal(t, 1, flushFailures(t, r.flush()))
				gaps := r.gaps()
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
				r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 60}})
				r.respond(f)
				r.upload(hotels("k", 1)...)
				require.Equal(t, 1, flushFailures(t, r.flush()))
				seen, bound, failing := map[time.Duration]bool{}, 800*time.Millisecond, time.Duration(0)
				for _, gap := range r.gaps() {
					assert.GreaterOrEqual(t, gap, time.Duration(0))
					assert.LessOrEqual(t, gap, bounded(bound, failing))
					seen[gap] = true
					bound, failing = min(2*bound, time.Minute), failing+gap
				}
				assert.Greater(t, len(seen), 20) // half of the draws are above the bound of 30 s
			})
		})
	}
	t.Run("pauses are not cut short by Flush, additions or full batches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 5}, AutoFlushInterval: time.Millisecond, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
			r.faults(searchtest.Fault{Count: 1, Status: 503})
			r.upload(hotels("k", 5)...)
			time.Sleep(time.Second)
			r.upload(hotels("l", 12)...)
			require.NoError(t, r.flush())
			assert.Equal(t, 10*time.Second, r.requests()[1].at)
		})
	})
}

// A document that others do not keep from being applied has nothing to do with the
// service: its delays have the bounds of Options.Retry.
func TestBackOffOfADocumentDoublesToItsCap(t *testing.T) {
	busy := results(func(rs []wireResult) []wireResult { rs[0]["status"], rs[0]["statusCode"] = false, 409; return rs })
	t.Run("and never overflows", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 100, Jitter: -1}})
			r.respond(busy)
			r.upload(hotels("k", 1)...)
			require.Equal(t, 1, flushFailures(t, r.flush()))
			gaps := r.gaps()
			require.Len(t, gaps, 100)
			want := 800 * time.Millisecond
			for i, gap := range gaps {
				assert.Equal(t, want, gap, "before attempt %d", i+2)
				want = min(2*want, time.Minute)
			}
		})
	})
	t.Run("with jitter", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 60}})
			r.respond(busy)
			r.upload(hotels("k", 1)...)
			require.Equal(t, 1, flushFailures(t, r.flush()))
			seen, bound := map[time.Duration]bool{}, 800*time.Millisecond
			for _, gap := range r.gaps() {
				assert.LessOrEqual(t, gap, bound)
				seen[gap] = true
				bound = min(2*bound, time.Minute)
			}
			assert.Greater(t, len(seen), 50)
		})
	})
}

func TestRetryAfterIsAFloorOfThePause(t *testing.T) {
	for _, form := range []searchtest.RetryAfterForm{searchtest.RetryAfterSeconds, searchtest.RetryAfterDate, searchtest.RetryAfterMS, searchtest.XMSRetryAfterMS} {
		for _, status := range []int{429, 503} {
			for name, c := range map[string]struct{ delay, header, want time.Duration }{
				"longer than the back-off":  {time.Millisecond, 97 * time.Second, 97 * time.Second},
				"shorter than the back-off": {20 * time.Second, 7 * time.Second, 20 * time.Second},
			} {
				t.Run(fmt.Sprintf("%s %d, %s", form, status, name), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						r := newRig(t, &hotelOptions{Retry: retry.Options{Delay: c.delay, MaxDelay: c.delay, Jitter: -1}})
						r.faults(searchtest.Fault{Count: 2, Status: status, RetryAfter: searchtest.Duration(c.header), RetryAfterForm: form})
						r.upload(hotels("k", 3)...)
						require.NoError(t, r.flush())
						assert.Equal(t, []time.Duration{c.want, c.want}, r.gaps())
					})
				})
			}
		}
	}
	t.Run("but not if it names this moment, one that has passed, or nonsense", func(t *testing.T) {
		const want = 10 * time.Second // the back-off
		for _, header := range []string{"Fri, 31 Dec 1999 00:00:00 GMT", "0", "-5", "soon", ""} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
				r.respond(onlyFirst(1, always(503, refusal("busy"), "Retry-After", header)))
				r.upload(hotels("k", 3)...)
				require.NoError(t, r.flush())
				assert.Equal(t, []time.Duration{want}, r.gaps(), "Retry-After: %s", header)
			})
		}
	})
	t.Run("and one that is absurdly long ends with Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.respond(always(429, refusal("busy"), "Retry-After", "99999999999999999999"))
			r.upload(hotels("k", 3)...)
			closed := closeError(t, r.sender.Close(within(t, 5*time.Minute)))
			assert.Equal(t, 3, closed.Unsent)
			assert.Len(t, r.requests(), 1)
			assert.Equal(t, 5*time.Minute, r.now())
		})
	})
}

func TestG13ThrottledReplyPausesTheWholeSender(t *testing.T) {
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
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxInFlight: 4}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
				r.faults(fault)
				r.upload(hotels("k", 3)...)
				synctest.Wait()
				r.upload(hotels("l", 20)...) // full batches, other keys, free slots
				require.NoError(t, r.flush())
				xs := r.requests()
				require.Greater(t, len(xs), 3)
				for _, x := range xs[1:] {
					assert.Equal(t, 10*time.Second, x.at)
				}
				assert.EqualValues(t, 1, r.sender.Stats().Pauses)
			})
		})
	}
	t.Run("and the longest of several pauses counts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxInFlight: 2}})
			r.faults(searchtest.Fault{Count: 1, Status: 503, RetryAfter: searchtest.Duration(100 * time.Second)},
				searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Second), Status: 503, RetryAfter: searchtest.Duration(5 * time.Second)})
			r.upload(hotels("k", 6)...)
			require.NoError(t, r.flush())
			for _, x := range r.requests()[2:] {
				assert.Equal(t, 100*time.Second, x.at)
			}
		})
	})
}

func TestG13RefusedDocumentDelaysOnlyItsKey(t *testing.T) {
	for _, status := range []int{409, 422} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
				r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Nth: 1, Status: status}}})
				r.upload(hotels("k", 3)...)
				time.Sleep(time.Second)
				r.upload(hotel{ID: "k-1", Rooms: 99}) // waits for its elder
				r.upload(hotels("l", 6)...)
				synctest.Wait()
				for _, d := range hotels("l", 6) {
					assert.Equal(t, time.Second, r.outcome(d.ID).at, d.ID)
				}
				require.NoError(t, r.flush())
				var at []time.Duration
				for _, e := range r.seen("completed") {
					if e.key == "k-1" {
						at = append(at, e.at)
					}
				}
				assert.Equal(t, []time.Duration{10 * time.Second, 10 * time.Second}, at)
				assert.Zero(t, r.sender.Stats().Pauses)
				raw, _ := r.srv.Document("hotels", "k-1")
				assert.Contains(t, string(raw), "99")
			})
		})
	}
}

func TestG13RetriedActionsGoFirst(t *testing.T) {
	t.Run("before new ones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 4}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
			r.faults(searchtest.Fault{Count: 1, Status: 503})
			r.upload(hotels("old", 4)...)
			synctest.Wait()
			r.upload(hotels("new", 10)...)
			require.NoError(t, r.flush())
			assert.Equal(t, ids(hotels("old", 4)), r.requests()[1].keys)
		})
	})
	t.Run("together with new ones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 4}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
			r.faults(searchtest.Fault{Count: 1, Documents: []searchtest.DocumentFault{{Keys: []string{"old-[12]"}, Status: 409}}},
				searchtest.Fault{Delay: searchtest.Duration(4 * time.Second)})
			r.upload(hotels("old", 4)...)
			synctest.Wait()
			r.upload(hotels("new", 30)...)
			require.NoError(t, r.flush())
			for _, x := range r.requests() {
				if x.at == 12*time.Second { // the first after they are due
					assert.Equal(t, []string{"old-1", "old-2"}, x.keys[:2])
					assert.Len(t, x.keys, 4)
				}
			}
		})
	})
	for name, opts := range map[string]hotelOptions{
		"without a timer": {AutoFlushInterval: -1}, "without auto-flush": {DisableAutoFlush: true}, "with a long timer": {AutoFlushInterval: time.Hour},
	} {
		t.Run("and are never stuck waiting for a fuller batch "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Limits.MaxBatchActions = 3
				opts.Retry = retry.Options{Delay: 10 * time.Second, Jitter: -1}
				r := newRig(t, &opts)
				r.faults(searchtest.Fault{Delay: searchtest.Duration(time.Second), Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Nth: 1, Status: 409}}})
				r.upload(hotels("k", 3)...)
				if opts.DisableAutoFlush {
					require.Error(t, r.sender.Flush(within(t, time.Millisecond)), "nobody waits any more")
				}
				time.Sleep(time.Minute)
				assert.Equal(t, 12*time.Second, r.outcome("k-1").at)
			})
		})
	}
	t.Run("and neither are the parts of a split", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 8}, AutoFlushInterval: -1})
			r.faults(searchtest.Fault{OverActions: 3})
			r.upload(hotels("k", 8)...)
			synctest.Wait()
			assert.Len(t, r.indexed(), 8)
		})
	})
}

// The timer that Close, Flush and pauses share must not go astray.
func TestG13PauseEndsForWhateverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, AutoFlushInterval: -1, Retry: retry.Options{MaxRetries: 20, Delay: time.Second, Jitter: -1}})
		r.faults(searchtest.Fault{Every: 2, Status: 503, RetryAfter: searchtest.Duration(7 * time.Second)})
		for i := range 20 {
			require.NoError(t, r.sender.IndexDocuments(t.Context(), models.UploadAction(hotel{ID: fmt.Sprint(i)})))
		}
		time.Sleep(time.Hour)
		assert.Len(t, r.indexed(), 20)
	})
}
