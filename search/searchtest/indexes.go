package searchtest

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// handleIndexes answers the requests on index definitions and statistics.
func (s *Server) handleIndexes(w http.ResponseWriter, r *http.Request, rt route) {
	switch rt.op {
	case OpCreateIndex, OpCreateOrUpdateIndex:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			writeError(w, r, &serviceError{status: http.StatusBadRequest, message: "The body of the request could not be read."})
			return
		}
		if rt.op == OpCreateIndex {
			s.createIndex(w, r, rt, body)
		} else {
			s.createOrUpdateIndex(w, r, rt, body)
		}
	case OpGetIndex:
		s.getIndex(w, r, rt)
	case OpListIndexes:
		s.listIndexes(w, r, rt)
	case OpDeleteIndex:
		s.deleteIndex(w, r, rt)
	case OpIndexStatistics:
		s.indexStatistics(w, r, rt, time.Now())
	case OpServiceStatistics:
		s.serviceStatistics(w, r, rt, time.Now())
	default:
		writeError(w, r, noSuchResource())
	}
}

// addIndex creates an index from the JSON of its definition.
func (s *Server) addIndex(body []byte, apiVersion string) (*schema, *serviceError) {
	sc, err := compileSchema(body, apiVersion)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, exists := s.indexes[sc.name]; exists {
		reason := "Cannot create index '" + sc.name + "' because it already exists."
		return nil, &serviceError{
			status: http.StatusConflict, code: "ResourceNameAlreadyInUse", message: reason,
			details: []errorDetail{{code: "CannotCreateExistingIndex", message: reason}},
		}
	}
	sc.etag = s.newETag()
	s.indexes[sc.name] = s.newIndex(sc)
	return sc, nil
}

// createIndex answers POST /indexes.
func (s *Server) createIndex(w http.ResponseWriter, r *http.Request, rt route, body []byte) {
	sc, err := s.addIndex(body, rt.apiVersion)
	if err != nil {
		writeError(w, r, err)
		return
	}
	writeIndex(w, r, rt, sc, http.StatusCreated)
}

// createOrUpdateIndex answers PUT /indexes('x').
func (s *Server) createOrUpdateIndex(w http.ResponseWriter, r *http.Request, rt route, body []byte) {
	sc, err := compileSchema(body, rt.apiVersion)
	if err == nil && sc.name != rt.index {
		err = &serviceError{
			status:  http.StatusBadRequest,
			message: "The index name '" + sc.name + "' in the request payload does not match the name '" + rt.index + "' in the request URL.",
		}
	}
	downtime := false
	if err == nil {
		downtime, err = downtimeAllowed(rt)
	}
	status := http.StatusOK
	if err == nil {
		status, err = s.putIndex(sc, r.Header, downtime)
	}
	switch {
	case err != nil:
		writeError(w, r, err)
	case prefersMinimal(r.Header):
		setIndexHeaders(w, r, sc, status)
		w.Header().Set("Preference-Applied", "return=minimal")
		w.Header().Set("OData-Version", "4.0")
		w.WriteHeader(http.StatusNoContent)
	default:
		writeIndex(w, r, rt, sc, status)
	}
}

// downtimeAllowed reads the parameter allowIndexDowntime.
func downtimeAllowed(rt route) (bool, *serviceError) {
	switch value := strings.ToLower(rt.query.Get("allowIndexDowntime")); value {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	default:
		return false, &serviceError{
			status:  http.StatusBadRequest,
			message: "The value '" + value + "' is not valid for the query parameter 'allowIndexDowntime'. It must be 'true' or 'false'.",
		}
	}
}

// putIndex creates or updates an index if the conditions in h hold, and returns
// the status that says which of the two it was.
func (s *Server) putIndex(sc *schema, h http.Header, downtime bool) (int, *serviceError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ix, exists := s.indexes[sc.name]
	current := ""
	if exists {
		current = ix.schema.Load().etag
	}
	if !conditionsHold(h, current) {
		return 0, preconditionFailed()
	}
	if !exists {
		sc.etag = s.newETag()
		s.indexes[sc.name] = s.newIndex(sc)
		return http.StatusCreated, nil
	}
	if err := s.changeFault(ix.schema.Load().parsed, sc.parsed, downtime); err != nil {
		return 0, err
	}
	sc.etag = s.newETag()
	ix.setSchema(sc)
	return http.StatusOK, nil
}

// getIndex answers GET /indexes('x').
func (s *Server) getIndex(w http.ResponseWriter, r *http.Request, rt route) {
	ix, ok := s.lookupIndex(rt.index)
	if !ok {
		writeError(w, r, s.noSuchIndex(rt.index))
		return
	}
	writeIndex(w, r, rt, ix.schema.Load(), http.StatusOK)
}

// listIndexes answers GET /indexes, by name.
func (s *Server) listIndexes(w http.ResponseWriter, r *http.Request, rt route) {
	s.mu.RLock()
	indexes := make([]*schema, 0, len(s.indexes))
	for _, name := range slices.Sorted(maps.Keys(s.indexes)) {
		indexes = append(indexes, s.indexes[name].schema.Load())
	}
	s.mu.RUnlock()
	chosen, err := selectedMembers(rt)
	if err != nil {
		writeError(w, r, err)
		return
	}
	path := "/$metadata#indexes"
	if chosen != nil {
		path += "(" + strings.Join(chosen, ",") + ")"
	}
	body := appendContext([]byte{'{'}, r, path)
	body = append(body, `"value":[`...)
	for i, sc := range indexes {
		if i > 0 {
			body = append(body, ',')
		}
		if chosen == nil {
			body = sc.appendDefinition(body, rt.apiVersion, string(appendETag(nil, sc.etag)))
		} else {
			body = sc.parsed.object.appendSome(body, definitionVersion(rt.apiVersion), chosen)
		}
	}
	writeJSON(w, r, http.StatusOK, append(body, "]}"...))
}

// selectedMembers reads $select of a list: nil means everything.
func selectedMembers(rt route) ([]string, *serviceError) {
	text := strings.TrimSpace(rt.query.Get("$select"))
	if text == "" {
		return nil, nil
	}
	var chosen []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "*" {
			return nil, nil
		}
		i := indexShape.index(name)
		if i < 0 || !indexShape.members[i].in(definitionVersion(rt.apiVersion)) {
			return nil, &serviceError{
				status:  http.StatusBadRequest,
				message: "Invalid expression: Could not find a property named '" + name + "' on type '" + resourceType(rt.apiVersion, indexShape.typeName) + "'.\r\nParameter name: $select",
			}
		}
		if !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}

// deleteIndex answers DELETE /indexes('x').
func (s *Server) deleteIndex(w http.ResponseWriter, r *http.Request, rt route) {
	if err := s.dropIndex(rt.index, r.Header); err != nil {
		writeError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// dropIndex removes an index with its documents if the conditions in h hold.
func (s *Server) dropIndex(name string, h http.Header) *serviceError {
	s.mu.Lock()
	defer s.mu.Unlock()
	ix, exists := s.indexes[name]
	current := ""
	if exists {
		current = ix.schema.Load().etag
	}
	switch {
	case !conditionsHold(h, current):
		// Recorded: also for an index that is not there, If-Match goes first.
		return preconditionFailed()
	case !exists:
		// Recorded: not quite the words of the other operations.
		return &serviceError{
			status:  http.StatusNotFound,
			message: "No index with the name '" + name + "' was found in a service named '" + s.opts.ServiceName + "'.",
		}
	}
	delete(s.indexes, name)
	return nil
}
