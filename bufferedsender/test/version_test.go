package test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
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
				r := sendertest.New(t, &sendertest.Options{Fold: true, Version: byRooms})
				r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
				if c.refuse {
					fault := sendertest.RefuseKeys("a")
					fault.Documents[0].Nth = 1
					r.Faults(fault)
				}
				r.Add(models.UploadAction(sendertest.Hotel{ID: "a", Rooms: 7}).WithTag("newer").WithCallback(o.note))
				flushed := sendertest.Later(r.Flush)
				time.Sleep(time.Second)
				r.Add(models.UploadAction(sendertest.Hotel{ID: "a", Rooms: 3}).WithTag("older").WithCallback(o.note))
				synctest.Wait()
				o.mu.Lock()
				assert.Empty(t, o.all, "it waits behind the newer one")
				o.mu.Unlock()
				assert.Equal(t, c.refuse, <-flushed != nil)
				require.NoError(t, r.Sender.Flush(sendertest.Within(t, time.Hour)))
				assert.Equal(t, c.refuse, o.one(t, "newer").Err != nil)
				assert.True(t, o.one(t, "older").Completed())
				assert.Equal(t, map[bool]models.Reason{true: models.ReasonNone, false: models.ReasonSuperseded}[c.refuse], o.one(t, "older").Reason)
				assert.Equal(t, c.rooms, roomsOf(r, "a"))
			})
		})
	}
}

// A merge that changes nothing, because there is no such document, outdates nothing.
func TestAnOlderVersionIsSentAfterAMergeThatWasIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &sendertest.Options{Fold: true, Version: func(h sendertest.Hotel) int64 { return int64(h.Rooms) }, OnMergeMissing: bufferedsender.MergeMissingIgnore}
		r := sendertest.New(t, opts)
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 1 }))
		r.Add(models.MergeAction(sendertest.Hotel{ID: "k", Rooms: 5}))
		flushed := sendertest.Later(r.Flush)
		time.Sleep(500 * time.Millisecond) // in a request
		r.Add(models.UploadAction(sendertest.Hotel{ID: "k", Name: "created", Rooms: 3}))
		require.NoError(t, <-flushed)
		require.NoError(t, r.Flush())
		assert.EqualValues(t, 2, r.Sender.Stats().Completed)
		assert.Len(t, r.Indexed(), 1, "Completed: 2, and there is no document")
		r.Abandoned = true
		require.NoError(t, r.Close())
	})
}
