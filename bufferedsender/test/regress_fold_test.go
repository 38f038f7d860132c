package test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestANegativeVersionIsNotOlderThanNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Fold: true, Version: byRooms})
		r.Upload(sendertest.Hotel{ID: "k", Rooms: 0}) // has none
		r.Upload(sendertest.Hotel{ID: "k", Rooms: -5})
		require.NoError(t, r.Flush())
		assert.Equal(t, -5, roomsOf(r, "k"))
	})
}

func TestAPanicOfVersionRefusesTheAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Fold: true, Version: func(h sendertest.Hotel) int64 {
			if h.Rooms == 13 {
				panic("unlucky")
			}
			return int64(h.Rooms)
		}})
		err := r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a", Rooms: 12}, sendertest.Hotel{ID: "b", Rooms: 13}, sendertest.Hotel{ID: "c", Rooms: 14})
		var refusal *bufferedsender.AddError
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, 1, refusal.Accepted)
		assert.Equal(t, "b", refusal.Key)
		assert.ErrorContains(t, err, "unlucky")
		require.NoError(t, r.Flush())
		assert.Equal(t, []string{"a"}, r.Indexed())
	})
}

// Nothing of it has travelled, so nothing can be unknown of it.
func TestASupersededActionIsNeverUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		cut        int // so many requests are
		superseded bool
	}{
		"the newer one is applied in the end": {1, true},
		"neither is, so both have travelled":  {2, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l sendertest.Ledger
				opts := &sendertest.Options{Fold: true, Version: byRooms, MaxBatchActions: 1, Handlers: l.Handlers()}
				if !c.superseded {
					opts.Retry.MaxRetries = -1
				}
				r := sendertest.New(t, opts)
				r.Respond(sendertest.First(c.cut, func(int, *sendertest.Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
					time.Sleep(time.Second)
					return nil, errors.New("connection reset")
				}))
				r.Upload(sendertest.Hotel{ID: "k", Rooms: 5})
				synctest.Wait() // in flight
				r.Upload(sendertest.Hotel{ID: "k", Rooms: 3})
				if err := r.Flush(); c.superseded {
					require.NoError(t, err)
				} else {
					require.Equal(t, 2, sendertest.FlushFailures(t, err))
				}
				ends := l.Endings("k")
				require.Len(t, ends, 2)
				assert.False(t, ends[0].Superseded)
				assert.Equal(t, !c.superseded, ends[0].Unknown)
				assert.Equal(t, c.superseded, ends[1].Superseded)
				assert.Equal(t, !c.superseded, ends[1].Unknown)
				assert.Len(t, r.Requests(), 2)
			})
		})
	}
}

// Merging each into the document would mean reading all of it each time.
func TestSmallChangesOfALargeDocumentAreFoldedAmongThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const changes = 200
		r := sendertest.New(t, &sendertest.Options{Fold: true})
		r.Sender.Pause()
		r.Upload(sendertest.HotelOfSize("k", 100_000))
		for i := range changes {
			r.Add(models.MergeAction(sendertest.Hotel{ID: "k", Rooms: i + 1}))
		}
		r.Sender.Resume()
		require.NoError(t, r.Flush())
		assert.EqualValues(t, changes-1, r.Sender.Stats().Folded)
		wire := r.Requests()
		require.Len(t, wire, 2)
		assert.Equal(t, []string{"upload"}, wire[0].Actions)
		assert.Equal(t, []string{"merge"}, wire[1].Actions)
		assert.Equal(t, changes, roomsOf(r, "k"))
	})
}

// The rig has handlers, which are given each action with its document, so the
// sender keeps them all.
func TestFoldedDocumentsThatAreKeptCountInTheBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, room = 2000, 40_000
		r := sendertest.New(t, &sendertest.Options{Fold: true, MaxBatchBytes: 10_000, MaxBufferedBytes: room})
		r.Sender.Pause()
		accepted := 0
		for range 3 * room / size {
			if err := r.Sender.TryIndexDocuments(models.UploadAction(sendertest.HotelOfSize("k", size))); err != nil {
				require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
				break
			}
			accepted++
			synctest.Wait() // folded
		}
		assert.InDelta(t, room/size, accepted, 1)
		assert.Greater(t, r.Sender.Stats().PendingBytes, int64(room-size))
		r.Sender.Resume()
		require.NoError(t, r.Flush())
		assert.Zero(t, r.Sender.Stats().PendingBytes)
		assert.Len(t, r.Requests(), 1)
	})
}
