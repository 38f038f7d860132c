package deadletter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// world is an emulated service, dead letters, and senders between the two.
type world struct {
	t *testing.T
	wire
	dir string
	f   *deadletter.File
}

const schema = `{"name":"hotels","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"name","type":"Edm.String"}]}`

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, wire: wire{srv: searchtest.NewServer(&searchtest.Options{KeepContents: true})}, dir: t.TempDir()}
	require.NoError(t, w.srv.CreateIndex(schema))
	f, err := deadletter.Open(w.dir, nil)
	require.NoError(t, err)
	w.f = f
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return w
}

func senderOf[T any](w *world, opts bufferedsender.Options[T]) *bufferedsender.BufferedSender[T] {
	w.t.Helper()
	client, err := search.NewClientWithKey(w.srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: &w.wire}})
	require.NoError(w.t, err)
	opts.Documents.KeyField, opts.DeadLetters = "id", w.f
	opts.Logger = slog.New(slog.DiscardHandler)
	sender, err := bufferedsender.New(client, &opts)
	require.NoError(w.t, err)
	return sender
}

// addField adds the missing field to the index.
func (w *world) addField(field models.SearchField) {
	w.t.Helper()
	indexes, err := search.NewIndexClientWithKey(w.srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: w.srv}})
	require.NoError(w.t, err)
	index, err := indexes.GetIndex(w.t.Context(), "hotels", nil)
	require.NoError(w.t, err)
	index.Fields = append(index.Fields, field)
	_, err = indexes.CreateOrUpdateIndex(w.t.Context(), index, nil)
	require.NoError(w.t, err)
}

// refuseAll makes the service refuse every document until SetFaults(nil).
func (w *world) refuseAll() {
	w.srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments, Documents: []searchtest.DocumentFault{{Status: 400}},
	}}})
}

func (w *world) letters() (all []deadletter.Letter) {
	w.t.Helper()
	for l, err := range deadletter.Read(os.DirFS(w.dir)) {
		require.NoError(w.t, err)
		all = append(all, l)
	}
	return all
}

func TestPoisonAmongAThousandIsOneLetterAndReplayAfterTheFixEmptiesIt(t *testing.T) {
	w := newWorld(t)
	sender := senderOf(w, bufferedsender.Options[models.Document]{})
	began := time.Now()
	for i := range 1000 {
		d := models.Document{"id": fmt.Sprint(i), "name": fmt.Sprint("Hotel ", i)}
		if i == 500 {
			d["stars"] = 5 // a field that the index lacks
		}
		require.NoError(t, sender.UploadDocuments(t.Context(), d))
	}
	var failed *bufferedsender.FlushError
	require.ErrorAs(t, sender.Flush(t.Context(), nil), &failed)
	require.Equal(t, 1, failed.Count)
	require.Equal(t, int64(999), w.srv.DocumentCount("hotels"))

	letters := w.letters()
	require.Len(t, letters, 1)
	l := letters[0]
	assert.Equal(t, "hotels", l.Index)
	assert.Equal(t, "500", l.Key)
	assert.Equal(t, models.ActionTypeUpload, l.Action)
	assert.JSONEq(t, `{"id":"500","name":"Hotel 500","stars":5}`, string(l.Document))
	assert.Equal(t, 400, l.Status)
	assert.Contains(t, l.Error, "stars")
	assert.False(t, l.Unsent)
	assert.WithinRange(t, l.First, began, l.Last)
	assert.WithinRange(t, l.Last, l.First, time.Now())
	assert.Equal(t, int64(1), sender.Stats().DeadLetters)

	// The index still lacks the field: exactly one dead letter remains.
	report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
	require.NoError(t, err)
	require.Equal(t, deadletter.Report{Sent: 1, Failed: 1}, report)
	again := w.letters()
	require.Len(t, again, 1)
	assert.Equal(t, l.Document, again[0].Document)
	assert.Equal(t, 2*l.Attempts, again[0].Attempts)
	assert.True(t, again[0].First.Equal(l.First))
	assert.True(t, again[0].Last.After(l.Last))

	w.addField(models.SearchField{Name: "stars", Type: models.DataTypeInt32})
	report, err = deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
	require.NoError(t, err)
	require.Equal(t, deadletter.Report{Sent: 1, Delivered: 1}, report)
	require.Empty(t, w.letters())
	require.Equal(t, int64(1000), w.srv.DocumentCount("hotels"))
	document, ok := w.srv.Document("hotels", "500")
	require.True(t, ok)
	require.JSONEq(t, `{"id":"500","name":"Hotel 500","stars":5}`, string(document))
	entries, err := os.ReadDir(w.dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "the lock is all that is left")
	require.NoError(t, sender.Close(t.Context()), "the first Replay has reported its failure")
}

// When its context ends, Close writes unsent actions as dead letters. The next run sends them.
func TestWhatCloseGivesUpIsReplayedByTheNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(time.Hour)}}})
		sender := senderOf(w, bufferedsender.Options[json.RawMessage]{Limits: bufferedsender.Limits{MaxBatchActions: 2}, RequestTimeout: -1})
		for i := range 6 {
			require.NoError(t, sender.UploadDocuments(t.Context(), json.RawMessage(fmt.Sprintf(`{"id":"%d","name":null}`, i))))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var left *bufferedsender.CloseError
		require.ErrorAs(t, sender.Close(ctx), &left)
		require.Equal(t, 6, left.Unsent+left.Unknown)
		letters := w.letters()
		require.Len(t, letters, 6)
		unknown := 0
		for _, l := range letters {
			assert.True(t, l.Unsent)
			assert.Equal(t, fmt.Sprintf(`{"id":"%s","name":null}`, l.Key), string(l.Document))
			if l.Unknown {
				unknown++
			}
		}
		require.Equal(t, left.Unknown, unknown)

		w.srv.SetFaults(nil)
		next := senderOf(w, bufferedsender.Options[json.RawMessage]{})
		report, err := deadletter.Replay(t.Context(), w.f, "hotels", next.Raw(), nil)
		require.NoError(t, err)
		require.Equal(t, deadletter.Report{Sent: 6, Delivered: 6}, report)
		require.NoError(t, next.Close(t.Context()))
		require.Equal(t, int64(6), w.srv.DocumentCount("hotels"))
		require.Empty(t, w.letters())
	})
}

// Replay is abandoned while its request is in flight. The sender continues, and its later failure belongs to the
// existing dead letter.
func TestAnAbandonedReplayLeavesOneLetterWhateverItsRequestDoes(t *testing.T) {
	for name, applied := range map[string]bool{"applied": true, "refused": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				require.NoError(t, w.f.Write(t.Context(), []deadletter.Letter{{
					Index: "hotels", Key: "7", Action: models.ActionTypeUpload, Document: json.RawMessage(`{"id":"7"}`), Message: "first",
				}}))
				rule := searchtest.Fault{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(time.Minute)}
				if !applied {
					rule.Documents = []searchtest.DocumentFault{{Status: 400, Message: "second"}}
				}
				w.srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{rule}})
				sender := senderOf(w, bufferedsender.Options[models.Document]{RequestTimeout: -1, Retry: retry.Options{Delay: -1}})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				report, err := deadletter.Replay(ctx, w.f, "hotels", sender.Raw(), nil)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, deadletter.Report{Sent: 1}, report)
				require.NoError(t, sender.Close(t.Context()), "Replay has reported that the outcome is unknown")
				letters := w.letters()
				require.Len(t, letters, 1, "the dead letter was not recorded as delivered")
				if applied {
					require.Equal(t, "first", letters[0].Message)
				} else {
					require.Equal(t, "second", letters[0].Message)
				}
			})
		})
	}
}

// The application sends documents of the key between its dead letters.
func TestLettersOfAKeyReachTheIndexInTheirOrder(t *testing.T) {
	w := newWorld(t)
	w.refuseAll()
	sender := senderOf(w, bufferedsender.Options[models.Document]{})
	for i := range 5 {
		require.NoError(t, sender.IndexDocuments(t.Context(),
			models.UploadAction(models.Document{"id": "a", "name": fmt.Sprint(i)}),
			models.MergeOrUploadAction(models.Document{"id": fmt.Sprint("b", i), "name": "x"}),
			models.DeleteAction(models.Document{"id": "c"})))
	}
	require.Error(t, sender.Flush(t.Context(), nil))
	letters := w.letters()
	require.Len(t, letters, 15)
	for _, l := range letters {
		require.NotEmpty(t, l.RequestID)
		require.NotEmpty(t, l.Message)
		require.Contains(t, l.Error, l.Message)
	}
	w.srv.SetFaults(nil)
	report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
	require.NoError(t, err)
	require.Equal(t, deadletter.Report{Sent: 15, Delivered: 15}, report)
	var names []string
	for _, change := range w.srv.History("hotels", "a") {
		if !change.Applied() {
			continue
		}
		var d models.Document
		require.NoError(t, json.Unmarshal(change.Document, &d))
		names = append(names, fmt.Sprint(d["name"]))
	}
	require.Equal(t, []string{"0", "1", "2", "3", "4"}, names)
	require.NoError(t, sender.Close(t.Context()))
}

// A sender folds several actions into one, which becomes one dead letter.
func TestFoldedActionsAreOneLetter(t *testing.T) {
	w := newWorld(t)
	w.addField(models.SearchField{Name: "stars", Type: models.DataTypeInt32})
	w.refuseAll()
	sender := senderOf(w, bufferedsender.Options[models.Document]{Folding: &bufferedsender.Folding[models.Document]{}})
	require.NoError(t, sender.IndexDocuments(t.Context(),
		models.MergeOrUploadAction(models.Document{"id": "a", "name": "first", "stars": 1}),
		models.MergeOrUploadAction(models.Document{"id": "a", "name": nil}),
		models.MergeOrUploadAction(models.Document{"id": "a", "stars": 3})))
	require.Error(t, sender.Flush(t.Context(), nil))
	require.Equal(t, int64(2), sender.Stats().Folded)
	require.Len(t, w.letters(), 1)
	w.srv.SetFaults(nil)
	report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
	require.NoError(t, err)
	require.Equal(t, deadletter.Report{Sent: 1, Delivered: 1}, report)
	document, ok := w.srv.Document("hotels", "a")
	require.True(t, ok)
	require.JSONEq(t, `{"id":"a","name":null,"stars":3}`, string(document))
	require.NoError(t, sender.Close(t.Context()))
}

// A dead letter in flight is folded with a new action of its key, and the result is refused. The new action is not in
// the old dead letter, so each keeps its own, however often they fail.
func TestALetterThatIsFoldedWithSomethingNewLosesNeither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.addField(models.SearchField{Name: "stars", Type: models.DataTypeInt32})
		w.refuseAll()
		sender := senderOf(w, bufferedsender.Options[models.Document]{Folding: &bufferedsender.Folding[models.Document]{}, Waiting: bufferedsender.Waiting{Interval: time.Minute}})
		require.NoError(t, sender.MergeOrUploadDocuments(t.Context(), models.Document{"id": "a", "name": "old"}))
		require.Error(t, sender.Flush(t.Context(), nil))

		go func() {
			time.Sleep(time.Second) // the replayed action waits in the sender
			assert.NoError(t, sender.MergeOrUploadDocuments(t.Context(), models.Document{"id": "a", "stars": 3}))
		}()
		for range 3 {
			_, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
			require.NoError(t, err)
			letters := w.letters()
			require.Len(t, letters, 2)
			assert.JSONEq(t, `{"id":"a","name":"old"}`, string(letters[0].Document))
			assert.JSONEq(t, `{"id":"a","name":"old","stars":3}`, string(letters[1].Document))
		}
		require.EqualValues(t, 1, sender.Stats().Folded)

		w.srv.SetFaults(nil)
		report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
		require.NoError(t, err)
		require.Equal(t, deadletter.Report{Sent: 2, Delivered: 2}, report)
		document, ok := w.srv.Document("hotels", "a")
		require.True(t, ok)
		require.JSONEq(t, `{"id":"a","name":"old","stars":3}`, string(document))
		require.Empty(t, w.letters())
		require.Error(t, sender.Close(t.Context()))
	})
}

// Dead letters that are still bad all get an outcome. Many refusals suggest that the index is the cause, but Replay
// does not wait for it.
func TestReplayOfLettersThatAreStillBadEndsAndSaysWhy(t *testing.T) {
	for _, status := range []int{400, 429} {
		for _, n := range []int{5, 200, 2500} {
			t.Run(fmt.Sprintf("%d letters, status %d", n, status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					var bad []deadletter.Letter
					rule := searchtest.Fault{Operation: searchtest.OpIndexDocuments}
					for i := range n {
						key := fmt.Sprint("bad", i)
						bad = append(bad, deadletter.Letter{Index: "hotels", Key: key, Action: models.ActionTypeUpload, Document: json.RawMessage(fmt.Sprintf(`{"id":%q}`, key)), Message: "first", Status: status})
						rule.Documents = append(rule.Documents, searchtest.DocumentFault{Keys: []string{key}, Status: status, Message: "still bad"})
					}
					require.NoError(t, w.f.Write(t.Context(), bad))
					w.srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{rule}})
					sender := senderOf(w, bufferedsender.Options[models.Document]{})
					var late time.Duration // of live writes
					stop := make(chan struct{})
					var live sync.WaitGroup
					live.Go(func() {
						for i := 0; ; i++ {
							select {
							case <-stop:
								return
							case <-time.After(20 * time.Second):
							}
							began := time.Now()
							_, err := sender.IndexDocumentsAndWait(t.Context(), []models.IndexDocumentsAction[models.Document]{models.UploadAction(models.Document{"id": fmt.Sprint("live", i)})}, nil)
							assert.NoError(t, err)
							late = max(late, time.Since(began))
						}
					})
					began := time.Now()
					report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
					took := time.Since(began)
					t.Logf("%v %+v %v", took, report, err)
					assert.LessOrEqual(t, took, time.Minute)
					assert.Zero(t, report.Delivered)
					if report.Failed < n {
						require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
						assert.ErrorContains(t, err, "still bad")
					}
					time.Sleep(time.Minute)
					close(stop)
					live.Wait()
					assert.LessOrEqual(t, late, 10*time.Second)
					letters := w.letters()
					require.Len(t, letters, n)
					for _, l := range letters {
						assert.False(t, l.Unknown)
					}
					w.srv.SetFaults(nil)
					report, err = deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
					require.NoError(t, err)
					require.Equal(t, deadletter.Report{Sent: n, Delivered: n}, report)
					_ = sender.Close(t.Context())
				})
			})
		}
	}
}

// The same for dead letters with a property that the index lacks, which the sender sets apart.
func TestReplayOfLettersWithAPropertyThatTheIndexLacksEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 200
		w := newWorld(t)
		var bad []deadletter.Letter
		for i := range n {
			key := fmt.Sprint("bad", i)
			bad = append(bad, deadletter.Letter{Index: "hotels", Key: key, Action: models.ActionTypeUpload, Document: json.RawMessage(fmt.Sprintf(`{"id":%q,"lacking":1}`, key)), Message: "first", Status: 400})
		}
		require.NoError(t, w.f.Write(t.Context(), bad))
		sender := senderOf(w, bufferedsender.Options[models.Document]{})
		began := time.Now()
		report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
		t.Logf("%v %+v %v", time.Since(began), report, err)
		assert.LessOrEqual(t, time.Since(began), time.Minute)
		require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
		require.ErrorContains(t, err, "lacking")
		assert.Zero(t, report.Delivered)
		require.Len(t, w.letters(), n)
		require.NoError(t, sender.Close(t.Context()))
	})
}

// A newer version that the program has written since must stay.
func TestALetterIsNotPutOverANewerVersionThatTheSenderHasApplied(t *testing.T) {
	w := newWorld(t)
	w.addField(models.SearchField{Name: "v", Type: models.DataTypeInt64})
	version := func(d models.Document) int64 { return int64(d["v"].(int)) }
	sender := senderOf(w, bufferedsender.Options[models.Document]{Folding: &bufferedsender.Folding[models.Document]{Version: version}})
	w.refuseAll()
	require.NoError(t, sender.UploadDocuments(t.Context(), models.Document{"id": "a", "v": 5}, models.Document{"id": "b", "v": 5}))
	require.Error(t, sender.Flush(t.Context(), nil))
	letters := w.letters()
	require.Len(t, letters, 2)
	require.Equal(t, w.srv.URL(), letters[0].Endpoint)
	w.srv.SetFaults(nil)
	require.NoError(t, sender.UploadDocuments(t.Context(), models.Document{"id": "a", "v": 9}))
	require.NoError(t, sender.Flush(t.Context(), nil))
	report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
	require.NoError(t, err)
	require.Equal(t, deadletter.Report{Sent: 1, Delivered: 1, Outdated: 1}, report)
	require.Empty(t, w.letters())
	document, ok := w.srv.Document("hotels", "a")
	require.True(t, ok)
	require.JSONEq(t, `{"id":"a","name":null,"v":9}`, string(document))
	require.NoError(t, sender.Close(t.Context()))
}
