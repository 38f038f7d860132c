package simulate

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/models"
)

// The service is the simplest model that can be overloaded: documents of all indexes wait in one queue with a
// constant rate.
const (
	// quickest is the duration of a request to an empty queue.
	quickest = 30 * time.Millisecond
	// longestQueue is the maximum length of the queue in time. A request to a full queue is refused with 503 and
	// retryAfter. A request that fits partly gets 207, with 503 for each document that does not fit.
	longestQueue = 2 * time.Second
	retryAfter   = time.Second
	// refusing is the cost of such a document, relative to indexing one, because it was read. A request that is
	// refused as a whole costs nothing.
	refusing = 0.05
	// dialing is the time until a refused connection is detected.
	dialing = time.Millisecond
)

// service is the search service that all processes share.
type service struct {
	began time.Time

	mu        sync.Mutex
	capacity  float64 // documents per second; 0: refuses connections
	busyUntil time.Time
	cut       chan struct{} // closed when an outage begins
	random    *rand.Rand
	seconds   []second
}

// second has the counts of one second.
type second struct {
	requests  int
	refused   int   // as a whole
	documents int64 // received
	throttled int64 // of these, refused because the queue was full
	applied   int64 // for the first time
	waiting   int64 // accepted by the senders and not settled, at the start of the second
}

func newService(seed uint64) *service {
	return &service{began: time.Now(), cut: make(chan struct{}), random: rand.New(rand.NewPCG(seed, 0))}
}

// setCapacity changes the capacity. Later requests wait longer for the queued ones. At 0 the queued requests are cut.
func (s *service) setCapacity(perSecond float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch {
	case perSecond == 0 && s.capacity > 0:
		close(s.cut)
		s.cut = make(chan struct{})
		s.busyUntil = now
	case perSecond > 0 && s.capacity > 0 && s.busyUntil.After(now):
		s.busyUntil = now.Add(time.Duration(float64(s.busyUntil.Sub(now)) * s.capacity / perSecond))
	}
	s.capacity = perSecond
}

// now returns the current second. The caller holds mu.
func (s *service) now() *second { return s.at(int(time.Since(s.began) / time.Second)) }

func (s *service) at(i int) *second {
	for len(s.seconds) <= i {
		s.seconds = append(s.seconds, second{})
	}
	return &s.seconds[i]
}

// note records the number of waiting documents.
func (s *service) note(waiting int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now().waiting = waiting
}

// The errors of a refused and of a cut connection.
var (
	errRefused error = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	errCut     error = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
)

// busyError is the reply to a request that is refused as a whole.
type busyError struct{}

func (busyError) Error() string                     { return "status 503" }
func (busyError) HTTPStatus() int                   { return http.StatusServiceUnavailable }
func (busyError) RetryAfter() (time.Duration, bool) { return retryAfter, true }

// admit returns the number of accepted documents, when they will be applied, and a channel that is closed if the
// connection is cut; down if there is no service.
func (s *service) admit(n int) (taken int, done time.Time, cut chan struct{}, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, this := time.Now(), s.now()
	this.requests++
	this.documents += int64(n)
	if s.capacity == 0 {
		return 0, now, nil, true
	}
	if s.busyUntil.Before(now) {
		s.busyUntil = now
	}
	room := (longestQueue - s.busyUntil.Sub(now)).Seconds() * s.capacity
	taken = max(0, min(n, int(room)))
	this.throttled += int64(n - taken)
	if taken == 0 {
		this.refused++
		return 0, now, s.cut, false
	}
	work := float64(taken) + refusing*float64(n-taken)
	s.busyUntil = s.busyUntil.Add(time.Duration(work / s.capacity * float64(time.Second)))
	return taken, s.busyUntil.Add(quickest), s.cut, false
}

// answer indexes the documents of a request from the sender with the given ledger.
func (s *service) answer(ctx context.Context, l *ledger, body io.Reader) (models.IndexDocumentsResult, error) {
	keys, err := slow.Keys(body)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	taken, done, cut, down := s.admit(len(keys))
	wait := time.Until(done)
	switch {
	case down:
		wait = dialing
	case taken == 0:
		wait = quickest
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return models.IndexDocumentsResult{}, ctx.Err()
	case <-cut:
		if s.chance() { // a cut request is applied or not, at random
			s.apply(l, keys[:taken])
		}
		return models.IndexDocumentsResult{}, errCut
	}
	if down {
		return models.IndexDocumentsResult{}, errRefused
	}
	if taken == 0 {
		return models.IndexDocumentsResult{}, busyError{}
	}
	s.apply(l, keys[:taken])
	result := slow.Applied(keys)
	for i := taken; i < len(keys); i++ {
		result.Results[i].Succeeded, result.Results[i].StatusCode = false, http.StatusServiceUnavailable
		result.StatusCode = http.StatusMultiStatus
	}
	return result, nil
}

func (s *service) apply(l *ledger, keys []string) {
	first := l.apply(keys)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now().applied += first
}

func (s *service) chance() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(2) == 0
}
