package fleetmodel

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// fault is the way in which an index fails.
type fault uint8

const (
	sound      fault = iota
	busy             // 503
	forbidden        // 403
	hangs            // until the context of the request ends, or the index works again
	breaks           // the connection breaks, before or after the documents are applied
	throttling       // half of the documents of a request are refused with 503
	flaky            // every second request, on average, is answered with 503
	faults
)

// docKey identifies a document by index and key.
type docKey struct{ index, key string }

// service is a search service in memory. A request takes up to slowest.
type service struct {
	wrong func(format string, args ...any)

	mu       sync.Mutex
	rnd      *rand.Rand
	faults   map[string]fault
	nowhere  bool          // its name is not resolved, or connections are refused
	changed  chan struct{} // closed when the faults have changed
	applied  map[docKey]int
	inFlight map[docKey]int    // version in flight, for each key of a request
	requests map[*request]bool // in flight
	indexes  map[string]bool   // indexes with at least one request
	// doubts holds, for indexes that had late requests, how many consecutive requests must be answered until their trials
	// have certainly ended.
	doubts map[string]int
	most   int // most requests in flight
	// next are the current limits, of each side and of both together. They apply when no request from before lower is left;
	// until then own and shared are the limits.
	next        [3]int
	lower       time.Time
	own, shared int
}

// request is a request in flight.
type request struct {
	ctx   context.Context //nolint:containedctx // to check whether it ended
	index string
	began time.Time
}

// slowest is the longest duration of a request without a fault.
const slowest = 200 * time.Millisecond

// set changes the fault of an index.
func (s *service) set(index string, f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[index] = f
	s.change()
}

// reach sets whether the service can be reached.
func (s *service) reach(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nowhere = !is
	s.change()
}

func (s *service) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// allow changes how many requests there may be, on each side of the pool and together. Requests in flight continue, and
// the other side need not wait for them. Slots that were given just before are used when a handler returns, within lag.
func (s *service) allow(own, shared, together int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if next := [3]int{own, shared, together}; next != s.next {
		s.next, s.lower = next, now
		s.own, s.shared = max(s.own, own), max(s.shared, shared)
		s.most = max(s.most, s.own+s.shared)
	} else if now.Sub(s.lower) > lag && s.live() <= together {
		s.own, s.shared, s.most = own, shared, together
	}
}

// lag exceeds the total time of all handlers that run one after the other.
const lag = 3 * time.Second

// late is the age from which a request need not have a slot. certain is how many answers end a doubt: of 1, 2, 4 … 64
// documents.
const (
	late    = time.Second
	certain = 7
)

// live returns how many requests in flight certainly have a slot. These are neither late nor cut off: a Close that
// stops waiting gives back the slots of requests that it leaves behind. While an index has late requests, and some time
// after, one more request is a trial without a slot.
func (s *service) live() (n int) {
	trials := make(map[string]int)
	for index, left := range s.doubts {
		if left > 0 {
			trials[index] = 1
		}
	}
	for r := range s.requests {
		if r.ctx.Err() == nil && time.Since(r.began) >= late {
			trials[r.index] = 1
		}
	}
	for r := range s.requests {
		if r.ctx.Err() != nil || time.Since(r.began) >= late {
			continue
		}
		if trials[r.index] > 0 {
			trials[r.index]--
			continue
		}
		n++
	}
	return n
}

// carries reports whether a version of a document is in flight.
func (s *service) carries(d docKey, version int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inFlight[d] == version
}

// Indexer implements fleet.Service.
func (s *service) Indexer(index string) (bufferedsender.Indexer, error) {
	return &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		return s.answer(ctx, index, body)
	}}, nil
}

// IndexNames implements fleet.Service.
func (s *service) IndexNames(context.Context) iter.Seq2[string, error] {
	return func(func(string, error) bool) {}
}

func (s *service) answer(ctx context.Context, index string, body io.Reader) (models.IndexDocumentsResult, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	var sent struct{ Value []hotel }
	if err := json.Unmarshal(raw, &sent); err != nil {
		return models.IndexDocumentsResult{}, err
	}
	r := &request{ctx, index, time.Now()}
	takes := s.begin(r, index, sent.Value)
	defer s.end(r, index, sent.Value)
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return models.IndexDocumentsResult{}, ctx.Err()
	}
	for {
		s.mu.Lock()
		changed := s.changed
		if s.faults[index] != hangs || s.nowhere {
			break
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return models.IndexDocumentsResult{}, ctx.Err()
		}
	}
	defer s.mu.Unlock()
	return s.reply(index, sent.Value)
}

// begin records the start of a request and returns its duration.
func (s *service) begin(r *request, index string, docs []hotel) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[r], s.indexes[index] = true, true
	if n := s.live(); n > s.most {
		s.wrong("%d requests are under way, and there are %d slots", n, s.most)
	}
	if n, most := len(s.requests), 2*(s.most+len(s.indexes)); n > most {
		s.wrong("%d requests are under way, late ones and all, and there are %d slots", n, s.most)
	}
	for _, d := range docs {
		at := docKey{index, d.ID}
		if other, ok := s.inFlight[at]; ok {
			s.wrong("versions %d and %d of %v are in flight together", other, d.Rooms, at)
		}
		s.inFlight[at] = d.Rooms
	}
	return time.Duration(s.rnd.Int64N(int64(slowest)))
}

func (s *service) end(r *request, index string, docs []hotel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.requests, r)
	switch {
	case time.Since(r.began) >= late, r.ctx.Err() != nil && s.doubts[index] > 0:
		s.doubts[index] = certain
	case s.doubts[index] > 0:
		s.doubts[index]--
	}
	for _, d := range docs {
		delete(s.inFlight, docKey{index, d.ID})
	}
}

// reply answers a request. mu is held.
func (s *service) reply(index string, docs []hotel) (models.IndexDocumentsResult, error) {
	if s.nowhere {
		if s.rnd.IntN(2) == 0 {
			return models.IndexDocumentsResult{}, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "search", IsNotFound: true}}
		}
		return models.IndexDocumentsResult{}, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	f := s.faults[index]
	switch {
	case f == busy, f == flaky && s.rnd.IntN(2) == 0:
		return models.IndexDocumentsResult{}, sendertest.StatusError(http.StatusServiceUnavailable)
	case f == forbidden:
		return models.IndexDocumentsResult{}, sendertest.StatusError(http.StatusForbidden)
	case f == breaks && s.rnd.IntN(2) == 0:
		return models.IndexDocumentsResult{}, errReset
	}
	result := models.IndexDocumentsResult{StatusCode: http.StatusOK}
	for _, d := range docs {
		if f == throttling && s.rnd.IntN(2) == 0 {
			result.StatusCode = http.StatusMultiStatus
			result.Results = append(result.Results, models.IndexingResult{Key: d.ID, StatusCode: http.StatusServiceUnavailable})
			continue
		}
		s.applied[docKey{index, d.ID}] = d.Rooms
		result.Results = append(result.Results, models.IndexingResult{Key: d.ID, Succeeded: true, StatusCode: http.StatusCreated})
	}
	if f == breaks {
		return models.IndexDocumentsResult{}, errReset
	}
	return result, nil
}

var errReset = errors.New("connection reset by peer")

// document returns a document of about the given size in bytes.
func document(key string, version, size int) hotel {
	return hotel{ID: key, Rooms: version, Name: strings.Repeat("x", size)}
}

// hotel is the document type of all indexes.
type hotel = sendertest.Hotel
