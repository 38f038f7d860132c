package sendertest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// NewClient returns a client of the index hotels of an emulated service.
func NewClient(t testing.TB, srv *searchtest.Server) *search.Client {
	t.Helper()
	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
	require.NoError(t, err)
	return client
}

// NewBreaker returns a breaker with the options, which must be valid.
func NewBreaker(t *testing.T, opts *breaker.Options) *breaker.Breaker {
	t.Helper()
	b, err := breaker.New(opts)
	require.NoError(t, err)
	return b
}

// SteadyBreaker returns a breaker that stays open for exactly 30 s, or as set in opts, however long the trouble has
// lasted. Use it for tests that need a known time of the next probe.
func SteadyBreaker(t *testing.T, opts *breaker.Options) *breaker.Breaker {
	t.Helper()
	var o breaker.Options
	if opts != nil {
		o = *opts
	}
	if o.OpenFor == 0 {
		o.OpenFor = 30 * time.Second
	}
	if o.MaxOpenFor == 0 {
		o.MaxOpenFor = o.OpenFor
	}
	o.Jitter = -1
	return NewBreaker(t, &o)
}

// NoLog discards the log of senders without a rig.
var NoLog = slog.New(slog.DiscardHandler)

// RetryAtOnce makes retries follow without a delay, so that only the breaker determines the times of a test.
var RetryAtOnce = retry.Options{Delay: -1}

// WithBreaker returns options with a breaker, which senders have by default and rigs do not.
func WithBreaker(t *testing.T) *Options {
	t.Helper()
	return &Options{Outage: bufferedsender.Hold{Breaker: NewBreaker(t, nil)}}
}
