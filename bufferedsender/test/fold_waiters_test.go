package test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/internal/sendertest"
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
				r := sendertest.New(t, &sendertest.Options{Fold: true})
				r.Sender.Pause()
				ctx, cancel := context.WithCancel(t.Context())
				first := sendertest.Later(func() error {
					_, err := r.Sender.IndexDocumentsAndWait(ctx, models.UploadAction(sendertest.Hotel{ID: "k", Rooms: 1}))
					return err
				})
				synctest.Wait()
				var second <-chan error
				if plain {
					r.Upload(sendertest.Hotel{ID: "k", Rooms: 2}) // nil: accepted
				} else {
					second = sendertest.Later(func() error {
						_, err := r.Sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(sendertest.Hotel{ID: "k", Rooms: 2}))
						return err
					})
				}
				synctest.Wait()
				r.Sender.Contains("k") // folds
				cancel()
				require.Error(t, <-first)
				r.Sender.Resume()
				err := r.Flush()
				assert.NoError(t, err)
				if second != nil {
					assert.NoError(t, <-second)
				}
				if assert.Len(t, r.Indexed(), 1) {
					assert.Equal(t, 2, roomsOf(r, "k"), "nobody has taken this back")
				}
			})
		})
	}
}

// The same when the folded action is in a request that has to be sent again.
func TestAWaiterThatLeavesEndsNoRetriesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.Fold = true
		r := sendertest.New(t, opts)
		r.Respond(sendertest.First(1, func(_ int, _ *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(time.Second)
			return sendertest.Reply(req, 503, sendertest.ErrorBody("busy")), nil
		}))
		r.Sender.Pause()
		ctx, cancel := context.WithCancel(t.Context())
		first := sendertest.Later(func() error {
			_, err := r.Sender.IndexDocumentsAndWait(ctx, models.UploadAction(sendertest.Hotel{ID: "k", Rooms: 1}))
			return err
		})
		synctest.Wait()
		r.Upload(sendertest.Hotel{ID: "k", Rooms: 2})
		r.Sender.Contains("k")
		r.Sender.Resume()
		flushed := sendertest.Later(r.Flush)
		time.Sleep(500 * time.Millisecond) // in a request
		cancel()
		require.Error(t, <-first)
		assert.NoError(t, <-flushed)
		assert.Len(t, r.Indexed(), 1)
	})
}
