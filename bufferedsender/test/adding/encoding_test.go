package adding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

func TestEncoderWritesTheDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []any
		var body []byte
		r := sendertest.New(t, &sendertest.Options{Documents: bufferedsender.Documents[sendertest.Hotel]{Encode: func(doc any) ([]byte, error) {
			asked = append(asked, doc)
			return []byte(" {\n \"id\": \"" + doc.(sendertest.Hotel).ID + `", "rooms": 7}` + "\n"), nil
		}}})
		r.Respond(func(_ int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			var err error
			body, err = io.ReadAll(req.Body)
			assert.NoError(t, err)
			req.Body = io.NopCloser(bytes.NewReader(body))
			return next()
		})
		r.Upload(sendertest.Hotel{ID: "a", Name: "ignored"})
		require.NoError(t, r.Sender.MergeDocuments(t.Context(), sendertest.Hotel{ID: "b"}))
		require.NoError(t, r.Sender.DeleteDocuments(t.Context(), sendertest.Hotel{ID: "c"}))
		_ = r.Flush() // fails: there is no b to merge into
		assert.Equal(t, []any{sendertest.Hotel{ID: "a", Name: "ignored"}, sendertest.Hotel{ID: "b"}}, asked, "a delete needs no document")
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
		"fail":                       {func(any) ([]byte, error) { return nil, errors.New("no idea") }, "encode document: no idea", nil},
		"panic":                      {func(any) ([]byte, error) { panic("ouch") }, "the Encoder panicked: ouch", nil},
		"nothing":                    {func(any) ([]byte, error) { return nil, nil }, "not nothing", models.ErrNotAnObject},
		"a list":                     {func(any) ([]byte, error) { return []byte(`[{"id":"a"}]`), nil }, "not an array", models.ErrNotAnObject},
		"two documents":              {func(any) ([]byte, error) { return []byte(`{"id":"a"},{"id":"b"}`), nil }, "not valid JSON", nil},
		"the end of a batch":         {func(any) ([]byte, error) { return []byte(`{"id":"a"}]}`), nil }, "not valid JSON", nil},
		"half a document":            {func(any) ([]byte, error) { return []byte(`{"id":"a"`), nil }, "not valid JSON", nil},
		"a name in a number":         {func(any) ([]byte, error) { return []byte(`{"id":"a","x":1"@search.action":"delete"}`), nil }, "not valid JSON", nil},
		"a word that is not a value": {func(any) ([]byte, error) { return []byte(`{"id":"a","x":nope}`), nil }, "not valid JSON at offset 15: invalid character 'o' in literal null", nil},
		"a bad number inside":        {func(any) ([]byte, error) { return []byte(` {"id":"a","x":[{"y":1.}]}`), nil }, "not valid JSON at offset 23: invalid character '}' after decimal point", nil},
		"a reserved name":            {func(any) ([]byte, error) { return []byte(`{"id":"a","@search.action":"delete"}`), nil }, "", models.ErrReservedName},
		"another key":                {func(any) ([]byte, error) { return []byte(`{"id":"b"}`), nil }, `the Encoder writes "b" in the field "id", but the key of the document is "a"`, nil},
		"no key":                     {func(any) ([]byte, error) { return []byte(`{"name":"a"}`), nil }, "", models.ErrNoKey},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Documents: bufferedsender.Documents[sendertest.Hotel]{Encode: test.encode}})
				err := r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"})
				require.ErrorContains(t, err, test.want)
				if test.is != nil {
					require.ErrorIs(t, err, test.is)
				}
				assert.Zero(t, r.Sender.Stats().Accepted)
			})
		})
	}
}

func TestEncoderMayBeJSONMarshal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Documents: bufferedsender.Documents[sendertest.Hotel]{Encode: json.Marshal}})
		r.Upload(sendertest.Hotels("k", 3)...)
		require.NoError(t, r.Flush())
		assert.EqualValues(t, 3, r.Sender.Stats().Completed)
	})
}

// strictService is a service that checks the content of each document, and has faults of all kinds that make the
// sender retry.
type strictService struct {
	t      *testing.T
	wrong  func(doc sendertest.Hotel) string // what is wrong with a document, or ""
	mu     sync.Mutex
	random *rand.Rand // guarded by mu
}

func (p *strictService) chance(one int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.IntN(one) == 0
}

func (p *strictService) index(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	if p.chance(8) { // a reply before the body is read, which continues
		head := make([]byte, 100)
		_, _ = body.Read(head)
		go func() { _, _ = io.Copy(io.Discard, body) }()
		return models.IndexDocumentsResult{}, errors.New("broken pipe")
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	var batch struct {
		Value []struct {
			Action string `json:"@search.action"`
			sendertest.Hotel
		} `json:"value"`
	}
	if !assert.NoError(p.t, json.Unmarshal(raw, &batch), "%.200s", raw) {
		return models.IndexDocumentsResult{}, err
	}
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
		return models.IndexDocumentsResult{}, ctx.Err()
	}
	if len(batch.Value) > 50 && p.chance(4) {
		return models.IndexDocumentsResult{}, &search.Error{StatusCode: http.StatusRequestEntityTooLarge}
	}
	result := models.IndexDocumentsResult{StatusCode: 207}
	for _, doc := range batch.Value {
		assert.Equal(p.t, "upload", doc.Action)
		assert.Empty(p.t, p.wrong(doc.Hotel))
		r := models.IndexingResult{Key: doc.ID, Succeeded: true, StatusCode: 200}
		if p.chance(10) {
			r = models.IndexingResult{Key: doc.ID, StatusCode: 409, ErrorMessage: "again"}
		}
		result.Results = append(result.Results, r)
	}
	return result, nil
}

// Each request contains each document as it was added, whatever happens to others in the same reused memory.
func TestEveryRequestCarriesWhatWasAddedConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const producers, docs = 4, 1500
		name := func(id string) string {
			long := 100
			if strings.HasSuffix(id, "7") {
				long = 2000
			}
			return strings.Repeat(id+" ", long/len(id))
		}
		service := &strictService{t: t, random: rand.New(rand.NewPCG(1, 2)), wrong: func(h sendertest.Hotel) string {
			if want := name(h.ID); h.Name != want {
				return fmt.Sprintf("%q has the name %.60q", h.ID, h.Name)
			}
			return ""
		}}
		s, err := bufferedsender.New(&sendertest.Indexer{Index: service.index}, &sendertest.Options{
			Limits: bufferedsender.Limits{MaxInFlight: 4, MaxBatchActions: 200, MaxBufferedActions: 2000},
			Outage: bufferedsender.FailSoon{}, Retry: retry.Options{MaxRetries: 60},
		})
		require.NoError(t, err)
		var adding sync.WaitGroup
		for p := range producers {
			adding.Go(func() {
				for i := range docs {
					id := fmt.Sprintf("%d-%d", p, i%1000) // some keys repeat
					if err := s.UploadDocuments(t.Context(), sendertest.Hotel{ID: id, Name: name(id)}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		adding.Wait()
		require.NoError(t, s.Close(t.Context()))
		stats := s.Stats()
		assert.EqualValues(t, producers*docs, stats.Accepted)
		assert.Equal(t, stats.Accepted, stats.Completed)
		assert.NotZero(t, stats.Splits)
		assert.NotZero(t, stats.Retries)
	})
}
