package outcomes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

func TestWhichPairsAreFoldedIntoWhat(t *testing.T) {
	const (
		a  = `{"address":{"city":"A","owner":{"first":"a","last":"a"},"zip":"1"},"id":"k","name":"A","rooms":5,"tags":["x","y"]}`
		b  = `{"address":{"city":"B","owner":{"first":null}},"id":"k","name":null,"tags":["z"]}`
		ab = `{"address":{"city":"B","owner":{"first":null,"last":"a"},"zip":"1"},"id":"k","name":null,"rooms":5,"tags":["z"]}`
		k  = `{"id":"k"}`
	)
	rows := []struct {
		first, second models.ActionType
		travels       []string
	}{
		{upload, upload, []string{"upload " + b}},
		{upload, mergeOrUpload, []string{"upload " + ab}},
		{upload, merge, []string{"upload " + ab}},
		{upload, remove, []string{"delete " + k}},
		{mergeOrUpload, upload, []string{"upload " + b}},
		{mergeOrUpload, mergeOrUpload, []string{"mergeOrUpload " + ab}},
		{mergeOrUpload, merge, []string{"mergeOrUpload " + ab}},
		{mergeOrUpload, remove, []string{"delete " + k}},
		{merge, upload, []string{"upload " + b}},
		{merge, mergeOrUpload, []string{"merge " + a, "mergeOrUpload " + b}}, // never fold
		{merge, merge, []string{"merge " + ab}},
		{merge, remove, []string{"delete " + k}},
		{remove, upload, []string{"upload " + b}},
		{remove, mergeOrUpload, []string{"upload " + b}},
		{remove, merge, []string{"delete " + k, "merge " + b}}, // never fold
		{remove, remove, []string{"delete " + k}},
	}
	for _, row := range rows {
		for _, present := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s then %s, present %t", row.first, row.second, present), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					actions := []sendertest.DocumentAction{sendertest.ParseAction(row.first, a, 1), sendertest.ParseAction(row.second, b, 2)}
					for i := range actions {
						if actions[i].Type == remove {
							actions[i].Document = sendertest.ParseDocument(k)
						}
					}
					folding, plain := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, AutoFlushInterval: -1}), sendertest.NewDocuments(t, &sendertest.DocumentOptions{AutoFlushInterval: -1})
					for _, r := range []*sendertest.DocumentRig{folding, plain} {
						if present {
							r.Add(sendertest.ParseAction(upload, `{"id":"k","name":"old","rooms":1,"tags":["old"],"address":{"city":"old","zip":"old"}}`, 0))
							require.NoError(t, r.Flush())
						}
						r.Add(actions...)
						_ = r.Flush()
					}
					travelled := folding.Traveled()
					if present {
						travelled = travelled[1:]
					}
					assert.Equal(t, row.travels, travelled)
					assert.Equal(t, plain.Service.Documents("hotels"), folding.Service.Documents("hotels"), "the index ends as if both were sent")
					ends, apart := folding.Ledger.Endings("k"), plain.Ledger.Endings("k")
					ends, apart = ends[len(ends)-2:], apart[len(apart)-2:]
					assert.Equal(t, []any{1, 2}, sendertest.Tags(ends))
					for i, e := range ends {
						assert.Equal(t, actions[i].Type, e.Type, "the action is reported as it was added")
						assert.False(t, e.Superseded)
						assert.False(t, apart[i].Folded)
						if len(row.travels) == 2 {
							assert.False(t, e.Folded)
							assert.Equal(t, apart[i].Kind, e.Kind, "%d", i)
							assert.Equal(t, apart[i].Status, e.Status)
							continue
						}
						assert.True(t, e.Folded, "%d", i)
						assert.Equal(t, ends[0].Kind, e.Kind, "both parts have the outcome of their write")
						assert.Equal(t, ends[0].Status, e.Status)
						assert.Equal(t, 1, e.Attempts)
					}
					assert.EqualValues(t, 2-len(row.travels), min(folding.Sender.Stats().Folded, 1))
				})
			})
		}
	}
}

func TestMergeThenMergeOrUploadIsNeverFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, AutoFlushInterval: -1})
		r.Add(sendertest.ParseAction(merge, `{"id":"k","name":"A"}`, 1), sendertest.ParseAction(mergeOrUpload, `{"id":"k","rooms":2}`, 2))
		var failures *bufferedsender.FlushError
		require.ErrorAs(t, r.Flush(), &failures)
		assert.Equal(t, 1, failures.Count, "the merge found no document")
		assert.Equal(t, 404, failures.Errors[0].Status)
		raw, _ := r.Service.Document("hotels", "k")
		var doc map[string]any
		require.NoError(t, json.Unmarshal(raw, &doc))
		assert.Nil(t, doc["name"], "a folded action would have set the name")
		assert.EqualValues(t, 2, doc["rooms"])
	})
}

func TestDeleteThenMergeIsNeverFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, AutoFlushInterval: -1})
		r.Add(sendertest.ParseAction(upload, `{"id":"k","name":"A"}`, 0))
		require.NoError(t, r.Flush())
		r.Add(sendertest.ParseAction(remove, `{"id":"k"}`, 1), sendertest.ParseAction(merge, `{"id":"k","rooms":2}`, 2))
		var failures *bufferedsender.FlushError
		require.ErrorAs(t, r.Flush(), &failures)
		assert.Equal(t, 1, failures.Count)
		assert.Equal(t, 404, failures.Errors[0].Status)
		assert.Equal(t, []any{0, 1, 2}, sendertest.Tags(r.Ledger.Endings("k")))
		assert.Empty(t, r.Service.Documents("hotels"))
	})
}

// Actions after a pair that never folds may still fold with each other.
func TestFoldingGoesOnBehindAPairThatIsNeverFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, AutoFlushInterval: -1})
		r.Add(sendertest.ParseAction(merge, `{"id":"k","name":"A"}`, 1), sendertest.ParseAction(merge, `{"id":"k","rooms":1}`, 2),
			sendertest.ParseAction(mergeOrUpload, `{"id":"k","name":"B"}`, 3), sendertest.ParseAction(merge, `{"id":"k","rooms":2}`, 4))
		require.Error(t, r.Flush())
		assert.Equal(t, []string{`merge {"id":"k","name":"A","rooms":1}`, `mergeOrUpload {"id":"k","name":"B","rooms":2}`}, r.Traveled())
		var kinds []string
		for _, e := range r.Ledger.Endings("k") {
			kinds = append(kinds, fmt.Sprint(e.Tag, e.Kind, e.Folded))
		}
		assert.Equal(t, []string{"1failedtrue", "2failedtrue", "3completedtrue", "4completedtrue"}, kinds)
	})
}

func TestWithoutFoldNothingIsFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{AutoFlushInterval: -1})
		for i := range 5 {
			r.Add(sendertest.ParseAction(upload, fmt.Sprintf(`{"id":"k","rooms":%d}`, i), i))
		}
		require.NoError(t, r.Flush())
		assert.Len(t, r.Traveled(), 5)
		for _, e := range r.Ledger.Endings("k") {
			assert.False(t, e.Folded)
		}
		assert.Zero(t, r.Sender.Stats().Folded)
	})
}

func TestFoldedActionsKeepThePlaceOfTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, Limits: bufferedsender.Limits{MaxBatchActions: 2}, AutoFlushInterval: time.Minute})
		r.Sender.Pause()
		r.Add(sendertest.TaggedUpload("a", 1), sendertest.TaggedUpload("hot", 1), sendertest.TaggedUpload("b", 1), sendertest.TaggedUpload("c", 1), sendertest.TaggedUpload("hot", 2), sendertest.TaggedUpload("d", 1), sendertest.TaggedUpload("hot", 3))
		r.Sender.Resume()
		require.NoError(t, r.Flush())
		assert.Equal(t, [][]string{{"a", "hot"}, {"b", "c"}, {"d"}}, sendertest.KeysOf(r.Requests()))
	})
	t.Run("a key that changes constantly is sent anyway", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, Limits: bufferedsender.Limits{MaxBatchActions: 2}, AutoFlushInterval: 10 * time.Second, Handlers: l.Handlers()})
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 1 }))
			for i := range 200 { // ten per second for twenty seconds, and one other
				r.Add(sendertest.TaggedUpload("hot", i))
				if i%10 == 0 {
					r.Upload(sendertest.Hotel{ID: fmt.Sprint("other-", i)})
				}
				time.Sleep(100 * time.Millisecond)
			}
			written := 0
			for _, x := range r.Requests() {
				for _, key := range x.Keys {
					if key == "hot" {
						written++
					}
				}
			}
			assert.InDelta(t, 20, written, 3, "each request has the key, with the changes since the last one")
			require.NoError(t, r.Flush())
			assert.Len(t, l.Endings("hot"), 200)
			for i, tag := range sendertest.Tags(l.Endings("hot")) {
				assert.Equal(t, i, tag)
			}
		})
	})
	t.Run("the timer counts from the oldest action", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, AutoFlushInterval: 10500 * time.Millisecond})
			for i := range 30 {
				r.Add(sendertest.TaggedUpload("hot", i))
				time.Sleep(time.Second)
			}
			require.NoError(t, r.Flush())
			assert.Equal(t, []time.Duration{10500 * time.Millisecond, 21500 * time.Millisecond, 30 * time.Second}, sendertest.Times(r.Requests()))
		})
	})
}

func TestAnActionInFlightIsNeverFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}})
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
		r.Add(sendertest.ParseAction(upload, `{"id":"k","rooms":1}`, 1))
		time.Sleep(time.Second)
		r.Add(sendertest.ParseAction(upload, `{"id":"k","rooms":2}`, 2), sendertest.ParseAction(merge, `{"id":"k","rooms":3}`, 3), sendertest.ParseAction(merge, `{"id":"k","name":"x"}`, 4))
		require.NoError(t, r.Flush())
		assert.Equal(t, []string{`upload {"id":"k","rooms":1}`, `upload {"id":"k","name":"x","rooms":3}`}, r.Traveled())
		var marks []any
		for _, e := range r.Ledger.Endings("k") {
			marks = append(marks, e.Tag, e.Folded)
		}
		assert.Equal(t, []any{1, false, 2, true, 3, true, 4, true}, marks)
	})
	t.Run("an action that waits for its retry is not folded either", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, Limits: bufferedsender.Limits{MaxBatchActions: 1}})
			r.Service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Count: 1, Cut: searchtest.CutAfterCommit}}})
			r.Add(sendertest.ParseAction(merge, `{"id":"k","rooms":1}`, 1))
			synctest.Wait()
			r.Add(sendertest.ParseAction(upload, `{"id":"k","rooms":2}`, 2))
			_ = r.Flush()
			for _, e := range r.Ledger.Endings("k") {
				assert.False(t, e.Folded)
			}
			assert.Equal(t, []string{`merge {"id":"k","rooms":1}`, `merge {"id":"k","rooms":1}`, `upload {"id":"k","rooms":2}`}, r.Traveled())
		})
	})
}

func TestFoldingNeverMakesAnActionThatDoesNotFit(t *testing.T) {
	big := func(field string, n int) string {
		return fmt.Sprintf(`{"id":"k",%q:%q}`, field, strings.Repeat("x", n))
	}
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, Limits: bufferedsender.Limits{MaxBatchBytes: 2000}, AutoFlushInterval: -1})
		r.Service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, OverBytes: 2000}}})
		r.Add(sendertest.ParseAction(mergeOrUpload, big("name", 1500), 1))
		r.Add(sendertest.ParseAction(mergeOrUpload, fmt.Sprintf(`{"id":"k","tags":[%q]}`, strings.Repeat("x", 1500)), 2))
		require.NoError(t, r.Flush())
		assert.Len(t, r.Traveled(), 2, "together they make more than a request may hold")
		for _, e := range r.Ledger.Endings("k") {
			assert.False(t, e.Folded)
		}
	})
	t.Run("actions that would overflow the buffer are not folded either", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{Folding: &bufferedsender.Folding[models.Document]{}, Limits: bufferedsender.Limits{MaxBatchBytes: 100_000, MaxBufferedBytes: 4000}, AutoFlushInterval: -1})
			r.Add(sendertest.ParseAction(mergeOrUpload, big("name", 1900), 1))
			r.Add(sendertest.ParseAction(mergeOrUpload, fmt.Sprintf(`{"id":"k","tags":[%q]}`, strings.Repeat("x", 1900)), 2))
			assert.LessOrEqual(t, r.Sender.Stats().PendingBytes, int64(4000))
			require.NoError(t, r.Flush())
		})
	})
}

// Without handlers that need documents, a sender keeps only the folded one; the other folded actions only use a place
// in the buffer.
func TestFoldingGivesMemoryBackAtOnceAndCountWhenSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		require.NoError(t, srv.CreateIndex(sendertest.HotelIndex))
		sender, err := bufferedsender.New(sendertest.NewClient(t, srv), &sendertest.Options{
			Folding:           &bufferedsender.Folding[sendertest.Hotel]{},
			AutoFlushInterval: -1, Limits: bufferedsender.Limits{MaxBatchBytes: 10_000, MaxBufferedBytes: 10_000, MaxBufferedActions: 100}, Logger: sendertest.NoLog,
		})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, sender)
		began := time.Now()
		sender.Pause()
		for range 100 { // two hundred thousand bytes through a buffer of ten thousand
			require.NoError(t, sender.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.HotelOfSize("k", 2000)))
		}
		synctest.Wait()
		assert.Equal(t, 100, sender.Stats().PendingActions, "each folded action takes a place until it settles")
		assert.Zero(t, time.Since(began), "no call waited")
		require.ErrorIs(t, sender.UploadDocuments(sendertest.Within(t, time.Second), sendertest.Hotel{ID: "k"}), context.DeadlineExceeded)
		sender.Resume()
		require.NoError(t, sender.Flush(sendertest.Within(t, time.Hour), nil))
		assert.Len(t, srv.History("hotels", "k"), 1)
		s := sender.Stats()
		assert.Zero(t, s.PendingActions)
		assert.Zero(t, s.PendingBytes)
		assert.EqualValues(t, 100, s.Completed)
	})
}

// Handlers get their documents back, so folded ones are kept and count.
func TestFoldedDocumentsThatHandlersWantCountUntilSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, AutoFlushInterval: -1, Limits: bufferedsender.Limits{MaxBatchBytes: 10_000, MaxBufferedBytes: 10_000}})
		r.Sender.Pause()
		added := 0
		for r.Sender.UploadDocuments(sendertest.Within(t, time.Second), sendertest.HotelOfSize("k", 2000)) == nil {
			added++
		}
		assert.InDelta(t, 4, added, 1)
		assert.Equal(t, added, r.Sender.Stats().PendingActions)
		r.Sender.Resume()
		require.NoError(t, r.Flush())
		assert.Len(t, r.Events("completed"), added)
		assert.Zero(t, r.Sender.Stats().PendingBytes)
	})
}

func TestEachFoldedActionHasTheOutcomeOfItsWrite(t *testing.T) {
	cut := errors.New("connection reset by peer")
	for name, c := range map[string]struct {
		answer  sendertest.Answer
		fault   *searchtest.Fault
		status  int
		unknown bool
		sent    int
	}{
		"a document that is refused": {fault: &searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400}}}, status: 400, sent: 1},
		"attempts that are used up":  {fault: &searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 409}}}, status: 409, sent: 4},
		"a request that is refused":  {answer: sendertest.Always(403, sendertest.ErrorBody("no")), status: 403, sent: 1},
		"connections that break": {answer: func(int, *sendertest.Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return nil, cut
		}, unknown: true, sent: 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l sendertest.Ledger
				dead := &sendertest.DeadLetters{Ledger: &l}
				r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, Handlers: l.Handlers(), DeadLetters: dead, Retry: sendertest.RetryAtOnce})
				if c.fault != nil {
					r.Faults(*c.fault)
				}
				r.Respond(c.answer)
				r.Add(sendertest.TaggedUpload("k", 1), models.MergeAction(sendertest.Hotel{ID: "k", Name: "x"}).WithTag(2), sendertest.TaggedUpload("other", 1), sendertest.TaggedUpload("k", 3))
				var failures *bufferedsender.FlushError
				require.ErrorAs(t, r.Flush(), &failures)
				assert.Equal(t, 4, failures.Count, "each part is an action that failed")
				require.Len(t, failures.Errors, 4)
				assert.Equal(t, []any{1, 2, 3}, sendertest.Tags(l.Endings("k")))
				for _, e := range l.Endings("k") {
					assert.Equal(t, "failed", e.Kind)
					assert.True(t, e.Folded)
					assert.Equal(t, c.unknown, e.Unknown)
					assert.Equal(t, c.sent, e.Attempts)
					var failure *bufferedsender.ActionError
					require.ErrorAs(t, e.Err, &failure)
					assert.Equal(t, c.status, failure.Status)
					assert.Equal(t, e.Type, failure.Type)
				}
				assert.EqualValues(t, 4, r.Sender.Stats().Failed)
				assert.Len(t, dead.All(), 2, "one dead letter for the folded actions, and one for the other key")
				require.NoError(t, r.Flush(), "reported once")
			})
		})
	}
}

const (
	upload        = models.ActionTypeUpload
	merge         = models.ActionTypeMerge
	mergeOrUpload = models.ActionTypeMergeOrUpload
	remove        = models.ActionTypeDelete
)
