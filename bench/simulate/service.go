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

// The service, as simple as it can be and still be overloaded: documents of all indexes
// wait in one queue, which is served at a constant rate.
const (
	// quickest is how long a request takes that finds nobody before it.
	quickest = 30 * time.Millisecond
	// longestQueue is how much work, in time, may wait. A request that finds that much is
	// refused with 503 and retryAfter; one of which a part fits gets 207, and 503 for each
	// of the other documents.
	longestQueue = 2 * time.Second
	retryAfter   = time.Second
	// refusing is what such a document costs, of what it costs to index one: it was read. A
	// request that is refused whole costs nothing.
	refusing = 0.05
	// dialing is how long it takes to find out that nobody listens.
	dialing = time.Millisecond
)

// service is one search service that all processes share.
type service struct {
	began time.Time

	mu        sync.Mutex
	capacity  float64 // documents a second; 0: it refuses connections
	busyUntil time.Time
	cut       chan struct{} // closed when an outage begins
	random    *rand.Rand
	seconds   []second
}

// second is what the service saw in one second.
type second struct {
	requests  int
	refused   int   // of these, as a whole
	documents int64 // that came
	throttled int64 // of these, refused for being too many
	applied   int64 // for the first time
	waiting   int64 // accepted by the senders and not settled, when the second began
}

func newService(seed uint64) *service {
	return &service{began: time.Now(), cut: make(chan struct{}), random: rand.New(rand.NewPCG(seed, 0))}
}

// setCapacity says how much it takes from now on. Who comes then waits accordingly longer for
// what is in the queue, which is cut off if the service takes nothing any more.
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

// now returns the second that it is. mu must be held.
func (s *service) now() *second { return s.at(int(time.Since(s.began) / time.Second)) }

func (s *service) at(i int) *second {
	for len(s.seconds) <= i {
		s.seconds = append(s.seconds, second{})
	}
	return &s.seconds[i]
}

// note notes how much waits.
func (s *service) note(waiting int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now().waiting = waiting
}

// What net returns when nobody listens, and when a connection is cut.
var (
	errRefused error = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	errCut     error = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
)

// busyError is the reply to a request that is refused as a whole.
type busyError struct{}

func (busyError) Error() string                     { return "status 503" }
func (busyError) HTTPStatus() int                   { return http.StatusServiceUnavailable }
func (busyError) RetryAfter() (time.Duration, bool) { return retryAfter, true }

// admit returns how many of the documents are taken, when they are applied, and what ends
// that; down if there is no service.
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

// answer indexes what a request carries, for the sender that has the ledger.
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
		if s.chance() { // nobody knows, from outside
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
