package connect

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// narrow is a service that takes a second for each reply and answers 503 above a number of concurrent requests.
type narrow struct {
	room    chan struct{}
	mu      sync.Mutex // guards refused
	refused int
}

func (n *narrow) Do(req *http.Request) (*http.Response, error) {
	status := http.StatusOK
	select {
	case n.room <- struct{}{}:
		time.Sleep(time.Second)
		<-n.room
	default:
		status = http.StatusServiceUnavailable
		n.mu.Lock()
		n.refused++
		n.mu.Unlock()
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Request: req}, nil
}

// query calls a service with up to most queries of n goroutines, each times times, and returns how long that took.
func query(t *testing.T, service policy.Transporter, most, n, times int) time.Duration {
	opts := policy.ClientOptions{Transport: service, PerRetryPolicies: []policy.Policy{newQueries(most)}, Retry: policy.RetryOptions{MaxRetries: 100, RetryDelay: time.Second, MaxRetryDelay: 2 * time.Second}}
	client, err := azcore.NewClient("test", "v1.0.0", runtime.PipelineOptions{}, &opts)
	require.NoError(t, err)
	began := time.Now()
	var querying sync.WaitGroup
	for i := range n {
		querying.Go(func() {
			for range times {
				req, err := runtime.NewRequest(t.Context(), http.MethodPost, fmt.Sprintf("https://test/%d/docs/search.post.search", i))
				if assert.NoError(t, err) {
					_, err = client.Pipeline().Do(req)
				}
				assert.NoError(t, err)
			}
		})
	}
	querying.Wait()
	return time.Since(began)
}

func TestQueriesBecomeFewerWhereTheServiceIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &narrow{room: make(chan struct{}, 4)}
		took := query(t, service, 16, 16, 50)
		assert.Less(t, took, 280*time.Second, "200 at the least")
		assert.Less(t, service.refused, 120, "of 800 requests")
		t.Log(took, service.refused)
	})
}

// queue is a service that answers four queries at once, each after a second, and lets the others wait.
type queue struct {
	room  chan struct{}
	later time.Time
	under atomic.Int64
	peak  atomic.Int64 // most queries at once from later on
}

func (q *queue) Do(req *http.Request) (*http.Response, error) {
	if n := q.under.Add(1); time.Now().After(q.later) && n > q.peak.Load() {
		q.peak.Store(n) // one of two that meet may be missed
	}
	defer q.under.Add(-1)
	q.room <- struct{}{}
	time.Sleep(time.Second)
	<-q.room
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

// TestQueriesBecomeFewerWhereTheyOnlyWait: the service answers no more of them, and its other users wait behind them.
func TestQueriesBecomeFewerWhereTheyOnlyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &queue{room: make(chan struct{}, 4), later: time.Now().Add(150 * time.Second)}
		assert.Less(t, query(t, service, 32, 32, 50), 450*time.Second, "400 at the least")
		assert.Less(t, service.peak.Load(), int64(14), "of 32")
	})
}
