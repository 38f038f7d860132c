package search_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

type failingCredential struct{ err error }

func (c failingCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, c.err
}

// finalError is marked as not retriable, as the errors of azidentity are.
type finalError struct{ error }

func (finalError) NonRetriable() {}

// hangingCredential blocks until its context ends.
type hangingCredential struct{}

func (hangingCredential) GetToken(ctx context.Context, _ policy.TokenRequestOptions) (azcore.AccessToken, error) {
	<-ctx.Done()
	return azcore.AccessToken{}, ctx.Err()
}

func TestACredentialThatDoesNotReturnIsNoServiceThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := searchtest.NewServer(nil)
		options := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: server}}
		client, err := search.NewClient(server.URL(), "hotels", hangingCredential{}, options)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = client.IndexDocumentsRaw(ctx, streaming.NopCloser(strings.NewReader(`{"value":[]}`)))
		require.EqualError(t, err, `search: IndexDocuments of index "hotels": the credential has returned no token: context deadline exceeded`)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorAs(t, err, new(*search.CredentialError))
		decision, _ := retry.ForError(err)
		assert.Equal(t, retry.Decision{Verdict: retry.Retry, Pause: true}, decision, "the request was not sent")
		assert.Empty(t, server.Requests())
	})
}

func TestAnErrorOfTheCredentialIsNoBrokenConnection(t *testing.T) {
	server := searchtest.NewServer(nil)
	defer server.Close()
	options := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: server}}
	for name, c := range map[string]struct {
		err  error
		want retry.Decision
	}{
		"an error that may pass": {errors.New("the identity endpoint is busy"), retry.Decision{Verdict: retry.Retry, Pause: true}},
		"a permanent error":      {finalError{errors.New("no such tenant")}, retry.Decision{Verdict: retry.Fail, Permanent: true}},
	} {
		client, err := search.NewClient(server.URL(), "hotels", failingCredential{c.err}, options)
		require.NoError(t, err)
		_, err = client.IndexDocumentsRaw(t.Context(), streaming.NopCloser(strings.NewReader(`{"value":[]}`)))
		require.ErrorIs(t, err, c.err, name)
		decision, status := retry.ForError(err)
		assert.Equal(t, c.want, decision, name)
		assert.Zero(t, status)
	}
	rotated := azcore.NewKeyCredential(searchtest.AdminKey)
	key, err := search.NewClientWithKey(server.URL(), "hotels", rotated, options)
	require.NoError(t, err)
	rotated.Update("from a file\n")
	_, err = key.IndexDocumentsRaw(t.Context(), streaming.NopCloser(strings.NewReader(`{"value":[]}`)))
	var bad *search.CredentialError
	require.ErrorAs(t, err, &bad)
	decision, _ := retry.ForError(err)
	assert.Equal(t, retry.Decision{Verdict: retry.Fail, Permanent: true}, decision)
	assert.Empty(t, server.Requests(), "nothing was sent")
}
