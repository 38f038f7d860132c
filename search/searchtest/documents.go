package searchtest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

// The operations on documents other than queries.
const (
	OpIndexDocuments Operation = "indexDocuments"
	OpGetDocument    Operation = "getDocument"
	OpCountDocuments Operation = "countDocuments"
)

func init() {
	register(operation{
		name: OpIndexDocuments, serve: (*Server).indexDocuments,
		routes: []string{"POST /indexes/{index}/docs/search.index", "POST /indexes/{index}/docs/index"},
	})
	register(operation{name: OpGetDocument, reads: true, serve: (*Server).getDocument, routes: []string{"GET /indexes/{index}/docs/{key}"}})
	register(operation{name: OpCountDocuments, reads: true, serve: (*Server).countDocuments, routes: []string{"GET /indexes/{index}/docs/$count"}})
}

// indexDocuments answers POST …/docs/search.index.
func (s *Server) indexDocuments(w http.ResponseWriter, r *http.Request, rt routing.Route, x *exchange) {
	ix, missing := s.kept.RequestedIndex(rt)
	if missing != nil {
		reply.WriteError(w, r, missing)
		return
	}
	sc := ix.Definition()
	p := batch.NewParser(x.body, sc, rt.Version, s.opts.limits())
	defer p.Release()
	if err := p.Parse(); err != nil {
		reply.WriteError(w, r, err)
		return
	}
	x.actions = len(p.Actions)
	refused, err := s.bucket.Refusals(x.fault, x.header, p.Actions)
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	results := ix.Apply(x.origin, p.Actions, refused)
	status := http.StatusOK
	for _, res := range results {
		if res.Failed() {
			status = http.StatusMultiStatus
			break
		}
	}
	results = x.fault.Mangle(results)
	body := make([]byte, 0, 160+96*len(results))
	body = append(body, '{')
	body = reply.AppendContext(body, r, "/indexes('"+rt.Index+"')/$metadata#Collection("+shape.ResourceType(rt.Version, "IndexResult")+")")
	body = append(body, `"value":[`...)
	for i, res := range results {
		if i > 0 {
			body = append(body, ',')
		}
		body = batch.AppendResult(body, res)
	}
	body = append(body, ']', '}')
	reply.WriteJSON(w, r, status, body)
}

// getDocument answers GET …/docs('key').
func (s *Server) getDocument(w http.ResponseWriter, r *http.Request, rt routing.Route, x *exchange) {
	ix, missing := s.kept.RequestedIndex(rt)
	if missing != nil {
		reply.WriteError(w, r, missing)
		return
	}
	data, sc := ix.Get(rt.Key, time.Now())
	body, err := s.asked(ix, r, rt, x).Lookup(sc, data)
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	reply.WriteJSON(w, r, http.StatusOK, body)
}

// countDocuments answers GET …/docs/$count.
func (s *Server) countDocuments(w http.ResponseWriter, r *http.Request, rt routing.Route, _ *exchange) {
	ix, missing := s.kept.RequestedIndex(rt)
	if missing != nil {
		reply.WriteError(w, r, missing)
		return
	}
	n, _ := ix.Count(time.Now())
	body := strconv.AppendInt([]byte("\ufeff"), n, 10) // the service puts a byte order mark before it
	h := w.Header()
	h.Set("Content-Type", "text/plain")
	h.Set("OData-Version", "4.0")
	h.Set("Preference-Applied", `odata.include-annotations="*"`)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body)
}
