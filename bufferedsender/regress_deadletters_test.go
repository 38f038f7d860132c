package bufferedsender_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each letter is what travelled, no more and no less: Replay of several that
// hold each other's documents would make an index that never was.
func TestDeadLettersOfOneKeyHoldWhatTravelled(t *testing.T) {
	for name, c := range map[string]struct {
		first    hotelAction
		inFlight bool // the first one is when the others come
		others   []hotelAction
		letters  []string
		failed   int
	}{
		"an older upload that is sent because the merge in flight is refused": {
			first: models.MergeAction(hotel{ID: "k", Rooms: 5}), inFlight: true,
			others:  []hotelAction{models.UploadAction(hotel{ID: "k", Name: "old", Rooms: 3})},
			letters: []string{`merge {"id":"k","rooms":5}`, `upload {"id":"k","name":"old","rooms":3}`}, failed: 2,
		},
		"an older upload that is sent because the delete is refused": {
			first:   models.UploadAction(hotel{ID: "k", Name: "new", Rooms: 5}),
			others:  []hotelAction{models.DeleteAction(hotel{ID: "k"}), models.UploadAction(hotel{ID: "k", Name: "old", Rooms: 3})},
			letters: []string{`delete {"id":"k"}`, `upload {"id":"k","name":"old","rooms":3}`}, failed: 3,
		},
		"a change folded into an upload": {
			first:   models.UploadAction(hotel{ID: "k", Name: "new", Rooms: 5}),
			others:  []hotelAction{models.MergeAction(hotel{ID: "k", Rooms: 6})},
			letters: []string{`upload {"id":"k","name":"new","rooms":6}`}, failed: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dead := &letterbox{}
				r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}, DeadLetters: dead, AutoFlushInterval: time.Second})
				r.faults(searchtest.Fault{Delay: searchtest.Duration(time.Minute), Documents: []searchtest.DocumentFault{{Status: 400}}})
				r.add(c.first)
				if c.inFlight {
					time.Sleep(10 * time.Second)
				}
				r.add(c.others...)
				require.Equal(t, c.failed, flushFailures(t, r.flush()))
				var letters []string
				for _, l := range dead.all() {
					letters = append(letters, fmt.Sprint(l.Action, " ", string(l.Document)))
				}
				assert.Equal(t, c.letters, letters)
			})
		})
	}
}

func TestADeletedDocumentDoesNotComeBackAsALetterWhenCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &letterbox{}
		r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}, DeadLetters: dead})
		r.sender.Pause()
		r.upload(hotel{ID: "k", Name: "five", Rooms: 5})
		r.add(models.DeleteAction(hotel{ID: "k"}))
		r.upload(hotel{ID: "k", Name: "three", Rooms: 3})
		assert.Equal(t, 3, closeError(t, r.sender.Close(within(t, time.Second))).Unsent)
		letters := dead.all()
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
		r := newRig(t, &hotelOptions{DeadLetters: leavingSink{}})
		r.respond(always(400, refusal("no")))
		r.upload(hotel{ID: "k"})
		require.Equal(t, 1, flushFailures(t, r.flush()))
		assert.EqualValues(t, 1, r.sender.Stats().DeadLetterErrors)
		assert.Zero(t, r.sender.Stats().DeadLetters)
	})
}
