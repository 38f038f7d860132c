package connect

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// narrow is a service that answers a second later, and with 503 what exceeds some requests at once.
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

func TestQueriesBecomeFewerWhereTheServiceIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &narrow{room: make(chan struct{}, 4)}
		opts := policy.ClientOptions{Transport: service, PerRetryPolicies: []policy.Policy{&queries{}}, Retry: policy.RetryOptions{MaxRetries: 100, RetryDelay: time.Second, MaxRetryDelay: 2 * time.Second}}
		client, err := azcore.NewClient("test", "v1.0.0", runtime.PipelineOptions{}, &opts)
		require.NoError(t, err)
		done := make(chan error)
		for i := range 16 {
			go func() {
				for range 50 {
					req, err := runtime.NewRequest(t.Context(), http.MethodPost, fmt.Sprintf("https://test/%d/docs/search.post.search", i))
					if err == nil {
						_, err = client.Pipeline().Do(req)
					}
					if err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		began := time.Now()
		for range 16 {
			require.NoError(t, <-done)
		}
		assert.Less(t, time.Since(began), 260*time.Second, "200 at the least")
		assert.Less(t, service.refused, 120, "of 800 requests")
		t.Log(time.Since(began), service.refused)
	})
}
