package bufferedsender_test

import (
	"fmt"
	"math/rand/v2"
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

// What a request fails in the company of others says nothing about any of them.

func TestADocumentThatBreaksTheConnectionFailsAlone(t *testing.T) {
	for _, n := range []int{100, 1000} {
		for name, a := range map[string]answer{"reset": reset, "500": always(500, refusal("out of order")), "time-out": hang} {
			t.Run(fmt.Sprintf("among %d, %s", n, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := guarded(t)
					opts.RequestTimeout = 10 * time.Second
					r := newRig(t, opts)
					r.respond(when(carrying("k-57"), a))
					r.upload(hotels("k", n)...)
					require.Equal(t, 1, flushFailures(t, r.flush()))
					failure := r.onlyFailed("k-57", n-1)
					assert.Equal(t, models.ReasonUnreachable, failure.Reason)
					assert.True(t, failure.Unknown)
					assert.True(t, failure.Exhausted)
					assert.False(t, failure.Rejected(), "nobody can say that it is the document")
					var others time.Duration // when the last of the others was applied
					for _, e := range r.seen("completed") {
						others = max(others, e.at)
					}
					t.Log("requests:", len(r.requests()), "others:", others, "end:", r.now())
				})
			})
		}
	}
}

func TestARequestThatFailsWithSeveralActionsUsesNoAttempt(t *testing.T) {
	for name, a := range map[string]answer{
		"reset": reset, "500": always(500, ""), "502": always(502, ""), "malformed": always(200, "<html>"), "time-out": hang,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := guarded(t)
				opts.Retry = retry.Options{MaxRetries: 1}
				opts.RequestTimeout = 10 * time.Second
				r := newRig(t, opts)
				r.respond(onlyFirst(20, a))
				r.upload(hotels("k", 5)...)
				require.NoError(t, r.flush())
				r.nothingFailed(5)
			})
		})
	}
}

func TestHalfOfAllRequestsFailingByChanceLosesNothing(t *testing.T) {
	for seed := range uint64(5) {
		for _, inFlight := range []int{1, 4} {
			t.Run(fmt.Sprintf("seed %d, %d in flight", seed, inFlight), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := guarded(t)
					opts.Limits.MaxBatchActions, opts.Limits.MaxInFlight = 100, inFlight
					r := newRig(t, opts)
					draw := rand.New(rand.NewPCG(seed, 0))
					r.respond(func(_ int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
						r.mu.Lock()
						fails := draw.IntN(2) == 0
						r.mu.Unlock()
						time.Sleep(50 * time.Millisecond)
						if fails {
							return reply(req, 502, ""), nil
						}
						return next()
					})
					r.upload(hotels("k", 4000)...)
					require.NoError(t, r.flush())
					r.nothingFailed(4000)
					assert.Less(t, len(r.requests()), 1000)
					t.Log("requests:", len(r.requests()), "end:", r.now())
				})
			})
		}
	}
}

func TestALineTooSlowForAFullBatchLosesNothing(t *testing.T) {
	for _, bytes := range []int{20_000, 2000, 200} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, guarded(t))
				r.respond(when(func(_ int, x *exchange) bool { return x.bytes > bytes }, hang))
				r.upload(hotels("k", 3000)...)
				require.NoError(t, r.flush())
				r.nothingFailed(3000)
				t.Log("requests:", len(r.requests()), "end:", r.now())
			})
		})
	}
}

// Only what is refused for what is in it comes in crumbs.
func TestAnOutageLeavesBatchesAsLargeAsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := guarded(t)
		opts.Limits.MaxBatchActions = 100
		r := newRig(t, opts)
		r.respond(when(until(5*time.Minute), reset))
		r.upload(hotels("k", 2000)...)
		require.NoError(t, r.flush())
		r.nothingFailed(2000)
		passed := 0
		for _, x := range r.requests() {
			if x.status == 200 {
				passed++
			}
		}
		assert.LessOrEqual(t, passed, 22, "twenty, a probe, and what the probe was missing from")
	})
}

func TestAPoisonedDocumentInAThousandIsFoundWithinTwentyRequests(t *testing.T) {
	for _, poison := range []string{"k-0", "k-57", "k-999"} {
		t.Run(poison, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, guarded(t))
				r.respond(when(carrying(poison), always(400, refusal("The request is invalid."))))
				r.upload(hotels("k", 1000)...)
				require.Equal(t, 1, flushFailures(t, r.flush()))
				assert.Equal(t, models.ReasonDocument, r.onlyFailed(poison, 999).Reason)
				assert.LessOrEqual(t, len(r.requests()), 21, "two for each halving, and the first")
				assert.Equal(t, 1, r.failure(poison).Attempts, "no attempt is used by a split")
			})
		})
	}
}

// What a request that fails as a whole costs those that were in it.

// One by one it would take 2000 requests and half an hour to find it.
func TestABatchThatKeepsFailingWhileOthersPassIsDivided(t *testing.T) {
	for name, a := range map[string]answer{"reset": reset, "500": always(500, refusal("out of order")), "502": always(502, "")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, guarded(t))
				r.respond(when(carrying("k-999"), a))
				r.upload(hotels("k", 1000)...)
				require.Equal(t, 1, flushFailures(t, r.flush()))
				_ = r.onlyFailed("k-999", 999)
				alone := slices.IndexFunc(r.requests(), func(x *exchange) bool { return slices.Equal(x.keys, []string{"k-999"}) })
				assert.LessOrEqual(t, alone, 100, "requests until it travels alone")
				for _, e := range r.seen("completed") {
					require.LessOrEqual(t, e.at, time.Minute, "%s does not wait for it", e.key)
				}
				t.Log("requests:", alone, "of", len(r.requests()))
			})
		})
	}
}

// Else every batch would be tried in vain, for a whole RequestTimeout.
func TestAFullBatchThatTakesTooLongTeachesTheSize(t *testing.T) {
	const line, rounds = 20_000, 30 // larger requests have no reply; a round is about twice that
	for _, inFlight := range []int{1, 4} {
		t.Run(fmt.Sprint(inFlight, " in flight"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := guarded(t)
				opts.Limits.MaxInFlight = inFlight
				r := newRig(t, opts)
				r.respond(when(func(_ int, x *exchange) bool { return x.bytes > line }, hang))
				r.upload(hotels("small", 10)...)
				require.NoError(t, r.flush(), "a smaller request passes in the same minute")
				for range rounds {
					r.upload(hotels("k", 1000)...)
					require.NoError(t, r.flush())
				}
				inVain := 0
				for _, x := range r.requests() {
					if x.status == 0 {
						inVain++
					}
				}
				t.Log("requests in vain:", inVain, "of", len(r.requests()))
				assert.Less(t, inVain, 2*rounds, "three a round and more if every round begins with a full batch")
				assert.Less(t, r.sender.Stats().BatchBytesLimit, bufferedsender.DefaultMaxBatchBytes)
			})
		})
	}
}

// MaxRetries are for the document, whatever has become of requests before.
func TestWhatFailsInCompanyLeavesADocumentAllItsAttempts(t *testing.T) {
	const conflicts = 3
	conflict := func(key string) searchtest.Fault {
		return searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{key}, Times: conflicts, Status: 409}}}
	}
	for name, a := range map[string]answer{"reset": reset, "500": always(500, ""), "502": always(502, ""), "503": always(503, "")} {
		for _, failures := range []int{1, 2, 8} {
			t.Run(fmt.Sprint(failures, " × ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := guarded(t)
					opts.Retry = retry.Options{MaxRetries: conflicts}
					r := newRig(t, opts)
					r.faults(conflict("k-0"))
					r.respond(onlyFirst(failures, a))
					r.upload(hotels("k", 5)...)
					require.NoError(t, r.flush())
					r.nothingFailed(5)
				})
			})
		}
	}
	t.Run("in a batch that is divided", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			opts := guarded(t)
			opts.Retry = retry.Options{MaxRetries: conflicts}
			r := newRig(t, opts)
			for _, doc := range hotels("before", 20) { // requests hardly ever fail
				r.upload(doc)
				require.NoError(t, r.flush())
				time.Sleep(time.Minute)
			}
			r.faults(conflict("k-998"))
			r.respond(when(carrying("k-999"), reset))
			r.upload(hotels("k", 1000)...)
			require.Equal(t, 1, flushFailures(t, r.flush()))
			_ = r.onlyFailed("k-999", 999+20)
			var alone []time.Duration
			for _, x := range r.requests() {
				if slices.Equal(x.keys, []string{"k-999"}) {
					alone = append(alone, x.at)
				}
			}
			assert.Greater(t, len(alone), conflicts)
			assert.GreaterOrEqual(t, alone[len(alone)-1]-alone[0], time.Minute, "it is blamed for what it fails alone")
		})
	})
}
