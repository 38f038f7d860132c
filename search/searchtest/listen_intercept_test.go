package searchtest

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnInterceptorOfAListenerSeesThatTheClientHasGone(t *testing.T) {
	s := NewServer(nil)
	require.NoError(t, s.Listen("127.0.0.1:0"))
	arrived, gone := make(chan struct{}), make(chan struct{})
	s.Intercept(func(r *http.Request, _ func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		close(arrived)
		<-r.Context().Done()
		close(gone)
		return nil, r.Context().Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/indexes('x')/docs/search.index", strings.NewReader(`{"value":[]}`))
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(request) //nolint:bodyclose // there is no body
	require.ErrorIs(t, err, context.Canceled)
	<-gone
	require.NoError(t, s.Close())
	http.DefaultClient.CloseIdleConnections()
}
