package search_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func TestDocumentIsDecodedIntoAnyType(t *testing.T) {
	const doc = "\ufeff" + `{"hotelId":"1","hotelName":"Z\u00fcrich","n":9007199254740993}`
	client := newClient(t, reply(200, doc))
	typed, err := search.GetDocument[hotel](t.Context(), client, "1", nil)
	require.NoError(t, err)
	assert.Equal(t, hotel{"1", "Zürich"}, typed)
	pointer, err := search.GetDocument[*hotel](t.Context(), client, "1", nil)
	require.NoError(t, err)
	assert.Equal(t, &hotel{"1", "Zürich"}, pointer)
	raw, err := search.GetDocument[json.RawMessage](t.Context(), client, "1", nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"hotelId":"1","hotelName":"Zürich","n":9007199254740993}`, string(raw))
	m, err := search.GetDocument[models.Document](t.Context(), client, "1", nil)
	require.NoError(t, err)
	assert.Equal(t, "Zürich", m["hotelName"])
}

func TestDocumentThatDoesNotFitIsNotQuoted(t *testing.T) {
	for name, c := range map[string]struct{ doc, text string }{
		"kind":     {`{"n":"secret"}`, `field "n": a JSON string cannot become a Go int8`},
		"overflow": {`{"n":31337}`, `field "n": a JSON number cannot become a Go int8`},
		"time":     {`{"at":"secret"}`, `a field is not a time in RFC 3339`},
	} {
		t.Run(name, func(t *testing.T) {
			type small struct {
				N  int8      `json:"n"`
				At time.Time `json:"at"`
			}
			got, err := search.GetDocument[small](t.Context(), newClient(t, reply(200, c.doc)), "1", nil)
			require.ErrorContains(t, err, `the document does not fit into search_test.small: `+c.text)
			require.NotErrorIs(t, err, models.ErrMalformedReply)
			assert.NotContains(t, err.Error(), "secret")
			assert.NotContains(t, err.Error(), "31337")
			assert.Zero(t, got)
		})
	}
}

func TestSomethingElseInsteadOfADocumentIsMalformed(t *testing.T) {
	for _, doc := range []string{"", "null", "[]", `"1"`, `{"hotelId":`, "<html>"} {
		_, err := search.GetDocument[any](t.Context(), newClient(t, reply(200, doc)), "1", nil)
		require.ErrorIs(t, err, models.ErrMalformedReply, doc)
	}
}

func TestEmptyKeyIsRefused(t *testing.T) {
	w := reply(200, "{}")
	_, err := search.GetDocument[hotel](t.Context(), newClient(t, w), "", nil)
	require.ErrorContains(t, err, "the key is empty")
	assert.Empty(t, w.requests)
}

func TestCountIsReadBehindItsByteOrderMark(t *testing.T) {
	for body, n := range map[string]int64{"\ufeff0": 0, "\ufeff10": 10, "7": 7, "\ufeff24000000000\r\n": 24000000000} {
		got, err := newClient(t, reply(200, body)).DocumentCount(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, n, got)
	}
	for _, body := range []string{"", "\ufeff", "-1", "1.5", "ten", "99999999999999999999", `{"value":1}`} {
		_, err := newClient(t, reply(200, body)).DocumentCount(t.Context(), nil)
		require.ErrorIs(t, err, models.ErrMalformedReply, body)
	}
}

func TestKeyFieldNameRemembersSuccessOnly(t *testing.T) {
	broken := errors.New("broken")
	w := &wire{answer: func(n int, _ *http.Request) (*http.Response, error) {
		switch n {
		case 0, 1, 2, 3: // the call and azcore's retries
			return nil, broken
		case 4:
			return response(403, ""), nil
		case 5:
			return response(200, `{"fields":[{"name":"a"},{"name":"b","key":false}]}`), nil
		case 6:
			return response(200, `not JSON`), nil
		}
		return response(200, `{"fields":[{"name":"a"},{"name":"theKey","key":true}]}`), nil
	}}
	client := newClient(t, w)
	_, err := client.KeyFieldName(t.Context())
	require.ErrorIs(t, err, broken)
	_, err = client.KeyFieldName(t.Context())
	var e *search.Error
	require.ErrorAs(t, err, &e)
	for range 2 {
		_, err = client.KeyFieldName(t.Context())
		require.ErrorIs(t, err, models.ErrMalformedReply)
	}
	for range 3 {
		name, err := client.KeyFieldName(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "theKey", name)
	}
	assert.Len(t, w.requests, 8, "the answer is remembered")
}
