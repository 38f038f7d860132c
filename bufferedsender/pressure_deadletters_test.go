package bufferedsender_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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
)

func TestPressureDeadLettersAreWrittenBeforeTheFailuresAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		dead := &letterbox{ledger: &l}
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 4}, Handlers: l.handlers(), DeadLetters: dead})
		r.faults(refuseKeys("k-1", "k-2", "k-5"))
		r.upload(hotels("k", 9)...)
		require.Error(t, r.flush())
		assert.Equal(t, []string{"letters k-1 k-2", "failed k-1", "failed k-2", "letters k-5", "failed k-5"}, l.told("letters", "failed"),
			"one Write for each reply that has ended some, none for the others")
		s := r.sender.Stats()
		assert.EqualValues(t, 3, s.DeadLetters)
		assert.Zero(t, s.DeadLetterErrors)
	})
}

func TestPressureADeadLetterSaysEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &letterbox{}
		began := time.Now()
		r := newRig(t, &hotelOptions{DeadLetters: dead, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1, MaxRetries: 2}})
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 409, Message: "version conflict"}}})
		type tag struct{ offset int }
		r.add(models.UploadAction(hotel{ID: "k", Name: "<b>&", Rooms: 7}).WithTag(tag{42}))
		time.Sleep(time.Second)
		require.Error(t, r.flush())
		require.Len(t, dead.all(), 1)
		letter := dead.all()[0]
		assert.Equal(t, "hotels", letter.Index)
		assert.Equal(t, "k", letter.Key)
		assert.Equal(t, models.ActionUpload, letter.Action)
		assert.JSONEq(t, `{"id":"k","name":"<b>&","rooms":7}`, string(letter.Document))
		assert.Equal(t, 409, letter.Status)
		assert.Equal(t, "version conflict", letter.Message)
		requests := r.srv.Requests()
		assert.Equal(t, requests[len(requests)-1].RequestID, letter.RequestID, "of the last request that carried it")
		assert.Equal(t, 3, letter.Attempts)
		assert.False(t, letter.Unknown)
		assert.False(t, letter.Unsent)
		assert.Contains(t, letter.Error, "version conflict")
		assert.True(t, began.Equal(letter.First), "when it was accepted")
		assert.Equal(t, r.requests()[2].end, letter.Last.Sub(began), "when it was given up")
		assert.Equal(t, tag{42}, letter.Tag)
	})
	t.Run("of each kind of action", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dead := &letterbox{}
			r := newRig(t, &hotelOptions{DeadLetters: dead, OnMergeMissing: bufferedsender.MergeMissingUpload})
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400}}})
			r.add(models.MergeAction(hotel{ID: "m", Rooms: 1}), models.MergeOrUploadAction(hotel{ID: "mu", Rooms: 1}), models.DeleteAction(hotel{ID: "d", Rooms: 9}))
			require.NoError(t, r.sender.DeleteDocumentsByKey(t.Context(), "dk"))
			require.Error(t, r.flush())
			var letters []string
			for _, l := range dead.all() {
				letters = append(letters, fmt.Sprint(l.Action, " ", string(l.Document)))
			}
			assert.Equal(t, []string{`merge {"id":"m","rooms":1}`, `mergeOrUpload {"id":"mu","rooms":1}`, `delete {"id":"d"}`, `delete {"id":"dk"}`}, letters)
		})
	})
	t.Run("of a request that broke", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dead := &letterbox{}
			r := newRig(t, &hotelOptions{DeadLetters: dead, Retry: atOnce})
			r.faults(searchtest.Fault{Cut: searchtest.CutAfterCommit})
			r.upload(hotel{ID: "k"})
			require.Error(t, r.flush())
			letter := dead.all()[0]
			assert.True(t, letter.Unknown)
			assert.Zero(t, letter.Status)
			assert.Empty(t, letter.RequestID, "there was no answer")
			assert.NotEmpty(t, letter.Error)
		})
	})
	t.Run("of a request that was refused as a whole", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dead := &letterbox{}
			r := newRig(t, &hotelOptions{DeadLetters: dead})
			r.respond(always(403, refusal("no")))
			r.upload(hotels("k", 3)...)
			require.Error(t, r.flush())
			require.Len(t, dead.all(), 3)
			assert.Equal(t, 1, dead.writes, "one reply, one Write")
			for _, letter := range dead.all() {
				assert.Equal(t, 403, letter.Status)
				assert.Contains(t, letter.Error, "no")
			}
		})
	})
}

func TestPressureDeadLettersOfWhatWasNeverSent(t *testing.T) {
	t.Run("unsent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			dead := &letterbox{ledger: &l}
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, DeadLetters: dead, Handlers: l.handlers()})
			r.respond(hang)
			r.upload(hotels("k", 5)...)
			require.Error(t, r.sender.Close(within(t, time.Second)))
			letters := dead.all()
			require.Len(t, letters, 5)
			unknown := 0
			for _, letter := range letters {
				assert.True(t, letter.Unsent)
				assert.Empty(t, letter.RequestID)
				assert.Zero(t, letter.Status)
				assert.NotEmpty(t, letter.Document)
				if letter.Unknown {
					unknown++
				}
			}
			assert.Equal(t, 2, unknown, "those of the request that was cut off")
			assert.EqualValues(t, 5, r.sender.Stats().DeadLetters)
			written := map[string]bool{}
			for _, line := range l.told("letters", "failed") {
				words := strings.Fields(line)
				for _, key := range words[1:] {
					assert.Equal(t, words[0] == "failed", written[key], "the letter of %s comes first", key)
					written[key] = true
				}
			}
			assert.Equal(t, "closed", l.told()[len(l.told())-1])
		})
	})
	t.Run("purged", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			dead := &letterbox{ledger: &l}
			r := newRig(t, &hotelOptions{
				Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 4},
				Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.onPurged)}, Retry: atOnce,
				DeadLetters: dead, Handlers: l.handlers(),
			})
			r.sickenWith(locked, hotels("k", 4)...)
			r.upload(hotel{ID: "new"})
			synctest.Wait()
			assert.Equal(t, []string{"letters k-0", "failed k-0", "purged k-0"}, l.told("letters", "failed", "purged"))
			letter := dead.all()[0]
			assert.False(t, letter.Unsent)
			assert.Contains(t, letter.Error, bufferedsender.ErrPurged.Error())
			assert.JSONEq(t, `{"id":"k-0","rooms":1}`, string(letter.Document))
			r.respond(nil)
			require.Error(t, r.flush())
		})
	})
}

func TestPressureDeadLettersThatCannotBeWritten(t *testing.T) {
	full := errors.New("disk full")
	for name, fail := range map[string]func() error{
		"an error": func() error { return full },
		"a panic":  func() error { panic("oops") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l ledger
				dead := &letterbox{ledger: &l, fail: fail}
				logs := &lockedBuffer{}
				r := newRig(t, &hotelOptions{DeadLetters: dead, Handlers: l.handlers(), Logger: slog.New(slog.NewTextHandler(logs, nil))})
				r.faults(refuseKeys("k-1", "k-2"))
				r.upload(hotels("k", 4)...)
				require.Error(t, r.flush())
				assert.Equal(t, []string{"letters k-1 k-2", "failed k-1", "failed k-2"}, l.told("letters", "failed"), "they are told all the same")
				s := r.sender.Stats()
				assert.EqualValues(t, 2, s.DeadLetterErrors)
				assert.Zero(t, s.DeadLetters)
				assert.Contains(t, logs.String(), "level=ERROR msg=\"azsearch: dead letters could not be written\" index=hotels")
				assert.NotContains(t, logs.String(), "k-1", "no keys above debug level")
				dead.mu.Lock()
				dead.fail = nil
				dead.mu.Unlock()
				r.upload(hotels("k", 4)...)
				require.Error(t, r.flush())
				assert.EqualValues(t, 2, r.sender.Stats().DeadLetters, "one failure is not the last word")
				assert.EqualValues(t, 2, r.sender.Stats().DeadLetterErrors)
			})
		})
	}
}

func TestPressureDeadLettersOfCompletedActionsAreNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &letterbox{}
		r := newRig(t, &hotelOptions{DeadLetters: dead, Limits: bufferedsender.Limits{MaxBatchActions: 3}, Folding: &bufferedsender.Folding[hotel]{}, Retry: retry.Options{MaxRetries: 50}})
		r.faults(searchtest.Fault{Every: 3, Status: 503}, searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Ratio: 0.5, Status: 409}}})
		r.upload(hotels("k", 30)...)
		require.NoError(t, r.flush())
		assert.Zero(t, dead.writes, "retries are none of its business")
	})
}

// What travelled as one becomes one letter, which makes what all of it would
// have made.
func TestPressureDeadLettersOfFoldedActionsCanBeReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &letterbox{}
		r := newRig(t, &hotelOptions{DeadLetters: dead, Folding: &bufferedsender.Folding[hotel]{}})
		r.faults(searchtest.Fault{Count: 1, Documents: []searchtest.DocumentFault{{Status: 400}}})
		r.add(models.UploadAction(hotel{ID: "k", Name: "old", Rooms: 1}), models.MergeAction(hotel{ID: "k", Name: "new"}), models.MergeAction(hotel{ID: "k", Rooms: 3}))
		require.Error(t, r.flush())
		letters := dead.all()
		require.Len(t, letters, 1)
		for _, letter := range letters {
			var doc hotel
			require.NoError(t, json.Unmarshal(letter.Document, &doc))
			r.add(models.IndexDocumentsAction[hotel]{Type: letter.Action, Document: doc})
		}
		require.NoError(t, r.flush())
		raw, _ := r.srv.Document("hotels", "k")
		assert.JSONEq(t, `{"id":"k","name":"new","rooms":3}`, string(raw))
	})
}
