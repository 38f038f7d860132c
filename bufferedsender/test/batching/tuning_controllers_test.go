package batching

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// A buffer of one never has a backlog, but there is demand: the next call waits for room.
func TestAnAdaptiveSenderWithABufferOfOneRecoversFromA503(t *testing.T) {
	testkit.Long(t)
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Tuning: tuning.Adaptive(nil), Limits: bufferedsender.Limits{MaxBufferedActions: 1}})
		r.Faults(searchtest.Fault{After: 10, Count: 1, Status: 503})
		began := time.Now()
		for n := 0; time.Since(began) < 30*time.Second; n++ {
			require.NoError(t, r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: fmt.Sprint("k", n)}))
			time.Sleep(2 * time.Millisecond)
		}
		// From now on it is as fast as before the 503.
		before := r.Sender.Stats().Completed
		for n := 0; time.Since(began) < 40*time.Second; n++ {
			require.NoError(t, r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: fmt.Sprint("k", n)}))
			time.Sleep(2 * time.Millisecond)
		}
		assert.Greater(t, r.Sender.Stats().Completed-before, int64(4000), "of 5000 that are possible")
	})
}

// leaver ends the goroutine that calls it.
type leaver struct{}

func (leaver) New(tuning.Bounds) tuning.Controller { return leaver{} }

func (leaver) Pace() tuning.Pace { return tuning.Pace{} }

func (leaver) Observe(tuning.Observation) tuning.Pace {
	runtime.Goexit()
	return tuning.Pace{}
}

func TestAControllerThatEndsItsGoroutineLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Tuning: leaver{}, Limits: bufferedsender.Limits{MaxBatchActions: 2}})
		r.Upload(sendertest.Hotels("k", 5)...)
		require.NoError(t, r.Close())
		assert.EqualValues(t, 5, r.Sender.Stats().Completed)
		assert.Len(t, r.Indexed(), 5)
	})
}

// resizing is a controller with state that could be lost.
type resizing struct {
	leaver
	made, resized *int
}

func (c resizing) New(tuning.Bounds) tuning.Controller {
	*c.made++
	return c
}

func (resizing) Observe(tuning.Observation) tuning.Pace { return tuning.Pace{} }

func (c resizing) Resize(tuning.Bounds) tuning.Pace {
	*c.resized++
	return tuning.Pace{}
}

func TestAControllerKeepsWhatItHasLearnedWhenLimitsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, resized := 0, 0
		r := sendertest.New(t, &sendertest.Options{Tuning: resizing{made: &made, resized: &resized}})
		_, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: 7}})
		require.NoError(t, err)
		r.Upload(sendertest.Hotels("k", 20)...)
		require.NoError(t, r.Close())
		assert.Equal(t, 1, made)
		assert.Equal(t, 1, resized)
	})
}
