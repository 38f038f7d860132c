package bufferedsender_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

func TestEncoderWritesTheDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []any
		var body []byte
		r := newRig(t, &hotelOptions{Documents: bufferedsender.Documents[hotel]{Encode: func(doc any) ([]byte, error) {
			asked = append(asked, doc)
			return []byte(" {\n \"id\": \"" + doc.(hotel).ID + `", "rooms": 7}` + "\n"), nil
		}}})
		r.respond(func(_ int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			var err error
			body, err = io.ReadAll(req.Body)
			assert.NoError(t, err)
			req.Body = io.NopCloser(bytes.NewReader(body))
			return next()
		})
		r.upload(hotel{ID: "a", Name: "ignored"})
		require.NoError(t, r.sender.MergeDocuments(t.Context(), hotel{ID: "b"}))
		require.NoError(t, r.sender.DeleteDocuments(t.Context(), hotel{ID: "c"}))
		_ = r.flush() // there is no b to be merged into
		assert.Equal(t, []any{hotel{ID: "a", Name: "ignored"}, hotel{ID: "b"}}, asked, "a delete needs no document")
		assert.Equal(t, `{"value":[{"@search.action":"upload",`+"\n"+` "id": "a", "rooms": 7},`+
			`{"@search.action":"merge",`+"\n"+` "id": "b", "rooms": 7},{"@search.action":"delete","id":"c"}]}`, string(body))
	})
}

func TestWhatAnEncoderMayNotDo(t *testing.T) {
	for name, test := range map[string]struct {
		encode func(any) ([]byte, error)
		want   string
		is     error
	}{
		"fail":                    {func(any) ([]byte, error) { return nil, errors.New("no idea") }, "encode document: no idea", nil},
		"panic":                   {func(any) ([]byte, error) { panic("ouch") }, "the Encoder panicked: ouch", nil},
		"nothing":                 {func(any) ([]byte, error) { return nil, nil }, "not nothing", models.ErrNotAnObject},
		"a list":                  {func(any) ([]byte, error) { return []byte(`[{"id":"a"}]`), nil }, "not an array", models.ErrNotAnObject},
		"two documents":           {func(any) ([]byte, error) { return []byte(`{"id":"a"},{"id":"b"}`), nil }, "not valid JSON", nil},
		"the end of a batch":      {func(any) ([]byte, error) { return []byte(`{"id":"a"}]}`), nil }, "not valid JSON", nil},
		"half a document":         {func(any) ([]byte, error) { return []byte(`{"id":"a"`), nil }, "not valid JSON", nil},
		"a name in a number":      {func(any) ([]byte, error) { return []byte(`{"id":"a","x":1"@search.action":"delete"}`), nil }, "not valid JSON", nil},
		"a word that is no value": {func(any) ([]byte, error) { return []byte(`{"id":"a","x":nope}`), nil }, "not valid JSON at offset 15: invalid character 'o' in literal null", nil},
		"a bad number inside":     {func(any) ([]byte, error) { return []byte(` {"id":"a","x":[{"y":1.}]}`), nil }, "not valid JSON at offset 23: invalid character '}' after decimal point", nil},
		"a reserved name":         {func(any) ([]byte, error) { return []byte(`{"id":"a","@search.action":"delete"}`), nil }, "", models.ErrReservedName},
		"another key":             {func(any) ([]byte, error) { return []byte(`{"id":"b"}`), nil }, `the Encoder writes "b" in the field "id", but the key of the document is "a"`, nil},
		"no key":                  {func(any) ([]byte, error) { return []byte(`{"name":"a"}`), nil }, "", models.ErrNoKey},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Documents: bufferedsender.Documents[hotel]{Encode: test.encode}})
				err := r.sender.UploadDocuments(t.Context(), hotel{ID: "a"})
				require.ErrorContains(t, err, test.want)
				if test.is != nil {
					require.ErrorIs(t, err, test.is)
				}
				assert.Zero(t, r.sender.Stats().Accepted)
			})
		})
	}
}

func TestEncoderMayBeJSONMarshal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Documents: bufferedsender.Documents[hotel]{Encode: json.Marshal}})
		r.upload(hotels("k", 3)...)
		require.NoError(t, r.flush())
		assert.EqualValues(t, 3, r.sender.Stats().Completed)
	})
}
