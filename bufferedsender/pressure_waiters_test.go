package bufferedsender_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
)

// 1000 goroutines that add and wait for one document each would make 1000
// requests alone.
func TestPressureAThousandWaitersShareRequestsConcurrentSafe(t *testing.T) {
	const callers = 1000
	for _, c := range []struct {
		name    string
		arrival time.Duration // all of them come within it
		latency time.Duration
		flight  int
	}{
		{"all at once, 50 ms a request", 0, 50 * time.Millisecond, 1},
		{"all at once, no latency", 0, 0, 1},
		{"within 50 ms, 50 ms a request", 50 * time.Millisecond, 50 * time.Millisecond, 1},
		{"within 50 ms, 50 ms a request, 8 in flight", 50 * time.Millisecond, 50 * time.Millisecond, 8},
		{"within 90 ms, no latency", 90 * time.Millisecond, 0, 1},
		{"within a second, 100 ms a request", time.Second, 100 * time.Millisecond, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: c.flight}})
			r.respond(seconds(func(int, *exchange) float64 { return c.latency.Seconds() }))
			var wg sync.WaitGroup
			var longest, all time.Duration
			var mu sync.Mutex
			for i := range callers {
				wg.Go(func() {
					time.Sleep(c.arrival * time.Duration(i) / callers)
					began := time.Now()
					results, err := r.sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(hotel{ID: fmt.Sprint("k-", i)}))
					if assert.NoError(t, err) && assert.Len(t, results, 1) {
						assert.Equal(t, fmt.Sprint("k-", i), results[0].Key)
						assert.True(t, results[0].Succeeded)
					}
					mu.Lock()
					defer mu.Unlock()
					longest, all = max(longest, time.Since(began)), all+time.Since(began)
				})
			}
			wg.Wait()
			t.Logf("%-45s %2d requests instead of %d; waited %v on average, %v at most", c.name, len(r.requests()), callers, (all / callers).Round(time.Millisecond), longest)
			assert.LessOrEqual(t, len(r.requests()), callers/50)
			assert.LessOrEqual(t, longest, 2*c.latency+2*bufferedsender.DefaultWaitInterval)
			assert.Len(t, r.indexed(), callers)
		})
	}
}
