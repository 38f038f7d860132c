package search

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// After the body was taken back, reads of its parts return nothing.
func TestBodyTakenBackIsNobodysAnyMore(t *testing.T) {
	lent := &lentBody{body: streaming.NopCloser(strings.NewReader("body"))}
	text, err := io.ReadAll(lent)
	require.NoError(t, err, "policies may look at it before an attempt")
	assert.Equal(t, "body", string(text))
	view, err := lent.view()
	require.NoError(t, err)
	text, err = io.ReadAll(view)
	require.NoError(t, err)
	assert.Equal(t, "body", string(text))

	lent.takeBack()
	for _, f := range []func() error{
		func() error { _, err := lent.Read(make([]byte, 1)); return err },
		func() error { _, err := lent.Seek(0, io.SeekStart); return err },
		func() error { _, err := lent.view(); return err },
		func() error { _, err := view.Read(make([]byte, 1)); return err },
	} {
		require.ErrorIs(t, f(), errTakenBack)
	}
}

type seekOnce struct {
	io.ReadSeekCloser
	left int
}

var errSeek = errors.New("no more seeking")

func (s *seekOnce) Seek(offset int64, whence int) (int64, error) {
	if s.left--; s.left < 0 {
		return 0, errSeek
	}
	return s.ReadSeekCloser.Seek(offset, whence)
}

// Otherwise half a body would be sent.
func TestBodyThatCannotBeRewoundIsAnError(t *testing.T) {
	for allowed := range 5 {
		transport := transporterFunc(func(req *http.Request) (*http.Response, error) {
			text, err := io.ReadAll(req.Body)
			assert.NoError(t, err)
			assert.Equal(t, "body", string(text))
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"value":[]}`))}, nil
		})
		client, err := NewClientWithKey("https://svc.example", "hotels", azcore.NewKeyCredential("key"), &ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}})
		require.NoError(t, err)
		_, err = client.IndexDocumentsRaw(t.Context(), &seekOnce{streaming.NopCloser(strings.NewReader("body")), allowed})
		if allowed < 4 { // twice for the length, once for azcore's attempt, once for the attempt's view
			require.ErrorIs(t, err, errSeek)
		} else {
			require.NoError(t, err)
		}
	}
}

type transporterFunc func(*http.Request) (*http.Response, error)

func (f transporterFunc) Do(req *http.Request) (*http.Response, error) { return f(req) }

var _ policy.Transporter = transporterFunc(nil)
