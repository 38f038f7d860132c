package search_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// pinger is the interface that a sender requires.
type pinger interface {
	Ping(ctx context.Context) error
}

var _ pinger = (*search.Client)(nil)

func ExampleClient_Ping() {
	srv, client := emulatedClient()
	defer srv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()

	fmt.Println("now:", client.Ping(ctx))
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Status: 503, Count: 1}}})
	var e *search.Error
	fmt.Println("overloaded:", errors.As(client.Ping(ctx), &e) && e.StatusCode == 503)
	fmt.Println("afterwards:", client.Ping(ctx))
	// Output:
	// now: <nil>
	// overloaded: true
	// afterwards: <nil>
}

func TestPingSucceedsForEveryCredentialThatMayUseDocuments(t *testing.T) {
	srv, _ := emulated()
	defer srv.Close()
	for _, key := range []string{searchtest.AdminKey, searchtest.QueryKey} {
		client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(key), impatient(srv))
		require.NoError(t, err)
		require.NoError(t, client.Ping(t.Context()))
	}
	requests := srv.Requests()
	last := requests[len(requests)-1]
	assert.Equal(t, http.MethodGet, last.Method)
	assert.Equal(t, searchtest.OpCountDocuments, last.Operation)
}

// Ping sends one request even if the client's options allow retries.
func TestPingReportsAtOnceWhyTheServiceDoesNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		fault  *searchtest.Fault
		index  string
		key    string
		status int
		is     error
	}{
		"overloaded":          {&searchtest.Fault{Status: 503, RetryAfter: searchtest.Duration(2 * time.Second)}, "hotels", searchtest.AdminKey, 503, nil},
		"in trouble":          {&searchtest.Fault{Status: 500}, "hotels", searchtest.AdminKey, 500, nil},
		"no such index":       {nil, "motels", searchtest.AdminKey, 404, search.ErrIndexNotFound},
		"another key":         {nil, "hotels", "of another service", 403, nil},
		"no credential taken": {&searchtest.Fault{Status: 401}, "hotels", searchtest.AdminKey, 401, nil},
		"cut":                 {&searchtest.Fault{Cut: searchtest.CutBeforeCommit}, "hotels", searchtest.AdminKey, 0, nil},
		"cut in the reply":    {&searchtest.Fault{Body: searchtest.BodyTruncated}, "hotels", searchtest.AdminKey, 0, nil},
		"not a count":         {&searchtest.Fault{Body: searchtest.BodyMalformed}, "hotels", searchtest.AdminKey, 0, models.ErrMalformedReply},
		"an empty reply":      {&searchtest.Fault{Body: searchtest.BodyEmpty}, "hotels", searchtest.AdminKey, 0, models.ErrMalformedReply},
	} {
		t.Run(name, func(t *testing.T) {
			srv, _ := emulated()
			defer srv.Close()
			if c.fault != nil {
				srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{*c.fault}})
			}
			key := c.key
			if key == "of another service" {
				key = "0123456789ABCDEF"
			}
			client, err := search.NewClientWithKey(srv.URL(), c.index, azcore.NewKeyCredential(key), impatient(srv))
			require.NoError(t, err)
			before := len(srv.Requests())
			err = client.Ping(t.Context())
			require.ErrorContains(t, err, fmt.Sprintf("Ping of index %q", c.index))
			assert.Len(t, srv.Requests(), before+1)
			var e *search.Error
			if c.status != 0 {
				require.ErrorAs(t, err, &e)
				assert.Equal(t, c.status, e.StatusCode)
				wait, asked := e.RetryAfter()
				assert.Equal(t, name == "overloaded", asked)
				assert.Equal(t, name == "overloaded", wait == 2*time.Second)
			} else {
				require.NotErrorAs(t, err, &e)
			}
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}

func TestPingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _ := emulated()
		defer srv.Close()
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Delay: searchtest.Duration(time.Hour)}}})
		opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: &http.Client{Transport: srv.Transport()}, Retry: policy.RetryOptions{MaxRetries: 9}}}
		client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey), opts)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin := time.Now()
		require.ErrorIs(t, client.Ping(ctx), context.DeadlineExceeded)
		assert.Equal(t, 3*time.Second, time.Since(begin))
	})
}
