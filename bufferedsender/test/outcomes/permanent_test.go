package outcomes

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

func TestAnErrorThatIsPermanentIsNotRetried(t *testing.T) {
	for name, outage := range map[string]bufferedsender.Outage{"default": nil, "fail soon": bufferedsender.FailSoon{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests, began := 0, time.Now()
				s, err := bufferedsender.New(&sendertest.Indexer{Index: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					requests++
					return models.IndexDocumentsResult{}, backoff.Permanent(errors.New("no"))
				}}, &sendertest.Options{Outage: outage})
				require.NoError(t, err)
				err = s.UploadDocuments(t.Context(), sendertest.Hotels("k", 1000)...)
				require.NoError(t, err)
				var failed *bufferedsender.FlushError
				require.ErrorAs(t, s.Flush(sendertest.Within(t, time.Hour), nil), &failed)
				assert.Equal(t, 1000, failed.Count)
				assert.Equal(t, models.ReasonClient, failed.Errors[0].Reason)
				assert.LessOrEqual(t, requests, 1)
				assert.Less(t, time.Since(began), time.Minute)
				require.NoError(t, s.Close(t.Context()))
			})
		})
	}
}

func TestAPanicOfUntilIsAnEndOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{})
		a := rawUpload("1", `{"id":"1"}`)
		a.Until = func() time.Duration { panic("mine") }
		_, err := r.Sender.Raw().Offer(t.Context(), []models.RawAction{a})
		require.NoError(t, err)
		require.Error(t, r.Flush())
		assert.Empty(t, r.Requests())
	})
}

func TestNothingIsHeldApartAfterAClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(sendertest.LackingUntil(func() bool { return false }))
		r.Upload(append(sendertest.Hotels("new", 60), sendertest.RoomlessHotels("old", 20)...)...)
		flushed := sendertest.Later(r.Flush)
		time.Sleep(time.Minute)
		require.Positive(t, r.Sender.Stats().HeldApart)
		r.Abandoned = true
		require.Error(t, r.Sender.Close(sendertest.Within(t, time.Second)))
		require.Error(t, <-flushed)
		assert.Zero(t, r.Sender.Stats().HeldApart)
		assert.Zero(t, r.Sender.Stats().PendingActions)
	})
}
