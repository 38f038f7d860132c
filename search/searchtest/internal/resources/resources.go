// Package resources keeps the definitions of a service and answers the requests about them: indexes with their
// documents, synonym maps, aliases, data sources, skillsets, indexers, knowledge sources and knowledge bases.
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

// This file and serve.go have the code that all kinds of definitions share. A new kind needs
// one file, such as datasources.go, and its name in Catalog, NewCatalog and ListedKinds.

// definition is a resource without any state besides its definition.
type definition struct{ shape.Resource }

// ListedKinds are the kinds except indexes, in the order of a snapshot: a kind comes after
// those that it refers to.
var ListedKinds = []ListedKind{synonymMapKind, aliasKind, dataSourceKind, skillsetKind, indexerKind, knowledgeSourceKind, knowledgeBaseKind}

// ListedKind is the part of a kind that snapshots use.
type ListedKind interface {
	SnapshotName() string
	AlwaysSaved() bool // written even if there are none, as an empty list
	list(c *Catalog) []*shape.Resource
	Restore(s *Service, c *Catalog, definition []byte) *reply.Error
}

func (k *resourceKind[T]) SnapshotName() string { return strings.ToLower(k.plural[:1]) + k.plural[1:] }
func (k *resourceKind[T]) AlwaysSaved() bool    { return k.set == "synonymmaps" || k.set == "aliases" }

// described is a resource with a definition.
type described interface {
	comparable
	Base() *shape.Resource
}

// Catalog is everything that a service keeps, by name.
type Catalog struct {
	indexes     map[string]*store.Index
	synonymMaps map[string]*synonymMap
	aliases     map[string]*alias
	indexers    map[string]*indexer

	dataSources, skillsets, knowledgeSources, knowledgeBases map[string]*definition

	// restoring is true while a definition of a snapshot is added. What it refers to may be missing or may not fit,
	// because the service allows deleting that.
	restoring bool
}

// Service keeps a Catalog and answers the requests about it. All methods may be called from
// any number of goroutines.
type Service struct {
	Name           string // of the service, in messages
	StrictAnalysis bool   // refuses indexes with text analysis that is not emulated
	Stored         store.Options

	etags   atomic.Uint64 // the last number used by newETag
	lock    sync.RWMutex  // guards catalog
	Catalog               // indexes, synonym maps and so on
}

// NewService returns a service with an empty catalog.
func NewService(name string, strictAnalysis bool, stored store.Options) *Service {
	return &Service{Name: name, StrictAnalysis: strictAnalysis, Stored: stored, Catalog: NewCatalog()}
}

// Operation is an operation with its handler.
type Operation struct {
	routing.Operation
	Serve Handler
}

// Handler answers the requests for an operation.
type Handler func(s *Service, w http.ResponseWriter, r *http.Request, rt routing.Route)

// Operations are the operations on definitions. Each file with a handler appends them in an init function.
var Operations []Operation

// offer adds an operation. It gets no constant in package searchtest: faults scripts write its name as text.
func offer(name string, needs apiversion.Capability, reads bool, serve Handler, routes ...string) {
	Operations = append(Operations, Operation{routing.Operation{Name: name, Routes: routes, Needs: needs, Reads: reads}, serve})
}

// NewCatalog returns an empty catalog.
func NewCatalog() Catalog {
	return Catalog{
		indexes: make(map[string]*store.Index), synonymMaps: make(map[string]*synonymMap), aliases: make(map[string]*alias), indexers: make(map[string]*indexer),
		dataSources: make(map[string]*definition), skillsets: make(map[string]*definition),
		knowledgeSources: make(map[string]*definition), knowledgeBases: make(map[string]*definition),
	}
}

// resourceKind describes a kind of definitions by the differences between kinds.
type resourceKind[T described] struct {
	set   string // the collection in addresses: "synonymmaps"
	shape *shape.Shape

	// title and plural are the nouns in the names of its operations: "Alias", "Aliases".
	title, plural string
	needs         apiversion.Capability // of its operations
	// named returns the name of the definition to read or replace. If nil, it is the name in
	// the address.
	named func(s *Service, rt routing.Route) string

	// The nouns in messages. The service is not consistent.
	noun    string // "synonym map"
	compact string // in one word, in the refusal to delete a missing definition
	service string // the noun for the service in the refusal to read a missing definition
	lost    string // code of newer versions for the refusal to delete a missing definition, "" for none

	// parse reads a definition and makes all checks that need no other definition.
	parse func(s *Service, body []byte, version apiversion.Version) (T, *reply.Error)
	// find returns the definition of that name, or nil.
	find func(c *Catalog, name string) T
	// names returns all names, sorted.
	names func(c *Catalog) []string
	// keep checks next against all other definitions and replaces current with it; current is
	// nil for a new definition. rt is the route of the request. For a kind with a table keep
	// only checks, and may be nil.
	keep func(s *Service, c *Catalog, next, current T, rt routing.Route) *reply.Error
	// created is called under the lock for a definition that a request has created, not for one
	// of a snapshot. It may be nil.
	created func(x T)
	// remove removes a definition unless another one refers to it. For a kind with a table
	// it only checks, and may be nil.
	remove func(s *Service, c *Catalog, name string) *reply.Error

	// absent returns the refusal to read a missing definition, if the kind has its own text.
	// It may be nil.
	absent func(s *Service, name string) *reply.Error
	gone   bool // absent is also the refusal to delete a missing definition
}

// in completes a kind whose definitions are all in one map of the catalog.
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

// add adds a new definition to the catalog.
func (k *resourceKind[T]) add(s *Service, c *Catalog, next T, rt routing.Route) *reply.Error {
	var none T
	if name := next.Base().Name; k.find(c, name) != none {
		return nameTaken(k.noun, strings.ToUpper(k.compact[:1])+k.compact[1:], name, "it already exists")
	}
	next.Base().ETag = s.newETag()
	return k.keep(s, c, next, none, rt)
}

// put adds a definition or replaces the current one, if the conditions in h hold. It returns
// 201 for a new definition and otherwise 200.
func (k *resourceKind[T]) put(s *Service, c *Catalog, next T, h http.Header, rt routing.Route) (int, *reply.Error) {
	var none T
	current, etag, status := k.find(c, next.Base().Name), "", http.StatusCreated
	if current != none {
		etag, status = current.Base().ETag, http.StatusOK
	}
	if !conditionsHold(h, etag) {
		return 0, preconditionFailed()
	}
	// Before keep, because indexes are read without a lock.
	next.Base().ETag = s.newETag()
	return status, k.keep(s, c, next, current, rt)
}

// drop removes a definition if the conditions in h hold.
func (k *resourceKind[T]) drop(s *Service, c *Catalog, name string, h http.Header, version apiversion.Version) *reply.Error {
	var none T
	current, etag := k.find(c, name), ""
	if current != none {
		etag = current.Base().ETag
	}
	switch {
	case !conditionsHold(h, etag):
		// Recorded: If-Match is checked first, even if the definition is missing.
		return preconditionFailed()
	case current == none && k.gone:
		return k.absent(s, name)
	case current == none:
		// Recorded: the text differs slightly from that of other operations.
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

// list returns all definitions, sorted by name.
func (k *resourceKind[T]) list(c *Catalog) []*shape.Resource {
	names := k.names(c)
	out := make([]*shape.Resource, len(names))
	for i, name := range names {
		out[i] = k.find(c, name).Base()
	}
	return out
}

// missing returns the refusal to read a missing definition.
func (k *resourceKind[T]) missing(s *Service, name string) *reply.Error {
	if k.absent != nil {
		return k.absent(s, name)
	}
	return &reply.Error{
		Status:  http.StatusNotFound,
		Message: "No " + k.noun + " with the name '" + name + "' was found in " + k.service + " '" + s.Name + "'.",
	}
}

// Restore adds a definition of a snapshot to a catalog.
func (k *resourceKind[T]) Restore(s *Service, c *Catalog, definition []byte) *reply.Error {
	next, err := k.parse(s, definition, apiversion.All())
	if err != nil {
		return err
	}
	c.restoring = true
	defer func() { c.restoring = false }()
	return k.add(s, c, next, routing.Route{Version: apiversion.All()})
}

// nameTaken returns the refusal to create a definition whose name is in use. typ is its noun
// in the code.
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
	if k.created != nil {
		k.created(next)
	}
	return next, nil
}

// Everything returns the state at one moment: the indexes sorted by name, and the definitions
// of each of ListedKinds.
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

// Replace replaces the catalog.
func (s *Service) Replace(c Catalog) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.Catalog = c
}

// newETag returns a new entity tag in the bare form, such as `0x8D84B88FBE4789D`. The caller
// adds quotes and the W/ of the header.
func (s *Service) newETag() string {
	// Tags of the service are times in ticks. These are counters, so runs are repeatable and
	// two changes at the same instant of a synctest bubble differ.
	return fmt.Sprintf("0x8D%013X", 0x84B88FBE40000+s.etags.Add(1))
}

// sortedKeys returns the sorted keys of m.
func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
