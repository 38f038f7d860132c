package test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlushesReportWhatTheyWaitedForAndNothingIsReportedByNobody(t *testing.T) {
	t.Run("two at once both get the failure", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 1 }))
			r.Faults(sendertest.RefuseKeys("bad"))
			r.Upload(sendertest.Hotel{ID: "bad"})
			first, second := sendertest.Later(r.Flush), sendertest.Later(r.Flush)
			assert.Equal(t, 1, sendertest.FlushFailures(t, <-first))
			assert.Equal(t, 1, sendertest.FlushFailures(t, <-second))
			require.NoError(t, r.Flush())
			require.NoError(t, r.Close())
		})
	})
	t.Run("what a caller of IndexDocumentsAndWait was given is not reported by Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(sendertest.RefuseKeys("bad"))
			_, err := r.Sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(sendertest.Hotel{ID: "bad"}))
			assert.Equal(t, 1, sendertest.WaitError(t, err).Failed)
			require.NoError(t, r.Close())
		})
	})
	t.Run("what nobody waited for is reported by Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(sendertest.RefuseKeys("bad"))
			r.Upload(sendertest.Hotel{ID: "bad"})
			time.Sleep(2 * time.Minute)
			assert.Equal(t, 1, sendertest.CloseError(t, r.Close()).Failed)
		})
	})
}
