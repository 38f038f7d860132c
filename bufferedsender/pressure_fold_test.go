package bufferedsender_test

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

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPressureFoldTable(t *testing.T) {
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
					actions := []foldAction{action(row.first, a, 1), action(row.second, b, 2)}
					for i := range actions {
						if actions[i].Type == remove {
							actions[i].Document = parse(k)
						}
					}
					folding, plain := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, AutoFlushInterval: -1}), newFoldRig(t, &foldOptions{AutoFlushInterval: -1})
					for _, r := range []*foldRig{folding, plain} {
						if present {
							r.add(action(upload, `{"id":"k","name":"old","rooms":1,"tags":["old"],"address":{"city":"old","zip":"old"}}`, 0))
							require.NoError(t, r.flush())
							r.mu.Lock()
							r.sent = nil
							r.mu.Unlock()
						}
						r.add(actions...)
						_ = r.flush()
					}
					assert.Equal(t, row.travels, folding.traveled())
					assert.Equal(t, plain.srv.Documents("hotels"), folding.srv.Documents("hotels"), "the index ends as if both were sent")
					ends, apart := folding.ledger.endings("k"), plain.ledger.endings("k")
					ends, apart = ends[len(ends)-2:], apart[len(apart)-2:]
					assert.Equal(t, []any{1, 2}, tags(ends))
					for i, e := range ends {
						assert.Equal(t, actions[i].Type, e.typ, "the action is told as it was added")
						assert.False(t, e.superseded)
						assert.False(t, apart[i].folded)
						if len(row.travels) == 2 {
							assert.False(t, e.folded)
							assert.Equal(t, apart[i].kind, e.kind, "%d", i)
							assert.Equal(t, apart[i].status, e.status)
							continue
						}
						assert.True(t, e.folded, "%d", i)
						assert.Equal(t, ends[0].kind, e.kind, "both have the outcome of the write that carried them")
						assert.Equal(t, ends[0].status, e.status)
						assert.Equal(t, 1, e.attempts)
					}
					assert.EqualValues(t, 2-len(row.travels), min(folding.sender.Stats().Folded, 1))
				})
			})
		}
	}
}

func TestPressureMergeThenMergeOrUploadIsNeverFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, AutoFlushInterval: -1})
		r.add(action(merge, `{"id":"k","name":"A"}`, 1), action(mergeOrUpload, `{"id":"k","rooms":2}`, 2))
		var failures *bufferedsender.FlushError
		require.ErrorAs(t, r.flush(), &failures)
		assert.Equal(t, 1, failures.Count, "the merge met no document")
		assert.Equal(t, 404, failures.Errors[0].Status)
		raw, _ := r.srv.Document("hotels", "k")
		var doc map[string]any
		require.NoError(t, json.Unmarshal(raw, &doc))
		assert.Nil(t, doc["name"], "folded, the document would have got it")
		assert.EqualValues(t, 2, doc["rooms"])
	})
}

func TestPressureDeleteThenMergeIsNeverFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, AutoFlushInterval: -1})
		r.add(action(upload, `{"id":"k","name":"A"}`, 0))
		require.NoError(t, r.flush())
		r.add(action(remove, `{"id":"k"}`, 1), action(merge, `{"id":"k","rooms":2}`, 2))
		var failures *bufferedsender.FlushError
		require.ErrorAs(t, r.flush(), &failures)
		assert.Equal(t, 1, failures.Count)
		assert.Equal(t, 404, failures.Errors[0].Status)
		assert.Equal(t, []any{0, 1, 2}, tags(r.ledger.endings("k")))
		assert.Empty(t, r.srv.Documents("hotels"))
	})
}

// What stands behind a pair that is never folded may still be folded among
// itself.
func TestPressureFoldGoesOnBehindAPairThatIsNeverFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, AutoFlushInterval: -1})
		r.add(action(merge, `{"id":"k","name":"A"}`, 1), action(merge, `{"id":"k","rooms":1}`, 2),
			action(mergeOrUpload, `{"id":"k","name":"B"}`, 3), action(merge, `{"id":"k","rooms":2}`, 4))
		require.Error(t, r.flush())
		assert.Equal(t, []string{`merge {"id":"k","name":"A","rooms":1}`, `mergeOrUpload {"id":"k","name":"B","rooms":2}`}, r.traveled())
		var kinds []string
		for _, e := range r.ledger.endings("k") {
			kinds = append(kinds, fmt.Sprint(e.tag, e.kind, e.folded))
		}
		assert.Equal(t, []string{"1failedtrue", "2failedtrue", "3completedtrue", "4completedtrue"}, kinds)
	})
}

func TestPressureWithoutFoldNothingIsFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFoldRig(t, &foldOptions{AutoFlushInterval: -1})
		for i := range 5 {
			r.add(action(upload, fmt.Sprintf(`{"id":"k","rooms":%d}`, i), i))
		}
		require.NoError(t, r.flush())
		assert.Len(t, r.traveled(), 5)
		for _, e := range r.ledger.endings("k") {
			assert.False(t, e.folded)
		}
		assert.Zero(t, r.sender.Stats().Folded)
	})
}

func TestPressureFoldedActionsKeepThePlaceOfTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, Limits: bufferedsender.Limits{MaxBatchActions: 2}, AutoFlushInterval: time.Minute})
		r.sender.Pause()
		r.add(uploadTagged("a", 1), uploadTagged("hot", 1), uploadTagged("b", 1), uploadTagged("c", 1), uploadTagged("hot", 2), uploadTagged("d", 1), uploadTagged("hot", 3))
		r.sender.Resume()
		require.NoError(t, r.flush())
		assert.Equal(t, [][]string{{"a", "hot"}, {"b", "c"}, {"d"}}, keysOf(r.requests()))
	})
	t.Run("so a key that never rests is not starved", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, Limits: bufferedsender.Limits{MaxBatchActions: 2}, AutoFlushInterval: 10 * time.Second, Handlers: l.handlers()})
			r.respond(seconds(func(int, *exchange) float64 { return 1 }))
			for i := range 200 { // ten a second for twenty seconds, and one other
				r.add(uploadTagged("hot", i))
				if i%10 == 0 {
					r.upload(hotel{ID: fmt.Sprint("other-", i)})
				}
				time.Sleep(100 * time.Millisecond)
			}
			written := 0
			for _, x := range r.requests() {
				for _, key := range x.keys {
					if key == "hot" {
						written++
					}
				}
			}
			assert.InDelta(t, 20, written, 3, "it takes its turn in each of the requests, with what came since the last")
			require.NoError(t, r.flush())
			assert.Len(t, l.endings("hot"), 200)
			for i, tag := range tags(l.endings("hot")) {
				assert.Equal(t, i, tag)
			}
		})
	})
	t.Run("and the timer counts from the oldest", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, AutoFlushInterval: 10500 * time.Millisecond})
			for i := range 30 {
				r.add(uploadTagged("hot", i))
				time.Sleep(time.Second)
			}
			require.NoError(t, r.flush())
			assert.Equal(t, []time.Duration{10500 * time.Millisecond, 21500 * time.Millisecond, 30 * time.Second}, times(r.requests()))
		})
	})
}

func TestPressureTheOneInFlightIsNeverFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}})
		r.slowly(func(int) time.Duration { return 10 * time.Second })
		r.add(action(upload, `{"id":"k","rooms":1}`, 1))
		time.Sleep(time.Second)
		r.add(action(upload, `{"id":"k","rooms":2}`, 2), action(merge, `{"id":"k","rooms":3}`, 3), action(merge, `{"id":"k","name":"x"}`, 4))
		require.NoError(t, r.flush())
		assert.Equal(t, []string{`upload {"id":"k","rooms":1}`, `upload {"id":"k","name":"x","rooms":3}`}, r.traveled())
		var marks []any
		for _, e := range r.ledger.endings("k") {
			marks = append(marks, e.tag, e.folded)
		}
		assert.Equal(t, []any{1, false, 2, true, 3, true, 4, true}, marks)
	})
	t.Run("nor one that was sent and waits to be sent again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, Limits: bufferedsender.Limits{MaxBatchActions: 1}})
			r.srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Count: 1, Cut: searchtest.CutAfterCommit}}})
			r.add(action(merge, `{"id":"k","rooms":1}`, 1))
			synctest.Wait()
			r.add(action(upload, `{"id":"k","rooms":2}`, 2))
			_ = r.flush()
			for _, e := range r.ledger.endings("k") {
				assert.False(t, e.folded)
			}
			assert.Equal(t, []string{`merge {"id":"k","rooms":1}`, `merge {"id":"k","rooms":1}`, `upload {"id":"k","rooms":2}`}, r.traveled())
		})
	})
}

func TestPressureFoldNeverMakesAnActionThatDoesNotFit(t *testing.T) {
	big := func(field string, n int) string {
		return fmt.Sprintf(`{"id":"k",%q:%q}`, field, strings.Repeat("x", n))
	}
	synctest.Test(t, func(t *testing.T) {
		r := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, Limits: bufferedsender.Limits{MaxBatchBytes: 2000}, AutoFlushInterval: -1})
		r.srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, OverBytes: 2000}}})
		r.add(action(mergeOrUpload, big("name", 1500), 1))
		r.add(action(mergeOrUpload, fmt.Sprintf(`{"id":"k","tags":[%q]}`, strings.Repeat("x", 1500)), 2))
		require.NoError(t, r.flush())
		assert.Len(t, r.traveled(), 2, "together they make more than a request may hold")
		for _, e := range r.ledger.endings("k") {
			assert.False(t, e.folded)
		}
	})
	t.Run("nor one that overflows the buffer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newFoldRig(t, &foldOptions{Folding: &bufferedsender.Folding[models.Document]{}, Limits: bufferedsender.Limits{MaxBatchBytes: 100_000, MaxBufferedBytes: 4000}, AutoFlushInterval: -1})
			r.add(action(mergeOrUpload, big("name", 1900), 1))
			r.add(action(mergeOrUpload, fmt.Sprintf(`{"id":"k","tags":[%q]}`, strings.Repeat("x", 1900)), 2))
			assert.LessOrEqual(t, r.sender.Stats().PendingBytes, int64(4000))
			require.NoError(t, r.flush())
		})
	})
}

// A sender that nobody asks for documents keeps only what it will send; the
// rest of a folded action is a place in the buffer.
func TestPressureFoldGivesMemoryBackAtOnceAndCountWhenSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		require.NoError(t, srv.CreateIndex(hotelIndex))
		sender, err := bufferedsender.New(newClient(t, srv), &hotelOptions{
			Folding:           &bufferedsender.Folding[hotel]{},
			AutoFlushInterval: -1, Limits: bufferedsender.Limits{MaxBatchBytes: 10_000, MaxBufferedBytes: 10_000, MaxBufferedActions: 100}, Logger: silent,
		})
		require.NoError(t, err)
		closeAtLast(t, sender)
		began := time.Now()
		sender.Pause()
		for range 100 { // two hundred thousand bytes through a buffer of ten thousand
			require.NoError(t, sender.UploadDocuments(within(t, time.Hour), sized("k", 2000)))
		}
		synctest.Wait()
		assert.Equal(t, 100, sender.Stats().PendingActions, "each has its place until it is settled")
		assert.Zero(t, time.Since(began), "nobody waited")
		require.ErrorIs(t, sender.UploadDocuments(within(t, time.Second), hotel{ID: "k"}), context.DeadlineExceeded)
		sender.Resume()
		require.NoError(t, sender.Flush(within(t, time.Hour)))
		assert.Len(t, srv.History("hotels", "k"), 1)
		s := sender.Stats()
		assert.Zero(t, s.PendingActions)
		assert.Zero(t, s.PendingBytes)
		assert.EqualValues(t, 100, s.Completed)
	})
}

// Handlers get their documents back, so folded ones are held on to, and count.
func TestPressureFoldedDocumentsThatHandlersWantCountUntilSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, AutoFlushInterval: -1, Limits: bufferedsender.Limits{MaxBatchBytes: 10_000, MaxBufferedBytes: 10_000}})
		r.sender.Pause()
		added := 0
		for r.sender.UploadDocuments(within(t, time.Second), sized("k", 2000)) == nil {
			added++
		}
		assert.InDelta(t, 4, added, 1)
		assert.Equal(t, added, r.sender.PendingActionCount())
		r.sender.Resume()
		require.NoError(t, r.flush())
		assert.Len(t, r.seen("completed"), added)
		assert.Zero(t, r.sender.Stats().PendingBytes)
	})
}

func TestPressureEachPartHasTheOutcomeOfItsWrite(t *testing.T) {
	cut := errors.New("connection reset by peer")
	for name, c := range map[string]struct {
		answer  answer
		fault   *searchtest.Fault
		status  int
		unknown bool
		sent    int
	}{
		"a document that is refused": {fault: &searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400}}}, status: 400, sent: 1},
		"attempts that are used up":  {fault: &searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 409}}}, status: 409, sent: 4},
		"a request that is refused":  {answer: always(403, refusal("no")), status: 403, sent: 1},
		"connections that break": {answer: func(int, *exchange, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return nil, cut
		}, unknown: true, sent: 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l ledger
				dead := &letterbox{ledger: &l}
				r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, Handlers: l.handlers(), DeadLetters: dead, Retry: atOnce})
				if c.fault != nil {
					r.faults(*c.fault)
				}
				r.respond(c.answer)
				r.add(uploadTagged("k", 1), models.MergeAction(hotel{ID: "k", Name: "x"}).WithTag(2), uploadTagged("other", 1), uploadTagged("k", 3))
				var failures *bufferedsender.FlushError
				require.ErrorAs(t, r.flush(), &failures)
				assert.Equal(t, 4, failures.Count, "each part is an action that failed")
				require.Len(t, failures.Errors, 4)
				assert.Equal(t, []any{1, 2, 3}, tags(l.endings("k")))
				for _, e := range l.endings("k") {
					assert.Equal(t, "failed", e.kind)
					assert.True(t, e.folded)
					assert.Equal(t, c.unknown, e.unknown)
					assert.Equal(t, c.sent, e.attempts)
					var failure *bufferedsender.ActionError
					require.ErrorAs(t, e.err, &failure)
					assert.Equal(t, c.status, failure.Status)
					assert.Equal(t, e.typ, failure.Type)
				}
				assert.EqualValues(t, 4, r.sender.Stats().Failed)
				assert.Len(t, dead.all(), 2, "one for what travelled as one, and one for the other key")
				require.NoError(t, r.flush(), "reported once")
			})
		})
	}
}
