package outcomes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestDeadLettersAreWrittenBeforeTheFailuresAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		dead := &sendertest.DeadLetters{Ledger: &l}
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 4}, Handlers: l.Handlers(), DeadLetters: dead})
		r.Faults(sendertest.RefuseKeys("k-1", "k-2", "k-5"))
		r.Upload(sendertest.Hotels("k", 9)...)
		require.Error(t, r.Flush())
		assert.Equal(t, []string{"letters k-1 k-2", "failed k-1", "failed k-2", "letters k-5", "failed k-5"}, l.Notes("letters", "failed"),
			"one Write for each reply that ended actions, none for the others")
		s := r.Sender.Stats()
		assert.EqualValues(t, 3, s.DeadLetters)
		assert.Zero(t, s.DeadLetterErrors)
	})
}

func TestADeadLetterSaysEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &sendertest.DeadLetters{}
		began := time.Now()
		r := sendertest.New(t, &sendertest.Options{DeadLetters: dead, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1, MaxRetries: 2}})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 409, Message: "version conflict"}}})
		type tag struct{ offset int }
		r.Add(models.UploadAction(sendertest.Hotel{ID: "k", Name: "<b>&", Rooms: 7}).WithTag(tag{42}))
		time.Sleep(time.Second)
		require.Error(t, r.Flush())
		require.Len(t, dead.All(), 1)
		letter := dead.All()[0]
		assert.Equal(t, "hotels", letter.Index)
		assert.Equal(t, "k", letter.Key)
		assert.Equal(t, models.ActionTypeUpload, letter.Action)
		assert.JSONEq(t, `{"id":"k","name":"<b>&","rooms":7}`, string(letter.Document))
		assert.Equal(t, 409, letter.Status)
		assert.Equal(t, "version conflict", letter.Message)
		requests := r.Service.Requests()
		assert.Equal(t, requests[len(requests)-1].RequestID, letter.RequestID, "RequestID is that of the last request with the action")
		assert.Equal(t, 3, letter.Attempts)
		assert.False(t, letter.Unknown)
		assert.False(t, letter.Unsent)
		assert.Contains(t, letter.Error, "version conflict")
		assert.True(t, began.Equal(letter.First), "First is the time of acceptance")
		assert.Equal(t, r.Requests()[2].End, letter.Last.Sub(began), "Last is the time when the action was given up")
		assert.Equal(t, tag{42}, letter.Tag)
	})
	t.Run("dead letters of each type of action", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dead := &sendertest.DeadLetters{}
			r := sendertest.New(t, &sendertest.Options{DeadLetters: dead, OnMergeMissing: bufferedsender.MergeMissingUpload})
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400}}})
			r.Add(models.MergeAction(sendertest.Hotel{ID: "m", Rooms: 1}), models.MergeOrUploadAction(sendertest.Hotel{ID: "mu", Rooms: 1}), models.DeleteAction(sendertest.Hotel{ID: "d", Rooms: 9}))
			require.NoError(t, r.Sender.DeleteDocumentsByKey(t.Context(), "dk"))
			require.Error(t, r.Flush())
			var letters []string
			for _, l := range dead.All() {
				letters = append(letters, fmt.Sprint(l.Action, " ", string(l.Document)))
			}
			assert.Equal(t, []string{`merge {"id":"m","rooms":1}`, `mergeOrUpload {"id":"mu","rooms":1}`, `delete {"id":"d"}`, `delete {"id":"dk"}`}, letters)
		})
	})
	t.Run("the dead letter of a request whose connection broke", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dead := &sendertest.DeadLetters{}
			r := sendertest.New(t, &sendertest.Options{DeadLetters: dead, Retry: sendertest.RetryAtOnce})
			r.Faults(searchtest.Fault{Cut: searchtest.CutAfterCommit})
			r.Upload(sendertest.Hotel{ID: "k"})
			require.Error(t, r.Flush())
			letter := dead.All()[0]
			assert.True(t, letter.Unknown)
			assert.Zero(t, letter.Status)
			assert.Empty(t, letter.RequestID, "without a reply there is no request id")
			assert.NotEmpty(t, letter.Error)
		})
	})
	t.Run("dead letters of a request that was refused as a whole", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dead := &sendertest.DeadLetters{}
			r := sendertest.New(t, &sendertest.Options{DeadLetters: dead})
			r.Respond(sendertest.Always(403, sendertest.ErrorBody("no")))
			r.Upload(sendertest.Hotels("k", 3)...)
			require.Error(t, r.Flush())
			require.Len(t, dead.All(), 3)
			assert.Equal(t, 1, dead.Writes(), "one reply leads to one Write")
			for _, letter := range dead.All() {
				assert.Equal(t, 403, letter.Status)
				assert.Contains(t, letter.Error, "no")
			}
		})
	})
}

func TestDeadLettersOfWhatWasNeverSent(t *testing.T) {
	t.Run("unsent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			dead := &sendertest.DeadLetters{Ledger: &l}
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, DeadLetters: dead, Handlers: l.Handlers()})
			r.Respond(sendertest.Hang)
			r.Upload(sendertest.Hotels("k", 5)...)
			require.Error(t, r.Sender.Close(sendertest.Within(t, time.Second)))
			letters := dead.All()
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
			assert.Equal(t, 2, unknown, "two actions were in the interrupted request")
			assert.EqualValues(t, 5, r.Sender.Stats().DeadLetters)
			written := map[string]bool{}
			for _, line := range l.Notes("letters", "failed") {
				words := strings.Fields(line)
				for _, key := range words[1:] {
					assert.Equal(t, words[0] == "failed", written[key], "the dead letter of %s comes first", key)
					written[key] = true
				}
			}
			assert.Equal(t, "closed", l.Notes()[len(l.Notes())-1])
		})
	})
	t.Run("purged", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			dead := &sendertest.DeadLetters{Ledger: &l}
			r := sendertest.New(t, &sendertest.Options{
				Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 4},
				Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.OnPurged)}, Retry: sendertest.RetryAtOnce,
				DeadLetters: dead, Handlers: l.Handlers(),
			})
			r.OpenBreakerWith(sendertest.Unauthorized, sendertest.Hotels("k", 4)...)
			r.Upload(sendertest.Hotel{ID: "new"})
			synctest.Wait()
			assert.Equal(t, []string{"letters k-0", "failed k-0", "purged k-0"}, l.Notes("letters", "failed", "purged"))
			letter := dead.All()[0]
			assert.False(t, letter.Unsent)
			assert.Contains(t, letter.Error, bufferedsender.ErrPurged.Error())
			assert.JSONEq(t, `{"id":"k-0","rooms":1}`, string(letter.Document))
			r.Respond(nil)
			require.Error(t, r.Flush())
		})
	})
}

func TestDeadLettersThatCannotBeWritten(t *testing.T) {
	full := errors.New("disk full")
	for name, fail := range map[string]func() error{
		"an error": func() error { return full },
		"a panic":  func() error { panic("oops") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l sendertest.Ledger
				dead := &sendertest.DeadLetters{Ledger: &l, Fail: fail}
				logs := &sendertest.Buffer{}
				r := sendertest.New(t, &sendertest.Options{DeadLetters: dead, Handlers: l.Handlers(), Logger: slog.New(slog.NewTextHandler(logs, nil))})
				r.Faults(sendertest.RefuseKeys("k-1", "k-2"))
				r.Upload(sendertest.Hotels("k", 4)...)
				var failed *bufferedsender.FlushError
				require.ErrorAs(t, r.Flush(), &failed)
				assert.Zero(t, failed.DeadLetters)
				assert.False(t, failed.Errors[0].DeadLetter)
				assert.Equal(t, []string{"letters k-1 k-2", "failed k-1", "failed k-2"}, l.Notes("letters", "failed"), "the failures are reported anyway")
				s := r.Sender.Stats()
				assert.EqualValues(t, 2, s.DeadLetterErrors)
				assert.Zero(t, s.DeadLetters)
				assert.Contains(t, logs.String(), "level=ERROR msg=\"azsearch: dead letters not written\" index=hotels")
				assert.NotContains(t, logs.String(), "k-1", "no keys above debug level")
				dead.FailWith(nil)
				r.Upload(sendertest.Hotels("k", 4)...)
				require.Error(t, r.Flush())
				assert.EqualValues(t, 2, r.Sender.Stats().DeadLetters, "a single failure is not final")
				assert.EqualValues(t, 2, r.Sender.Stats().DeadLetterErrors)
			})
		})
	}
}

// A program that commits past a document must know that it is in the index or a dead letter.
func TestFailuresSayWhetherADeadLetterIsKept(t *testing.T) {
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprint(kept), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dead := &sendertest.DeadLetters{}
				if !kept {
					dead.FailWith(func() error { return errors.New("disk full") })
				}
				var water events.LowWatermark[int64]
				var seen []*events.ActionFailed[sendertest.Hotel]
				r := sendertest.New(t, &sendertest.Options{DeadLetters: dead, Logger: sendertest.NoLog, Handlers: events.Multi(
					events.Track[sendertest.Hotel](func(tag any) (*events.LowWatermark[int64], int64, bool) { return &water, tag.(int64), true }, nil),
					sendertest.Handlers{ActionFailed: func(_ context.Context, e *events.ActionFailed[sendertest.Hotel]) { seen = append(seen, e) }},
				)})
				r.Faults(sendertest.RefuseKeys("k-1"))
				for i, h := range sendertest.Hotels("k", 3) {
					require.NoError(t, r.Sender.IndexDocuments(t.Context(), models.UploadAction(h).WithTag(int64(i))))
				}
				var failed *bufferedsender.CloseError
				require.ErrorAs(t, r.Sender.Close(t.Context()), &failed)
				assert.Equal(t, 1, failed.Failed)
				assert.Equal(t, kept, failed.DeadLetters == 1)
				assert.Equal(t, kept, failed.Errors[0].DeadLetter)
				require.Len(t, seen, 1)
				assert.Equal(t, kept, seen[0].DeadLetter)
				mark, passed := water.Mark()
				require.True(t, passed)
				assert.Equal(t, kept, mark == 2, "%d: the watermark passes only documents that are in the index or kept", mark)
			})
		})
	}
}

func TestDeadLettersOfCompletedActionsAreNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &sendertest.DeadLetters{}
		r := sendertest.New(t, &sendertest.Options{DeadLetters: dead, Limits: bufferedsender.Limits{MaxBatchActions: 3}, Folding: &bufferedsender.Folding[sendertest.Hotel]{}, Retry: retry.Options{MaxRetries: 50}})
		r.Faults(searchtest.Fault{Every: 3, Status: 503}, searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Ratio: 0.5, Status: 409}}})
		r.Upload(sendertest.Hotels("k", 30)...)
		require.NoError(t, r.Flush())
		assert.Zero(t, dead.Writes(), "a retry writes no dead letter")
	})
}

// Actions that were sent as one become one dead letter with the same effect as all of them.
func TestDeadLettersOfFoldedActionsCanBeReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &sendertest.DeadLetters{}
		r := sendertest.New(t, &sendertest.Options{DeadLetters: dead, Folding: &bufferedsender.Folding[sendertest.Hotel]{}})
		r.Faults(searchtest.Fault{Count: 1, Documents: []searchtest.DocumentFault{{Status: 400}}})
		r.Add(models.UploadAction(sendertest.Hotel{ID: "k", Name: "old", Rooms: 1}), models.MergeAction(sendertest.Hotel{ID: "k", Name: "new"}), models.MergeAction(sendertest.Hotel{ID: "k", Rooms: 3}))
		require.Error(t, r.Flush())
		letters := dead.All()
		require.Len(t, letters, 1)
		for _, letter := range letters {
			var doc sendertest.Hotel
			require.NoError(t, json.Unmarshal(letter.Document, &doc))
			r.Add(sendertest.Action{Type: letter.Action, Document: doc})
		}
		require.NoError(t, r.Flush())
		raw, _ := r.Service.Document("hotels", "k")
		assert.JSONEq(t, `{"id":"k","name":"new","rooms":3}`, string(raw))
	})
}

// A dead letter has exactly the actions that were sent together. If several had each other's documents, Replay would
// produce a wrong index.
func TestDeadLettersOfOneKeyHoldWhatTravelled(t *testing.T) {
	for name, c := range map[string]struct {
		first    sendertest.Action
		inFlight bool // the first is in flight when the others arrive
		others   []sendertest.Action
		letters  []string
		failed   int
	}{
		"an older upload that is sent because the merge in flight is refused": {
			first: models.MergeAction(sendertest.Hotel{ID: "k", Rooms: 5}), inFlight: true,
			others:  []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k", Name: "old", Rooms: 3})},
			letters: []string{`merge {"id":"k","rooms":5}`, `upload {"id":"k","name":"old","rooms":3}`}, failed: 2,
		},
		"an older upload that is sent because the delete is refused": {
			first:   models.UploadAction(sendertest.Hotel{ID: "k", Name: "new", Rooms: 5}),
			others:  []sendertest.Action{models.DeleteAction(sendertest.Hotel{ID: "k"}), models.UploadAction(sendertest.Hotel{ID: "k", Name: "old", Rooms: 3})},
			letters: []string{`delete {"id":"k"}`, `upload {"id":"k","name":"old","rooms":3}`}, failed: 3,
		},
		"a change folded into an upload": {
			first:   models.UploadAction(sendertest.Hotel{ID: "k", Name: "new", Rooms: 5}),
			others:  []sendertest.Action{models.MergeAction(sendertest.Hotel{ID: "k", Rooms: 6})},
			letters: []string{`upload {"id":"k","name":"new","rooms":6}`}, failed: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dead := &sendertest.DeadLetters{}
				r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}, DeadLetters: dead, AutoFlushInterval: time.Second})
				r.Faults(searchtest.Fault{Delay: searchtest.Duration(time.Minute), Documents: []searchtest.DocumentFault{{Status: 400}}})
				r.Add(c.first)
				if c.inFlight {
					time.Sleep(10 * time.Second)
				}
				r.Add(c.others...)
				require.Equal(t, c.failed, sendertest.FlushFailures(t, r.Flush()))
				var letters []string
				for _, l := range dead.All() {
					letters = append(letters, fmt.Sprint(l.Action, " ", string(l.Document)))
				}
				assert.Equal(t, c.letters, letters)
			})
		})
	}
}

func TestADeletedDocumentDoesNotComeBackAsADeadLetterWhenCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &sendertest.DeadLetters{}
		r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}, DeadLetters: dead})
		r.Sender.Pause()
		r.Upload(sendertest.Hotel{ID: "k", Name: "five", Rooms: 5})
		r.Add(models.DeleteAction(sendertest.Hotel{ID: "k"}))
		r.Upload(sendertest.Hotel{ID: "k", Name: "three", Rooms: 3})
		assert.Equal(t, 3, sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second))).Unsent)
		letters := dead.All()
		require.Len(t, letters, 1)
		assert.Equal(t, models.ActionTypeDelete, letters[0].Action)
		assert.True(t, letters[0].Unsent)
		assert.JSONEq(t, `{"id":"k"}`, string(letters[0].Document))
	})
}

type leavingSink struct{}

func (leavingSink) Write(context.Context, []deadletter.Letter) error {
	runtime.Goexit()
	return nil
}

func TestDeadLettersOfASinkThatEndsItsGoroutineAreCountedAsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{DeadLetters: leavingSink{}})
		r.Respond(sendertest.Always(400, sendertest.ErrorBody("no")))
		r.Upload(sendertest.Hotel{ID: "k"})
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		assert.EqualValues(t, 1, r.Sender.Stats().DeadLetterErrors)
		assert.Zero(t, r.Sender.Stats().DeadLetters)
	})
}
