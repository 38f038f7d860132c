package bufferedsender_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A buffer of one never holds a backlog, but there is demand all the same: the
// next call is waiting for room.
func TestAnAdaptiveSenderWithABufferOfOneRecoversFromA503(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Tuning: tuning.Adaptive(nil), Limits: bufferedsender.Limits{MaxBufferedActions: 1}})
		r.faults(searchtest.Fault{After: 10, Count: 1, Status: 503})
		began := time.Now()
		for n := 0; time.Since(began) < 30*time.Second; n++ {
			require.NoError(t, r.sender.UploadDocuments(t.Context(), hotel{ID: fmt.Sprint("k", n)}))
			time.Sleep(2 * time.Millisecond)
		}
		// From here on it is as fast as before the 503.
		before := r.sender.Stats().Completed
		for n := 0; time.Since(began) < 40*time.Second; n++ {
			require.NoError(t, r.sender.UploadDocuments(t.Context(), hotel{ID: fmt.Sprint("k", n)}))
			time.Sleep(2 * time.Millisecond)
		}
		assert.Greater(t, r.sender.Stats().Completed-before, int64(4000), "of 5000 that are possible")
	})
}
