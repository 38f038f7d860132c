package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What callers, logs and errors are told.

func TestWhatIsTakenBackIsNoFailureOfTheNextFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.sender.Pause()
		r.upload(hotels("k", 3)...)
		waiting := later(r.flush)
		synctest.Wait()
		all := func(string, any) bool { return true }
		require.Equal(t, 3, r.sender.Withdraw(all))
		var failed *bufferedsender.FlushError
		require.ErrorAs(t, <-waiting, &failed, "it was waiting for them")
		assert.Equal(t, 3, failed.Count)
		assert.Equal(t, 3, failed.Withdrawn)
		assert.Contains(t, failed.Error(), "3 actions failed, 3 of them withdrawn")
		r.upload(hotels("k", 3)...)
		require.Equal(t, 3, r.sender.Withdraw(all))
		assert.NoError(t, r.flush(), "Withdraw has said it")
		assert.EqualValues(t, 6, r.sender.Stats().Withdrawn)
		assert.EqualValues(t, 6, r.sender.Stats().Failed)
		assert.NoError(t, r.close())
	})
}

func TestACloseThatIsHeldSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, guarded(t))
		r.down(401)
		r.upload(hotels("k", 3)...)
		err := r.sender.Close(within(t, time.Minute))
		var closed *bufferedsender.CloseError
		require.ErrorAs(t, err, &closed)
		assert.ErrorIs(t, closed.Held, bufferedsender.ErrCircuitOpen)
		assert.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
		line, _, _ := strings.Cut(closed.Error(), "; first:")
		assert.Contains(t, line, "3 actions unsent (sending was held: ")
		assert.Contains(t, line, "HTTP 401")
		assert.Contains(t, r.logs.String(), "level=WARN msg=\"azsearch: closing while sending is held")
		assert.NotContains(t, r.logs.String(), "sending goes on")
	})
}

// Also when only some documents are held apart.
func TestACloseSaysThatDocumentsWereHeldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, guarded(t))
		r.respond(drifted(func() bool { return false }))
		r.upload(append(hotels("new", 100), roomless("old", 100)...)...)
		err := r.sender.Close(within(t, time.Minute))
		var closed *bufferedsender.CloseError
		require.ErrorAs(t, err, &closed)
		assert.Equal(t, 80, closed.Unsent)
		assert.Equal(t, 20, closed.Failed)
		assert.ErrorIs(t, closed.Held, bufferedsender.ErrCircuitOpen)
		assert.Contains(t, closed.Held.Error(), "'rooms'")
		assert.False(t, errors.As(closed.Held, new(*breaker.OpenError)), "it is not the breaker")
	})
}

// An error of an adding call says whether it is about the document.
func TestAnAddingCallTellsABadDocumentFromABadMoment(t *testing.T) {
	type number struct {
		ID string `json:"id" search:"key"`
		N  float64
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	synctest.Test(t, func(t *testing.T) {
		opts := &bufferedsender.Options[number]{Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBatchActions: 1, MaxBufferedActions: 1}, Logger: mute}
		s, err := bufferedsender.New(&fakeIndexer{index: agree}, opts)
		require.NoError(t, err)
		s.Pause()
		add := func(n number) error { return s.UploadDocuments(t.Context(), n) }
		for name, c := range map[string]struct {
			err      error
			rejected bool
		}{
			"no key":           {add(number{}), true},
			"an illegal key":   {add(number{ID: "a b"}), true},
			"not a number":     {add(number{ID: "1", N: math.NaN()}), true},
			"too large":        {add(number{ID: strings.Repeat("k", 990)}), true},
			"no such action":   {s.IndexDocuments(t.Context(), models.IndexDocumentsAction[number]{Type: "insert"}), true},
			"a patch of none":  {s.MergePatch(t.Context(), nil), true},
			"an ended context": {s.UploadDocuments(ended, number{ID: "1"}), false},
			"accepted":         {add(number{ID: "1"}), false},
			"no room":          {s.TryIndexDocuments(models.UploadAction(number{ID: "2"})), false},
		} {
			var refused *bufferedsender.AddError
			if errors.As(c.err, &refused) {
				assert.Equal(t, c.rejected, refused.Rejected(), "%s: %v", name, c.err)
			} else {
				assert.Equal(t, "accepted", name, "%v", c.err)
			}
		}
		_ = s.Close(within(t, time.Millisecond))
		var refused *bufferedsender.AddError
		require.ErrorAs(t, add(number{ID: "3"}), &refused)
		assert.False(t, refused.Rejected(), "closed")
	})
}

// Who gives up waiting is told what went wrong meanwhile.
func TestAWaiterThatGivesUpIsToldWhatItsLastAttemptFailedWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, guarded(t))
		r.respond(reset)
		_, err := r.sender.IndexDocumentsAndWait(within(t, 5*time.Second), models.UploadAction(hotel{ID: "k"}))
		var waited *bufferedsender.WaitError
		require.ErrorAs(t, err, &waited)
		require.Len(t, waited.Errors, 1)
		assert.ErrorIs(t, waited.Errors[0], bufferedsender.ErrWithdrawn)
		assert.ErrorIs(t, waited.Errors[0], errReset)
	})
}

// The log says why a document was refused as far as that needs no word of it.
func TestTheLogNamesTheTypeThatAValueDoesNotHave(t *testing.T) {
	for _, whole := range []bool{true, false} {
		t.Run(fmt.Sprintf("whole request %v", whole), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const message = "Cannot convert the literal 'secret' to the expected type 'Edm.Int32'."
				lines := &lockedBuffer{}
				opts := guarded(t)
				opts.Logger = slog.New(slog.NewTextHandler(lines, nil)) // from Info on
				r := newRig(t, opts)
				if whole {
					r.respond(always(400, refusal(message)))
				} else {
					r.respond(results(func(rs []wireResult) []wireResult {
						rs[0]["status"], rs[0]["statusCode"], rs[0]["errorMessage"] = false, 400, message
						return rs
					}))
				}
				r.upload(hotel{ID: "k"})
				flushFailures(t, r.flush())
				assert.Contains(t, lines.String(), "a value is not of the type Edm.Int32")
				assert.NotContains(t, lines.String(), "secret")
			})
		})
	}
}
