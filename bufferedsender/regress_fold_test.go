package bufferedsender_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestANegativeVersionIsNotOlderThanNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}})
		r.upload(hotel{ID: "k", Rooms: 0}) // has none
		r.upload(hotel{ID: "k", Rooms: -5})
		require.NoError(t, r.flush())
		assert.Equal(t, -5, r.roomsOf("k"))
	})
}

func TestAPanicOfVersionRefusesTheAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: func(h hotel) int64 {
			if h.Rooms == 13 {
				panic("unlucky")
			}
			return int64(h.Rooms)
		}}})
		err := r.sender.UploadDocuments(t.Context(), hotel{ID: "a", Rooms: 12}, hotel{ID: "b", Rooms: 13}, hotel{ID: "c", Rooms: 14})
		var refusal *bufferedsender.AddError
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, 1, refusal.Accepted)
		assert.Equal(t, "b", refusal.Key)
		assert.ErrorContains(t, err, "unlucky")
		require.NoError(t, r.flush())
		assert.Equal(t, []string{"a"}, r.indexed())
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
				var l ledger
				opts := &hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}, Limits: bufferedsender.Limits{MaxBatchActions: 1}, Handlers: l.handlers()}
				if !c.superseded {
					opts.Retry.MaxRetries = -1
				}
				r := newRig(t, opts)
				r.respond(onlyFirst(c.cut, func(int, *exchange, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
					time.Sleep(time.Second)
					return nil, errors.New("connection reset")
				}))
				r.upload(hotel{ID: "k", Rooms: 5})
				synctest.Wait() // in flight
				r.upload(hotel{ID: "k", Rooms: 3})
				if err := r.flush(); c.superseded {
					require.NoError(t, err)
				} else {
					require.Equal(t, 2, flushFailures(t, err))
				}
				ends := l.endings("k")
				require.Len(t, ends, 2)
				assert.False(t, ends[0].superseded)
				assert.Equal(t, !c.superseded, ends[0].unknown)
				assert.Equal(t, c.superseded, ends[1].superseded)
				assert.Equal(t, !c.superseded, ends[1].unknown)
				assert.Len(t, r.requests(), 2)
			})
		})
	}
}

// Merging each into the document would mean reading all of it each time.
func TestSmallChangesOfALargeDocumentAreFoldedAmongThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const changes = 200
		r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}})
		r.sender.Pause()
		r.upload(sized("k", 100_000))
		for i := range changes {
			r.add(models.MergeAction(hotel{ID: "k", Rooms: i + 1}))
		}
		r.sender.Resume()
		require.NoError(t, r.flush())
		assert.EqualValues(t, changes-1, r.sender.Stats().Folded)
		wire := r.requests()
		require.Len(t, wire, 2)
		assert.Equal(t, []string{"upload"}, wire[0].actions)
		assert.Equal(t, []string{"merge"}, wire[1].actions)
		assert.Equal(t, changes, r.roomsOf("k"))
	})
}

// The rig has handlers, which are given each action with its document, so the
// sender keeps them all.
func TestFoldedDocumentsThatAreKeptCountInTheBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, room = 2000, 40_000
		r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, Limits: bufferedsender.Limits{MaxBatchBytes: 10_000, MaxBufferedBytes: room}})
		r.sender.Pause()
		accepted := 0
		for range 3 * room / size {
			if err := r.sender.TryIndexDocuments(models.UploadAction(sized("k", size))); err != nil {
				require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
				break
			}
			accepted++
			synctest.Wait() // folded
		}
		assert.InDelta(t, room/size, accepted, 1)
		assert.Greater(t, r.sender.Stats().PendingBytes, int64(room-size))
		r.sender.Resume()
		require.NoError(t, r.flush())
		assert.Zero(t, r.sender.Stats().PendingBytes)
		assert.Len(t, r.requests(), 1)
	})
}
