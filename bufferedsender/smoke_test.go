package bufferedsender

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/require"
)

type fake func(ctx context.Context, body []byte) (models.IndexDocumentsResult, error)

func (f fake) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	b, _ := io.ReadAll(body)
	return f(ctx, b)
}

type doc struct {
	ID string `json:"id" search:"key"`
	N  int    `json:"n"`
}

func ok(body []byte) (r models.IndexDocumentsResult, err error) {
	var req struct{ Value []map[string]any }
	if err := json.Unmarshal(body, &req); err != nil {
		panic(err)
	}
	for _, v := range req.Value {
		r.Results = append(r.Results, models.IndexingResult{Key: v["id"].(string), Succeeded: true, StatusCode: 201})
	}
	r.StatusCode = 200
	return r, nil
}

func TestSmoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		s, err := New[doc](fake(func(ctx context.Context, b []byte) (models.IndexDocumentsResult, error) {
			n++
			time.Sleep(100 * time.Millisecond)
			return ok(b)
		}), nil)
		require.NoError(t, err)
		for i := range 5000 {
			require.NoError(t, s.UploadDocuments(t.Context(), doc{ID: strconv.Itoa(i % 3000), N: i}))
		}
		require.NoError(t, s.Flush(t.Context()))
		require.NoError(t, s.Close(t.Context()))
		t.Logf("%d %+v", n, s.Stats())
	})
}

func BenchmarkSmoke(b *testing.B) {
	s, err := New[doc](fake(func(ctx context.Context, body []byte) (r models.IndexDocumentsResult, err error) {
		return r, nil
	}), nil)
	require.NoError(b, err)
	_ = s
	b.ReportAllocs()
	t := &transport[doc]{}
	_ = t
	i := 0
	keys := make([]string, 100000)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	s2, _ := New[doc](echo{}, nil)
	for b.Loop() {
		if err := s2.UploadDocuments(b.Context(), doc{ID: keys[i%len(keys)], N: i}); err != nil {
			b.Fatal(err)
		}
		i++
	}
	s2.Close(b.Context())
	s.Close(b.Context())
}

type echo struct{}

func (echo) IndexDocumentsRaw(ctx context.Context, b io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	return okFast(b.(*body)), nil
}

func okFast(b *body) (r models.IndexDocumentsResult) {
	r.StatusCode = 200
	for i := 1; i < len(b.pieces); i += 2 {
		p := b.pieces[i]
		// {"@search.action":"upload","id":"…
		k := p[len(`{"@search.action":"upload","id":"`):]
		j := 0
		for k[j] != '"' {
			j++
		}
		r.Results = append(r.Results, models.IndexingResult{Key: string(k[:j]), Succeeded: true, StatusCode: 201})
	}
	return r
}
