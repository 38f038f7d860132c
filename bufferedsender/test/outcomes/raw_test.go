package outcomes

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/go-azsearch/azsearch/retry"
)

func rawUpload(key, document string) models.RawAction {
	return models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: json.RawMessage(document)}
}

func TestRawActionsShareTheOrderOfTheirKeysWithTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		raw := r.Sender.Raw()
		r.Upload(sendertest.Hotel{ID: "a", Name: "typed", Rooms: 1})
		require.NoError(t, raw.Add(t.Context(),
			models.RawAction{Key: "a", Type: models.ActionTypeMerge, Document: json.RawMessage(` {"id":"a", "rooms":2} `)},
			rawUpload("b", `{"id":"b","rooms":3}`),
		))
		r.Upload(sendertest.Hotel{ID: "b", Rooms: 4})
		require.NoError(t, r.Flush())
		assert.Equal(t, 2, roomsOf(r, "a"))
		assert.Equal(t, 4, roomsOf(r, "b"))

		require.NoError(t, raw.Add(t.Context(), models.RawAction{Key: "b", Type: models.ActionTypeDelete}))
		require.NoError(t, r.Flush())
		assert.Len(t, r.Indexed(), 1, "a delete needs no document")
	})
}

func TestARawActionSaysWhatBecameOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o outcomes
		r := sendertest.New(t, nil)
		r.Faults(sendertest.RefuseKeys("bad"))
		for i, key := range []string{"good", "bad"} {
			a := rawUpload(key, `{"id":"`+key+`"}`)
			a.Tag, a.OnOutcome = i, o.note
			require.NoError(t, r.Sender.Raw().Add(t.Context(), a))
		}
		assert.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		assert.True(t, o.one(t, 0).Completed())
		assert.True(t, o.one(t, 1).Rejected())

		results, err := r.Sender.Raw().AddAndWait(t.Context(), []models.RawAction{rawUpload("bad", `{"id":"bad"}`), rawUpload("best", `{"id":"best"}`)})
		assert.Equal(t, 1, sendertest.WaitError(t, err).Failed)
		assert.Equal(t, "best", results[1].Key)
		assert.True(t, results[1].Succeeded)
	})
}

// The first request with the action has no reply, and the second one completes it. The service may still be working
// on the first.
func TestAnOutcomeSaysThatARequestWasCut(t *testing.T) {
	for wait, cut := range map[time.Duration]bool{0: true, 10 * time.Millisecond: false, -1: false} {
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			r := sendertest.New(t, &sendertest.Options{UnknownWait: wait, Retry: retry.Options{Jitter: -1}}) // otherwise a pause may have no length
			cutFirst(r)
			for i, key := range []string{"a", "b"} {
				a := rawUpload(key, `{"id":"`+key+`"}`)
				a.Tag, a.OnOutcome = i, o.note
				require.NoError(t, r.Sender.Raw().Add(t.Context(), a))
				require.NoError(t, r.Flush())
			}
			first := o.one(t, 0)
			assert.True(t, first.Completed())
			assert.False(t, first.Unknown, "the action was completed")
			assert.Equal(t, cut, first.Cut, wait)
			assert.False(t, o.one(t, 1).Cut, "the call returned at once")
		})
	}
}

// cutFirst cuts the connection of the first request.
func cutFirst(r *sendertest.Rig) {
	r.Respond(sendertest.When(func(n int, _ *sendertest.Request) bool { return n == 1 }, sendertest.BreakConnection))
}

func TestARawActionThatCannotBeSentIsNotAccepted(t *testing.T) {
	for name, test := range map[string]struct {
		action models.RawAction
		says   string
	}{
		"another key":        {rawUpload("a", `{"id":"b"}`), `the JSON has "b" in the field "id", but the key of the document is "a"`},
		"no document":        {rawUpload("a", ``), "must be a JSON object"},
		"an array":           {rawUpload("a", `[]`), "must be a JSON object"},
		"broken JSON":        {rawUpload("a", `{"id":"a"`), "JSON"},
		"no key":             {rawUpload("", `{"id":""}`), "key"},
		"a reserved name":    {rawUpload("a", `{"id":"a","@search.action":"delete"}`), "@search.action"},
		"an unknown action":  {models.RawAction{Key: "a", Type: "upsert", Document: json.RawMessage(`{"id":"a"}`)}, `unknown action type "upsert"`},
		"larger than a body": {rawUpload("a", `{"id":"a","name":"`+strings.Repeat("x", 1000)+`"}`), "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 500}})
				err := r.Sender.Raw().Add(t.Context(), rawUpload("before", `{"id":"before"}`), test.action)
				var refused *bufferedsender.AddError
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, 1, refused.Accepted)
				assert.ErrorContains(t, err, test.says)
			})
		})
	}
}

func TestAHeldKeyIsWrittenBetweenWhatCameBeforeAndSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o outcomes
		r := sendertest.New(t, nil)
		raw := r.Sender.Raw()
		r.Upload(sendertest.Hotel{ID: "a", Rooms: 1})
		require.NoError(t, raw.HoldKeys(t.Context(), []string{"a"}, func(_ context.Context, add func(actions ...models.RawAction) error) error {
			assert.Equal(t, 1, roomsOf(r, "a"), "earlier actions are settled")
			assert.Equal(t, []bool{false}, raw.Contains("a"))
			r.Upload(sendertest.Hotel{ID: "a", Rooms: 3}, sendertest.Hotel{ID: "b"})
			time.Sleep(time.Minute)
			assert.Equal(t, 1, roomsOf(r, "a"), "later actions of the key wait")
			assert.Equal(t, 0, roomsOf(r, "b"), "other keys do not wait")
			repair := rawUpload("a", `{"id":"a","rooms":2}`)
			repair.OnOutcome = o.note
			return add(repair)
		}))
		time.Sleep(time.Minute)
		assert.Equal(t, 3, roomsOf(r, "a"))
		assert.True(t, o.one(t, nil).Completed())
	})
}

func TestAHoldEndsWithItsFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		raw := r.Sender.Raw()
		failed := errors.New("no truth")
		var later func(actions ...models.RawAction) error
		err := raw.HoldKeys(t.Context(), []string{"a"}, func(_ context.Context, add func(actions ...models.RawAction) error) error {
			later = add
			err := add(rawUpload("b", `{"id":"b"}`))
			var refused *bufferedsender.AddError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, "b", refused.Key)
			assert.ErrorContains(t, err, "not held by this HoldKeys")
			return failed
		})
		require.ErrorIs(t, err, failed)
		require.ErrorContains(t, later(rawUpload("a", `{"id":"a"}`)), "after the function of HoldKeys has returned")
		assert.Panics(t, func() {
			_ = raw.HoldKeys(t.Context(), []string{"a"}, func(context.Context, func(actions ...models.RawAction) error) error { panic("act") })
		})
		r.Upload(sendertest.Hotel{ID: "a"})
		require.NoError(t, r.Flush())

		r.Sender.Pause()
		r.Upload(sendertest.Hotel{ID: "a"})
		err = raw.HoldKeys(sendertest.Within(t, time.Second), []string{"a"}, nothing)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, bufferedsender.ErrPaused)
		r.Sender.Resume()
		require.NoError(t, r.Close())
		require.ErrorIs(t, raw.HoldKeys(t.Context(), []string{"a"}, nothing), bufferedsender.ErrClosed)
	})
}

func TestARawActionHasTheVersionThatItIsGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{
			Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: func(h sendertest.Hotel) int64 { return int64(h.Rooms) }},
		})
		r.Upload(sendertest.Hotel{ID: "a", Rooms: 7})
		older, unversioned := rawUpload("a", `{"id":"a","rooms":3}`), rawUpload("b", `{"id":"b","rooms":3}`)
		older.Version = 3
		r.Upload(sendertest.Hotel{ID: "b", Rooms: 7})
		require.NoError(t, r.Sender.Raw().Add(t.Context(), older, unversioned))
		require.NoError(t, r.Flush())
		assert.Equal(t, 7, roomsOf(r, "a"))
		assert.Equal(t, 3, roomsOf(r, "b"))
	})
}

func TestARawActionNeedsNoTypeThatSaysWhereTheKeyIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.NewDocuments(t, &sendertest.DocumentOptions{})
		err := r.Sender.Raw().Add(t.Context(), rawUpload("a", `{"id":"a"}`), rawUpload("b", `{"id":"c"}`))
		var refused *bufferedsender.AddError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, 1, refused.Accepted, "the field is read from the index definition, and the keys are compared")
	})
}

// nothing is a function of HoldKeys that must not run.
func nothing(context.Context, func(actions ...models.RawAction) error) error {
	panic("it was run")
}

// A writer flushes, or waits for, a document whose key is held for repair.
func TestAFlushDoesNotWaitForEverForAKeyThatWasHeld(t *testing.T) {
	for name, o := range map[string]*sendertest.Options{
		"no automatic flush": {DisableAutoFlush: true},
		"no timer":           {AutoFlushInterval: -1},
		"one minute's timer": {AutoFlushInterval: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, o)
				raw := r.Sender.Raw()
				done := make(chan error, 1)
				require.NoError(t, raw.HoldKeys(t.Context(), []string{"a"}, func(_ context.Context, add func(actions ...models.RawAction) error) error {
					r.Upload(sendertest.Hotel{ID: "a", Rooms: 3})
					go func() { done <- r.Sender.Flush(sendertest.Within(t, 30*time.Second), nil) }()
					synctest.Wait()
					return add(rawUpload("a", `{"id":"a","rooms":2}`))
				}))
				assert.NoError(t, <-done)
				assert.Equal(t, 3, roomsOf(r, "a"))
			})
		})
	}
}

func TestAWaiterIsNotDelayedByWhatAHoldHasAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: -1})
		raw := r.Sender.Raw()
		done := make(chan error, 1)
		require.NoError(t, raw.HoldKeys(t.Context(), []string{"a"}, func(_ context.Context, add func(actions ...models.RawAction) error) error {
			go func() {
				_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, 30*time.Second), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "a", Rooms: 3})}, nil)
				done <- err
			}()
			time.Sleep(time.Second)
			return add(rawUpload("a", `{"id":"a","rooms":2}`))
		}))
		assert.NoError(t, <-done)
	})
}

// The name of the key field comes from the index, and has not been requested yet.
func TestARawActionWithAnotherKeyIsRefusedBeforeTheKeyFieldIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		indexer := &sendertest.Catalog{KeyField: func(context.Context) (string, error) { asked++; return "id", nil }}
		sender, err := bufferedsender.New[models.Document](indexer, nil)
		require.NoError(t, err)
		err = sender.Raw().Add(t.Context(), rawUpload("a", `{"id":"b"}`))
		assert.Error(t, err)
		err = sender.Flush(sendertest.Within(t, time.Hour), nil)
		t.Log(err, sender.Stats().Requests, indexer.Requests())
		assert.Equal(t, 1, asked)
		require.NoError(t, sender.Close(t.Context()))
	})
}

// One document had a property that the index lacks. After a minute that has no effect any more, and the index never
// was the cause.
func TestAHoldDoesNotMakeTheSenderSayThatItsCircuitIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(sendertest.First(1, sendertest.LackingProperty("rooms")))
		r.Upload(sendertest.Hotel{ID: "bad", Rooms: 1})
		assert.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		time.Sleep(time.Hour)
		require.NoError(t, r.Sender.Raw().HoldKeys(t.Context(), []string{"a"}, func(context.Context, func(actions ...models.RawAction) error) error {
			r.Upload(sendertest.Hotel{ID: "a"})
			err := r.Sender.Flush(sendertest.Within(t, time.Minute), nil)
			assert.NotErrorIs(t, err, bufferedsender.ErrCircuitOpen)
			h := r.Sender.Health()
			assert.Equal(t, events.HealthStateHealthy, h.State)
			assert.NotErrorIs(t, h.Err, bufferedsender.ErrCircuitOpen)
			return nil
		}))
		require.NoError(t, r.Flush())
	})
}
