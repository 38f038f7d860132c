package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

// takes is the duration of a request.
const takes = 50 * time.Millisecond

// service is a search service in memory whose indexes count documents.
type service struct {
	hurry atomic.Bool // reply at once
	names []string

	mu      sync.Mutex // guards indexes
	indexes map[string]*index
}

func newService() *service { return &service{indexes: make(map[string]*index)} }

// namesOf returns n index names.
func namesOf(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("index-%05d", i)
	}
	return names
}

// index returns the index with a name, and creates it if needed.
func (s *service) index(name string) *index {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.indexes[name]
	if x == nil {
		x = &index{service: s, name: name}
		s.indexes[name] = x
	}
	return x
}

// Indexer implements fleet.Service.
func (s *service) Indexer(name string) (bufferedsender.Indexer, error) { return s.index(name), nil }

// IndexNames implements fleet.Service. It yields new strings, like those of a reply.
func (s *service) IndexNames(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, name := range s.names {
			if !yield(strings.Clone(name), nil) {
				return
			}
		}
	}
}

// sickness is a fault of an index.
type sickness int32

const (
	healthy sickness = iota
	unavailable
	hanging
	unauthorized
	deleted
	drifted
)

var sicknesses = []struct {
	name string
	is   sickness
}{{"503", unavailable}, {"hangs", hanging}, {"401", unauthorized}, {"deleted, 404", deleted}, {"schema has drifted, 400", drifted}}

// index is an index of the service, and its client.
type index struct {
	service *service
	name    string
	is      atomic.Int32 // sickness
	applied atomic.Int64 // documents
	// stamps has the adding times of documents whose keys begin with stampPrefix; took has their times until they
	// were applied.
	stamps sync.Map

	mu   sync.Mutex // guards took
	took []time.Duration
}

const (
	keyPrefix   = "doc-"
	stampPrefix = "end-"
	keyBytes    = 12
)

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// IndexDocumentsRaw implements bufferedsender.Indexer.
func (x *index) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (none models.IndexDocumentsResult, _ error) {
	buffer := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(buffer)
	buffer.Reset()
	if _, err := buffer.ReadFrom(body); err != nil {
		return none, err
	}
	if err := x.answer(ctx); err != nil {
		return none, err
	}
	return x.apply(buffer.Bytes())
}

// answer waits for the duration of a request, and returns the error of a failing index.
func (x *index) answer(ctx context.Context) error {
	is := sickness(x.is.Load())
	if is == hanging {
		<-ctx.Done()
		return ctx.Err()
	}
	if !x.service.hurry.Load() {
		if err := slow.Wait(ctx, takes); err != nil {
			return err
		}
	}
	switch is {
	case unavailable:
		return slow.Refusal{Status: http.StatusServiceUnavailable, Text: "The service is temporarily unavailable."}
	case unauthorized:
		return slow.Refusal{Status: http.StatusUnauthorized, Text: "Access denied due to invalid subscription key."}
	case deleted:
		return slow.Refusal{Status: http.StatusNotFound, Text: "The index '" + x.name + "' for service 'bench' was not found."}
	case drifted:
		return slow.Refusal{Status: http.StatusBadRequest, Text: "The request is invalid. Details: actions : 0: The property 'rooms' does not exist on type 'search.documentFields'. " +
			"Make sure to only use property names that are defined by the type."}
	default:
		return nil
	}
}

var (
	actionName = []byte(`"@search.action":`)
	keyName    = []byte(`"id":"`)
)

// apply finds the keys in the bytes without decoding JSON, so that the sender uses most of the processor time.
func (x *index) apply(body []byte) (r models.IndexDocumentsResult, _ error) {
	var keys strings.Builder
	keys.Grow(len(body) / 32)
	for {
		at := bytes.Index(body, actionName)
		if at < 0 {
			break
		}
		body = body[at+len(actionName):]
		if at = bytes.Index(body, keyName); at < 0 || len(body) < at+len(keyName)+keyBytes {
			return r, errors.New("an action without a key")
		}
		body = body[at+len(keyName):]
		keys.Write(body[:keyBytes])
	}
	all, now := keys.String(), time.Now()
	r.Results, r.StatusCode = make([]models.IndexingResult, len(all)/keyBytes), http.StatusOK
	for i := range r.Results {
		key := all[i*keyBytes : (i+1)*keyBytes]
		r.Results[i] = models.IndexingResult{Key: key, Succeeded: true, StatusCode: http.StatusOK}
		if strings.HasPrefix(key, stampPrefix) {
			x.arrived(key, now)
		}
	}
	x.applied.Add(int64(len(r.Results)))
	return r, nil
}

func (x *index) arrived(key string, now time.Time) {
	if added, ok := x.stamps.LoadAndDelete(key); ok {
		x.mu.Lock()
		x.took = append(x.took, now.Sub(added.(time.Time)))
		x.mu.Unlock()
	}
}

// times returns the times of stamped documents and clears them.
func (x *index) times() []time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	took := x.took
	x.took = nil
	return took
}
