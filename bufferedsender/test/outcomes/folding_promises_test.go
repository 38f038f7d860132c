package outcomes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// A caller whose context ends withdraws its own actions, but not actions of others on the same key that were folded
// into them.
func TestAWaiterThatLeavesTakesBackNothingOfOthers(t *testing.T) {
	for _, plain := range []bool{true, false} {
		t.Run(fmt.Sprint("plain=", plain), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}})
				r.Sender.Pause()
				ctx, cancel := context.WithCancel(t.Context())
				first := sendertest.Later(func() error {
					_, err := r.Sender.IndexDocumentsAndWait(ctx, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k", Rooms: 1})}, nil)
					return err
				})
				synctest.Wait()
				var second <-chan error
				if plain {
					r.Upload(sendertest.Hotel{ID: "k", Rooms: 2}) // nil: accepted
				} else {
					second = sendertest.Later(func() error {
						_, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k", Rooms: 2})}, nil)
						return err
					})
				}
				synctest.Wait()
				r.Sender.Contains("k") // folds
				cancel()
				require.Error(t, <-first)
				r.Sender.Resume()
				err := r.Flush()
				assert.NoError(t, err)
				if second != nil {
					assert.NoError(t, <-second)
				}
				if assert.Len(t, r.Indexed(), 1) {
					assert.Equal(t, 2, roomsOf(r, "k"), "this action was not withdrawn")
				}
			})
		})
	}
}

// The same while the folded action waits for a retry.
func TestAWaiterThatLeavesEndsNoRetriesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.Folding = &bufferedsender.Folding[sendertest.Hotel]{}
		r := sendertest.New(t, opts)
		r.Respond(sendertest.First(1, func(_ int, _ *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(time.Second)
			return sendertest.Reply(req, 503, sendertest.ErrorBody("busy")), nil
		}))
		r.Sender.Pause()
		ctx, cancel := context.WithCancel(t.Context())
		first := sendertest.Later(func() error {
			_, err := r.Sender.IndexDocumentsAndWait(ctx, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k", Rooms: 1})}, nil)
			return err
		})
		synctest.Wait()
		r.Upload(sendertest.Hotel{ID: "k", Rooms: 2})
		r.Sender.Contains("k")
		r.Sender.Resume()
		flushed := sendertest.Later(r.Flush)
		time.Sleep(500 * time.Millisecond) // in flight
		cancel()
		require.Error(t, <-first)
		assert.NoError(t, <-flushed)
		assert.Len(t, r.Indexed(), 1)
	})
}

// Merging each change into the document would require reading all of it each time.
func TestSmallChangesOfALargeDocumentAreFoldedAmongThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const changes = 200
		r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}})
		r.Sender.Pause()
		r.Upload(sendertest.HotelOfSize("k", 100_000))
		for i := range changes {
			r.Add(models.MergeAction(sendertest.Hotel{ID: "k", Rooms: i + 1}))
		}
		r.Sender.Resume()
		require.NoError(t, r.Flush())
		assert.EqualValues(t, changes-1, r.Sender.Stats().Folded)
		wire := r.Requests()
		require.Len(t, wire, 2)
		assert.Equal(t, []string{"upload"}, wire[0].Actions)
		assert.Equal(t, []string{"merge"}, wire[1].Actions)
		assert.Equal(t, changes, roomsOf(r, "k"))
	})
}

// The rig's handlers get each action with its document, so the sender keeps all of them.
func TestFoldedDocumentsThatAreKeptCountInTheBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, room = 2000, 40_000
		r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, Limits: bufferedsender.Limits{MaxBatchBytes: 10_000, MaxBufferedBytes: room}})
		r.Sender.Pause()
		accepted := 0
		for range 3 * room / size {
			if err := r.Sender.TryIndexDocuments(models.UploadAction(sendertest.HotelOfSize("k", size))); err != nil {
				require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
				break
			}
			accepted++
			synctest.Wait() // folded
		}
		assert.InDelta(t, room/size, accepted, 1)
		assert.Greater(t, r.Sender.Stats().PendingBytes, int64(room-size))
		r.Sender.Resume()
		require.NoError(t, r.Flush())
		assert.Zero(t, r.Sender.Stats().PendingBytes)
		assert.Len(t, r.Requests(), 1)
	})
}

func TestFoldingKeepsTheOtherPromises(t *testing.T) {
	t.Run("Flush covers actions accepted before it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, Handlers: l.Handlers(), Retry: sendertest.RetryAtOnce})
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k"}, Status: 400}}})
			r.Sender.Pause()
			r.Add(sendertest.TaggedUpload("k", 1))
			first := sendertest.Later(r.Flush)
			synctest.Wait()
			r.Add(sendertest.TaggedUpload("k", 2), sendertest.TaggedUpload("k", 3))
			r.Sender.Resume()
			var failures *bufferedsender.FlushError
			require.ErrorAs(t, <-first, &failures)
			assert.Equal(t, 1, failures.Count, "actions that were folded in later do not count")
			require.ErrorAs(t, r.Flush(), &failures)
			assert.Equal(t, 2, failures.Count)
		})
	})
	t.Run("a Flush returns after the callbacks of all parts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, Handlers: l.Handlers()})
			for i := range 50 {
				r.Add(sendertest.TaggedUpload("k", i))
			}
			require.NoError(t, r.Flush())
			assert.Len(t, l.Endings("k"), 50)
		})
	})
	t.Run("Close counts each part", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			dead := &sendertest.DeadLetters{Ledger: &l}
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, Handlers: l.Handlers(), Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})}, Retry: sendertest.RetryAtOnce, Limits: bufferedsender.Limits{MaxBatchActions: 1}, DeadLetters: dead})
			r.OpenBreakerWith(sendertest.Unauthorized, sendertest.Hotel{ID: "x"})
			r.Add(sendertest.TaggedUpload("k", 1), sendertest.TaggedUpload("k", 2), sendertest.TaggedUpload("k", 3))
			answer := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second)))
			assert.Equal(t, 4, answer.Unsent)
			assert.Len(t, answer.Errors, 4)
			assert.Equal(t, []any{1, 2, 3}, sendertest.Tags(l.Endings("k")))
			assert.Len(t, dead.All(), 2, "one dead letter for the folded actions, and one for the probe")
		})
	})
	t.Run("all parts of an interrupted write are unknown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, Handlers: l.Handlers()})
			r.Respond(sendertest.Hang)
			r.Add(sendertest.TaggedUpload("k", 1), sendertest.TaggedUpload("k", 2), sendertest.TaggedUpload("k", 3))
			answer := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second)))
			assert.Equal(t, 3, answer.Unknown)
			assert.Zero(t, answer.Unsent)
			for _, e := range l.Endings("k") {
				assert.True(t, e.Unknown)
			}
		})
	})
	t.Run("a purge gives up all parts, in order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := sendertest.New(t, &sendertest.Options{
				Folding: &bufferedsender.Folding[sendertest.Hotel]{},
				Limits:  bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 4}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.OnPurged)}, Retry: sendertest.RetryAtOnce,
				Handlers: l.Handlers(),
			})
			r.Sender.Breaker().Disable()
			r.Add(sendertest.TaggedUpload("k", 1), sendertest.TaggedUpload("other", 1), sendertest.TaggedUpload("k", 2), sendertest.TaggedUpload("k", 3))
			sendertest.RequireCircuitOpen(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil)) // afterwards they are folded
			r.Add(sendertest.TaggedUpload("new", 1))
			synctest.Wait()
			assert.Contains(t, l.Purged(), "k")
			assert.NotContains(t, l.Purged(), "other", "folded actions go together, which frees enough room")
			assert.EqualValues(t, 3, r.Sender.Stats().Purged)
			assert.Equal(t, []any{1, 2, 3}, sendertest.Tags(l.Endings("k")))
			for _, e := range l.Endings("k") {
				require.ErrorIs(t, e.Err, bufferedsender.ErrPurged)
			}
			r.Sender.Breaker().Enable()
			require.Error(t, r.Flush())
			assert.Equal(t, []string{"new", "other"}, r.Indexed())
		})
	})
	t.Run("unaccepted actions of a call are not folded in", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, Limits: bufferedsender.Limits{MaxBufferedActions: 2}})
			r.Sender.Pause()
			err := r.Sender.IndexDocuments(sendertest.Within(t, time.Second), sendertest.TaggedUpload("k", 1), sendertest.TaggedUpload("k", 2), sendertest.TaggedUpload("k", 3))
			sendertest.RequireAccepted(t, err, 2)
			r.Sender.Resume()
			require.NoError(t, r.Flush())
			assert.Equal(t, 2, roomsOf(r, "k"))
		})
	})
	t.Run("each waiter gets its own result", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}})
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 1 }))
			var calls []<-chan models.IndexingResult
			for i := range 10 {
				calls = append(calls, sendertest.Later(func() models.IndexingResult {
					results, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{sendertest.TaggedUpload("k", 1+i%5)}, nil)
					assert.NoError(t, err)
					return results[0]
				}))
				synctest.Wait() // so that they arrive in this order
			}
			for _, call := range calls {
				assert.True(t, (<-call).Succeeded)
			}
			assert.Len(t, r.Requests(), 2, "one request for the first five actions, and one for the later five")
			assert.Equal(t, 5, roomsOf(r, "k"))
			assert.EqualValues(t, 4, r.Sender.Stats().Superseded)
		})
	})
	t.Run("the handlers' actions are those that were added", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}})
			r.Add(models.UploadAction(sendertest.Hotel{ID: "k", Name: "one"}).WithTag("a"), models.MergeAction(sendertest.Hotel{ID: "k", Rooms: 7}).WithTag("b"))
			require.NoError(t, r.Flush())
			var added, completed []sendertest.Action
			for _, e := range r.Events("added") {
				added = append(added, e.Action)
			}
			for _, e := range r.Events("completed") {
				completed = append(completed, e.Action)
			}
			assert.Equal(t, added, completed)
		})
	})
}

// The guaranteed property: random actions on existing and missing documents, in random batches, produce the same
// index as one by one.
func TestAFoldedIndexEndsAsOneSentOneByOne(t *testing.T) {
	fields := []string{
		`"name":"%d"`, `"name":null`, `"rooms":%d`, `"rooms":null`, `"tags":["%d"]`, `"tags":[]`, `"address":{"city":"%d"}`, `"address":{"zip":"%d"}`,
		`"address":null`, `"address":{"owner":{"first":"%d"}}`, `"address":{"owner":{"last":null}}`, `"address":{"owner":null}`, `"address":{}`,
	}
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		n := rapid.IntRange(1, 40).Draw(rt, "actions")
		keys := rapid.IntRange(1, 3).Draw(rt, "keys")
		flight := rapid.IntRange(1, 4).Draw(rt, "in flight")
		batch := rapid.IntRange(1, 4).Draw(rt, "batch")
		again := rapid.Float64Range(0, 0.4).Draw(rt, "share of 409")
		ok := true
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a repeatable test
			folding := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, Limits: bufferedsender.Limits{MaxInFlight: flight, MaxBatchActions: batch}, AutoFlushInterval: 300 * time.Millisecond, Retry: retry.Options{MaxRetries: 1000, Delay: 50 * time.Millisecond, MaxDelay: time.Second}})
			plain := sendertest.NewDocuments(t, &sendertest.DocumentOptions{})
			folding.Respond(sendertest.Seconds(func(n int, _ *sendertest.Request) float64 { return float64(n*37%11) / 10 }))
			if again > 0 {
				folding.Service.SetFaults(&searchtest.Faults{Seed: seed, Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Documents: []searchtest.DocumentFault{{Ratio: again, Status: 409}}}}})
			}
			for i := range n {
				typ := []models.ActionType{upload, merge, mergeOrUpload, remove}[rnd.IntN(4)]
				text := fmt.Sprintf(`{"id":"k%d"`, rnd.IntN(keys))
				used := map[string]bool{}
				if typ != remove {
					for range rnd.IntN(4) {
						field := fields[rnd.IntN(len(fields))]
						if name := field[:6]; !used[name] {
							used[name] = true
							text += "," + field
						}
					}
				}
				text = strings.ReplaceAll(text, "%d", fmt.Sprint(i)) + "}"
				a := sendertest.ParseAction(typ, text, i)
				folding.Add(a)
				plain.Add(a)
				if rnd.IntN(3) == 0 {
					time.Sleep(time.Duration(rnd.IntN(1000)) * time.Millisecond)
				}
			}
			_, _ = folding.Flush(), plain.Flush()
			assert.Equal(t, plain.Service.Documents("hotels"), folding.Service.Documents("hotels"))
			seen := map[string]int{}
			for _, e := range folding.Ledger.Endings("") {
				assert.GreaterOrEqual(t, e.Tag, seen[e.Key], "outcomes of %s in order", e.Key)
				seen[e.Key] = e.Tag.(int)
			}
			assert.Len(t, folding.Ledger.Endings(""), n)
			ok = !t.Failed()
		})
		if !ok {
			rt.Fatal("see above")
		}
	})
}
