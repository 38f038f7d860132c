package searchtest

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/resources"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
)

// RequestRecord is one request as the server saw it.
type RequestRecord struct {
	// Seq numbers the requests of a server from 1 in the order of their arrival.
	Seq uint64
	// Time is the arrival of the request, Duration the time until the reply.
	Time     time.Time
	Duration time.Duration
	// Operation is the operation of the request. Index is the name in the address, which may be
	// an alias. Key is the document of a lookup. Name is the definition that the request is
	// about, such as a synonym map or an indexer. Each is "" if the request has none.
	Operation        Operation
	Index, Key, Name string
	// Method and URL are those of the request. URL has no api-key.
	Method, URL string
	// Header is a copy of the headers, without keys, tokens and cookies.
	Header http.Header
	// RequestID and ClientRequestID are the ids of the request: that of the service, and that
	// of the client.
	RequestID, ClientRequestID string
	// Actions is the number of actions of a batch, 0 if it could not be read.
	Actions int
	// BodyBytes is the size of the decompressed body. Body is its beginning, up to
	// Options.KeepBodies bytes.
	BodyBytes int64
	Body      []byte
	// Status is the status of the reply, whether or not it was delivered.
	Status int
	// Fault reports whether a rule of the faults script was carried out.
	Fault bool
	// Err is the reason for a missing reply: a cut connection or an ended context. Nil if there
	// was a reply.
	Err error
}

// requestLog is a ring of the latest requests.
type requestLog struct {
	limit int

	mu   sync.Mutex // guards the fields below
	ring []RequestRecord
	next int // the position of the next record in a full ring
}

func (l *requestLog) add(rec RequestRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ring) < l.limit {
		l.ring = append(l.ring, rec)
		return
	}
	l.ring[l.next] = rec
	l.next = (l.next + 1) % l.limit
}

// secretHeaders are the headers with credentials.
var secretHeaders = []string{"Api-Key", "Authorization", "Cookie", "Proxy-Authorization", "X-Ms-Query-Source-Authorization"}

// withoutKeys returns the query string raw with every api-key redacted.
func withoutKeys(query url.Values, raw string) string {
	found := false
	for name := range query {
		if strings.EqualFold(name, "api-key") {
			query.Set(name, "REDACTED")
			found = true
		}
	}
	if !found {
		return raw
	}
	return query.Encode()
}

// record logs a finished request.
func (s *Server) record(r *http.Request, rt routing.Route, x *exchange, w *recorder, start time.Time, err error) {
	took := time.Since(start)
	s.logger.Debug("request", slog.String("method", r.Method), slog.String("operation", rt.Operation), slog.String("index", rt.Index),
		slog.Int("status", w.status), slog.Int("actions", x.actions), slog.Int64("bytes", x.bodyBytes), slog.Duration("took", took),
		slog.String("request_id", x.origin.RequestID), slog.Any("error", err))
	if s.log.limit < 0 {
		return
	}
	u := *r.URL
	u.RawQuery = withoutKeys(u.Query(), u.RawQuery)
	header := r.Header.Clone()
	for _, name := range secretHeaders {
		header.Del(name)
	}
	rec := RequestRecord{
		Seq: x.origin.Seq, Time: start, Duration: took,
		Operation: Operation(rt.Operation), Index: rt.Index, Key: rt.Key, Name: rt.Name, Method: r.Method, URL: u.String(), Header: header,
		RequestID: x.origin.RequestID, ClientRequestID: x.origin.ClientID,
		Actions: x.actions, BodyBytes: x.bodyBytes, Status: w.status, Fault: x.fault != nil, Err: err,
	}
	if keep := min(s.opts.KeepBodies, len(x.body)); keep > 0 {
		rec.Body = slices.Clone(x.body[:keep])
	}
	s.log.add(rec)
}

// Requests returns the latest requests that were answered or failed, at most
// Options.KeepRequests, in the order in which they ended.
func (s *Server) Requests() []RequestRecord {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return append(slices.Clone(s.log.ring[s.log.next:]), s.log.ring[:s.log.next]...)
}

// IndexNames returns the names of all indexes, sorted.
func (s *Server) IndexNames() []string {
	indexes, _ := s.kept.Everything()
	names := make([]string, len(indexes))
	for i, ix := range indexes {
		names[i] = ix.Name
	}
	return names
}

// IndexDefinition returns the definition of an index in the latest api-version, with all
// defaults and without metadata. It returns false if there is no such index.
func (s *Server) IndexDefinition(name string) (json.RawMessage, bool) {
	ix, ok := s.kept.LookupIndex(name)
	if !ok {
		return nil, false
	}
	return ix.Definition().AppendDefinition(nil, latest, ""), true
}

// Definitions returns all definitions other than indexes, by kind as in a snapshot ("dataSources") and by name, in the
// latest api-version. A kind without definitions is left out.
func (s *Server) Definitions() map[string]map[string]json.RawMessage {
	all := make(map[string]map[string]json.RawMessage)
	_, lists := s.kept.Everything()
	for i, k := range resources.ListedKinds {
		for _, res := range lists[i] {
			if all[k.SnapshotName()] == nil {
				all[k.SnapshotName()] = make(map[string]json.RawMessage)
			}
			all[k.SnapshotName()][res.Name] = res.AppendDefinition(nil, latest, "")
		}
	}
	return all
}

// IndexVersion is a state of an index. Nothing has changed between two equal states.
type IndexVersion struct {
	// ETag is the entity tag of the definition, without quotes. Tags are never reused, not even
	// for a new index of the same name.
	ETag string
	// Changes is a counter of documents written or deleted. It never decreases.
	Changes uint64
}

// IndexVersion returns the state of an index, without any VisibilityLag. It returns false if
// there is no such index.
func (s *Server) IndexVersion(name string) (IndexVersion, bool) {
	ix, ok := s.kept.LookupIndex(name)
	if !ok {
		return IndexVersion{}, false
	}
	etag := ix.Definition().ETag
	_, changes := ix.State()
	return IndexVersion{etag, changes}, true
}

// DocumentKeys returns the keys of the documents of an index in the order of writing, the
// latest last, without any VisibilityLag. It is nil if there is no such index.
func (s *Server) DocumentKeys(index string) []string {
	ix, ok := s.kept.LookupIndex(index)
	if !ok {
		return nil
	}
	return ix.Keys()
}

// Documents returns all documents of an index by key, without any VisibilityLag. Each has
// the form of a lookup without metadata, but includes fields that are not retrievable. It is
// nil if there is no such index.
func (s *Server) Documents(index string) map[string]json.RawMessage {
	ix, ok := s.kept.LookupIndex(index)
	if !ok {
		return nil
	}
	all := ix.All()
	sc := ix.Definition()
	out := make(map[string]json.RawMessage, len(all))
	for _, doc := range all {
		out[doc.Key] = query.WholeDocument(sc, doc.Data)
	}
	return out
}

// Document returns one document in the form of Documents. It returns false if the index or
// the document does not exist.
func (s *Server) Document(index, key string) (json.RawMessage, bool) {
	ix, ok := s.kept.LookupIndex(index)
	if !ok {
		return nil, false
	}
	data := ix.Written(key)
	if data == nil {
		return nil, false
	}
	return query.WholeDocument(ix.Definition(), data), true
}

// DocumentCount returns the number of documents of an index, without any VisibilityLag. It
// is 0 if there is no such index.
func (s *Server) DocumentCount(index string) int64 {
	ix, ok := s.kept.LookupIndex(index)
	if !ok {
		return 0
	}
	n, _ := ix.State()
	return n
}

// History returns the actions on one key of an index, applied and refused, oldest first, as
// far as Options.KeepChanges reaches back.
func (s *Server) History(index, key string) []Change {
	return s.changes(index, func(ix *store.Index) []store.Change { return ix.ChangesOf(key) })
}

// Changes returns the actions on all keys of an index, oldest first. If Options.KeepChanges
// was too small for all of them, the first Seq is not 1.
func (s *Server) Changes(index string) []Change {
	return s.changes(index, (*store.Index).AllChanges)
}

func (s *Server) changes(name string, of func(*store.Index) []store.Change) []Change {
	ix, ok := s.kept.LookupIndex(name)
	if !ok {
		return nil
	}
	var out []Change
	changes := of(ix)
	sc := ix.Definition() // as new as the documents, or newer
	for _, c := range changes {
		if c.Document != nil {
			c.Document = query.SuppliedDocument(sc, c.Document)
		}
		out = append(out, Change(c))
	}
	return out
}
