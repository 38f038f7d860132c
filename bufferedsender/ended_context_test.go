package bufferedsender_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAContextThatHasEndedAddsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for name, add := range r.addingCalls(hotel{ID: "a"}) {
			if name == "TryIndexDocuments" {
				continue // takes none
			}
			err := add(ended)
			require.ErrorIs(t, err, context.Canceled, name)
			refused(t, err, 0)
		}
		_, err := r.sender.IndexDocumentsAndWait(ended, models.UploadAction(hotel{ID: "a"}))
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, r.sender.MergePatch(ended, models.NewPatch("id", "a")), context.Canceled)
		require.ErrorIs(t, r.sender.MergeOrUploadPatch(ended, models.NewPatch("id", "a")), context.Canceled)
		assert.Zero(t, r.sender.Stats().Accepted)
		assert.Empty(t, r.seen("added"))
	})
}

func TestAContextThatEndsInTheMiddleOfACallEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		r := newRig(t, &hotelOptions{Handlers: hotelHandlers{ActionAdded: func(context.Context, *events.ActionAdded[hotel]) error {
			if n++; n == 20 {
				cancel()
			}
			return nil
		}}})
		err := r.sender.UploadDocuments(ctx, hotels("k", 5000)...)
		t.Log(err, r.sender.Stats().Accepted)
		assert.Error(t, err)
	})
}
