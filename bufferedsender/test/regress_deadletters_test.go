package test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each letter is what travelled, no more and no less: Replay of several that
// hold each other's documents would make an index that never was.
func TestDeadLettersOfOneKeyHoldWhatTravelled(t *testing.T) {
	for name, c := range map[string]struct {
		first    sendertest.Action
		inFlight bool // the first one is when the others come
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
				r := sendertest.New(t, &sendertest.Options{Fold: true, Version: byRooms, DeadLetters: dead, AutoFlushInterval: time.Second})
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

func TestADeletedDocumentDoesNotComeBackAsALetterWhenCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &sendertest.DeadLetters{}
		r := sendertest.New(t, &sendertest.Options{Fold: true, Version: byRooms, DeadLetters: dead})
		r.Sender.Pause()
		r.Upload(sendertest.Hotel{ID: "k", Name: "five", Rooms: 5})
		r.Add(models.DeleteAction(sendertest.Hotel{ID: "k"}))
		r.Upload(sendertest.Hotel{ID: "k", Name: "three", Rooms: 3})
		assert.Equal(t, 3, sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second))).Unsent)
		letters := dead.All()
		require.Len(t, letters, 1)
		assert.Equal(t, models.ActionDelete, letters[0].Action)
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
