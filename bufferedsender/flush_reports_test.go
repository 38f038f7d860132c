package bufferedsender_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlushesReportWhatTheyWaitedForAndNothingIsReportedByNobody(t *testing.T) {
	t.Run("two at once both get the failure", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.respond(seconds(func(int, *exchange) float64 { return 1 }))
			r.faults(refuseKeys("bad"))
			r.upload(hotel{ID: "bad"})
			first, second := later(r.flush), later(r.flush)
			assert.Equal(t, 1, flushFailures(t, <-first))
			assert.Equal(t, 1, flushFailures(t, <-second))
			require.NoError(t, r.flush())
			require.NoError(t, r.close())
		})
	})
	t.Run("what a caller of IndexDocumentsAndWait was given is not reported by Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.faults(refuseKeys("bad"))
			_, err := r.sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(hotel{ID: "bad"}))
			assert.Equal(t, 1, waitError(t, err).Failed)
			require.NoError(t, r.close())
		})
	})
	t.Run("what nobody waited for is reported by Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.faults(refuseKeys("bad"))
			r.upload(hotel{ID: "bad"})
			time.Sleep(2 * time.Minute)
			assert.Equal(t, 1, closeError(t, r.close()).Failed)
		})
	})
}
