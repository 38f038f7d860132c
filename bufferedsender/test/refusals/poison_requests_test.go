package refusals

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
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
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// A failure of a request with several documents says nothing about any one of them.

func TestADocumentThatBreaksTheConnectionFailsAlone(t *testing.T) {
	for _, n := range []int{100, 1000} {
		for name, a := range map[string]sendertest.Answer{"reset": sendertest.BreakConnection, "500": sendertest.Always(500, sendertest.ErrorBody("out of order")), "time-out": sendertest.Hang} {
			t.Run(fmt.Sprintf("among %d, %s", n, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := sendertest.WithBreaker(t)
					opts.RequestTimeout = 10 * time.Second
					r := sendertest.New(t, opts)
					r.Respond(sendertest.When(sendertest.Carrying("k-57"), a))
					r.Upload(sendertest.Hotels("k", n)...)
					require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
					failure := r.OnlyFailed("k-57", n-1)
					assert.Equal(t, models.ReasonUnreachable, failure.Reason)
					assert.True(t, failure.Unknown)
					assert.True(t, failure.Exhausted)
					assert.False(t, failure.Rejected(), "the document cannot be blamed")
					var others time.Duration // time at which the last of the others was applied
					for _, e := range r.Events("completed") {
						others = max(others, e.At)
					}
					t.Log("requests:", len(r.Requests()), "others:", others, "end:", r.Now())
				})
			})
		}
	}
}

func TestARequestThatFailsWithSeveralActionsUsesNoAttempt(t *testing.T) {
	for name, a := range map[string]sendertest.Answer{
		"reset": sendertest.BreakConnection, "500": sendertest.Always(500, ""), "502": sendertest.Always(502, ""), "malformed": sendertest.Always(200, "<html>"), "time-out": sendertest.Hang,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := sendertest.WithBreaker(t)
				opts.Retry = retry.Options{MaxRetries: 1}
				opts.RequestTimeout = 10 * time.Second
				r := sendertest.New(t, opts)
				r.Respond(sendertest.First(20, a))
				r.Upload(sendertest.Hotels("k", 5)...)
				require.NoError(t, r.Flush())
				r.AllCompleted(5)
			})
		})
	}
}

func TestHalfOfAllRequestsFailingByChanceLosesNothing(t *testing.T) {
	seeds := uint64(5)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for _, inFlight := range []int{1, 4} {
			t.Run(fmt.Sprintf("seed %d, %d in flight", seed, inFlight), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := sendertest.WithBreaker(t)
					opts.Limits.MaxBatchActions, opts.Limits.MaxInFlight = 100, inFlight
					r := sendertest.New(t, opts)
					var mu sync.Mutex // guards draw
					draw := rand.New(rand.NewPCG(seed, 0))
					r.Respond(func(_ int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
						mu.Lock()
						fails := draw.IntN(2) == 0
						mu.Unlock()
						time.Sleep(50 * time.Millisecond)
						if fails {
							return sendertest.Reply(req, 502, ""), nil
						}
						return next()
					})
					r.Upload(sendertest.Hotels("k", 4000)...)
					require.NoError(t, r.Flush())
					r.AllCompleted(4000)
					assert.Less(t, len(r.Requests()), 1000)
					t.Log("requests:", len(r.Requests()), "end:", r.Now())
				})
			})
		}
	}
}

func TestALineTooSlowForAFullBatchLosesNothing(t *testing.T) {
	testkit.Long(t)
	for _, bytes := range []int{20_000, 2000, 200} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, sendertest.WithBreaker(t))
				r.Respond(sendertest.When(func(_ int, x *sendertest.Request) bool { return x.Bytes > bytes }, sendertest.Hang))
				r.Upload(sendertest.Hotels("k", 3000)...)
				require.NoError(t, r.Flush())
				r.AllCompleted(3000)
				t.Log("requests:", len(r.Requests()), "end:", r.Now())
			})
		})
	}
}

// Only a batch that is refused for its content is split; an outage splits nothing.
func TestAnOutageLeavesBatchesAsLargeAsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.Limits.MaxBatchActions = 100
		r := sendertest.New(t, opts)
		r.Respond(sendertest.When(sendertest.Before(5*time.Minute), sendertest.BreakConnection))
		r.Upload(sendertest.Hotels("k", 2000)...)
		require.NoError(t, r.Flush())
		r.AllCompleted(2000)
		passed := 0
		for _, x := range r.Requests() {
			if x.Status == 200 {
				passed++
			}
		}
		assert.LessOrEqual(t, passed, 22, "twenty, a probe, and the request without the probe")
	})
}

func TestAPoisonedDocumentInAThousandIsFoundWithinTwentyRequests(t *testing.T) {
	for _, poison := range []string{"k-0", "k-57", "k-999"} {
		t.Run(poison, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, sendertest.WithBreaker(t))
				r.Respond(sendertest.When(sendertest.Carrying(poison), sendertest.Always(400, sendertest.ErrorBody("The request is invalid. Details: something in it is."))))
				r.Upload(sendertest.Hotels("k", 1000)...)
				require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
				assert.Equal(t, models.ReasonDocument, r.OnlyFailed(poison, 999).Reason)
				assert.LessOrEqual(t, len(r.Requests()), 21, "two requests for each halving, and the first one")
				assert.Equal(t, 1, r.Failure(poison).Attempts, "no attempt is used by a split")
			})
		})
	}
}

// These tests cover the effect of a request that fails as a whole on its documents.

// One by one it would take 2000 requests and half an hour to find the document.
func TestABatchThatKeepsFailingWhileOthersPassIsDivided(t *testing.T) {
	for name, a := range map[string]sendertest.Answer{"reset": sendertest.BreakConnection, "500": sendertest.Always(500, sendertest.ErrorBody("out of order")), "502": sendertest.Always(502, "")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, sendertest.WithBreaker(t))
				r.Respond(sendertest.When(sendertest.Carrying("k-999"), a))
				r.Upload(sendertest.Hotels("k", 1000)...)
				require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
				_ = r.OnlyFailed("k-999", 999)
				alone := slices.IndexFunc(r.Requests(), func(x *sendertest.Request) bool { return slices.Equal(x.Keys, []string{"k-999"}) })
				assert.LessOrEqual(t, alone, 100, "requests until the document is sent alone")
				for _, e := range r.Events("completed") {
					require.LessOrEqual(t, e.At, time.Minute, "%s does not wait for it", e.Key)
				}
				t.Log("requests:", alone, "of", len(r.Requests()))
			})
		})
	}
}

// Otherwise every batch would take a whole RequestTimeout and fail.
func TestAFullBatchThatTakesTooLongTeachesTheSize(t *testing.T) {
	testkit.Long(t)
	const line, rounds = 20_000, 30 // larger requests have no reply; a round has about twice that
	for _, inFlight := range []int{4, 1} {
		t.Run(fmt.Sprint(inFlight, " in flight"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := &sendertest.Options{
					Limits: bufferedsender.Limits{MaxInFlight: inFlight}, Retry: retry.Options{Jitter: -1},
					Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)},
				}
				r := sendertest.New(t, opts)
				r.Respond(sendertest.When(func(_ int, x *sendertest.Request) bool { return x.Bytes > line }, sendertest.Hang))
				r.Upload(sendertest.Hotels("small", 10)...)
				require.NoError(t, r.Flush(), "a smaller request passes in the same minute")
				for range rounds {
					r.Upload(sendertest.Hotels("k", 1000)...)
					require.NoError(t, r.Flush())
				}
				inVain := 0
				for _, x := range r.Requests() {
					if x.Status == 0 {
						inVain++
					}
				}
				t.Log("failed requests:", inVain, "of", len(r.Requests()))
				// Usually one per round, and up to two while the size is searched for by halving. If nothing is
				// learned it is more than three.
				assert.Less(t, inVain, 3*rounds)
				assert.Less(t, r.Sender.Stats().BatchBytesLimit, search.DefaultMaxBatchBytes)
			})
		})
	}
}

// MaxRetries counts attempts of the document alone, not failures in requests with others.
func TestWhatFailsInCompanyLeavesADocumentAllItsAttempts(t *testing.T) {
	const conflicts = 3
	conflict := func(key string) searchtest.Fault {
		return searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{key}, Times: conflicts, Status: 409}}}
	}
	for name, a := range map[string]sendertest.Answer{"reset": sendertest.BreakConnection, "500": sendertest.Always(500, ""), "502": sendertest.Always(502, ""), "503": sendertest.Always(503, "")} {
		for _, failures := range []int{1, 2, 8} {
			t.Run(fmt.Sprint(failures, " × ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := sendertest.WithBreaker(t)
					opts.Retry = retry.Options{MaxRetries: conflicts}
					r := sendertest.New(t, opts)
					r.Faults(conflict("k-0"))
					r.Respond(sendertest.First(failures, a))
					r.Upload(sendertest.Hotels("k", 5)...)
					require.NoError(t, r.Flush())
					r.AllCompleted(5)
				})
			})
		}
	}
	t.Run("a document in a batch that is divided", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			opts := sendertest.WithBreaker(t)
			opts.Retry = retry.Options{MaxRetries: conflicts}
			r := sendertest.New(t, opts)
			for _, doc := range sendertest.Hotels("before", 20) { // so that requests rarely fail
				r.Upload(doc)
				require.NoError(t, r.Flush())
				time.Sleep(time.Minute)
			}
			r.Faults(conflict("k-998"))
			r.Respond(sendertest.When(sendertest.Carrying("k-999"), sendertest.BreakConnection))
			r.Upload(sendertest.Hotels("k", 1000)...)
			require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
			_ = r.OnlyFailed("k-999", 999+20)
			var alone []time.Duration
			for _, x := range r.Requests() {
				if slices.Equal(x.Keys, []string{"k-999"}) {
					alone = append(alone, x.At)
				}
			}
			assert.Greater(t, len(alone), conflicts)
			assert.GreaterOrEqual(t, alone[len(alone)-1]-alone[0], time.Minute, "the document is blamed for failures alone")
		})
	})
}
