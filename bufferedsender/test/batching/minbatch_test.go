package batching

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/sendertest"
)

func TestABatchIsSentAsSoonAsMinBatchActionsWait(t *testing.T) {
	for _, least := range []int{1, 3, 9, 10} {
		t.Run(fmt.Sprint(least), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MinBatchActions: least, MaxBatchActions: 10}, AutoFlushInterval: time.Hour})
				r.Upload(sendertest.Hotels("k", least-1)...)
				time.Sleep(time.Minute)
				require.Empty(t, r.Requests(), "one action is missing for a batch")
				r.Upload(sendertest.Hotel{ID: "last"})
				synctest.Wait()
				require.Len(t, r.Requests(), 1)
				assert.Equal(t, time.Minute, r.Requests()[0].At)
				assert.Len(t, r.Requests()[0].Keys, least)
			})
		})
	}
	t.Run("fewer wait for the interval", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MinBatchActions: 3, MaxBatchActions: 10}, AutoFlushInterval: 5 * time.Second})
			r.Upload(sendertest.Hotels("k", 5)...) // 5 at once: they share a request
			synctest.Wait()
			r.Upload(sendertest.Hotels("later", 2)...)
			time.Sleep(time.Hour)
			assert.Equal(t, []time.Duration{0, 5 * time.Second}, sendertest.Times(r.Requests()))
			assert.Len(t, r.Requests()[1].Keys, 2)
		})
	})
	t.Run("batches that are full by bytes do not wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MinBatchActions: 5, MaxBatchActions: 10, MaxBatchBytes: 3000}, AutoFlushInterval: time.Hour})
			for i := range 4 {
				r.Upload(sendertest.HotelOfSize(fmt.Sprint(i), 1000))
			}
			synctest.Wait()
			assert.Len(t, r.Requests(), 1)
		})
	})
}

// Yokozuna's batches adapt to the service in the same way: documents that arrive during a request form the next one.
func TestBatchesGrowWithTheTimeOfTheService(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		want  []int
	}{
		"a fast service gets the waiting actions":                {0, []int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}},
		"a slow service gets the actions that arrived meanwhile": {470 * time.Millisecond, []int{2, 4, 5, 5, 4}},
		"a very slow one no more than a batch may be":            {1250 * time.Millisecond, []int{2, 8, 8}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MinBatchActions: 2, MaxBatchActions: 8}, AutoFlushInterval: time.Hour})
				r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return c.takes.Seconds() }))
				for i := range 24 {
					r.Upload(sendertest.Hotel{ID: fmt.Sprint(i)})
					time.Sleep(100 * time.Millisecond)
				}
				require.NoError(t, r.Flush())
				var sizes []int
				for _, x := range r.Requests() {
					sizes = append(sizes, len(x.Keys))
				}
				require.GreaterOrEqual(t, len(sizes), len(c.want))
				assert.Equal(t, c.want, sizes[:len(c.want)])
			})
		})
	}
}

func TestMinBatchActionsFollowsMaxBatchActionsWhileTheyAreEqual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		set := func(l bufferedsender.Limits) (least, most int) {
			_, err := r.Sender.SetControl(bufferedsender.Control{Limits: l})
			require.NoError(t, err)
			return r.Sender.Control().Limits.MinBatchActions, r.Sender.Control().Limits.MaxBatchActions
		}
		pair := func(least, most int) [2]int { return [2]int{least, most} }
		assert.Equal(t, pair(7, 7), pair(set(bufferedsender.Limits{MaxBatchActions: 7})))
		assert.Equal(t, pair(3, 7), pair(set(bufferedsender.Limits{MinBatchActions: 3})))
		assert.Equal(t, pair(3, 20), pair(set(bufferedsender.Limits{MaxBatchActions: 20})), "the limits are no longer equal")
		assert.Equal(t, pair(20, 20), pair(set(bufferedsender.Limits{MinBatchActions: 20})))
		assert.Equal(t, pair(5, 5), pair(set(bufferedsender.Limits{MaxBatchActions: 5})))
		assert.Equal(t, pair(4, 9), pair(set(bufferedsender.Limits{MinBatchActions: 4, MaxBatchActions: 9})), "both limits are given")
	})
}

func TestMinBatchActionsAboveMaxBatchActionsIsRefused(t *testing.T) {
	for name, l := range map[string]bufferedsender.Limits{
		"above the maximum of the same options": {MinBatchActions: 11, MaxBatchActions: 10},
		"above the default maximum":             {MinBatchActions: bufferedsender.DefaultMaxBatchActions + 1},
		"negative":                              {MinBatchActions: -1},
	} {
		_, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Limits: l})
		assert.ErrorContains(t, err, fmt.Sprintf("MinBatchActions is %d: use ", l.MinBatchActions), name)
	}
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MinBatchActions: 5, MaxBatchActions: 10}})
		before := r.Sender.Control().Limits
		for _, l := range []bufferedsender.Limits{{MinBatchActions: 11}, {MaxBatchActions: 4}, {MinBatchActions: -1}} {
			old, err := r.Sender.SetControl(bufferedsender.Control{Limits: l})
			require.ErrorContains(t, err, "MinBatchActions")
			assert.Equal(t, before, old.Limits)
			assert.Equal(t, before, r.Sender.Control().Limits)
		}
	})
}

// pairs is a policy with batches of two.
type pairs struct{}

func (pairs) New(tuning.Bounds) tuning.Controller { return pairs{} }

func (pairs) Pace() tuning.Pace { return tuning.Pace{BatchActions: 2} }

func (pairs) Observe(tuning.Observation) tuning.Pace { return pairs{}.Pace() }

func TestWhereTuningMakesBatchesSmallThatIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MinBatchActions: 5, MaxBatchActions: 10}, Tuning: pairs{}, AutoFlushInterval: time.Hour})
		for i := range 4 {
			r.Upload(sendertest.Hotel{ID: fmt.Sprint(i)})
			synctest.Wait()
		}
		assert.Equal(t, [][]string{{"0", "1"}, {"2", "3"}}, sendertest.KeysOf(r.Requests()))
	})
}
