package refusals

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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// refusesPoison refuses documents whose keys begin with poison-. If whole is set it refuses the whole request, as for a
// wrong type, otherwise the result of each such document.
func refusesPoison(whole bool) sendertest.Answer {
	poisoned := func(key string) bool { return strings.HasPrefix(key, "poison-") }
	if whole {
		return sendertest.When(func(_ int, x *sendertest.Request) bool { return slices.ContainsFunc(x.Keys, poisoned) },
			sendertest.Always(400, sendertest.ErrorBody("The request is invalid. Details: Cannot convert the literal 'many' to the expected type 'Edm.Int32'.")))
	}
	return sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
		for i := range rs {
			if key, _ := rs[i]["key"].(string); poisoned(key) {
				rs[i]["status"], rs[i]["statusCode"], rs[i]["errorMessage"] = false, 400, "it does not fit"
			}
		}
		return rs
	})
}

// Many consecutively refused documents count as a fault of the index, the usual meaning of 20 in a row, only until
// one of the others passes.
func TestManyBadDocumentsInARowDoNotHoldTheGoodOnes(t *testing.T) {
	for _, where := range []string{"first", "in the middle", "anywhere"} {
		for _, bad := range []int{25, 20, 300} {
			if testing.Short() && bad != 25 {
				continue
			}
			for _, whole := range []bool{true, false} {
				t.Run(fmt.Sprintf("%d %s, whole requests %v", bad, where, whole), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						const good = 3000
						opts := sendertest.WithBreaker(t)
						opts.Limits.MaxInFlight = 2
						r := sendertest.NewOnService(t, &searchtest.Options{KeepChanges: 10_000}, opts)
						r.Respond(refusesPoison(whole))
						docs, poison := sendertest.Hotels("k", good), sendertest.Hotels("poison", bad)
						switch where {
						case "first":
							docs = append(poison, docs...)
						case "in the middle":
							docs = slices.Insert(docs, good/2, poison...)
						default:
							docs = append(docs, poison...)
							rand.New(rand.NewPCG(1, 2)).Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
						}
						r.Upload(docs...)
						for r.Sender.Stats().Completed < good && r.Now() < 30*time.Second {
							time.Sleep(time.Second)
						}
						assert.EqualValues(t, good, r.Sender.Stats().Completed)
						t.Log(r.Now(), r.Sender.Stats().Requests)
						// The good ones may have been sent before the twentieth bad one was refused: then another one
						// is needed.
						r.Upload(sendertest.Hotel{ID: "late"})
						assert.Equal(t, bad, sendertest.FlushFailures(t, r.Flush()))
						assert.LessOrEqual(t, r.Now(), 2*time.Minute)
						for _, e := range r.Events("failed") {
							assert.Equal(t, models.ReasonDocument, r.Failure(e.Key).Reason)
						}
					})
				})
			}
		}
	}
}

// If all buffered documents are bad, the next good one ends the suspension.
func TestOneGoodDocumentEndsTheHoldOfBadOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bad = 200
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(refusesPoison(true))
		r.Upload(append(sendertest.Hotels("k", 1000), sendertest.Hotels("poison", bad)...)...)
		time.Sleep(time.Minute)
		assert.LessOrEqual(t, r.Sender.Stats().Failed, int64(20), "the index may be at fault")
		// The sender occasionally leaves the next probe to others, for a tenth of a second.
		assert.Contains(t, []events.HealthState{events.HealthStateCircuitOpen, events.HealthStateHalfOpen}, r.Sender.Health().State)
		assert.Contains(t, r.Sender.Health().Reason, "Edm.Int32")
		r.Upload(sendertest.Hotel{ID: "late"})
		assert.Equal(t, bad, sendertest.FlushFailures(t, r.Flush()))
		assert.EqualValues(t, 1001, r.Sender.Stats().Completed)
		assert.LessOrEqual(t, r.Now(), 2*time.Minute)
	})
}

// A message about a property that the document does not have is not about the index: the document must not be probed
// repeatedly.
func TestADocumentRefusedForAPropertyThatItDoesNotHaveFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(sendertest.LackingUntil(func() bool { return false }))
		r.Upload(append(sendertest.Hotels("new", 100), sendertest.RoomlessHotels("old", 100)...)...)
		time.Sleep(time.Minute)
		before := len(r.Requests())
		r.Upload(sendertest.Hotel{ID: "new-strange"})
		time.Sleep(time.Minute)
		assert.Equal(t, models.ReasonDocument, r.Failure("new-strange").Reason)
		assert.LessOrEqual(t, len(r.Requests()), before+10)
		_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
	})
}

// While all remaining documents are set apart, Health reports that all the time.
func TestHealthDoesNotFlickerWhileAllThatIsLeftIsHeldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		var changes []events.HealthState
		opts.Handlers.HealthChanged = func(_ context.Context, e *events.HealthChange) { changes = append(changes, e.To) }
		r := sendertest.New(t, opts)
		mendedAt := 10 * time.Minute
		r.Respond(sendertest.LackingUntil(func() bool { return r.Now() >= mendedAt }))
		with, without := sendertest.Hotels("new", 500), sendertest.RoomlessHotels("old", 500)
		r.Upload(append(with, without...)...)
		time.Sleep(5 * time.Minute)
		synctest.Wait() // no handler runs
		assert.Equal(t, []events.HealthState{events.HealthStateCircuitOpen}, changes)
		assert.Equal(t, events.HealthStateCircuitOpen, r.Sender.Health().State)
		assert.Contains(t, r.Sender.Health().Reason, "'rooms'")
		r.Upload(sendertest.Hotel{ID: "new-499", Name: "behind another one"})
		time.Sleep(time.Second)
		assert.Equal(t, events.HealthStateCircuitOpen, r.Sender.Health().State, "an action behind another of its key waits too")
		sendertest.FlushFailures(t, r.Flush())
		assert.Equal(t, events.HealthStateHealthy, changes[len(changes)-1])
	})
}

// A single failing document detects that the service is unreachable, although others passed a moment ago.
func TestASoleDocumentFindsOutThatTheServiceIsGone(t *testing.T) {
	for _, ping := range []bool{true, false} {
		t.Run(fmt.Sprintf("Ping %v", ping), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests, gone := 0, false
				service := &pinging{Indexer: &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					if requests++; gone {
						return models.IndexDocumentsResult{}, sendertest.ErrReset
					}
					return sendertest.AcceptAll(ctx, body)
				}}}
				var indexer bufferedsender.Indexer = service
				if !ping {
					indexer = pingless{service}
				}
				s, err := bufferedsender.New[sendertest.Hotel](indexer, &sendertest.Options{Logger: sendertest.NoLog})
				require.NoError(t, err)
				defer s.Close(sendertest.Within(t, time.Millisecond))
				require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotels("k", 10)...))
				require.NoError(t, s.Flush(t.Context(), nil))
				gone, service.err, requests = true, sendertest.ErrReset, 0
				began := time.Now()
				require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "late"}))
				for s.Health().State != events.HealthStateCircuitOpen && time.Since(began) < time.Minute {
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

// typed refuses whole requests with a document whose key starts with "poison-".
func typed(message func(key string) string) sendertest.Answer {
	return func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		time.Sleep(10 * time.Millisecond)
		for i, key := range x.Keys {
			if strings.HasPrefix(key, "poison-") && x.Actions[i] != "delete" {
				return sendertest.Reply(req, 400, sendertest.ErrorBody(message(key))), nil
			}
		}
		return next()
	}
}

// A 404 concerns one document, and says nothing about the others.
func TestAMergeThatFindsNothingDoesNotProveTheIndexSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		// The sender reads the breaker's state while the breaker is still being notified of the reply.
		r.Sender.Breaker().Subscribe(func(breaker.Change) { time.Sleep(time.Millisecond) })
		r.Respond(typed(sameReason))
		r.Upload(sendertest.Hotels("poison", 2000)...)
		require.NoError(t, r.Sender.MergeDocuments(t.Context(), sendertest.Hotels("ghost", 3)...))
		time.Sleep(3 * time.Minute)
		s := r.Sender.Stats()
		t.Logf("%d failed, %d completed, %d pending", s.Failed, s.Completed, s.PendingActions)
		assert.Zero(t, s.Completed)
		assert.LessOrEqual(t, s.Failed, int64(60), "nothing was applied: the index may be at fault")
		_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
	})
}

// A delete is applied whatever is wrong with the fields of the index.
func TestADeleteDoesNotProveTheIndexSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(typed(sameReason))
		r.Upload(sendertest.Hotels("poison", 2000)...)
		require.NoError(t, r.Sender.DeleteDocuments(t.Context(), sendertest.Hotels("gone", 1)...))
		time.Sleep(3 * time.Minute)
		s := r.Sender.Stats()
		t.Logf("%d failed, %d completed, %d pending", s.Failed, s.Completed, s.PendingActions)
		assert.LessOrEqual(t, s.Failed, int64(60), "no document was applied: the index may be at fault")
		_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
	})
}

// Documents that are refused each for its own reason fail while others wait for the index.
func TestProbesRefusedForAReasonOfTheirOwnFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(typed(func(key string) string {
			if strings.HasPrefix(key, "poison-other") {
				return fmt.Sprintf("The request is invalid. Details: field %s is bad.", strings.Map(func(c rune) rune {
					if c >= '0' && c <= '9' {
						return 'a' + c - '0'
					}
					return c
				}, key))
			}
			return sameReason(key)
		}))
		r.Upload(sendertest.Hotels("poison", 20)...)
		r.Upload(sendertest.Hotels("poison-other", 10)...)
		err := r.Sender.Flush(sendertest.Within(t, time.Hour), nil)
		t.Log(err)
		s := r.Sender.Stats()
		t.Logf("%d failed, %d pending, %d requests", s.Failed, s.PendingActions, len(r.Requests()))
		assert.GreaterOrEqual(t, s.Failed, int64(10+19))
		assert.LessOrEqual(t, s.PendingActions, 1, "the twentieth refusal, after which the index is at fault")
		_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
	})
}
