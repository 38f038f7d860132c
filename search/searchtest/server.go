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
	bucket faults.Bucket // the capacity of the faults script, or else of the options

	kept   *resources.Service // indexes with their documents, synonym maps and so on
	serial atomic.Uint64      // the number of the last request
	faults atomic.Pointer[faults.State]
	newer  sync.Map // api-versions for which the log has a warning
	log    requestLog

	// mu guards the fields below.
	mu           sync.RWMutex
	interceptors []interceptor
	listening    *listening
	identity     *identity // of the last ListenTLS
	closed       bool
}

// NewServer returns a service without indexes. It does not listen and starts no goroutine:
// requests through Transport or Do are served in the calling goroutine. opts may be nil.
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

// Close stops listening and waits for the requests that came through the listener. Later
// requests fail as if the service did not exist, and so does Listen; use StopListening for a
// server that comes back. Documents can still be inspected. Closing twice has no effect.
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

// URL returns the address of the service without a trailing slash: that of the listener, or
// "https://searchtest.search.windows.net" with Options.ServiceName, which only Transport and
// Do can reach.
func (s *Server) URL() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.listening != nil {
		return s.listening.url
	}
	return "https://" + s.opts.ServiceName + ".search.windows.net"
}

// CertPool returns the certificate of ListenTLS, for the RootCAs of clients. It is nil while
// the server does not listen with TLS.
func (s *Server) CertPool() *x509.CertPool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.listening == nil {
		return nil
	}
	return s.listening.pool
}

// CreateIndex creates an index from a definition: JSON as []byte, string or json.RawMessage,
// or a value for encoding/json. It is checked like the body of a request with the latest
// api-version. The error has the service's message.
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

// SetFaults starts a script from its beginning, in place of the current one. Nil ends the
// current script. It may be called while requests run; they keep the faults already chosen
// for them. The script must not be changed afterwards. SetFaults panics if f.Validate
// reports a problem.
//
// A new capacity, from the script or from Options, starts with the documents and bytes that
// the old bucket had left, up to its own size. So lowering the capacity allows no burst
// beyond what the old bucket held, raising it takes up to Burst until the bucket is full, and
// the same capacity again changes nothing. If there was no limit before, the bucket is full.
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
	// The lock keeps two concurrent calls from mixing the rules of one with the capacity of
	// the other.
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.Store(st)
	s.bucket.Set(capacity.parsed(), time.Now())
}
