package bufferedsender_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnOlderVersionIsSentIfTheNewerOneIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		refuse bool
		rooms  int
	}{"refused": {true, 3}, "completed": {false, 7}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var o outcomes
				r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}})
				r.respond(seconds(func(int, *exchange) float64 { return 10 }))
				if c.refuse {
					fault := refuseKeys("a")
					fault.Documents[0].Nth = 1
					r.faults(fault)
				}
				r.add(models.UploadAction(hotel{ID: "a", Rooms: 7}).WithTag("newer").WithCallback(o.note))
				flushed := later(r.flush)
				time.Sleep(time.Second)
				r.add(models.UploadAction(hotel{ID: "a", Rooms: 3}).WithTag("older").WithCallback(o.note))
				synctest.Wait()
				o.mu.Lock()
				assert.Empty(t, o.all, "it waits behind the newer one")
				o.mu.Unlock()
				assert.Equal(t, c.refuse, <-flushed != nil)
				require.NoError(t, r.sender.Flush(within(t, time.Hour)))
				assert.Equal(t, c.refuse, o.one(t, "newer").Err != nil)
				assert.True(t, o.one(t, "older").Completed())
				assert.Equal(t, map[bool]models.Reason{true: models.ReasonNone, false: models.ReasonSuperseded}[c.refuse], o.one(t, "older").Reason)
				assert.Equal(t, c.rooms, r.roomsOf("a"))
			})
		})
	}
}

// A merge that changes nothing, because there is no such document, outdates nothing.
func TestAnOlderVersionIsSentAfterAMergeThatWasIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: func(h hotel) int64 { return int64(h.Rooms) }}, OnMergeMissing: bufferedsender.MergeMissingIgnore}
		r := newRig(t, opts)
		r.respond(seconds(func(int, *exchange) float64 { return 1 }))
		r.add(models.MergeAction(hotel{ID: "k", Rooms: 5}))
		flushed := later(r.flush)
		time.Sleep(500 * time.Millisecond) // in a request
		r.add(models.UploadAction(hotel{ID: "k", Name: "created", Rooms: 3}))
		require.NoError(t, <-flushed)
		require.NoError(t, r.flush())
		assert.EqualValues(t, 2, r.sender.Stats().Completed)
		assert.Len(t, r.indexed(), 1, "Completed: 2, and there is no document")
		r.unstopped = true
		require.NoError(t, r.close())
	})
}
