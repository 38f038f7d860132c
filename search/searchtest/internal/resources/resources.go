// Package resources is for definitions: of indexes, with their documents, synonym maps, aliases, data sources,
// skillsets, indexers, knowledge sources and knowledge bases. It answers the requests about them.
package resources

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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

// ListedKinds are the kinds but indexes, in the order in which a snapshot has them:
// what others need comes first.
var ListedKinds = []ListedKind{synonymMapKind, aliasKind, dataSourceKind, skillsetKind, indexerKind, knowledgeSourceKind, knowledgeBaseKind}

// ListedKind is what a snapshot needs of a kind.
type ListedKind interface {
	SnapshotName() string
	AlwaysSaved() bool // as an empty list, if there are none
	list(c *Catalog) []*shape.Resource
	Restore(s *Service, c *Catalog, definition []byte) *reply.Error
}

func (k *resourceKind[T]) SnapshotName() string { return strings.ToLower(k.plural[:1]) + k.plural[1:] }
func (k *resourceKind[T]) AlwaysSaved() bool    { return k.set == "synonymmaps" || k.set == "aliases" }

// described is what is kept: something with a definition in it.
type described interface {
	comparable
	Base() *shape.Resource
}

// Catalog is everything that a service keeps by name.
type Catalog struct {
	indexes     map[string]*store.Index
	synonymMaps map[string]*synonymMap
	aliases     map[string]*alias
	indexers    map[string]*indexer

	dataSources, skillsets, knowledgeSources, knowledgeBases map[string]*definition
}

// Service keeps what a service keeps by name. All methods may be called from any number
// of goroutines.
type Service struct {
	Name           string // of the service, in messages
	StrictAnalysis bool   // indexes with analysis that is not emulated are refused
	Stored         store.Options

	etags   atomic.Uint64 // the last number given out by newETag
	lock    sync.RWMutex  // guards catalog
	Catalog               // indexes, synonym maps and so on
}

// NewService returns a service that keeps nothing yet.
func NewService(name string, strictAnalysis bool, stored store.Options) *Service {
	return &Service{Name: name, StrictAnalysis: strictAnalysis, Stored: stored, Catalog: NewCatalog()}
}

// Operation is an operation and what answers it.
type Operation struct {
	routing.Operation
	Serve Handler
}

// Handler answers the requests for an operation.
type Handler func(s *Service, w http.ResponseWriter, r *http.Request, rt routing.Route)

// Operations are the operations on what is kept. Each file appends its operations in an init function.
var Operations []Operation

// offer adds an operation. It gets no constant in package searchtest: faults scripts write its name as text.
func offer(name string, needs apiversion.Capability, reads bool, serve Handler, routes ...string) {
	Operations = append(Operations, Operation{routing.Operation{Name: name, Routes: routes, Needs: needs, Reads: reads}, serve})
}

// NewCatalog returns a catalog with nothing in it.
func NewCatalog() Catalog {
	return Catalog{
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
	named func(s *Service, rt routing.Route) string

	// How messages call it. The service is not consistent.
	noun    string // "synonym map"
	compact string // in one word, where it says that there was none to delete
	service string // what a service is called where there was none to read
	lost    string // code of newer versions for that there was none to delete, "" for none

	// parse reads and checks a definition as far as that takes no other.
	parse func(s *Service, body []byte, version apiversion.Version) (T, *reply.Error)
	// find returns what has that name, or nil.
	find func(c *Catalog, name string) T
	// names returns all names, in order.
	names func(c *Catalog) []string
	// keep checks next against everything else and puts it in the place of
	// current, which is nil if it is new. rt is the request. For a kind with a table
	// it only checks, and may be nil.
	keep func(s *Service, c *Catalog, next, current T, rt routing.Route) *reply.Error
	// remove removes what has that name, if nothing else needs it. For a kind with a
	// table it only checks, and may be nil.
	remove func(s *Service, c *Catalog, name string) *reply.Error

	// absent, when set, words the refusal to read what is not there, for a
	// message that begins like no other.
	absent func(s *Service, name string) *reply.Error
	gone   bool // absent words the refusal to delete it as well
}

// in completes a kind whose definitions are all in one table of the catalog.
func (k *resourceKind[T]) in(table func(c *Catalog) map[string]T) *resourceKind[T] {
	k.find = func(c *Catalog, name string) T { return table(c)[name] }
	k.names = func(c *Catalog) []string { return sortedKeys(table(c)) }
	check, needed := k.keep, k.remove
	k.keep = func(s *Service, c *Catalog, next, current T, rt routing.Route) *reply.Error {
		if check != nil {
			if err := check(s, c, next, current, rt); err != nil {
				return err
			}
		}
		table(c)[next.Base().Name] = next
		return nil
	}
	k.remove = func(s *Service, c *Catalog, name string) *reply.Error {
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

// offerAll offers the operations on the definitions of the kind.
func (k *resourceKind[T]) offerAll() {
	wildcard := "{name}"
	if k.set == "indexes" {
		wildcard = "{index}"
	}
	all, one := " /"+k.set, " /"+k.set+"/"+wildcard
	for name, route := range map[string]string{
		"create" + k.title: http.MethodPost + all, "list" + k.plural: http.MethodGet + all,
		"get" + k.title: http.MethodGet + one, "createOrUpdate" + k.title: http.MethodPut + one, "delete" + k.title: http.MethodDelete + one,
	} {
		offer(name, k.needs, false, k.serve, route)
	}
}

// add puts the definition of something new into the catalog.
func (k *resourceKind[T]) add(s *Service, c *Catalog, next T, rt routing.Route) *reply.Error {
	var none T
	if name := next.Base().Name; k.find(c, name) != none {
		return nameTaken(k.noun, strings.ToUpper(k.compact[:1])+k.compact[1:], name, "it already exists")
	}
	next.Base().ETag = s.newETag()
	return k.keep(s, c, next, none, rt)
}

// put puts the definition in, new or in the place of the one there is, if the
// conditions in h hold. It returns the status that says which of the two it was.
func (k *resourceKind[T]) put(s *Service, c *Catalog, next T, h http.Header, rt routing.Route) (int, *reply.Error) {
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
func (k *resourceKind[T]) drop(s *Service, c *Catalog, name string, h http.Header, version apiversion.Version) *reply.Error {
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
			Message: "No " + k.compact + " with the name '" + name + "' was found in a service named '" + s.Name + "'.",
		}
		if k.lost == "" || !version.Has(apiversion.CodedErrors) {
			return e
		}
		return e.WithCode("OperationNotAllowed", k.lost)
	}
	return k.remove(s, c, name)
}

// list returns the definitions of all there are, by name.
func (k *resourceKind[T]) list(c *Catalog) []*shape.Resource {
	names := k.names(c)
	out := make([]*shape.Resource, len(names))
	for i, name := range names {
		out[i] = k.find(c, name).Base()
	}
	return out
}

// missing is the refusal to read what is not there.
func (k *resourceKind[T]) missing(s *Service, name string) *reply.Error {
	if k.absent != nil {
		return k.absent(s, name)
	}
	return &reply.Error{
		Status:  http.StatusNotFound,
		Message: "No " + k.noun + " with the name '" + name + "' was found in " + k.service + " '" + s.Name + "'.",
	}
}

// restore puts a definition of a snapshot into a catalog.
func (k *resourceKind[T]) Restore(s *Service, c *Catalog, definition []byte) *reply.Error {
	next, err := k.parse(s, definition, apiversion.All())
	if err != nil {
		return err
	}
	return k.add(s, c, next, routing.Route{Version: apiversion.All()})
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
func create[T described](s *Service, k *resourceKind[T], body []byte, version apiversion.Version) (T, *reply.Error) {
	var none T
	next, err := k.parse(s, body, version)
	if err != nil {
		return none, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if err := k.add(s, &s.Catalog, next, routing.Route{Version: version}); err != nil {
		return none, err
	}
	return next, nil
}

// Everything is what is kept at one moment: the indexes by name, and the definitions of
// each of ListedKinds.
func (s *Service) Everything() (indexes []*store.Index, lists [][]*shape.Resource) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	for _, name := range sortedKeys(s.indexes) {
		indexes = append(indexes, s.indexes[name])
	}
	for _, k := range ListedKinds {
		lists = append(lists, k.list(&s.Catalog))
	}
	return indexes, lists
}

// Replace replaces everything.
func (s *Service) Replace(c Catalog) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.Catalog = c
}

// newETag returns a new entity tag in the bare form, for example
// `0x8D84B88FBE4789D`: quotes and the W/ of the header are the caller's.
func (s *Service) newETag() string {
	// Real tags are the time in ticks. Ours count up, so that runs are
	// repeatable and two changes in one instant of a synctest bubble differ.
	return fmt.Sprintf("0x8D%013X", 0x84B88FBE40000+s.etags.Add(1))
}

// sortedKeys returns the keys of m in order.
func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
