package searchtest

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
)

// What all kinds of definitions have in common is in this file and in
// resources_serve.go; a new kind is one file, as datasources.go, and its name in
// catalog, newCatalog and listedKinds.

// definition is a resource that is nothing but its definition.
type definition struct{ shape.Resource }

// listedKinds are the kinds but indexes, in the order in which a snapshot has them:
// what others need comes first.
var listedKinds = []listedKind{synonymMapKind, aliasKind, dataSourceKind, skillsetKind, indexerKind, knowledgeSourceKind, knowledgeBaseKind}

// listedKind is what a snapshot needs of a kind.
type listedKind interface {
	snapshotName() string
	alwaysSaved() bool // as an empty list, if there are none
	list(c *catalog) []*shape.Resource
	restore(p *snapshotReader) bool
}

func (k *resourceKind[T]) snapshotName() string { return strings.ToLower(k.plural[:1]) + k.plural[1:] }
func (k *resourceKind[T]) alwaysSaved() bool    { return k.set == "synonymmaps" || k.set == "aliases" }

// described is what is kept: something with a definition in it.
type described interface {
	comparable
	Base() *shape.Resource
}

// catalog is everything that a service keeps by name.
type catalog struct {
	indexes     map[string]*store.Index
	synonymMaps map[string]*synonymMap
	aliases     map[string]*alias
	indexers    map[string]*indexer

	dataSources, skillsets, knowledgeSources, knowledgeBases map[string]*definition
}

func newCatalog() catalog {
	return catalog{
		indexes: make(map[string]*store.Index), synonymMaps: make(map[string]*synonymMap), aliases: make(map[string]*alias), indexers: make(map[string]*indexer),
		dataSources: make(map[string]*definition), skillsets: make(map[string]*definition),
		knowledgeSources: make(map[string]*definition), knowledgeBases: make(map[string]*definition),
	}
}

// resourceKind is what the kinds differ in.
type resourceKind[T described] struct {
	set   string // the collection in addresses: "synonymmaps"
	shape *shape.Shape

	// title and plural are its nouns in the names of its operations: "Alias", "Aliases".
	title, plural string
	needs         apiversion.Capability // of its operations
	// named, when set, returns the name of what a request reads or replaces; otherwise
	// it is that of the address.
	named func(s *Server, rt routing.Route) string

	// How messages call it. The service is not consistent.
	noun    string // "synonym map"
	compact string // in one word, where it says that there was none to delete
	service string // what a service is called where there was none to read
	lost    string // code of newer versions for that there was none to delete, "" for none

	// parse reads and checks a definition as far as that takes no other.
	parse func(s *Server, body []byte, version apiversion.Version) (T, *reply.Error)
	// find returns what has that name, or nil.
	find func(c *catalog, name string) T
	// names returns all names, in order.
	names func(c *catalog) []string
	// keep checks next against everything else and puts it in the place of
	// current, which is nil if it is new. rt is the request. For a kind with a table
	// it only checks, and may be nil.
	keep func(s *Server, c *catalog, next, current T, rt routing.Route) *reply.Error
	// remove removes what has that name, if nothing else needs it. For a kind with a
	// table it only checks, and may be nil.
	remove func(s *Server, c *catalog, name string) *reply.Error

	// absent, when set, words the refusal to read what is not there, for a
	// message that begins like no other.
	absent func(s *Server, name string) *reply.Error
	gone   bool // absent words the refusal to delete it as well
}

// in completes a kind whose definitions are all in one table of the catalog.
func (k *resourceKind[T]) in(table func(c *catalog) map[string]T) *resourceKind[T] {
	k.find = func(c *catalog, name string) T { return table(c)[name] }
	k.names = func(c *catalog) []string { return sortedKeys(table(c)) }
	check, needed := k.keep, k.remove
	k.keep = func(s *Server, c *catalog, next, current T, rt routing.Route) *reply.Error {
		if check != nil {
			if err := check(s, c, next, current, rt); err != nil {
				return err
			}
		}
		table(c)[next.Base().Name] = next
		return nil
	}
	k.remove = func(s *Server, c *catalog, name string) *reply.Error {
		if needed != nil {
			if err := needed(s, c, name); err != nil {
				return err
			}
		}
		delete(table(c), name)
		return nil
	}
	return k
}

// register registers the operations on the definitions of the kind.
func (k *resourceKind[T]) register() {
	wildcard := "{name}"
	if k.set == "indexes" {
		wildcard = "{index}"
	}
	all, one := " /"+k.set, " /"+k.set+"/"+wildcard
	for name, route := range map[string]string{
		"create" + k.title: http.MethodPost + all, "list" + k.plural: http.MethodGet + all,
		"get" + k.title: http.MethodGet + one, "createOrUpdate" + k.title: http.MethodPut + one, "delete" + k.title: http.MethodDelete + one,
	} {
		register(operation{name: Operation(name), needs: k.needs, routes: []string{route}, serve: k.serve})
	}
}

// add puts the definition of something new into the catalog.
func (k *resourceKind[T]) add(s *Server, c *catalog, next T, rt routing.Route) *reply.Error {
	var none T
	if name := next.Base().Name; k.find(c, name) != none {
		return nameTaken(k.noun, strings.ToUpper(k.compact[:1])+k.compact[1:], name, "it already exists")
	}
	next.Base().ETag = s.newETag()
	return k.keep(s, c, next, none, rt)
}

// put puts the definition in, new or in the place of the one there is, if the
// conditions in h hold. It returns the status that says which of the two it was.
func (k *resourceKind[T]) put(s *Server, c *catalog, next T, h http.Header, rt routing.Route) (int, *reply.Error) {
	var none T
	current, etag, status := k.find(c, next.Base().Name), "", http.StatusCreated
	if current != none {
		etag, status = current.Base().ETag, http.StatusOK
	}
	if !conditionsHold(h, etag) {
		return 0, preconditionFailed()
	}
	// Before it is kept: indexes are read without a lock.
	next.Base().ETag = s.newETag()
	return status, k.keep(s, c, next, current, rt)
}

// drop removes what has that name if the conditions in h hold.
func (k *resourceKind[T]) drop(s *Server, c *catalog, name string, h http.Header, version apiversion.Version) *reply.Error {
	var none T
	current, etag := k.find(c, name), ""
	if current != none {
		etag = current.Base().ETag
	}
	switch {
	case !conditionsHold(h, etag):
		// Recorded: also for what is not there, If-Match goes first.
		return preconditionFailed()
	case current == none && k.gone:
		return k.absent(s, name)
	case current == none:
		// Recorded: not quite the words of the other operations.
		e := &reply.Error{
			Status:  http.StatusNotFound,
			Message: "No " + k.compact + " with the name '" + name + "' was found in a service named '" + s.opts.ServiceName + "'.",
		}
		if k.lost == "" || !version.Has(apiversion.CodedErrors) {
			return e
		}
		return e.WithCode("OperationNotAllowed", k.lost)
	}
	return k.remove(s, c, name)
}

// list returns the definitions of all there are, by name.
func (k *resourceKind[T]) list(c *catalog) []*shape.Resource {
	names := k.names(c)
	out := make([]*shape.Resource, len(names))
	for i, name := range names {
		out[i] = k.find(c, name).Base()
	}
	return out
}

// missing is the refusal to read what is not there.
func (k *resourceKind[T]) missing(s *Server, name string) *reply.Error {
	if k.absent != nil {
		return k.absent(s, name)
	}
	return &reply.Error{
		Status:  http.StatusNotFound,
		Message: "No " + k.noun + " with the name '" + name + "' was found in " + k.service + " '" + s.opts.ServiceName + "'.",
	}
}

// nameTaken is the refusal to create something whose name is in use. typ is its
// noun as a part of a code.
func nameTaken(noun, typ, name, why string) *reply.Error {
	reason := "Cannot create " + noun + " '" + name + "' because " + why + "."
	return &reply.Error{
		Status: http.StatusConflict, Code: "ResourceNameAlreadyInUse", Message: reason,
		Details: []reply.Detail{{Code: "CannotCreateExisting" + typ, Message: reason}},
	}
}

// create creates a resource from the JSON of its definition.
func create[T described](s *Server, k *resourceKind[T], body []byte, version apiversion.Version) (T, *reply.Error) {
	var none T
	next, err := k.parse(s, body, version)
	if err != nil {
		return none, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := k.add(s, &s.catalog, next, routing.Route{Version: version}); err != nil {
		return none, err
	}
	return next, nil
}

// sortedKeys returns the keys of m in order.
func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
