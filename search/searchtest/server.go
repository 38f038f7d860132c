package searchtest

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server is an emulated search service. All methods may be called from any
// number of goroutines.
type Server struct {
	opts   Options
	logger *slog.Logger

	etags    atomic.Uint64 // last number given out by newETag
	requests requestLog
	faults   atomic.Pointer[faultState]
	capacity *bucket // Options.Capacity, nil when unlimited

	// mu guards the fields below. Documents have their own lock, one an index:
	// see index.
	mu          sync.RWMutex
	indexes     map[string]*index
	interceptor []Interceptor
	listeners   []*listener
	certs       *x509.CertPool
	url         string
	closed      bool
}

// newETag returns a new entity tag in the bare form, for example
// `0x8D84B88FBE4789D`: quotes and the W/ of the header are the caller's.
func (s *Server) newETag() string {
	// Real tags are the time in ticks. Ours count up, so that runs are
	// repeatable and two changes in one instant of a synctest bubble differ.
	return fmt.Sprintf("0x8D%013X", 0x84B88FBE40000+s.etags.Add(1))
}

// lookupIndex finds an index by name.
func (s *Server) lookupIndex(name string) (*index, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ix, ok := s.indexes[name]
	return ix, ok
}

var _ = time.Now
