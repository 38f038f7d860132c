package bufferedsender_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A caller whose context ends takes its own actions back, and not what others wrote to
// the same key that was folded into them.
func TestAWaiterThatLeavesTakesBackNothingOfOthers(t *testing.T) {
	for _, plain := range []bool{true, false} {
		t.Run(fmt.Sprint("plain=", plain), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Folding: &bufferedsender.Folding[hotel]{}})
				r.sender.Pause()
				ctx, cancel := context.WithCancel(t.Context())
				first := later(func() error {
					_, err := r.sender.IndexDocumentsAndWait(ctx, models.UploadAction(hotel{ID: "k", Rooms: 1}))
					return err
				})
				synctest.Wait()
				var second <-chan error
				if plain {
					r.upload(hotel{ID: "k", Rooms: 2}) // nil: accepted
				} else {
					second = later(func() error {
						_, err := r.sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(hotel{ID: "k", Rooms: 2}))
						return err
					})
				}
				synctest.Wait()
				r.sender.Contains("k") // folds
				cancel()
				require.Error(t, <-first)
				r.sender.Resume()
				err := r.flush()
				assert.NoError(t, err)
				if second != nil {
					assert.NoError(t, <-second)
				}
				if assert.Len(t, r.indexed(), 1) {
					assert.Equal(t, 2, r.roomsOf("k"), "nobody has taken this back")
				}
			})
		})
	}
}

// The same when the folded action is in a request that has to be sent again.
func TestAWaiterThatLeavesEndsNoRetriesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := guarded(t)
		opts.Folding = &bufferedsender.Folding[hotel]{}
		r := newRig(t, opts)
		r.respond(onlyFirst(1, func(_ int, _ *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(time.Second)
			return reply(req, 503, refusal("busy")), nil
		}))
		r.sender.Pause()
		ctx, cancel := context.WithCancel(t.Context())
		first := later(func() error {
			_, err := r.sender.IndexDocumentsAndWait(ctx, models.UploadAction(hotel{ID: "k", Rooms: 1}))
			return err
		})
		synctest.Wait()
		r.upload(hotel{ID: "k", Rooms: 2})
		r.sender.Contains("k")
		r.sender.Resume()
		flushed := later(r.flush)
		time.Sleep(500 * time.Millisecond) // in a request
		cancel()
		require.Error(t, <-first)
		assert.NoError(t, <-flushed)
		assert.Len(t, r.indexed(), 1)
	})
}
