package bufferedsender_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// byRooms takes the number of rooms for the version of a hotel.
func byRooms(h hotel) int64 { return int64(h.Rooms) }

// roomsOf returns what the index holds, -1 if there is no such document.
func (r *rig) roomsOf(key string) int {
	raw, ok := r.srv.Document("hotels", key)
	if !ok {
		return -1
	}
	var stored hotel
	require.NoError(r.t, json.Unmarshal(raw, &stored))
	return stored.Rooms
}

// marks tells an ending in a word or two.
func marks(ends []ending) (all []string) {
	for _, e := range ends {
		text := fmt.Sprint(e.tag, " ", e.kind)
		if e.folded {
			text += " folded"
		}
		if e.superseded {
			text += " superseded"
		}
		all = append(all, text)
	}
	return all
}

func TestPressureVersion(t *testing.T) {
	type step = hotelAction
	up := func(version int, tag string) step {
		return models.UploadAction(hotel{ID: "k", Rooms: version, Name: tag}).WithTag(tag)
	}
	mergeOf := func(version int, tag string) step {
		return models.MergeAction(hotel{ID: "k", Rooms: version, Name: tag}).WithTag(tag)
	}
	gone := func(tag string) step { return models.DeleteAction(hotel{ID: "k"}).WithTag(tag) }
	for name, c := range map[string]struct {
		flight, waiting []step // flight is under way when the others are added
		marks           []string
		rooms           int // -1: no document
		writes          int
	}{
		"an older one is not sent": {
			waiting: []step{up(5, "new"), up(3, "old")},
			marks:   []string{"new completed", "old completed folded superseded"}, rooms: 5, writes: 1,
		},
		"a newer one takes the place of an older one": {
			waiting: []step{up(3, "old"), up(5, "new")},
			marks:   []string{"old completed folded", "new completed folded"}, rooms: 5, writes: 1,
		},
		"the same version again is as new": {
			waiting: []step{up(5, "one"), mergeOf(5, "two")},
			marks:   []string{"one completed folded", "two completed folded"}, rooms: 5, writes: 1,
		},
		"an older merge neither": {
			waiting: []step{up(5, "new"), mergeOf(4, "old")},
			marks:   []string{"new completed", "old completed folded superseded"}, rooms: 5, writes: 1,
		},
		"one without a version is as new": {
			waiting: []step{up(5, "new"), up(0, "none")},
			marks:   []string{"new completed folded", "none completed folded"}, rooms: 0, writes: 1,
		},
		"one without a version does not make it forgotten": {
			waiting: []step{up(5, "new"), mergeOf(0, "none"), up(3, "old")},
			marks:   []string{"new completed folded", "none completed folded", "old completed folded superseded"}, rooms: 5, writes: 1,
		},
		"older than the one under way": {
			flight: []step{up(5, "new")}, waiting: []step{up(3, "old")},
			marks: []string{"new completed", "old completed folded superseded"}, rooms: 5, writes: 1,
		},
		"older than the one under way, newer than the next": {
			flight: []step{up(5, "new")}, waiting: []step{up(3, "old"), up(6, "newer"), up(4, "old again")},
			marks: []string{"new completed", "old completed folded superseded", "newer completed", "old again completed folded superseded"}, rooms: 6, writes: 2,
		},
		"newer than the one under way": {
			flight: []step{up(3, "old")}, waiting: []step{up(5, "new")},
			marks: []string{"old completed", "new completed"}, rooms: 5, writes: 2,
		},
		"a delete has none": {
			waiting: []step{up(5, "new"), gone("delete")},
			marks:   []string{"new completed folded", "delete completed folded"}, rooms: -1, writes: 1,
		},
		"what was deleted does not come back older": {
			waiting: []step{up(5, "new"), gone("delete"), up(3, "old")},
			marks:   []string{"new completed folded", "delete completed folded", "old completed folded superseded"}, rooms: -1, writes: 1,
		},
		"nor while the upload is under way": {
			flight: []step{up(5, "new")}, waiting: []step{gone("delete"), up(3, "old")},
			marks: []string{"new completed", "delete completed", "old completed folded superseded"}, rooms: -1, writes: 2,
		},
		"but newer it does": {
			waiting: []step{up(5, "new"), gone("delete"), up(6, "newer")},
			marks:   []string{"new completed folded", "delete completed folded", "newer completed folded"}, rooms: 6, writes: 1,
		},
		"after a delete alone anything goes": {
			waiting: []step{gone("delete"), up(3, "new")},
			marks:   []string{"delete completed folded", "new completed folded"}, rooms: 3, writes: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l ledger
				r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}, Limits: bufferedsender.Limits{MaxBatchActions: 100, MaxInFlight: 2}, AutoFlushInterval: time.Second, Handlers: l.handlers()})
				r.respond(seconds(func(int, *exchange) float64 { return 10 }))
				if c.flight != nil {
					r.add(c.flight...)
					time.Sleep(2 * time.Second)
				}
				r.add(c.waiting...)
				require.NoError(t, r.flush())
				assert.Equal(t, c.marks, marks(l.endings("k")))
				assert.Equal(t, c.rooms, r.roomsOf("k"))
				assert.Len(t, r.requests(), c.writes)
				superseded := int64(0)
				for _, e := range l.endings("k") {
					if e.superseded {
						superseded++
					}
				}
				assert.Equal(t, superseded, r.sender.Stats().Superseded)
			})
		})
	}
	t.Run("of a key that is settled nothing is remembered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}})
			r.add(up(5, "new"))
			require.NoError(t, r.flush())
			r.add(up(3, "old"))
			require.NoError(t, r.flush())
			assert.Equal(t, 3, r.roomsOf("k"))
		})
	})
	t.Run("an older one is sent after all if the newer one is refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}, AutoFlushInterval: time.Second, Handlers: l.handlers(), Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
			r.faults(searchtest.Fault{Count: 4, Documents: []searchtest.DocumentFault{{Status: 409}}})
			r.add(up(5, "new"))
			time.Sleep(5 * time.Second) // its first attempt has failed
			r.add(up(3, "old"))
			var failures *bufferedsender.FlushError
			require.ErrorAs(t, r.flush(), &failures)
			assert.Equal(t, 1, failures.Count)
			assert.Equal(t, []string{"new failed", "old completed"}, marks(l.endings("k")))
			assert.Len(t, r.requests(), 4+1)
			assert.Equal(t, 3, r.roomsOf("k"))
			assert.Zero(t, r.sender.Stats().Superseded)
		})
	})
	t.Run("no ActionSent tells of what does not travel", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}})
			r.add(up(5, "new"), up(3, "old"))
			require.NoError(t, r.flush())
			sent := r.seen("sent")
			require.Len(t, sent, 1)
			assert.Equal(t, "new", sent[0].action.Tag)
		})
	})
}

func TestPressureFoldAndTheOtherGuarantees(t *testing.T) {
	t.Run("G7: Flush answers for what was accepted before it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, Handlers: l.handlers(), Retry: atOnce})
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k"}, Status: 400}}})
			r.sender.Pause()
			r.add(uploadTagged("k", 1))
			first := later(r.flush)
			synctest.Wait()
			r.add(uploadTagged("k", 2), uploadTagged("k", 3))
			r.sender.Resume()
			var failures *bufferedsender.FlushError
			require.ErrorAs(t, <-first, &failures)
			assert.Equal(t, 1, failures.Count, "not of what was folded into it afterwards")
			require.ErrorAs(t, r.flush(), &failures)
			assert.Equal(t, 2, failures.Count)
		})
	})
	t.Run("G7: a Flush returns after the callbacks of all parts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, Handlers: l.handlers()})
			for i := range 50 {
				r.add(uploadTagged("k", i))
			}
			require.NoError(t, r.flush())
			assert.Len(t, l.endings("k"), 50)
		})
	})
	t.Run("G8: Close counts each part", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			dead := &letterbox{ledger: &l}
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, Handlers: l.handlers(), Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1})}, Retry: atOnce, Limits: bufferedsender.Limits{MaxBatchActions: 1}, DeadLetters: dead})
			r.sickenWith(locked, hotel{ID: "x"})
			r.add(uploadTagged("k", 1), uploadTagged("k", 2), uploadTagged("k", 3))
			answer := closeError(t, r.sender.Close(within(t, time.Second)))
			assert.Equal(t, 4, answer.Unsent)
			assert.Len(t, answer.Errors, 4)
			assert.Equal(t, []any{1, 2, 3}, tags(l.endings("k")))
			assert.Len(t, dead.all(), 2, "one for what would have travelled as one, and one for the probe")
		})
	})
	t.Run("G8: and calls all of a write that was cut off unknown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, Handlers: l.handlers()})
			r.respond(hang)
			r.add(uploadTagged("k", 1), uploadTagged("k", 2), uploadTagged("k", 3))
			answer := closeError(t, r.sender.Close(within(t, time.Second)))
			assert.Equal(t, 3, answer.Unknown)
			assert.Zero(t, answer.Unsent)
			for _, e := range l.endings("k") {
				assert.True(t, e.unknown)
			}
		})
	})
	t.Run("G5: a purge gives up all parts, in order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := newRig(t, &hotelOptions{
				Folding: &bufferedsender.Folding[hotel]{},
				Limits:  bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 4}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.onPurged)}, Retry: atOnce,
				Handlers: l.handlers(),
			})
			r.sender.Breaker().Disable()
			r.add(uploadTagged("k", 1), uploadTagged("other", 1), uploadTagged("k", 2), uploadTagged("k", 3))
			heldOpen(t, r.sender.Flush(within(t, time.Second))) // after which they are folded
			r.add(uploadTagged("new", 1))
			synctest.Wait()
			assert.Contains(t, l.lost(), "k")
			assert.NotContains(t, l.lost(), "other", "what was one write is gone together, which is room enough")
			assert.EqualValues(t, 3, r.sender.Stats().Purged)
			assert.Equal(t, []any{1, 2, 3}, tags(l.endings("k")))
			for _, e := range l.endings("k") {
				require.ErrorIs(t, e.err, bufferedsender.ErrPurged)
			}
			r.sender.Breaker().Enable()
			require.Error(t, r.flush())
			assert.Equal(t, []string{"new", "other"}, r.indexed())
		})
	})
	t.Run("G2: what a call did not get accepted is not folded in", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, Limits: bufferedsender.Limits{MaxBufferedActions: 2}})
			r.sender.Pause()
			err := r.sender.IndexDocuments(within(t, time.Second), uploadTagged("k", 1), uploadTagged("k", 2), uploadTagged("k", 3))
			refused(t, err, 2)
			r.sender.Resume()
			require.NoError(t, r.flush())
			assert.Equal(t, 2, r.roomsOf("k"))
		})
	})
	t.Run("each waiter gets its own result", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}})
			r.respond(seconds(func(int, *exchange) float64 { return 1 }))
			var calls []<-chan models.IndexingResult
			for i := range 10 {
				calls = append(calls, later(func() models.IndexingResult {
					results, err := r.sender.IndexDocumentsAndWait(t.Context(), uploadTagged("k", 1+i%5))
					assert.NoError(t, err)
					return results[0]
				}))
				synctest.Wait() // so that they come in this order
			}
			for _, call := range calls {
				assert.True(t, (<-call).Succeeded)
			}
			assert.Len(t, r.requests(), 2, "of the first five, and of the second 5, which has older ones before it")
			assert.Equal(t, 5, r.roomsOf("k"))
			assert.EqualValues(t, 4, r.sender.Stats().Superseded)
		})
	})
	t.Run("the handlers' actions are those that were added", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}})
			r.add(models.UploadAction(hotel{ID: "k", Name: "one"}).WithTag("a"), models.MergeAction(hotel{ID: "k", Rooms: 7}).WithTag("b"))
			require.NoError(t, r.flush())
			var added, completed []hotelAction
			for _, e := range r.seen("added") {
				added = append(added, e.action)
			}
			for _, e := range r.seen("completed") {
				completed = append(completed, e.action)
			}
			assert.Equal(t, added, completed)
		})
	})
}

// The property of the guarantees: random actions on documents that are there or
// not, in random batches, end in the same index as one by one.
func TestPressureFoldedEndsAsOneByOne(t *testing.T) {
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
			rnd := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a test that can be repeated
			folding := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, Limits: bufferedsender.Limits{MaxInFlight: flight, MaxBatchActions: batch}, AutoFlushInterval: 300 * time.Millisecond, Retry: retry.Options{MaxRetries: 1000, Delay: 50 * time.Millisecond, MaxDelay: time.Second}})
			plain := newFoldRig(t, &foldOptions{})
			folding.slowly(func(n int) time.Duration { return time.Duration(n*37%11) * 100 * time.Millisecond })
			if again > 0 {
				folding.srv.SetFaults(&searchtest.Faults{Seed: seed, Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Documents: []searchtest.DocumentFault{{Ratio: again, Status: 409}}}}})
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
				a := action(typ, text, i)
				folding.add(a)
				plain.add(a)
				if rnd.IntN(3) == 0 {
					time.Sleep(time.Duration(rnd.IntN(1000)) * time.Millisecond)
				}
			}
			_, _ = folding.flush(), plain.flush()
			assert.Equal(t, plain.srv.Documents("hotels"), folding.srv.Documents("hotels"))
			seen := map[string]int{}
			for _, e := range folding.ledger.endings("") {
				assert.GreaterOrEqual(t, e.tag, seen[e.key], "outcomes of %s in order", e.key)
				seen[e.key] = e.tag.(int)
			}
			assert.Len(t, folding.ledger.endings(""), n)
			ok = !t.Failed()
		})
		if !ok {
			rt.Fatal("see above")
		}
	})
}
