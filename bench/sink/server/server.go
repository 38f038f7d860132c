// Package server replies to batches of documents as fast as possible and counts them. It implements as much of Azure
// AI Search and of the bulk protocol of Elasticsearch and OpenSearch as their clients need. It finds keys and lines
// in the bytes without decoding JSON, so that a measured client on the same machine gets most of the processor time.
//
// It stores no documents; search/searchtest is the emulator that does.
package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config configures the replies. The zero value accepts everything at once.
type Config struct {
	// Latency is the minimum duration of a request.
	Latency time.Duration
	// RefuseStatus is the status of refused requests, 429 or 503: of the first RefuseFirst, and of the share
	// RefuseRate (0 to 1) of the others.
	RefuseStatus int
	RefuseFirst  int
	RefuseRate   float64
	// MaxBody is the maximum size of a request body in bytes; larger ones get 413. 0: no limit.
	MaxBody int64
	// ItemStatus is the status of refused documents. The share ItemRate (0 to 1) of the documents is refused on first
	// arrival.
	ItemStatus int
	ItemRate   float64
	// Definition is the JSON definition of every index, for clients that read it first.
	Definition []byte
}

// Validate returns every problem of the configuration.
func (c *Config) Validate() error {
	var errs []error
	for _, share := range []struct {
		name string
		of   float64
	}{{"share of refused requests", c.RefuseRate}, {"share of refused documents", c.ItemRate}} {
		if share.of < 0 || share.of > 1 {
			errs = append(errs, fmt.Errorf("%s is %g: use a number from 0 to 1", share.name, share.of))
		}
	}
	if (c.RefuseFirst > 0 || c.RefuseRate > 0) && c.RefuseStatus < 400 {
		errs = append(errs, fmt.Errorf("status of refused requests is %d: use an error, such as 429 or 503", c.RefuseStatus))
	}
	if c.ItemRate > 0 && c.ItemStatus < 400 {
		errs = append(errs, fmt.Errorf("status of refused documents is %d: use an error, such as 429 or 503", c.ItemStatus))
	}
	if c.Latency < 0 || c.RefuseFirst < 0 || c.MaxBody < 0 {
		errs = append(errs, errors.New("latency, number of refused requests and size limit must not be negative"))
	}
	return errors.Join(errs...)
}

// Server is the http.Handler.
type Server struct {
	config Config
	tally  tally
}

// New returns a server with zero counts.
func New(c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Server{config: c}, nil
}

// Counts returns the current counts.
func (s *Server) Counts() Counts { return s.tally.snapshot() }

// StatsPath is the path of the counts.
const StatsPath = "/_sink/stats"

// ServeHTTP selects the protocol by the path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	write := r.Method == http.MethodPost || r.Method == http.MethodPut
	switch {
	case write && strings.HasPrefix(path, "/indexes") && strings.HasSuffix(path, "/docs/search.index"):
		s.batch(w, r, azure{})
	case write && strings.HasSuffix(path, "/_bulk"):
		s.batch(w, r, bulk{brief: r.URL.Query().Has("filter_path")})
	case path == StatsPath:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Counts())
	case !write && strings.HasPrefix(path, "/indexes") && s.config.Definition != nil:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.config.Definition)
	case path == "/" && !write:
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, info)
	case path == bulkIndex, path == bulkIndex+"/", slices.Contains(administration, strings.TrimPrefix(path, bulkIndex+"/")):
		bulk{}.header(w.Header())
		_, _ = io.WriteString(w, indexInfo)
	default:
		http.NotFound(w, r)
	}
}

// protocol is the format of batches and replies.
type protocol interface {
	// scan appends the actions of a batch to items.
	scan(items []item, body []byte) ([]item, error)
	// reply appends the reply to a batch, and returns its status.
	reply(dst []byte, items []item) ([]byte, int)
	// refusal returns the reply to a request that is refused as a whole.
	refusal(status int) string
	header(h http.Header)
}

// item is one action of a batch. Its slices refer to the body.
type item struct {
	name   []byte // of the action, in the bulk protocol
	key    []byte
	status int // status of the document in the reply; 0: success
}

// work has the buffers of one request, reused for later ones.
type work struct {
	body  bytes.Buffer
	items []item
	reply []byte
}

var works = sync.Pool{New: func() any { return new(work) }}

func (s *Server) batch(w http.ResponseWriter, r *http.Request, p protocol) {
	mem := works.Get().(*work)
	defer works.Put(mem)
	mem.body.Reset()
	if r.ContentLength > 0 {
		mem.body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	p.header(w.Header())
	n, err := mem.body.ReadFrom(r.Body)
	switch encoding := r.Header.Get("Content-Encoding"); {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case encoding != "" && encoding != "identity":
		// No compared client compresses by default.
		http.Error(w, "the sink reads no "+encoding, http.StatusUnsupportedMediaType)
		return
	}
	if !s.wait(r) {
		return
	}
	if status := s.refuse(n); status != 0 {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, p.refusal(status))
		return
	}
	if mem.items, err = p.scan(mem.items[:0], mem.body.Bytes()); err != nil {
		s.tally.malformed(n)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.tally.apply(mem.items, n, s.config)
	status := 0
	mem.reply, status = p.reply(mem.reply[:0], mem.items)
	w.Header().Set("Content-Length", fmt.Sprint(len(mem.reply)))
	w.WriteHeader(status)
	_, _ = w.Write(mem.reply)
}

// wait returns false if the client disconnects meanwhile.
func (s *Server) wait(r *http.Request) bool {
	if s.config.Latency == 0 {
		return true
	}
	timer := time.NewTimer(s.config.Latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// refuse returns the status of a request of n bytes if it must be refused as a whole, else 0.
func (s *Server) refuse(n int64) int {
	if s.config.MaxBody > 0 && n > s.config.MaxBody {
		s.tally.refused(n)
		return http.StatusRequestEntityTooLarge
	}
	if s.tally.turn(n, s.config) {
		return s.config.RefuseStatus
	}
	return 0
}
