package search_test

import (
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

// The table belongs to package retry. Per-call options replace the client's, so azcore then uses its own list, which
// must be the same.
func TestTheClientRetriesWhatTheTableSays(t *testing.T) {
	own := policy.RetryOptions{MaxRetries: 1, RetryDelay: -1, MaxRetryDelay: time.Millisecond}
	for status := 400; status <= 599; status++ {
		want := 1
		if slices.Contains(retry.CallStatuses(), status) {
			want = 2
		}
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			for name, perCall := range map[string]bool{"of the client": false, "of the call": true} {
				w, ctx := reply(status, ""), t.Context()
				opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: w, Retry: own}}
				if perCall {
					opts.Retry = policy.RetryOptions{MaxRetries: -1}
					ctx = policy.WithRetryOptions(ctx, own)
				}
				client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
				require.NoError(t, err)
				_, err = client.DocumentCount(ctx, nil)
				require.Error(t, err)
				assert.Len(t, w.requests, want, name)
			}
		})
	}
}

func TestStatusesOfTheCallerReplaceThoseOfTheTable(t *testing.T) {
	for name, c := range map[string]struct {
		statuses []int
		want     map[int]int // number of requests by status
	}{
		"one":  {[]int{http.StatusTeapot}, map[int]int{http.StatusTeapot: 2, http.StatusServiceUnavailable: 1}},
		"none": {[]int{}, map[int]int{http.StatusServiceUnavailable: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			for status, want := range c.want {
				w := reply(status, "")
				opts := options(w)
				opts.Retry.MaxRetries, opts.Retry.StatusCodes = 1, c.statuses
				client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
				require.NoError(t, err)
				_, err = client.DocumentCount(t.Context(), nil)
				require.Error(t, err)
				assert.Len(t, w.requests, want, status)
			}
		})
	}
}
