package resources

import (
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
)

func init() { indexKind.offerAll() }

// indexKind describes indexes, by their current definitions.
var indexKind = &resourceKind[*schema.Index]{
	set:     "indexes",
	shape:   &schema.Shape,
	title:   "Index",
	plural:  "Indexes",
	named:   (*Service).definedIndex,
	noun:    "index",
	compact: "index",
	service: "the service",
	lost:    "IndexNotFoundInService",
	parse:   parseIndex,
	find: func(c *Catalog, name string) *schema.Index {
		if ix, ok := c.indexes[name]; ok {
			return ix.Definition()
		}
		return nil
	},
	names:  func(c *Catalog) []string { return sortedKeys(c.indexes) },
	keep:   keepIndex,
	remove: removeIndex,
}

// parseIndex reads the definition of an index.
func parseIndex(s *Service, body []byte, version apiversion.Version) (*schema.Index, *reply.Error) {
	sc, err := schema.Compile(body, version)
	if err == nil && sc.DefinesAnalysis() {
		if _, fault := sc.Components(); fault != nil {
			err = sc.Parsed.Refuse("InvalidAnalysisComponent", strings.ReplaceAll(fault.Error(), "\n", " ")+".")
		}
	}
	if err == nil && s.StrictAnalysis {
		err = sc.UnsupportedAnalysis()
	}
	if err != nil {
		return nil, err
	}
	return sc, nil
}

// keepIndex adds an index to the catalog, or replaces the definition of an existing one.
func keepIndex(s *Service, c *Catalog, next, current *schema.Index, rt routing.Route) *reply.Error {
	downtime, err := downtimeAllowed(rt)
	if err != nil {
		return err
	}
	for _, f := range next.Texts {
		for _, name := range f.Definition.Strings("synonymMaps") {
			if c.synonymMaps[name] == nil {
				return next.Parsed.Refuse("SynonymMapNotFound", "The synonym map '"+name+"' specified in the field '"+f.Path+"' does not exist.")
			}
		}
	}
	if current != nil {
		if err := schema.UpdateFault(current.Parsed, next.Parsed, downtime, s.Name); err != nil {
			return err
		}
		c.indexes[next.Name].SetSchema(next)
		return nil
	}
	if c.aliases[next.Name] != nil {
		return nameTaken("index", "Index", next.Name, "an alias has that name")
	}
	c.indexes[next.Name] = store.New(next, s.Stored)
	return nil
}

// removeIndex removes an index with its documents.
func removeIndex(s *Service, c *Catalog, name string) *reply.Error {
	if names := c.aliasesOf(name); len(names) > 0 {
		e := &reply.Error{
			Status: http.StatusBadRequest,
			Message: "The index '" + name + "' in service '" + s.Name + "' cannot be deleted because the following alias(es) map to it: '" + strings.Join(names, "', '") +
				"'. Please update the alias(es) to map to a different index or delete them before trying again.",
		}
		return e.WithCode("OperationNotAllowed", "CannotDeleteIndex")
	}
	delete(c.indexes, name)
	return nil
}

// AddIndex creates an index from the JSON of its definition.
func (s *Service) AddIndex(body []byte, version apiversion.Version) (*schema.Index, *reply.Error) {
	return create(s, indexKind, body, version)
}

// RestoreIndex adds an index of a snapshot to a catalog, without documents. It may refer to
// synonym maps that do not exist.
func (s *Service) RestoreIndex(c *Catalog, definition []byte, version apiversion.Version) (*store.Index, *reply.Error) {
	sc, err := parseIndex(s, definition, version)
	if err != nil {
		return nil, err
	}
	if c.indexes[sc.Name] != nil {
		return nil, &reply.Error{Message: "there are two indexes named '" + sc.Name + "'"}
	}
	sc.ETag = s.newETag()
	ix := store.New(sc, s.Stored)
	c.indexes[sc.Name] = ix
	return ix, nil
}

// downtimeAllowed reads the parameter allowIndexDowntime.
func downtimeAllowed(rt routing.Route) (bool, *reply.Error) {
	switch value := strings.ToLower(rt.Query.Get("allowIndexDowntime")); value {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	default:
		return false, &reply.Error{
			Status:  http.StatusBadRequest,
			Message: "The value '" + value + "' is not valid for the query parameter 'allowIndexDowntime'. It must be 'true' or 'false'.",
		}
	}
}

// LookupIndex returns an index by its name.
func (s *Service) LookupIndex(name string) (*store.Index, bool) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	ix, ok := s.indexes[name]
	return ix, ok
}

// RequestedIndex returns the index of a request on documents, by its name or by an alias.
func (s *Service) RequestedIndex(rt routing.Route) (*store.Index, *reply.Error) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	ix, ok := s.indexes[s.indexName(rt)]
	if !ok {
		// Users of all versions report this text, which differs from that of requests on
		// definitions.
		return nil, &reply.Error{
			Status:  http.StatusNotFound,
			Message: "The index '" + rt.Index + "' for service '" + s.Name + "' was not found.",
		}
	}
	return ix, nil
}

// NoSuchIndex returns the refusal of a request on an index that does not exist.
func (s *Service) NoSuchIndex(name string) *reply.Error { return indexKind.missing(s, name) }
