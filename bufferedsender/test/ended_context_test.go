package test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAContextThatHasEndedAddsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for name, add := range addingCalls(r, sendertest.Hotel{ID: "a"}) {
			if name == "TryIndexDocuments" {
				continue // takes none
			}
			err := add(ended)
			require.ErrorIs(t, err, context.Canceled, name)
			sendertest.RequireAccepted(t, err, 0)
		}
		_, err := r.Sender.IndexDocumentsAndWait(ended, models.UploadAction(sendertest.Hotel{ID: "a"}))
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, r.Sender.MergePatch(ended, models.NewPatch("id", "a")), context.Canceled)
		require.ErrorIs(t, r.Sender.MergeOrUploadPatch(ended, models.NewPatch("id", "a")), context.Canceled)
		assert.Zero(t, r.Sender.Stats().Accepted)
		assert.Empty(t, r.Events("added"))
	})
}

func TestAContextThatEndsInTheMiddleOfACallEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		r := sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{ActionAdded: func(context.Context, *events.ActionAdded[sendertest.Hotel]) error {
			if n++; n == 20 {
				cancel()
			}
			return nil
		}}})
		err := r.Sender.UploadDocuments(ctx, sendertest.Hotels("k", 5000)...)
		t.Log(err, r.Sender.Stats().Accepted)
		assert.Error(t, err)
	})
}
