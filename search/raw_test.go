package search_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

// indexer is the interface that bufferedsender requires.
var _ interface {
	IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error)
	KeyFieldName(ctx context.Context) (string, error)
} = (*search.Client)(nil)

func TestRawReturnsPartialSuccessAsItIs(t *testing.T) {
	w := reply(207, `{"value":[{"key":"77","status":false,"errorMessage":"Document not found.","statusCode":404},{"key":"1","status":true,"errorMessage":null,"statusCode":200}]}`)
	result, err := newClient(t, w).IndexDocumentsRaw(t.Context(), newBody("x"))
	require.NoError(t, err)
	assert.Equal(t, models.IndexDocumentsResult{
		Results: []models.IndexingResult{
			{Key: "77", ErrorMessage: "Document not found.", StatusCode: 404},
			{Key: "1", Succeeded: true, StatusCode: 200},
		},
		StatusCode: 207,
		RequestID:  "11111111-2222-3333-4444-555555555555",
	}, result)
}

func TestRawNeverRetries(t *testing.T) {
	for _, status := range []int{408, 429, 500, 502, 503, 504} {
		w := reply(status, "", "Retry-After", "0")
		b := newBody("x")
		_, err := newClient(t, w).IndexDocumentsRaw(t.Context(), b)
		var e *search.Error
		require.ErrorAs(t, err, &e)
		assert.Len(t, w.requests, 1, "HTTP %d", status)
		assert.Equal(t, 1, b.closed)
	}
}

func TestRawSendsTheBodyFromItsBeginning(t *testing.T) {
	w := reply(200, emptyOK)
	b := newBody(`{"value":[]}`)
	_, _ = b.Seek(5, io.SeekStart)
	_, err := newClient(t, w).IndexDocumentsRaw(t.Context(), b)
	require.NoError(t, err)
	assert.Equal(t, `{"value":[]}`, w.bodies[0])
	assert.Equal(t, 1, b.closed)
}

func TestRawClosesTheBodyWhateverHappens(t *testing.T) {
	broken := errors.New("cannot seek")
	b := newBody("x")
	_, err := newClient(t, reply(200, emptyOK)).IndexDocumentsRaw(t.Context(), &unseekable{b, broken})
	require.ErrorIs(t, err, broken)
	assert.Equal(t, 1, b.closed)

	_, err = newClient(t, reply(200, emptyOK)).IndexDocumentsRaw(t.Context(), nil)
	require.ErrorContains(t, err, "the body is nil")
}

type unseekable struct {
	*body
	err error
}

func (u *unseekable) Seek(int64, int) (int64, error) { return 0, u.err }

// Each reply has the status of success and a malformed body.
func TestAMalformedBodyUnderSuccessIsAMalformedReply(t *testing.T) {
	for name, body := range map[string]string{
		"empty":             "",
		"white space":       " \r\n",
		"only a mark":       "\ufeff",
		"not JSON":          "<html>welcome</html>",
		"half of it":        `{"value":[{"key":"1","status":true,"errorM`,
		"one brace short":   `{"value":[]`,
		"more after it":     `{"value":[]}}`,
		"no list":           `{}`,
		"list is null":      `{"value":null}`,
		"list is an object": `{"value":{}}`,
		"list of texts":     `{"value":["1"]}`,
		"another list":      `{"Values":[]}`,
		"null":              `null`,
		"an error":          `{"error":{"code":"","message":"no"}}`,
	} {
		for _, status := range []int{200, 207} {
			t.Run(name, func(t *testing.T) {
				result, err := newClient(t, reply(status, body)).IndexDocumentsRaw(t.Context(), newBody("x"))
				require.ErrorIs(t, err, models.ErrMalformedReply)
				assert.ErrorContains(t, err, "request id 11111111-2222-3333-4444-555555555555")
				assert.Empty(t, result.Results)
				assert.Equal(t, status, result.StatusCode)
				decision, _ := retry.ForError(err)
				assert.Equal(t, retry.Retry, decision.Verdict)
				assert.True(t, decision.Unknown, "it may have been applied")
				var e *search.Error
				assert.NotErrorAs(t, err, &e, "an error with a status of success would be taken for one")
			})
		}
	}
}

// A real connection is closed before the promised length.
func TestReplyCutOffByTheConnectionIsMalformed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"value":[{"key":"1","st`))
	}))
	defer server.Close()
	client, err := search.NewClientWithKey(server.URL, "hotels", azcore.NewKeyCredential(testKey), options(server.Client()))
	require.NoError(t, err)
	_, err = client.IndexDocumentsRaw(t.Context(), newBody("x"))
	require.ErrorIs(t, err, models.ErrMalformedReply)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorContains(t, err, "breaks off after 24 bytes")
}

func TestABatchWhoseReplyBreaksOffIsSentAgain(t *testing.T) {
	w := replies(broken(`{"value":[{"key":"1","st`), response(200, `{"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":200}]}`))
	opts := options(w)
	opts.Retry.MaxRetries, opts.Retry.RetryDelay = 1, 1
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	result, err := search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}}, nil)
	require.NoError(t, err)
	assert.Len(t, result.Results, 1)
	assert.Len(t, w.requests, 2)
}

// An endless reply does not exhaust memory.
func TestReplyWithoutEndIsCutOff(t *testing.T) {
	endless := &http.Response{StatusCode: 200, Body: io.NopCloser(zeros{}), ContentLength: -1}
	_, err := newClient(t, transporter(func(*http.Request) (*http.Response, error) { return endless, nil })).
		IndexDocumentsRaw(t.Context(), newBody("x"))
	require.ErrorIs(t, err, models.ErrMalformedReply)
	assert.ErrorContains(t, err, "it is longer than 67108864 bytes")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// net/http may continue to read the body after an early reply, when the caller has already reused the buffer.
func TestBodyIsNotReadOnceTheCallIsOver(t *testing.T) {
	var late io.Reader
	transport := transporter(func(req *http.Request) (*http.Response, error) {
		late = req.Body
		_, _ = req.Body.Read(make([]byte, 4))
		return response(413, ""), nil
	})
	_, err := newClient(t, transport).IndexDocumentsRaw(t.Context(), newBody(strings.Repeat("x", 100)))
	require.Error(t, err)
	n, err := late.Read(make([]byte, 10))
	assert.Zero(t, n)
	assert.Error(t, err)
}

// A transport that still reads the body of an answered attempt does not affect the next attempt.
func TestAttemptsDoNotReadEachOthersBody(t *testing.T) {
	var first io.Reader
	var sent string
	attempts := 0
	transport := transporter(func(req *http.Request) (*http.Response, error) {
		attempts++
		if attempts == 1 {
			first = req.Body
			_, _ = first.Read(make([]byte, 4))
			return response(503, ""), nil
		}
		begin := make([]byte, 3)
		_, _ = io.ReadFull(req.Body, begin)
		if n, err := first.Read(make([]byte, 10)); n != 0 || err == nil {
			t.Errorf("the first attempt read %d bytes more", n)
		}
		rest, err := io.ReadAll(req.Body)
		sent = string(begin) + string(rest)
		again, _ := req.GetBody()
		_, late := req.Body.Read(make([]byte, 1))
		assert.ErrorContains(t, late, "taken back")
		whole, _ := io.ReadAll(again)
		assert.Equal(t, sent, string(whole), "net/http repeats requests automatically, too")
		return response(200, okOne), err
	})
	_, err := search.UploadDocuments(t.Context(), newClient(t, transport), []hotel{{ID: "1"}}, nil)
	require.NoError(t, err)
	assert.Equal(t, `{"value":[{"@search.action":"upload","hotelId":"1"}]}`, sent)
}

func TestRefusedConnectionIsOneClearError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	client, err := search.NewClientWithKey("http://"+address, "hotels", azcore.NewKeyCredential(testKey), nil)
	require.NoError(t, err)
	_, err = client.IndexDocumentsRaw(t.Context(), newBody("x"))
	var op *net.OpError
	require.ErrorAs(t, err, &op)
	assert.ErrorContains(t, err, address)
}

// net/http would forward the key.
func TestDefaultClientDoesNotFollowRedirects(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the key went to another host: %q", r.Header.Get("api-key"))
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer server.Close()
	client, err := search.NewClientWithKey(server.URL, "hotels", azcore.NewKeyCredential(testKey), nil)
	require.NoError(t, err)
	_, err = client.DocumentCount(t.Context(), nil)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 302, e.StatusCode)
}
