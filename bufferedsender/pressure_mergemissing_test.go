package bufferedsender_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var mergeMissing = map[string]bufferedsender.MergeMissing{
	"Fail": bufferedsender.MergeMissingFail, "Ignore": bufferedsender.MergeMissingIgnore, "Upload": bufferedsender.MergeMissingUpload,
}

func (r *rig) merge(docs ...hotel) {
	r.t.Helper()
	require.NoError(r.t, r.sender.MergeDocuments(within(r.t, time.Hour), docs...))
}

func TestPressureMergeOfAMissingDocument(t *testing.T) {
	t.Run("Fail is the default", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.merge(hotel{ID: "k", Rooms: 1})
			require.Error(t, r.flush())
			assert.Equal(t, 404, r.failure("k").Status)
			assert.Equal(t, 1, r.failure("k").Attempts)
			assert.False(t, r.failure("k").Exhausted)
			assert.Empty(t, r.indexed())
			assert.Len(t, r.requests(), 1)
		})
	})
	t.Run("Ignore completes it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			dead := &letterbox{}
			r := newRig(t, &hotelOptions{OnMergeMissing: bufferedsender.MergeMissingIgnore, Handlers: l.handlers(), DeadLetters: dead})
			r.upload(hotel{ID: "there", Name: "x"})
			r.merge(hotel{ID: "k", Rooms: 1}, hotel{ID: "there", Rooms: 2})
			require.NoError(t, r.flush())
			assert.Equal(t, 404, l.endings("k")[0].status, "and says how")
			assert.Equal(t, 200, l.endings("there")[1].status)
			assert.Equal(t, []string{"there"}, r.indexed())
			assert.Equal(t, 2, r.roomsOf("there"))
			assert.Empty(t, dead.all())
			results, err := r.sender.IndexDocumentsAndWait(t.Context(), models.MergeAction(hotel{ID: "k", Rooms: 1}))
			require.NoError(t, err)
			assert.Equal(t, 404, results[0].StatusCode)
		})
	})
	t.Run("Upload sends it again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := newRig(t, &hotelOptions{OnMergeMissing: bufferedsender.MergeMissingUpload, Handlers: l.handlers()})
			r.upload(hotel{ID: "there", Name: "x"})
			r.merge(hotel{ID: "k", Rooms: 1}, hotel{ID: "there", Rooms: 2})
			require.NoError(t, r.flush())
			assert.Equal(t, []string{"k", "there"}, r.indexed())
			assert.Equal(t, 1, r.roomsOf("k"))
			end := l.endings("k")[0]
			assert.Equal(t, models.ActionMerge, end.typ, "the event shows the action as it was added")
			assert.Equal(t, 201, end.status)
			assert.Equal(t, 1, end.attempts, "it used no attempt")
			var actions []string
			for _, x := range r.requests() {
				for i := range x.keys {
					if x.keys[i] == "k" {
						actions = append(actions, x.actions[i])
					}
				}
			}
			assert.Equal(t, []string{"merge", "mergeOrUpload"}, actions)
			raw, _ := r.srv.Document("hotels", "there")
			assert.Contains(t, string(raw), `"x"`, "a document that is there is merged as ever")
		})
	})
	t.Run("another 404 is not meant", func(t *testing.T) {
		for name, policy := range mergeMissing {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{OnMergeMissing: policy})
				r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"u"}, Status: 404}}})
				r.upload(hotel{ID: "u"})
				require.Error(t, r.flush())
				assert.Equal(t, 404, r.failure("u").Status, "an upload with %s", name)
				r.respond(always(404, refusal("no such index")))
				r.merge(hotel{ID: "m"})
				require.Error(t, r.flush())
				assert.Equal(t, 404, r.failure("m").Status, "a whole request with %s", name)
			})
		}
	})
}

func TestPressureMergeMissingKeepsOrder(t *testing.T) {
	for name, policy := range mergeMissing {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{OnMergeMissing: policy, Limits: bufferedsender.Limits{MaxInFlight: 4, MaxBatchActions: 2}})
				r.add(models.MergeAction(hotel{ID: "k", Name: "first"}).WithTag(1), models.MergeAction(hotel{ID: "k", Rooms: 2}).WithTag(2),
					models.DeleteAction(hotel{ID: "k"}).WithTag(3), models.MergeAction(hotel{ID: "k", Rooms: 4}).WithTag(4))
				err := r.flush()
				var kinds []string
				for _, e := range r.seen("completed", "failed") {
					kinds = append(kinds, fmt.Sprint(e.action.Tag, " ", e.kind))
				}
				switch policy {
				case bufferedsender.MergeMissingFail:
					require.Error(t, err)
					assert.Equal(t, []string{"1 failed", "2 failed", "3 completed", "4 failed"}, kinds)
					assert.Equal(t, -1, r.roomsOf("k"))
				case bufferedsender.MergeMissingIgnore:
					require.NoError(t, err)
					assert.Equal(t, []string{"1 completed", "2 completed", "3 completed", "4 completed"}, kinds)
					assert.Equal(t, -1, r.roomsOf("k"))
				default:
					require.NoError(t, err)
					assert.Equal(t, []string{"1 completed", "2 completed", "3 completed", "4 completed"}, kinds)
					assert.Equal(t, 4, r.roomsOf("k"))
					raw, _ := r.srv.Document("hotels", "k")
					assert.NotContains(t, string(raw), "first", "the delete lies between")
				}
			})
		})
	}
}

func TestPressureMergeMissingWithFold(t *testing.T) {
	for name, policy := range mergeMissing {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, OnMergeMissing: policy, AutoFlushInterval: -1})
				r.add(action(merge, `{"id":"k","name":"A","address":{"city":"A"}}`, 1), action(merge, `{"id":"k","rooms":2,"address":{"zip":"1"}}`, 2))
				err := r.flush()
				ends := r.ledger.endings("k")
				require.Len(t, ends, 2)
				const folded = `{"address":{"city":"A","zip":"1"},"id":"k","name":"A","rooms":2}`
				for _, e := range ends {
					assert.True(t, e.folded)
					assert.Equal(t, policy == bufferedsender.MergeMissingFail, e.kind == "failed")
					assert.Equal(t, map[bool]int{true: 201, false: 404}[policy == bufferedsender.MergeMissingUpload], e.status)
				}
				if policy == bufferedsender.MergeMissingUpload {
					require.NoError(t, err)
					assert.Equal(t, []string{"merge " + folded, "mergeOrUpload " + folded}, r.traveled())
				} else {
					assert.Equal(t, []string{"merge " + folded}, r.traveled())
					assert.Empty(t, r.srv.Documents("hotels"))
				}
			})
		})
	}
	t.Run("the pairs that are never folded stay apart", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, OnMergeMissing: bufferedsender.MergeMissingUpload, AutoFlushInterval: -1})
			r.add(action(upload, `{"id":"d","name":"old"}`, 0))
			require.NoError(t, r.flush())
			r.add(action(merge, `{"id":"k","name":"A"}`, 1), action(mergeOrUpload, `{"id":"k","rooms":2}`, 2),
				action(remove, `{"id":"d"}`, 1), action(merge, `{"id":"d","rooms":3}`, 2))
			require.NoError(t, r.flush())
			var k, d map[string]any
			rawK, _ := r.srv.Document("hotels", "k")
			rawD, _ := r.srv.Document("hotels", "d")
			require.NoError(t, json.Unmarshal(rawK, &k))
			require.NoError(t, json.Unmarshal(rawD, &d))
			assert.Equal(t, "A", k["name"])
			assert.EqualValues(t, 2, k["rooms"])
			assert.Nil(t, d["name"])
			assert.EqualValues(t, 3, d["rooms"])
		})
	})
}

func TestPressureMergeMissingAcrossRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{OnMergeMissing: bufferedsender.MergeMissingUpload, Retry: atOnce})
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Status: 409}, {Nth: 2, Status: 503}, {Nth: 2, Status: 422}}})
		r.merge(hotel{ID: "k", Rooms: 1})
		require.NoError(t, r.flush())
		var actions []string
		for _, x := range r.requests() {
			actions = append(actions, x.actions...)
		}
		assert.Equal(t, []string{"merge", "merge", "mergeOrUpload", "mergeOrUpload", "mergeOrUpload"}, actions, "409, 404, 503, 422, done")
		assert.Equal(t, 1, r.roomsOf("k"))
	})
	t.Run("and its own attempts end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{OnMergeMissing: bufferedsender.MergeMissingUpload, Retry: atOnce})
			r.faults(searchtest.Fault{After: 1, Documents: []searchtest.DocumentFault{{Status: 409}}})
			r.merge(hotel{ID: "k", Rooms: 1})
			require.Error(t, r.flush())
			failure := r.failure("k")
			assert.Equal(t, 409, failure.Status)
			assert.True(t, failure.Exhausted)
			assert.Equal(t, models.ActionMerge, failure.Type)
			assert.Len(t, r.requests(), 5, "the merge and four attempts of what became of it")
		})
	})
	t.Run("on the last attempt too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{OnMergeMissing: bufferedsender.MergeMissingUpload, Retry: atOnce})
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Times: 3, Status: 409}}})
			r.merge(hotel{ID: "k", Rooms: 1})
			require.NoError(t, r.flush())
			assert.Equal(t, 1, r.roomsOf("k"))
		})
	})
	t.Run("a service that says 404 for ever is not asked for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{OnMergeMissing: bufferedsender.MergeMissingUpload, Retry: atOnce})
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 404}}})
			r.merge(hotel{ID: "k", Rooms: 1})
			require.Error(t, r.sender.Flush(within(t, time.Hour)))
			assert.Equal(t, 404, r.failure("k").Status)
			assert.LessOrEqual(t, len(r.requests()), 5)
		})
	})
}

// A mergeOrUpload is eight bytes longer than a merge. The rig checks G4.
func TestPressureMergeMissingAtTheLimitsOfSize(t *testing.T) {
	for _, fold := range []bool{false, true} {
		for size := 1000; size < 1020; size++ {
			synctest.Test(t, func(t *testing.T) {
				opts := &hotelOptions{OnMergeMissing: bufferedsender.MergeMissingUpload, Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 5000}}
				if fold {
					opts.Folding = &bufferedsender.Folding[hotel]{}
				}
				r := newRig(t, opts)
				doc := hotel{ID: "k", Name: strings.Repeat("x", size-60)}
				err := r.sender.MergeDocuments(t.Context(), doc)
				if err != nil {
					var large *bufferedsender.DocumentTooLargeError
					require.ErrorAs(t, err, &large)
					assert.Greater(t, large.Size, 1000)
					assert.Equal(t, 1000, large.Limit)
					assert.Empty(t, r.requests())
					return
				}
				require.NoError(t, r.flush(), "what was accepted fits in both forms")
				assert.Len(t, r.requests(), 2)
				assert.Equal(t, []string{"k"}, r.indexed())
			})
		}
	}
	t.Run("also for many of them in full batches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{OnMergeMissing: bufferedsender.MergeMissingUpload, Limits: bufferedsender.Limits{MaxBatchBytes: 1000}})
			for i := range 300 {
				r.merge(hotel{ID: fmt.Sprint("k-", i), Name: strings.Repeat("x", i%60)})
			}
			require.NoError(t, r.flush())
			assert.Len(t, r.indexed(), 300)
			assert.Zero(t, r.sender.Stats().PendingBytes)
		})
	})
	t.Run("other policies lose no room to it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			const envelope = len(`{"value":[{"@search.action":"merge","id":"k","name":""}]}`)
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 1000}})
			r.upload(hotel{ID: "k"})
			r.merge(hotel{ID: "k", Name: strings.Repeat("x", 1000-envelope)})
			require.NoError(t, r.flush())
			assert.Equal(t, 1000, r.requests()[1].bytes, "a merge may fill a request to the last byte")
		})
	})
}
