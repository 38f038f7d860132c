package outages

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// An index is deleted while its sender runs, and created again. Meanwhile nothing is sent needlessly and nothing
// fails, and accepted documents are in the new index. (In Yokozuna the statistics of an index that was created a
// second time ended the node.)
func TestAnIndexThatIsDeletedAndMadeAgainGetsWhatWasAcceptedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.Limits.MaxBatchActions = 2
		r := sendertest.New(t, opts)
		indexes, err := search.NewIndexClientWithKey(r.Service.URL(), azcore.NewKeyCredential(searchtest.AdminKey),
			&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: r.Service}})
		require.NoError(t, err)
		r.Upload(sendertest.Hotels("k", 2)...)
		require.NoError(t, r.Flush())

		require.NoError(t, indexes.DeleteIndex(t.Context(), "hotels", nil))
		r.Upload(sendertest.Hotels("k", 4)...)
		time.Sleep(5 * time.Minute)
		s := r.Sender.Stats()
		assert.Equal(t, []int64{2, 0}, []int64{s.Completed, s.Failed})
		assert.Equal(t, 4, s.PendingActions)
		assert.Equal(t, events.HealthStateCircuitOpen, r.Health().State)
		assert.LessOrEqual(t, len(r.Requests()), 30, "occasional probes")

		require.NoError(t, r.Service.CreateIndex(sendertest.HotelIndex))
		require.NoError(t, r.Flush())
		assert.Len(t, r.Indexed(), 4)
		r.AllCompleted(6)
	})
}

// Two indexes of one service fail differently. Each breaker counts exactly the failed requests of its index, none of
// which is a bad document.
func TestEachBreakerCountsTheFailuresOfItsIndexAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type index struct {
			*sendertest.Rig
			injected uint64
		}
		var all []*index
		for _, failing := range []int{3, 5} { // every so many requests
			x := &index{Rig: sendertest.New(t, &sendertest.Options{
				Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1000})},
				Limits: bufferedsender.Limits{MaxBatchActions: 1},
				Retry:  sendertest.RetryAtOnce,
			})}
			x.Faults(sendertest.RefuseKeys("k-1", "k-4"))
			x.Respond(func(n int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if n%failing == 0 {
					x.injected++ // requests arrive one at a time
					return sendertest.Failing(n, nil, req, next)
				}
				return next()
			})
			all = append(all, x)
		}
		for _, x := range all {
			x.Upload(sendertest.Hotels("k", 20)...)
		}
		for _, x := range all {
			require.Error(t, x.Flush(), "the bad ones")
			s := x.Sender.Stats()
			assert.Equal(t, []int64{18, 2}, []int64{s.Completed, s.Failed})
			assert.Positive(t, x.injected)
			assert.Equal(t, x.injected, x.Sender.Breaker().Status().Counts.Failures)
		}
	})
}
