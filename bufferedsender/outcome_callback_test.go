package bufferedsender_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outcomes notes what callbacks are called with, by tag.
type outcomes struct {
	mu  sync.Mutex
	all map[any][]models.Outcome
}

func (o *outcomes) note(got models.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[any][]models.Outcome{}
	}
	o.all[got.Tag] = append(o.all[got.Tag], got)
}

// one returns the only outcome of an action.
func (o *outcomes) one(t *testing.T, tag any) models.Outcome {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	require.Len(t, o.all[tag], 1, "outcomes of %v", tag)
	return o.all[tag][0]
}

func TestEveryAcceptedActionHasItsCallbackCalledOnceAndTruthfully(t *testing.T) {
	action := func(o *outcomes, tag, key string, rooms int) hotelAction {
		return models.UploadAction(hotel{ID: key, Rooms: rooms}).WithTag(tag).WithCallback(o.note)
	}
	t.Run("completed, failed, retried and exhausted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			r := newRig(t, nil)
			r.faults(refuseKeys("bad"))
			r.add(action(&o, "1", "good", 1), action(&o, "2", "bad", 1), action(&o, "3", "good", 2), models.MergeAction(hotel{ID: "missing"}).WithTag("4").WithCallback(o.note))
			require.Equal(t, 2, flushFailures(t, r.flush()))
			require.NoError(t, r.close())
			assert.Len(t, o.all, 4)
			good := o.one(t, "1")
			assert.True(t, good.Completed())
			assert.Equal(t, models.Outcome{Key: "good", Tag: "1", Status: 201}, good)
			assert.Equal(t, 200, o.one(t, "3").Status)
			bad := o.one(t, "2")
			assert.Equal(t, models.ReasonDocument, bad.Reason)
			assert.True(t, bad.Rejected())
			assert.False(t, bad.Completed())
			assert.Equal(t, 400, bad.Status)
			var failed *bufferedsender.ActionError
			assert.ErrorAs(t, bad.Err, &failed)
			assert.Equal(t, models.ReasonMissingDocument, o.one(t, "4").Reason)
		})
	})
	t.Run("given up by Close, sent or not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}})
			r.respond(hang)
			r.add(action(&o, "1", "a", 1), action(&o, "2", "b", 1))
			closeError(t, r.sender.Close(within(t, time.Second)))
			assert.Equal(t, models.ReasonClosed, o.one(t, "1").Reason)
			assert.True(t, o.one(t, "1").Unknown)
			assert.False(t, o.one(t, "2").Unknown)
		})
	})
	t.Run("folded and superseded", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}})
			r.add(action(&o, "1", "a", 3), action(&o, "2", "a", 2), action(&o, "3", "a", 5))
			require.NoError(t, r.flush())
			assert.Len(t, o.all, 3)
			assert.Equal(t, models.ReasonSuperseded, o.one(t, "2").Reason)
			assert.True(t, o.one(t, "2").Completed())
			assert.True(t, o.one(t, "3").Completed())
			assert.Equal(t, 5, r.roomsOf("a"))
		})
	})
	t.Run("not if the action was not accepted, and not if it panics twice", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			r := newRig(t, nil)
			r.add(models.UploadAction(hotel{ID: "p"}).WithTag("p").WithCallback(func(got models.Outcome) { o.note(got); panic("boom") }), action(&o, "1", "a", 1))
			require.Error(t, r.sender.IndexDocuments(t.Context(), action(&o, "illegal", "no/slash", 1)))
			require.NoError(t, r.flush())
			require.NoError(t, r.close())
			require.ErrorIs(t, r.sender.IndexDocuments(t.Context(), action(&o, "late", "a", 1)), bufferedsender.ErrClosed)
			assert.Len(t, o.all, 2)
			o.one(t, "p")
			assert.EqualValues(t, 1, r.sender.Stats().CallbackPanics)
		})
	})
}
