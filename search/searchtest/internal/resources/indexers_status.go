package resources

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

func init() {
	action := func(name, verb string, needs apiversion.Capability, serve Handler) {
		offer(name, needs, false, serve, "POST /indexers/{name}/search."+verb, "POST /indexers/{name}/"+verb)
	}
	action("runIndexer", "run", 0, (*Service).runIndexer)
	action("resetIndexer", "reset", 0, (*Service).resetIndexer)
	action("resyncIndexer", "resync", apiversion.Resync, (*Service).resyncIndexer)
	action("resetDocuments", "resetdocs", apiversion.ResetDocuments, (*Service).resetDocuments)
	offer("indexerStatus", 0, false, (*Service).indexerStatus, "GET /indexers/{name}/search.status", "GET /indexers/{name}/status")
}

// execution is something that an indexer has done.
type execution struct {
	status string // "reset", or "transientFailure" of a run, which the emulator cannot do
	time   time.Time
}

// keptExecutions is how many of its executions the service shows of an indexer.
const keptExecutions = 50

// runDelay is how long after the request the status has a run. Recorded: at once it
// has none.
const runDelay = time.Second

// notRun is what the status says of a run.
const notRun = "searchtest does not run indexers: no document was read or indexed."

// at calls change for the indexer of the request, under the lock, and answers with
// status if there is one.
func (s *Service) at(w http.ResponseWriter, r *http.Request, rt routing.Route, status int, change func(x *indexer)) {
	s.lock.Lock()
	x := s.indexers[rt.Name]
	if x != nil {
		change(x)
		x.executions = x.executions[:min(len(x.executions), keptExecutions)]
	}
	s.lock.Unlock()
	if x == nil {
		reply.WriteError(w, r, noSuchIndexer(s, rt.Name))
		return
	}
	w.WriteHeader(status)
}

// runIndexer answers POST …/search.run. The reply is that of the service; the run
// fails a moment later, so that whoever waits for its end sees why there was none.
func (s *Service) runIndexer(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	s.at(w, r, rt, http.StatusAccepted, func(x *indexer) {
		x.executions = slices.Insert(x.executions, 0, execution{"transientFailure", time.Now().Add(runDelay)})
	})
}

// resetIndexer answers POST …/search.reset.
func (s *Service) resetIndexer(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	s.at(w, r, rt, http.StatusNoContent, func(x *indexer) {
		x.executions = slices.Insert(x.executions, 0, execution{"reset", time.Now()})
	})
}

var resyncShape = shape.Shape{TypeName: "IndexerResyncBody", Members: []shape.Property{shape.Texts("options").Must().Among("permissions")}}

// resyncIndexer answers POST …/search.resync.
func (s *Service) resyncIndexer(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	s.marked(w, r, rt, &resyncShape)
}

var resetDocumentsShape = shape.Shape{TypeName: "DocumentKeysOrIds", Members: []shape.Property{shape.Texts("documentKeys"), shape.Texts("datasourceDocumentIds")}}

// resetDocuments answers POST …/search.resetdocs.
func (s *Service) resetDocuments(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	s.marked(w, r, rt, &resetDocumentsShape)
}

// marked answers a request that says what the next run does, which there is none of:
// what it says is checked.
func (s *Service) marked(w http.ResponseWriter, r *http.Request, rt routing.Route, sh *shape.Shape) {
	body, err := readAll(r)
	if err == nil && len(body) > 0 {
		_, err = shape.NewParser("options", rt.Version).Read(body, sh)
	}
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	s.at(w, r, rt, http.StatusNoContent, func(*indexer) {})
}

// indexerStatus answers GET …/search.status.
func (s *Service) indexerStatus(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	s.lock.RLock()
	x := s.indexers[rt.Name]
	var executions []execution
	if x != nil {
		executions = slices.Clone(x.executions)
	}
	s.lock.RUnlock()
	if x == nil {
		reply.WriteError(w, r, noSuchIndexer(s, rt.Name))
		return
	}
	now := time.Now()
	executions = slices.DeleteFunc(executions, func(e execution) bool { return e.time.After(now) })

	body := reply.AppendContext([]byte{'{'}, r, "/$metadata#"+shape.ResourceType(rt.Version, "IndexerExecutionInfo"))
	body = append(body, `"name":`...)
	body = reply.AppendString(body, x.Name)
	// Recorded: running means well, also of one that has never run.
	body = append(body, `,"status":"running","lastResult":`...)
	if len(executions) > 0 {
		body = executions[0].appendTo(body, rt.Version)
	} else {
		body = append(body, "null"...)
	}
	body = append(body, `,"executionHistory":[`...)
	for i, e := range executions {
		if i > 0 {
			body = append(body, ',')
		}
		body = e.appendTo(body, rt.Version)
	}
	ran := slices.ContainsFunc(executions, func(e execution) bool { return e.status != "reset" })
	switch {
	case ran: // of the published example
		body = append(body, `],"limits":{"maxRunTime":"PT22H","maxDocumentExtractionSize":256000000,"maxDocumentContentCharactersToExtract":4000000}}`...)
	case len(executions) > 0: // recorded
		body = append(body, `],"limits":null}`...)
	default:
		body = append(body, `],"limits":{"maxRunTime":"PT0S","maxDocumentExtractionSize":0,"maxDocumentContentCharactersToExtract":0}}`...)
	}
	reply.WriteJSON(w, r, http.StatusOK, body)
}

// appendTo appends an execution of a status.
func (e execution) appendTo(dst []byte, version apiversion.Version) []byte {
	dst = append(dst, `{"status":`...)
	dst = reply.AppendString(dst, e.status)
	at := strconv.Quote(e.time.UTC().Format("2006-01-02T15:04:05.000Z"))
	failed := e.status != "reset"
	dst = append(dst, `,"errorMessage":`...)
	if failed {
		dst = reply.AppendString(dst, notRun)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"startTime":`+at+`,"endTime":`+at+`,"itemsProcessed":0,"itemsFailed":0,"initialTrackingState":null,"finalTrackingState":null,"errors":[`...)
	if failed {
		dst = append(dst, `{"key":null,"statusCode":501,"name":"searchtest","errorMessage":`...)
		dst = reply.AppendString(dst, notRun)
		dst = append(dst, `,"details":null,"documentationLink":null}`...)
	}
	dst = append(dst, `],"warnings":[]`...)
	if version.Has(apiversion.RetiredMembers) {
		dst = append(dst, `,"metrics":null`...)
	}
	return append(dst, '}')
}
