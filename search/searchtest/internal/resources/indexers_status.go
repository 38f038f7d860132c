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

// execution is an entry in the history of an indexer.
type execution struct {
	status     string // "reset", or "transientFailure" for a run, which the emulator cannot do
	start, end time.Time
}

// keptExecutions is the number of executions in the status of an indexer.
const keptExecutions = 50

// A run starts runDelay after it was requested, and fails runTime later, so that a program that waits for its end gets
// the reason. Recorded: the status does not show a run at once, and one requested just after the creation is accepted.
const runDelay, runTime = time.Second, time.Second

// notRun is the error message of a run in the status.
const notRun = "searchtest does not run indexers: no document was read or indexed."

// add adds an execution, latest start first.
func (x *indexer) add(status string, start, end time.Time) {
	at := slices.IndexFunc(x.executions, func(e execution) bool { return !e.start.After(start) })
	if at < 0 {
		at = len(x.executions)
	}
	x.executions = slices.Insert(x.executions, at, execution{status, start, end})
	x.executions = x.executions[:min(len(x.executions), keptExecutions)]
}

// run requests a run. It is refused while one is under way; one that has not started is the same run. A disabled
// indexer accepts the request and does not run.
func (x *indexer) run() *reply.Error {
	if x.Object.Bool("disabled") {
		return nil
	}
	now := time.Now()
	for _, e := range x.executions {
		switch {
		case !now.Before(e.end):
		case now.Before(e.start):
			return nil
		default: // reported by users, without a code
			return &reply.Error{Status: http.StatusConflict, Message: "Another indexer invocation is currently in progress; concurrent invocations are not allowed."}
		}
	}
	x.add("transientFailure", now.Add(runDelay), now.Add(runDelay+runTime))
	return nil
}

// at calls change for the indexer of the request, under the lock, and answers with status,
// or with a refusal.
func (s *Service) at(w http.ResponseWriter, r *http.Request, rt routing.Route, status int, change func(x *indexer) *reply.Error) {
	s.lock.Lock()
	err := noSuchIndexer(s, rt.Name)
	if x := s.indexers[rt.Name]; x != nil {
		err = change(x)
	}
	s.lock.Unlock()
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	w.WriteHeader(status)
}

// runIndexer answers POST …/search.run.
func (s *Service) runIndexer(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	s.at(w, r, rt, http.StatusAccepted, (*indexer).run)
}

// resetIndexer answers POST …/search.reset.
func (s *Service) resetIndexer(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	s.at(w, r, rt, http.StatusNoContent, func(x *indexer) *reply.Error {
		x.add("reset", time.Now(), time.Now())
		return nil
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

// marked answers a request with parameters for the next run. It only checks the parameters,
// because there is never a run.
func (s *Service) marked(w http.ResponseWriter, r *http.Request, rt routing.Route, sh *shape.Shape) {
	body, err := readAll(r)
	if err == nil && len(body) > 0 {
		_, err = shape.NewParser("options", rt.Version).Read(body, sh)
	}
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	s.at(w, r, rt, http.StatusNoContent, func(*indexer) *reply.Error { return nil })
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
	executions = slices.DeleteFunc(executions, func(e execution) bool { return e.start.After(now) })
	// Recorded: the history has no run that is under way.
	last := slices.Clone(executions[:min(1, len(executions))])
	if i := slices.IndexFunc(executions, func(e execution) bool { return e.end.After(now) }); i >= 0 {
		last = []execution{{"inProgress", executions[i].start, time.Time{}}}
		executions = slices.Delete(executions, i, i+1)
	}

	body := reply.AppendContext([]byte{'{'}, r, "/$metadata#"+shape.ResourceType(rt.Version, "IndexerExecutionInfo"))
	body = append(body, `"name":`...)
	body = reply.AppendString(body, x.Name)
	// Recorded: running means healthy, even if the indexer never ran.
	body = append(body, `,"status":"running","lastResult":`...)
	if len(last) > 0 {
		body = last[0].appendTo(body, rt.Version)
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
	ran := slices.ContainsFunc(append(executions, last...), func(e execution) bool { return e.status != "reset" })
	switch {
	case ran: // from the published example
		body = append(body, `],"limits":{"maxRunTime":"PT22H","maxDocumentExtractionSize":256000000,"maxDocumentContentCharactersToExtract":4000000}}`...)
	case len(last) > 0: // recorded
		body = append(body, `],"limits":null}`...)
	default:
		body = append(body, `],"limits":{"maxRunTime":"PT0S","maxDocumentExtractionSize":0,"maxDocumentContentCharactersToExtract":0}}`...)
	}
	reply.WriteJSON(w, r, http.StatusOK, body)
}

// appendTo appends the execution to a status.
func (e execution) appendTo(dst []byte, version apiversion.Version) []byte {
	dst = append(dst, `{"status":`...)
	dst = reply.AppendString(dst, e.status)
	at := func(t time.Time) string { return strconv.Quote(t.UTC().Format("2006-01-02T15:04:05.000Z")) }
	failed := e.status == "transientFailure"
	dst = append(dst, `,"errorMessage":`...)
	if failed {
		dst = reply.AppendString(dst, notRun)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"startTime":`+at(e.start)+`,"endTime":`...)
	if e.end.IsZero() {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, at(e.end)...)
	}
	dst = append(dst, `,"itemsProcessed":0,"itemsFailed":0,"initialTrackingState":null,"finalTrackingState":null,"errors":[`...)
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
