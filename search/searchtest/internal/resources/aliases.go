package resources

import (
	"net/http"
	"slices"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

// alias is a second name for an index. Requests may use it to read and write documents, and
// to read and update the definition of the index, but not to delete the index or to analyze
// text.
type alias struct {
	shape.Resource
	index string
}

var aliasShape = shape.Shape{TypeName: "Alias", Members: []shape.Property{
	shape.Text("name").Must(),
	shape.Texts("indexes").Must(),
}}

func init() { aliasKind.offerAll() }

// aliasKind describes aliases.
var aliasKind = (&resourceKind[*alias]{
	set:     "aliases",
	shape:   &aliasShape,
	title:   "Alias",
	plural:  "Aliases",
	needs:   apiversion.Aliases,
	noun:    "alias",
	compact: "alias",
	service: "service",
	parse:   parseAlias,
	keep:    checkAlias,
	absent: func(s *Service, name string) *reply.Error {
		e := &reply.Error{
			Status: http.StatusNotFound,
			Message: "The index alias needs to be a valid alias. Alias – '" + name + "' cannot be found within the search service – '" + s.Name +
				"'. Learn more at https://aka.ms/azurecognitivesearchgetalias",
		}
		return e.WithCode("OperationNotAllowed", "IndexAliasNotFoundInService")
	},
}).in(func(c *Catalog) map[string]*alias { return c.aliases })

// parseAlias reads the definition of an alias.
func parseAlias(s *Service, body []byte, version apiversion.Version) (*alias, *reply.Error) {
	p := shape.NewParser("alias", version)
	object, err := p.Read(body, &aliasShape)
	if err != nil {
		return nil, err
	}
	a := &alias{Resource: shape.Resource{Name: object.Str("name"), Object: object}}
	if refusal.Name("Alias", a.Name, 1) != "" {
		const reason = "Index alias name must only contain lowercase letters, digits or dashes, cannot start or end with dashes and is limited to 128 characters."
		return nil, &reply.Error{
			Status: http.StatusBadRequest, Code: "InvalidName", Message: "The request is invalid. Details: alias : " + reason,
			Details: []reply.Detail{{Code: "InvalidIndexAliasName", Message: reason + " Parameters: alias"}},
		}
	}
	switch indexes := object.Strings("indexes"); len(indexes) {
	case 0:
		return nil, s.badAlias("An index alias must be mapped to an index. Alias - '" + a.Name + "' is mapped to none within the search service - '")
	case 1:
		a.index = indexes[0]
		return a, nil
	}
	return nil, s.badAlias("An index alias can be mapped to a single index within the search service. Alias - '" + a.Name +
		"' is being mapped to more than one index within the search service - '")
}

// badAlias refuses an alias that does not stand for an index. The reason must end where the
// name of the service follows.
func (s *Service) badAlias(reason string) *reply.Error {
	e := &reply.Error{Status: http.StatusBadRequest, Code: "InvalidRequestParameter", Message: reply.InvalidAlias}
	e.Details = []reply.Detail{{
		Code:    "InvalidIndexAliasMapping",
		Message: reason + s.Name + "'. Learn more at https://aka.ms/azurecognitivesearchcreateupdatealias",
	}}
	return e
}

// checkAlias checks that the index of an alias exists and that no index has the alias's name.
func checkAlias(s *Service, c *Catalog, next, _ *alias, _ routing.Route) *reply.Error {
	if c.indexes[next.Name] != nil {
		return nameTaken("alias", "Alias", next.Name, "an index has that name")
	}
	if c.indexes[next.index] == nil {
		return s.badAlias("An index alias can be created on an existing index. Index – '" + next.index + "' was not found within the search service – '")
	}
	return nil
}

// aliasesOf returns the sorted names of the aliases of an index.
func (c *Catalog) aliasesOf(index string) []string {
	return slices.DeleteFunc(sortedKeys(c.aliases), func(name string) bool { return c.aliases[name].index != index })
}

// indexName returns the name of the index of a request, which may contain an alias. The lock
// of the service must be held.
func (c *Catalog) indexName(rt routing.Route) string {
	if a := c.aliases[rt.Index]; a != nil && rt.Version.Has(apiversion.Aliases) {
		return a.index
	}
	return rt.Index
}

// definedIndex is indexName for requests that read or update a definition.
func (s *Service) definedIndex(rt routing.Route) string {
	s.lock.RLock()
	defer s.lock.RUnlock()
	return s.indexName(rt)
}
