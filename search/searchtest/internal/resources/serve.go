package resources

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

// serve answers the requests on the definitions of the kind. Routing has checked that the
// address allows the method.
func (k *resourceKind[T]) serve(s *Service, w http.ResponseWriter, r *http.Request, rt routing.Route) {
	name := rt.Index + rt.Name // "" for the collection
	if k.named != nil && r.Method != http.MethodDelete {
		name = k.named(s, rt)
	}
	switch {
	case r.Method == http.MethodPost:
		createResource(s, w, r, rt, k)
	case r.Method == http.MethodPut:
		putResource(s, w, r, rt, name, k)
	case r.Method == http.MethodDelete:
		deleteResource(s, w, r, rt, name, k)
	case name == "":
		listResources(s, w, r, rt, k)
	default:
		getResource(s, w, r, rt, name, k)
	}
}

// createResource answers POST /indexes.
func createResource[T described](s *Service, w http.ResponseWriter, r *http.Request, rt routing.Route, k *resourceKind[T]) {
	body, err := readAll(r)
	var created T
	if err == nil {
		created, err = create(s, k, body, rt.Version)
	}
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	writeResource(w, r, rt, k.set, created.Base().AsSent(), http.StatusCreated)
}

// putResource answers PUT /indexes('x').
func putResource[T described](s *Service, w http.ResponseWriter, r *http.Request, rt routing.Route, name string, k *resourceKind[T]) {
	res, status, err := replaceResource(s, r, rt, name, k)
	switch {
	case err != nil:
		reply.WriteError(w, r, err)
	case prefersMinimal(r.Header):
		setResourceHeaders(w, r, k.set, res, status)
		w.Header().Set("Preference-Applied", "return=minimal")
		w.Header().Set("OData-Version", "4.0")
		w.WriteHeader(http.StatusNoContent)
	default:
		writeResource(w, r, rt, k.set, res.AsSent(), status)
	}
}

// replaceResource creates or replaces a definition from the body of r. It returns the
// definition and the status.
func replaceResource[T described](s *Service, r *http.Request, rt routing.Route, name string, k *resourceKind[T]) (*shape.Resource, int, *reply.Error) {
	body, err := readAll(r)
	if err != nil {
		return nil, 0, err
	}
	next, err := k.parse(s, withName(body, name), rt.Version)
	if err != nil {
		return nil, 0, err
	}
	if given := next.Base().Name; given != name {
		return nil, 0, &reply.Error{
			Status:  http.StatusBadRequest,
			Message: "The " + k.noun + " name '" + given + "' in the request payload does not match the name '" + name + "' in the request URL.",
		}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	status, err := k.put(s, &s.Catalog, next, r.Header, rt)
	if err == nil && status == http.StatusCreated && k.created != nil {
		k.created(next)
	}
	return next.Base(), status, err
}

// withName adds the name of the address to a definition without one. Published examples leave
// it out.
func withName(body []byte, name string) []byte {
	var members map[string]json.RawMessage
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\ufeff")), " \t\r\n")
	if json.Unmarshal(trimmed, &members) != nil || trimmed[0] != '{' {
		return body // the parser will refuse it
	}
	if _, found := members["name"]; found {
		return body
	}
	rest := bytes.TrimLeft(trimmed[1:], " \t\r\n")
	out := reply.AppendString([]byte(`{"name":`), name)
	if rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, rest...)
}

// getResource answers GET /indexes('x').
func getResource[T described](s *Service, w http.ResponseWriter, r *http.Request, rt routing.Route, name string, k *resourceKind[T]) {
	var none T
	s.lock.RLock()
	found := k.find(&s.Catalog, name)
	s.lock.RUnlock()
	if found == none {
		reply.WriteError(w, r, k.missing(s, name))
		return
	}
	writeResource(w, r, rt, k.set, found.Base(), http.StatusOK)
}

// listResources answers GET /indexes, sorted by name.
func listResources[T described](s *Service, w http.ResponseWriter, r *http.Request, rt routing.Route, k *resourceKind[T]) {
	chosen, err := selectedMembers(rt, k.shape)
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	s.lock.RLock()
	all := k.list(&s.Catalog)
	s.lock.RUnlock()
	names := make([]string, len(all))
	for i, res := range all {
		names[i] = res.Name
	}
	page, next, err := pageOf(r, rt, names)
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	all = slices.DeleteFunc(all, func(res *shape.Resource) bool { _, found := slices.BinarySearch(page, res.Name); return !found })
	path := "/$metadata#" + k.set
	if chosen != nil {
		path += "(" + strings.Join(chosen, ",") + ")"
	}
	body := reply.AppendContext([]byte{'{'}, r, path)
	body = append(body, `"value":[`...)
	for i, res := range all {
		if i > 0 {
			body = append(body, ',')
		}
		if chosen == nil {
			body = res.AppendDefinition(body, rt.Version, string(appendETag(nil, res.ETag)))
		} else {
			body = res.Object.AppendSome(body, rt.Version, chosen)
		}
	}
	reply.WriteJSON(w, r, http.StatusOK, appendNextLink(append(body, ']'), next))
}

// deleteResource answers DELETE /indexes('x').
func deleteResource[T described](s *Service, w http.ResponseWriter, r *http.Request, rt routing.Route, name string, k *resourceKind[T]) {
	s.lock.Lock()
	err := k.drop(s, &s.Catalog, name, r.Header, rt.Version)
	s.lock.Unlock()
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// readAll reads the body of a request on definitions.
func readAll(r *http.Request) ([]byte, *reply.Error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, &reply.Error{Status: http.StatusBadRequest, Message: "The body of the request could not be read."}
	}
	return body, nil
}

// selectedMembers reads $select of a list. Nil means all members.
func selectedMembers(rt routing.Route, sh *shape.Shape) ([]string, *reply.Error) {
	text := strings.TrimSpace(rt.Query.Get("$select"))
	if text == "" {
		return nil, nil
	}
	var chosen []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "*" {
			return nil, nil
		}
		i := sh.Index(name)
		if i < 0 || !rt.Version.Has(sh.Members[i].Needs) {
			return nil, reply.InvalidExpression("Could not find a property named '"+name+"' on type '"+shape.ResourceType(rt.Version, sh.TypeName)+"'.", "$select")
		}
		if !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}

// writeResource answers with a definition. set is the collection in the address.
func writeResource(w http.ResponseWriter, r *http.Request, rt routing.Route, set string, res *shape.Resource, status int) {
	before := reply.AppendContext(nil, r, "/$metadata#"+set+"/$entity")
	before = appendETag(before, res.ETag)
	body := res.AppendDefinition(nil, rt.Version, string(before))
	setResourceHeaders(w, r, set, res, status)
	reply.WriteJSON(w, r, status, body)
}

// setResourceHeaders sets the headers with the entity tag and the address of a definition.
func setResourceHeaders(w http.ResponseWriter, r *http.Request, set string, res *shape.Resource, status int) {
	w.Header().Set("ETag", `W/"`+res.ETag+`"`)
	if status == http.StatusCreated {
		// Recorded: with the parameters of the request, in their original form.
		w.Header().Set("Location", reply.BaseURL(r)+"/"+set+"('"+res.Name+"')?"+r.URL.RawQuery)
	}
}
