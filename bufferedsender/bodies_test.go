package bufferedsender_test

import (
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
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

// picky is an Indexer that knows what each document must look like, and gives
// the sender every reason to send it again.
type picky struct {
	t      *testing.T
	wrong  func(doc hotel) string // what is wrong with a document, or ""
	mu     sync.Mutex
	random *rand.Rand // guarded by mu
}

func (p *picky) chance(one int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.IntN(one) == 0
}

func (p *picky) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	if p.chance(8) { // an answer before the body is read, which goes on
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
			hotel
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
		assert.Empty(p.t, p.wrong(doc.hotel))
		r := models.IndexingResult{Key: doc.ID, Succeeded: true, StatusCode: 200}
		if p.chance(10) {
			r = models.IndexingResult{Key: doc.ID, StatusCode: 409, ErrorMessage: "again"}
		}
		result.Results = append(result.Results, r)
	}
	return result, nil
}

// Whatever happens to the documents around it, each request carries each
// document as it was added: the memory that they lie in is used again and again.
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
		service := &picky{t: t, random: rand.New(rand.NewPCG(1, 2)), wrong: func(h hotel) string {
			if want := name(h.ID); h.Name != want {
				return fmt.Sprintf("%q has the name %.60q", h.ID, h.Name)
			}
			return ""
		}}
		s, err := bufferedsender.New(service, &bufferedsender.Options[hotel]{
			Limits: bufferedsender.Limits{MaxInFlight: 4, MaxBatchActions: 200, MaxBufferedActions: 2000},
			Outage: bufferedsender.FailSoon{}, Retry: retry.Options{MaxRetries: 60},
		})
		require.NoError(t, err)
		var adding sync.WaitGroup
		for p := range producers {
			adding.Go(func() {
				for i := range docs {
					id := fmt.Sprintf("%d-%d", p, i%1000) // some keys twice
					if err := s.UploadDocuments(t.Context(), hotel{ID: id, Name: name(id)}); err != nil {
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
