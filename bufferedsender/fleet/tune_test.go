package fleet

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// limited is a service with a limit per second, which it may reach at once, of requests or documents. It refuses what
// exceeds it, whole requests or single documents.
type limited struct {
	*service
	perSecond float64
	documents bool // what is limited
	singly    bool // it refuses documents and not whole requests

	mu                sync.Mutex
	tokens            float64
	at                time.Time
	accepted, refused int // requests, or documents
}

func (s *limited) Indexer(string) (bufferedsender.Indexer, error) {
	return &sendertest.Catalog{KeyField: func(context.Context) (string, error) { return "id", nil }, Indexer: sendertest.Indexer{Delay: s.takes, Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		result, err := sendertest.AcceptAll(ctx, body)
		n := 1
		if s.documents {
			n = len(result.Results)
		}
		for i := range result.Results {
			if s.singly && !s.take(1) {
				result.Results[i].Succeeded, result.Results[i].StatusCode = false, 503
			}
		}
		if !s.singly && !s.take(n) {
			return models.IndexDocumentsResult{}, sendertest.StatusError(429)
		}
		return result, err
	}}}, nil
}

func (s *limited) take(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens, s.at = min(s.perSecond, s.tokens+time.Since(s.at).Seconds()*s.perSecond), time.Now()
	if s.tokens < float64(n) {
		s.refused += n
		return false
	}
	s.tokens -= float64(n)
	s.accepted += n
	return true
}

// counts returns what was accepted and refused since the last call.
func (s *limited) counts() (accepted, refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	accepted, refused = s.accepted, s.refused
	s.accepted, s.refused = 0, 0
	return accepted, refused
}

// The interval of the controller is one between the requests of all indexes, and a full batch is one of the senders.
func TestManyIndexesKeepToTheLimitOfTheService(t *testing.T) {
	for name, s := range map[string]*limited{"requests": {perSecond: 5}, "documents": {perSecond: 80, documents: true}, "single documents": {perSecond: 1000, documents: true, singly: true}} {
		t.Run(name, func(t *testing.T) {
			if s.singly {
				testkit.Long(t)
			}
			synctest.Test(t, func(t *testing.T) {
				s.service, s.at = newService(), time.Now()
				f := newFleet(t, s, &Options{Tuning: tuning.Adaptive(nil)})
				ctx, cancel := context.WithCancel(t.Context())
				var producers sync.WaitGroup
				for i := range 40 {
					to := senderOf(t, f, fmt.Sprint("index", i), &bufferedsender.Options[hotel]{Limits: bufferedsender.Limits{MaxBatchActions: 20, MaxBufferedActions: 60}})
					producers.Go(func() {
						for n := 0; to.UploadDocuments(ctx, sendertest.Hotels(fmt.Sprint("k", n, "_"), 20)...) == nil; n++ {
						}
					})
				}
				time.Sleep(2 * time.Minute) // to learn
				s.counts()
				time.Sleep(2 * time.Minute)
				accepted, refused := s.counts()
				cancel()
				producers.Wait()
				t.Log(accepted, refused)
				assert.Greater(t, float64(accepted), 120*s.perSecond*0.85)
				assert.Less(t, refused, accepted/10)
			})
		})
	}
}
