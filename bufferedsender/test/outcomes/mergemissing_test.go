package outcomes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

var mergeMissing = map[string]bufferedsender.MergeMissing{
	"Fail": bufferedsender.MergeMissingFail, "Ignore": bufferedsender.MergeMissingIgnore, "Upload": bufferedsender.MergeMissingUpload,
}

func TestAMergeOfAMissingDocument(t *testing.T) {
	t.Run("Fail is the default", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Merge(sendertest.Hotel{ID: "k", Rooms: 1})
			require.Error(t, r.Flush())
			assert.Equal(t, 404, r.Failure("k").Status)
			assert.Equal(t, 1, r.Failure("k").Attempts)
			assert.False(t, r.Failure("k").Exhausted)
			assert.Empty(t, r.Indexed())
			assert.Len(t, r.Requests(), 1)
		})
	})
	t.Run("Ignore completes the merge", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			dead := &sendertest.DeadLetters{}
			r := sendertest.New(t, &sendertest.Options{OnMergeMissing: bufferedsender.MergeMissingIgnore, Handlers: l.Handlers(), DeadLetters: dead})
			r.Upload(sendertest.Hotel{ID: "there", Name: "x"})
			r.Merge(sendertest.Hotel{ID: "k", Rooms: 1}, sendertest.Hotel{ID: "there", Rooms: 2})
			require.NoError(t, r.Flush())
			assert.Equal(t, 404, l.Endings("k")[0].Status, "the event reports status 404")
			assert.Equal(t, 200, l.Endings("there")[1].Status)
			assert.Equal(t, []string{"there"}, r.Indexed())
			assert.Equal(t, 2, roomsOf(r, "there"))
			assert.Empty(t, dead.All())
			results, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{models.MergeAction(sendertest.Hotel{ID: "k", Rooms: 1})}, nil)
			require.NoError(t, err)
			assert.Equal(t, 404, results[0].StatusCode)
		})
	})
	t.Run("Upload sends the document again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := sendertest.New(t, &sendertest.Options{OnMergeMissing: bufferedsender.MergeMissingUpload, Handlers: l.Handlers()})
			r.Upload(sendertest.Hotel{ID: "there", Name: "x"})
			r.Merge(sendertest.Hotel{ID: "k", Rooms: 1}, sendertest.Hotel{ID: "there", Rooms: 2})
			require.NoError(t, r.Flush())
			assert.Equal(t, []string{"k", "there"}, r.Indexed())
			assert.Equal(t, 1, roomsOf(r, "k"))
			end := l.Endings("k")[0]
			assert.Equal(t, models.ActionTypeMerge, end.Type, "the event shows the action as it was added")
			assert.Equal(t, 201, end.Status)
			assert.Equal(t, 1, end.Attempts, "the upload used no attempt")
			var actions []string
			for _, x := range r.Requests() {
				for i := range x.Keys {
					if x.Keys[i] == "k" {
						actions = append(actions, x.Actions[i])
					}
				}
			}
			assert.Equal(t, []string{"merge", "mergeOrUpload"}, actions)
			raw, _ := r.Service.Document("hotels", "there")
			assert.Contains(t, string(raw), `"x"`, "an existing document is merged as usual")
		})
	})
	t.Run("another 404 does not count", func(t *testing.T) {
		for name, policy := range mergeMissing {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{OnMergeMissing: policy})
				r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"u"}, Status: 404}}})
				r.Upload(sendertest.Hotel{ID: "u"})
				require.Error(t, r.Flush())
				assert.Equal(t, 404, r.Failure("u").Status, "an upload with %s", name)
				r.Respond(sendertest.Always(404, sendertest.ErrorBody("no such index")))
				r.Merge(sendertest.Hotel{ID: "m"})
				require.Error(t, r.Flush())
				assert.Equal(t, 404, r.Failure("m").Status, "a whole request with %s", name)
			})
		}
	})
}

func TestMergeMissingKeepsOrder(t *testing.T) {
	for name, policy := range mergeMissing {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{OnMergeMissing: policy, Limits: bufferedsender.Limits{MaxInFlight: 4, MaxBatchActions: 2}})
				r.Add(models.MergeAction(sendertest.Hotel{ID: "k", Name: "first"}).WithTag(1), models.MergeAction(sendertest.Hotel{ID: "k", Rooms: 2}).WithTag(2),
					models.DeleteAction(sendertest.Hotel{ID: "k"}).WithTag(3), models.MergeAction(sendertest.Hotel{ID: "k", Rooms: 4}).WithTag(4))
				err := r.Flush()
				var kinds []string
				for _, e := range r.Events("completed", "failed") {
					kinds = append(kinds, fmt.Sprint(e.Action.Tag, " ", e.Kind))
				}
				switch policy {
				case bufferedsender.MergeMissingFail:
					require.Error(t, err)
					assert.Equal(t, []string{"1 failed", "2 failed", "3 completed", "4 failed"}, kinds)
					assert.Equal(t, -1, roomsOf(r, "k"))
				case bufferedsender.MergeMissingIgnore:
					require.NoError(t, err)
					assert.Equal(t, []string{"1 completed", "2 completed", "3 completed", "4 completed"}, kinds)
					assert.Equal(t, -1, roomsOf(r, "k"))
				default:
					require.NoError(t, err)
					assert.Equal(t, []string{"1 completed", "2 completed", "3 completed", "4 completed"}, kinds)
					assert.Equal(t, 4, roomsOf(r, "k"))
					raw, _ := r.Service.Document("hotels", "k")
					assert.NotContains(t, string(raw), "first", "the delete lies between")
				}
			})
		})
	}
}

func TestMergeMissingWithFolding(t *testing.T) {
	for name, policy := range mergeMissing {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, OnMergeMissing: policy, AutoFlushInterval: -1})
				r.Add(sendertest.ParseAction(merge, `{"id":"k","name":"A","address":{"city":"A"}}`, 1), sendertest.ParseAction(merge, `{"id":"k","rooms":2,"address":{"zip":"1"}}`, 2))
				err := r.Flush()
				ends := r.Ledger.Endings("k")
				require.Len(t, ends, 2)
				const folded = `{"address":{"city":"A","zip":"1"},"id":"k","name":"A","rooms":2}`
				for _, e := range ends {
					assert.True(t, e.Folded)
					assert.Equal(t, policy == bufferedsender.MergeMissingFail, e.Kind == "failed")
					assert.Equal(t, map[bool]int{true: 201, false: 404}[policy == bufferedsender.MergeMissingUpload], e.Status)
				}
				if policy == bufferedsender.MergeMissingUpload {
					require.NoError(t, err)
					assert.Equal(t, []string{"merge " + folded, "mergeOrUpload " + folded}, r.Traveled())
				} else {
					assert.Equal(t, []string{"merge " + folded}, r.Traveled())
					assert.Empty(t, r.Service.Documents("hotels"))
				}
			})
		})
	}
	t.Run("the pairs that are never folded stay apart", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, OnMergeMissing: bufferedsender.MergeMissingUpload, AutoFlushInterval: -1})
			r.Add(sendertest.ParseAction(upload, `{"id":"d","name":"old"}`, 0))
			require.NoError(t, r.Flush())
			r.Add(sendertest.ParseAction(merge, `{"id":"k","name":"A"}`, 1), sendertest.ParseAction(mergeOrUpload, `{"id":"k","rooms":2}`, 2),
				sendertest.ParseAction(remove, `{"id":"d"}`, 1), sendertest.ParseAction(merge, `{"id":"d","rooms":3}`, 2))
			require.NoError(t, r.Flush())
			var k, d map[string]any
			rawK, _ := r.Service.Document("hotels", "k")
			rawD, _ := r.Service.Document("hotels", "d")
			require.NoError(t, json.Unmarshal(rawK, &k))
			require.NoError(t, json.Unmarshal(rawD, &d))
			assert.Equal(t, "A", k["name"])
			assert.EqualValues(t, 2, k["rooms"])
			assert.Nil(t, d["name"])
			assert.EqualValues(t, 3, d["rooms"])
		})
	})
}

func TestMergeMissingAcrossRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{OnMergeMissing: bufferedsender.MergeMissingUpload, Retry: sendertest.RetryAtOnce})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Status: 409}, {Nth: 2, Status: 503}, {Nth: 2, Status: 422}}})
		r.Merge(sendertest.Hotel{ID: "k", Rooms: 1})
		require.NoError(t, r.Flush())
		var actions []string
		for _, x := range r.Requests() {
			actions = append(actions, x.Actions...)
		}
		assert.Equal(t, []string{"merge", "merge", "mergeOrUpload", "mergeOrUpload", "mergeOrUpload"}, actions, "409, 404, 503, 422, done")
		assert.Equal(t, 1, roomsOf(r, "k"))
	})
	t.Run("the upload has its own attempts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{OnMergeMissing: bufferedsender.MergeMissingUpload, Retry: sendertest.RetryAtOnce})
			r.Faults(searchtest.Fault{After: 1, Documents: []searchtest.DocumentFault{{Status: 409}}})
			r.Merge(sendertest.Hotel{ID: "k", Rooms: 1})
			require.Error(t, r.Flush())
			failure := r.Failure("k")
			assert.Equal(t, 409, failure.Status)
			assert.True(t, failure.Exhausted)
			assert.Equal(t, models.ActionTypeMerge, failure.Type)
			assert.Len(t, r.Requests(), 5, "the merge and four attempts of its upload")
		})
	})
	t.Run("a merge on its last attempt is uploaded too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{OnMergeMissing: bufferedsender.MergeMissingUpload, Retry: sendertest.RetryAtOnce})
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Times: 3, Status: 409}}})
			r.Merge(sendertest.Hotel{ID: "k", Rooms: 1})
			require.NoError(t, r.Flush())
			assert.Equal(t, 1, roomsOf(r, "k"))
		})
	})
	t.Run("a service that always answers 404 is not retried forever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{OnMergeMissing: bufferedsender.MergeMissingUpload, Retry: sendertest.RetryAtOnce})
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 404}}})
			r.Merge(sendertest.Hotel{ID: "k", Rooms: 1})
			require.Error(t, r.Sender.Flush(sendertest.Within(t, time.Hour), nil))
			assert.Equal(t, 404, r.Failure("k").Status)
			assert.LessOrEqual(t, len(r.Requests()), 5)
		})
	})
}

// A mergeOrUpload is eight bytes longer than a merge. The rig checks the limits of requests.
func TestMergeMissingAtTheLimitsOfSize(t *testing.T) {
	for _, fold := range []bool{false, true} {
		for size := 1000; size < 1020; size++ {
			synctest.Test(t, func(t *testing.T) {
				opts := &sendertest.Options{OnMergeMissing: bufferedsender.MergeMissingUpload, Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 5000}}
				if fold {
					opts.Folding = &bufferedsender.Folding[sendertest.Hotel]{}
				}
				r := sendertest.New(t, opts)
				doc := sendertest.Hotel{ID: "k", Name: strings.Repeat("x", size-60)}
				err := r.Sender.MergeDocuments(t.Context(), doc)
				if err != nil {
					var large *bufferedsender.DocumentTooLargeError
					require.ErrorAs(t, err, &large)
					assert.Greater(t, large.Size, 1000)
					assert.Equal(t, 1000, large.Limit)
					assert.Empty(t, r.Requests())
					return
				}
				require.NoError(t, r.Flush(), "accepted actions fit in both forms")
				assert.Len(t, r.Requests(), 2)
				assert.Equal(t, []string{"k"}, r.Indexed())
			})
		}
	}
	t.Run("many merges fit in full batches as uploads", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{OnMergeMissing: bufferedsender.MergeMissingUpload, Limits: bufferedsender.Limits{MaxBatchBytes: 1000}})
			for i := range 300 {
				r.Merge(sendertest.Hotel{ID: fmt.Sprint("k-", i), Name: strings.Repeat("x", i%60)})
			}
			require.NoError(t, r.Flush())
			assert.Len(t, r.Indexed(), 300)
			assert.Zero(t, r.Sender.Stats().PendingBytes)
		})
	})
	t.Run("other policies reserve no room for an upload", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			const envelope = len(`{"value":[{"@search.action":"merge","id":"k","name":""}]}`)
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 1000}})
			r.Upload(sendertest.Hotel{ID: "k"})
			r.Merge(sendertest.Hotel{ID: "k", Name: strings.Repeat("x", 1000-envelope)})
			require.NoError(t, r.Flush())
			assert.Equal(t, 1000, r.Requests()[1].Bytes, "a merge may fill a request to the last byte")
		})
	})
}
