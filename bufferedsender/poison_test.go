package bufferedsender_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refusesPoison refuses documents with the keys poison-…: whole refuses a request in
// which there is one, as for a wrong type; else the result of each says so.
func refusesPoison(whole bool) answer {
	poisoned := func(key string) bool { return strings.HasPrefix(key, "poison-") }
	if whole {
		return when(func(_ int, x *exchange) bool { return slices.ContainsFunc(x.keys, poisoned) },
			always(400, refusal("The request is invalid. Details: Cannot convert the literal 'many' to the expected type 'Edm.Int32'.")))
	}
	return results(func(rs []wireResult) []wireResult {
		for i := range rs {
			if key, _ := rs[i]["key"].(string); poisoned(key) {
				rs[i]["status"], rs[i]["statusCode"], rs[i]["errorMessage"] = false, 400, "it does not fit"
			}
		}
		return rs
	})
}

// Many documents in a row that the service refuses are what 20 in a row are taken
// for, the index, only until one of the others has passed.
func TestManyBadDocumentsInARowDoNotHoldTheGoodOnes(t *testing.T) {
	for _, where := range []string{"first", "in the middle", "anywhere"} {
		for _, bad := range []int{20, 25, 300} {
			for _, whole := range []bool{true, false} {
				t.Run(fmt.Sprintf("%d %s, whole requests %v", bad, where, whole), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						const good = 3000
						opts := guarded(t)
						opts.Limits.MaxInFlight = 2
						r := newRigOn(t, &searchtest.Options{KeepChanges: 10_000}, opts)
						r.respond(refusesPoison(whole))
						docs, poison := hotels("k", good), hotels("poison", bad)
						switch where {
						case "first":
							docs = append(poison, docs...)
						case "in the middle":
							docs = slices.Insert(docs, good/2, poison...)
						default:
							docs = append(docs, poison...)
							rand.New(rand.NewPCG(1, 2)).Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
						}
						r.upload(docs...)
						for r.sender.Stats().Completed < good && r.now() < 30*time.Second {
							time.Sleep(time.Second)
						}
						assert.EqualValues(t, good, r.sender.Stats().Completed)
						t.Log(r.now(), r.sender.Stats().Requests)
						// The good ones may have gone before the twentieth bad one was refused:
						// then it takes another one.
						r.upload(hotel{ID: "late"})
						assert.Equal(t, bad, flushFailures(t, r.flush()))
						assert.LessOrEqual(t, r.now(), 2*time.Minute)
						for _, e := range r.seen("failed") {
							assert.Equal(t, models.ReasonDocument, r.failure(e.key).Reason)
						}
					})
				})
			}
		}
	}
}

// If the bad ones are all there is, the next good one does.
func TestOneGoodDocumentEndsTheHoldOfBadOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bad = 200
		r := newRig(t, guarded(t))
		r.respond(refusesPoison(true))
		r.upload(append(hotels("k", 1000), hotels("poison", bad)...)...)
		time.Sleep(time.Minute)
		assert.LessOrEqual(t, r.sender.Stats().Failed, int64(20), "it may be the index")
		assert.Equal(t, events.CircuitOpen, r.sender.Health().State)
		assert.Contains(t, r.sender.Health().Reason, "Edm.Int32")
		r.upload(hotel{ID: "late"})
		assert.Equal(t, bad, flushFailures(t, r.flush()))
		assert.EqualValues(t, 1001, r.sender.Stats().Completed)
		assert.LessOrEqual(t, r.now(), 2*time.Minute)
	})
}

// What the service says of a property that a document does not have is not about the
// index: it must not be asked again and again.
func TestADocumentRefusedForAPropertyThatItDoesNotHaveFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, guarded(t))
		r.respond(drifted(func() bool { return false }))
		r.upload(append(hotels("new", 100), roomless("old", 100)...)...)
		time.Sleep(time.Minute)
		before := len(r.requests())
		r.upload(hotel{ID: "new-strange"})
		time.Sleep(time.Minute)
		assert.Equal(t, models.ReasonDocument, r.failure("new-strange").Reason)
		assert.LessOrEqual(t, len(r.requests()), before+10)
		_ = r.sender.Close(within(t, time.Millisecond))
	})
}

// While what is left is held apart, the health of the sender says so all the time.
func TestHealthDoesNotFlickerWhileAllThatIsLeftIsHeldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := guarded(t)
		var changes []events.HealthState
		opts.Handlers.HealthChanged = func(_ context.Context, e *events.HealthChange) { changes = append(changes, e.To) }
		r := newRig(t, opts)
		mendedAt := 10 * time.Minute
		r.respond(drifted(func() bool { return r.now() >= mendedAt }))
		with, without := hotels("new", 500), roomless("old", 500)
		r.upload(append(with, without...)...)
		time.Sleep(5 * time.Minute)
		synctest.Wait() // no handler runs
		assert.Equal(t, []events.HealthState{events.CircuitOpen}, changes)
		assert.Equal(t, events.CircuitOpen, r.sender.Health().State)
		assert.Contains(t, r.sender.Health().Reason, "'rooms'")
		r.upload(hotel{ID: "new-499", Name: "behind another one"})
		time.Sleep(time.Second)
		assert.Equal(t, events.CircuitOpen, r.sender.Health().State, "one that waits behind another of its key is held too")
		flushFailures(t, r.flush())
		assert.Equal(t, events.Healthy, changes[len(changes)-1])
	})
}

// A document that has failed, alone, finds out that the service is gone although
// others have passed a moment ago.
func TestASoleDocumentFindsOutThatTheServiceIsGone(t *testing.T) {
	for _, ping := range []bool{true, false} {
		t.Run(fmt.Sprintf("Ping %v", ping), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests, gone := 0, false
				service := &pinging{Indexer: &fakeIndexer{index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					if requests++; gone {
						return models.IndexDocumentsResult{}, errReset
					}
					return agree(ctx, body)
				}}}
				var indexer bufferedsender.Indexer = service
				if !ping {
					indexer = pingless{service}
				}
				s, err := bufferedsender.New[hotel](indexer, &hotelOptions{Logger: mute})
				require.NoError(t, err)
				defer s.Close(within(t, time.Millisecond))
				require.NoError(t, s.UploadDocuments(t.Context(), hotels("k", 10)...))
				require.NoError(t, s.Flush(t.Context()))
				gone, service.err, requests = true, errReset, 0
				began := time.Now()
				require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: "late"}))
				for s.Health().State != events.CircuitOpen && time.Since(began) < time.Minute {
					time.Sleep(100 * time.Millisecond)
				}
				assert.LessOrEqual(t, time.Since(began), bufferedsender.DefaultAutoFlushInterval+5*time.Second)
				assert.LessOrEqual(t, requests, 10)
				t.Log(time.Since(began), requests)
			})
		})
	}
}

func sameReason(string) string {
	return "The request is invalid. Details: Cannot convert the literal 'many' to the expected type 'Edm.Int32'."
}

// typed refuses, as a whole, requests with a document whose key starts with "poison-".
func typed(message func(key string) string) answer {
	return func(_ int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		time.Sleep(10 * time.Millisecond)
		for i, key := range x.keys {
			if strings.HasPrefix(key, "poison-") && x.actions[i] != "delete" {
				return reply(req, 400, refusal(message(key))), nil
			}
		}
		return next()
	}
}

// A 404 is about one document, and says nothing about the others.
func TestAMergeThatFindsNothingDoesNotProveTheIndexSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, guarded(t))
		// The sender looks at the breaker while it is still being told of the reply.
		r.sender.Breaker().Subscribe(func(breaker.Change) { time.Sleep(time.Millisecond) })
		r.respond(typed(sameReason))
		r.upload(hotels("poison", 2000)...)
		require.NoError(t, r.sender.MergeDocuments(t.Context(), hotels("ghost", 3)...))
		time.Sleep(3 * time.Minute)
		s := r.sender.Stats()
		t.Logf("%d failed, %d completed, %d pending", s.Failed, s.Completed, s.PendingActions)
		assert.Zero(t, s.Completed)
		assert.LessOrEqual(t, s.Failed, int64(60), "nothing was applied: it may be the index")
		_ = r.sender.Close(within(t, time.Millisecond))
	})
}

// A delete is applied whatever is the matter with the fields of the index.
func TestADeleteDoesNotProveTheIndexSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, guarded(t))
		r.respond(typed(sameReason))
		r.upload(hotels("poison", 2000)...)
		require.NoError(t, r.sender.DeleteDocuments(t.Context(), hotels("gone", 1)...))
		time.Sleep(3 * time.Minute)
		s := r.sender.Stats()
		t.Logf("%d failed, %d completed, %d pending", s.Failed, s.Completed, s.PendingActions)
		assert.LessOrEqual(t, s.Failed, int64(60), "no document was applied: it may be the index")
		_ = r.sender.Close(within(t, time.Millisecond))
	})
}

// Documents that are refused each for a reason of its own fail while others wait for
// the index.
func TestProbesRefusedForAReasonOfTheirOwnFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, guarded(t))
		r.respond(typed(func(key string) string {
			if strings.HasPrefix(key, "poison-other") {
				return fmt.Sprintf("Details: field %s is bad.", strings.Map(func(c rune) rune {
					if c >= '0' && c <= '9' {
						return 'a' + c - '0'
					}
					return c
				}, key))
			}
			return sameReason(key)
		}))
		r.upload(hotels("poison", 20)...)
		r.upload(hotels("poison-other", 10)...)
		err := r.sender.Flush(within(t, time.Hour))
		t.Log(err)
		s := r.sender.Stats()
		t.Logf("%d failed, %d pending, %d requests", s.Failed, s.PendingActions, len(r.requests()))
		assert.GreaterOrEqual(t, s.Failed, int64(10+19))
		assert.LessOrEqual(t, s.PendingActions, 1, "the twentieth, which made it the index")
		_ = r.sender.Close(within(t, time.Millisecond))
	})
}

// Two senders share a breaker. The documents of one are all refused, those of the other
// are applied all the time: it cannot be the index.
func TestASenderWithBadDocumentsStopsNoOtherOfItsBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := newBreaker(t, nil)
		r := newRig(t, &hotelOptions{Outage: bufferedsender.Hold{Breaker: shared}, Limits: bufferedsender.Limits{MaxBatchActions: 10}})
		r.respond(func(_ int, _ *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond)
			return next()
		})
		refuse := &fakeIndexer{index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			time.Sleep(100 * time.Millisecond)
			res, err := agree(ctx, body)
			for i := range res.Results {
				res.Results[i].Succeeded, res.Results[i].StatusCode, res.Results[i].ErrorMessage = false, 400, "wrong type"
			}
			return res, err
		}}
		bad, err := bufferedsender.New(refuse, &hotelOptions{Outage: bufferedsender.Hold{Breaker: shared}, Limits: bufferedsender.Limits{MaxBatchActions: 10}})
		require.NoError(t, err)
		closeAtLast(t, bad)
		r.upload(hotels("good", 10_000)...)
		time.Sleep(10 * time.Second)
		alone := r.sender.Stats().Completed
		require.NoError(t, bad.UploadDocuments(t.Context(), hotels("bad", 100)...))
		time.Sleep(10 * time.Second)
		together := r.sender.Stats().Completed - alone
		t.Log("in ten seconds alone", alone, "beside the other", together, "bad:", bad.Stats().Failed, bad.Health().Reason)
		assert.Greater(t, together, alone/2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = r.sender.Close(ctx)
	})
}
