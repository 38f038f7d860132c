package searchtest

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/faults"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/resources"
)

// Server is an emulated search service. All methods may be called from any
// number of goroutines.
type Server struct {
	opts   Options
	logger *slog.Logger
	bucket faults.Bucket // the capacity of the faults script or else of the options

	kept   *resources.Service // indexes with their documents, synonym maps and so on
	serial atomic.Uint64      // the number of the last request
	faults atomic.Pointer[faults.State]
	newer  sync.Map // api-versions that the log was warned of
	log    requestLog

	// mu guards the fields below.
	mu           sync.RWMutex
	interceptors []interceptor
	listening    *listening
	identity     *identity // of the last ListenTLS
	closed       bool
}

// NewServer returns a service without indexes. Nothing listens and no goroutine
// runs: requests are served in the goroutine that makes them, through Transport
// or Do. opts may be nil.
func NewServer(opts *Options) *Server {
	o := opts.withDefaults()
	s := &Server{
		opts:   o,
		logger: o.Logger,
		log:    requestLog{limit: o.KeepRequests},
		kept:   resources.NewService(o.ServiceName, o.StrictAnalysis, o.stored()),
	}
	s.bucket.Set(o.Capacity.parsed(), time.Now())
	return s
}

// Close stops listening, if the server does, and waits for the requests that
// came that way. Requests made after it fail as if the service were not there,
// and Listen fails: StopListening is for servers that come back. Documents stay
// and can still be inspected. Closing twice is harmless.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	l := s.listening
	s.listening = nil
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.close()
}

// URL is the address of the service, without a slash at the end: that of the
// listener if there is one, otherwise "https://searchtest.search.windows.net"
// with the name of the service, which only Transport and Do can reach.
func (s *Server) URL() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.listening != nil {
		return s.listening.url
	}
	return "https://" + s.opts.ServiceName + ".search.windows.net"
}

// CertPool holds the certificate of ListenTLS, for the RootCAs of clients. It is
// nil as long as the server does not listen with TLS.
func (s *Server) CertPool() *x509.CertPool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.listening == nil {
		return nil
	}
	return s.listening.pool
}

// CreateIndex creates an index from a definition: []byte, string or
// json.RawMessage with JSON, or anything that encoding/json turns into one. It
// is checked like the body of a request with the latest api-version. The error
// is the service's message.
func (s *Server) CreateIndex(definition any) error {
	var body []byte
	switch d := definition.(type) {
	case []byte:
		body = d
	case string:
		body = []byte(d)
	case json.RawMessage:
		body = d
	default:
		var err error
		if body, err = json.Marshal(definition); err != nil {
			return fmt.Errorf("index definition: %w", err)
		}
	}
	if _, err := s.kept.AddIndex(body, latest); err != nil {
		return fmt.Errorf("create index: %s", err.Message)
	}
	return nil
}

// SetFaults puts a script in force, from its beginning, or ends the one that is
// in force if f is nil. It may be called at any time, also while requests are
// under way: those keep the faults that they met. The script must not be changed
// afterwards. It panics if f.Validate reports a problem.
//
// What is left of the capacity is carried over from the one that was in force,
// whether it came from a script or from Options, in documents and bytes and as
// far as a full bucket of the new one holds it. So a fall to a tenth lets no
// burst through beyond what could have been taken anyway, a rise takes up to
// Burst until all of it can be taken at once, and a new script with the same
// capacity changes nothing. Where there was no limit before, the bucket is full.
func (s *Server) SetFaults(f *Faults) {
	var st *faults.State
	capacity := s.opts.Capacity
	if f != nil {
		if err := f.Validate(); err != nil {
			panic(err)
		}
		st = faults.NewState(f.parsed())
		if f.Capacity != nil {
			capacity = f.Capacity
		}
	}
	// Under the lock, so that two calls at once do not end with the rules of one
	// and the capacity of the other.
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.Store(st)
	s.bucket.Set(capacity.parsed(), time.Now())
}
