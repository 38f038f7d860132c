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
	// Time is when it arrived, Duration how long the reply took.
	Time     time.Time
	Duration time.Duration
	// Operation is what was asked for, Index the index it was about as the address
	// had it, so it may be that of an alias, and Key the document of a lookup. Name
	// is the definition that a request was about, of a synonym map or an indexer, say.
	// All are "" for none.
	Operation        Operation
	Index, Key, Name string
	// Method and URL are those of the request; the URL without an api-key.
	Method, URL string
	// Header is a copy of the headers, without keys, tokens and cookies.
	Header http.Header
	// RequestID and ClientRequestID are the service's id of the request and the
	// client's.
	RequestID, ClientRequestID string
	// Actions is how many actions a batch had, 0 if it was not understood.
	Actions int
	// BodyBytes is the size of the body, decompressed, and Body the beginning of
	// it that Options.KeepBodies allows for.
	BodyBytes int64
	Body      []byte
	// Status is that of the reply, whether or not it was delivered.
	Status int
	// Fault tells that a rule of the faults script was carried out.
	Fault bool
	// Err is why there was no reply: a cut, or the context of the request. Nil
	// otherwise.
	Err error
}

// requestLog is a ring of the latest requests.
type requestLog struct {
	limit int

	mu   sync.Mutex // guards the fields below
	ring []RequestRecord
	next int // where the next one goes once the ring is full
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

// secretHeaders are the headers that let their sender in somewhere.
var secretHeaders = []string{"Api-Key", "Authorization", "Cookie", "Proxy-Authorization", "X-Ms-Query-Source-Authorization"}

// withoutKeys returns the query of an address with any api-key made unreadable.
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

// record notes a request that is done with.
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

// Requests returns the latest requests that were answered or failed, in the
// order in which that happened; Options.KeepRequests says how many at most.
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

// IndexDefinition returns the definition of an index as the service would show it
// today, with all defaults and without metadata. It is false if there is no index
// of that name.
func (s *Server) IndexDefinition(name string) (json.RawMessage, bool) {
	ix, ok := s.kept.LookupIndex(name)
	if !ok {
		return nil, false
	}
	return ix.Definition().AppendDefinition(nil, latest, ""), true
}

// Definitions returns what the service keeps in addition to indexes, by kind as in a snapshot ("dataSources") and by
// name, as the service would show it today. A kind without definitions is left out.
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

// IndexVersion is a state of an index: if two are equal nothing has changed between
// them.
type IndexVersion struct {
	// ETag is the entity tag of the definition, without quotes. No definition gets
	// one that another had before, not even that of a new index of the same name.
	ETag string
	// Changes grows with every document that is written or deleted.
	Changes uint64
}

// IndexVersion returns the state of an index. VisibilityLag does not hide anything
// from it. It is false if there is no index of that name.
func (s *Server) IndexVersion(name string) (IndexVersion, bool) {
	ix, ok := s.kept.LookupIndex(name)
	if !ok {
		return IndexVersion{}, false
	}
	etag := ix.Definition().ETag
	_, changes := ix.State()
	return IndexVersion{etag, changes}, true
}

// DocumentKeys returns the keys of Documents in the order of writing, the one that
// was written last at the end.
func (s *Server) DocumentKeys(index string) []string {
	ix, ok := s.kept.LookupIndex(index)
	if !ok {
		return nil
	}
	return ix.Keys()
}

// Documents returns every document that was written to the index, by key, in the
// form of a lookup without metadata but with fields that are not retrievable.
// VisibilityLag does not hide any. It is nil if there is no such index.
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

// Document returns one document in the form of Documents.
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

// DocumentCount returns how many documents were written to the index, 0 if there
// is no such index. VisibilityLag does not hide any.
func (s *Server) DocumentCount(index string) int64 {
	ix, ok := s.kept.LookupIndex(index)
	if !ok {
		return 0
	}
	n, _ := ix.State()
	return n
}

// History returns what happened to a key, oldest first, as far as
// Options.KeepChanges reaches back: every action that the index decided on,
// those included that it refused.
func (s *Server) History(index, key string) []Change {
	return s.changes(index, func(ix *store.Index) []store.Change { return ix.ChangesOf(key) })
}

// Changes returns what happened to all keys of an index, oldest first, as far as
// Options.KeepChanges reaches back: if that was not far enough, Seq does not
// begin at 1.
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
