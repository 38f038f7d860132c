package resources

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

func init() {
	knowledgeSourceKind.offerAll()
	knowledgeBaseKind.offerAll()
	offer("knowledgeSourceStatus", apiversion.KnowledgeBases, false, (*Service).knowledgeSourceStatus, "GET /knowledgesources/{name}/status")
	offer("knowledgeSourceFiles", apiversion.KnowledgeFiles, false, notServed("files of knowledge sources", knowledgeSourceKind),
		"GET /knowledgesources/{name}/files", "POST /knowledgesources/{name}/files",
		"PUT /knowledgesources/{name}/files/{key}", "DELETE /knowledgesources/{name}/files/{key}")
	offer("retrieve", apiversion.KnowledgeBases, true, notServed("retrieval from knowledge bases", knowledgeBaseKind), "POST /knowledgebases/{name}/retrieve")
}

// knowledgeSourceKind describes knowledge sources. Sources that ingest data create no index,
// indexer, data source or skillset.
var knowledgeSourceKind = (&resourceKind[*definition]{
	set:     "knowledgesources",
	shape:   &knowledgeSourceShape,
	title:   "KnowledgeSource",
	plural:  "KnowledgeSources",
	needs:   apiversion.KnowledgeBases,
	noun:    "knowledge source",
	compact: "knowledgeSource",
	service: "service",
	parse:   parseKnowledgeSource,
	keep:    checkKnowledgeSource,
	remove:  knowledgeSourceUnused,
}).in(func(c *Catalog) map[string]*definition { return c.knowledgeSources })

// knowledgeBaseKind describes knowledge bases.
var knowledgeBaseKind = (&resourceKind[*definition]{
	set:     "knowledgebases",
	shape:   &knowledgeBaseShape,
	title:   "KnowledgeBase",
	plural:  "KnowledgeBases",
	needs:   apiversion.KnowledgeBases,
	noun:    "knowledge base",
	compact: "knowledgeBase",
	service: "service",
	parse:   parseKnowledgeBase,
	keep:    checkKnowledgeBase,
}).in(func(c *Catalog) map[string]*definition { return c.knowledgeBases })

// Other members of a source depend on its kind and are stored unchecked.
var knowledgeSourceShape = shape.Shape{TypeName: "KnowledgeSource", Open: true, Members: []shape.Property{
	shape.Text("name").Must(),
	shape.Text("kind").Must(),
	shape.Text("description"),
	shape.ObjectOf("encryptionKey", &schema.EncryptionKey),
}}

var knowledgeBaseShape = shape.Shape{TypeName: "KnowledgeBase", Open: true, Members: []shape.Property{
	shape.Text("name").Must(),
	shape.Text("description"),
	shape.ListOf("knowledgeSources", &shape.Shape{TypeName: "KnowledgeSourceReference", Open: true, Members: []shape.Property{shape.Text("name").Must()}}).Must(),
	shape.ObjectOf("encryptionKey", &schema.EncryptionKey),
}}

// knowledgeSourceKinds are the kinds of all versions.
var knowledgeSourceKinds = strings.Fields(`
azureBlob fabricDataAgent fabricOntology file indexedOneLake indexedSharePoint indexedSql mcpServer remoteSharePoint searchIndex
web workIQ
`)

func parseKnowledgeSource(_ *Service, body []byte, version apiversion.Version) (*definition, *reply.Error) {
	p := shape.NewParser("knowledgeSource", version)
	object, err := p.Read(body, &knowledgeSourceShape)
	if err != nil {
		return nil, err
	}
	name, kind := object.Str("name"), object.Str("kind")
	if reason := refusal.Name("Knowledge source", name, 1); reason != "" {
		return nil, p.Refuse("InvalidName", "Invalid knowledge source name: "+reason)
	}
	if !slices.Contains(knowledgeSourceKinds, kind) {
		return nil, p.Refuse("InvalidKnowledgeSource", "The kind '"+kind+"' of the knowledge source '"+name+"' is not valid. Supported values are: "+strings.Join(knowledgeSourceKinds, ", ")+".")
	}
	if kind == "searchIndex" && sourceIndex(object) == "" {
		return nil, p.Refuse("MissingRequiredProperty", "The property 'searchIndexName' of 'searchIndexParameters' is required and cannot be null.")
	}
	return &definition{shape.Resource{Name: name, Object: object}}, nil
}

// sourceIndex returns the index that a knowledge source reads, "" if it names none.
func sourceIndex(source *shape.Object) string {
	parameters, _ := source.Others.Get("searchIndexParameters").(*shape.Members)
	name, _ := parameters.Get("searchIndexName").(string)
	return name
}

func checkKnowledgeSource(_ *Service, c *Catalog, next, current *definition, rt routing.Route) *reply.Error {
	p := shape.NewParser("knowledgeSource", rt.Version)
	if name := sourceIndex(next.Object); name != "" && c.indexes[name] == nil && !c.restoring {
		return p.Refuse("IndexNotFound", "The knowledge source '"+next.Name+"' refers to an index '"+name+"' that does not exist.")
	}
	if current != nil && current.Object.Str("kind") != next.Object.Str("kind") {
		return p.Refuse("InvalidKnowledgeSource", "The kind of the knowledge source '"+next.Name+"' cannot be changed.")
	}
	return nil
}

// knowledgeSourceUnused refuses to remove a source that a knowledge base names.
func knowledgeSourceUnused(s *Service, c *Catalog, name string) *reply.Error {
	var users []string
	for _, base := range sortedKeys(c.knowledgeBases) {
		if schema.Named(c.knowledgeBases[base].Object.Objects("knowledgeSources"), name) != nil {
			users = append(users, base)
		}
	}
	if len(users) == 0 {
		return nil
	}
	e := &reply.Error{
		Status: http.StatusBadRequest,
		Message: "The knowledge source '" + name + "' in service '" + s.Name + "' cannot be deleted because the following knowledge base(s) use it: '" +
			strings.Join(users, "', '") + "'.",
	}
	return e.WithCode("OperationNotAllowed", "CannotDeleteKnowledgeSource")
}

func parseKnowledgeBase(_ *Service, body []byte, version apiversion.Version) (*definition, *reply.Error) {
	p := shape.NewParser("knowledgeBase", version)
	object, err := p.Read(body, &knowledgeBaseShape)
	if err != nil {
		return nil, err
	}
	name := object.Str("name")
	if reason := refusal.Name("Knowledge base", name, 1); reason != "" {
		return nil, p.Refuse("InvalidName", "Invalid knowledge base name: "+reason)
	}
	if len(object.Objects("knowledgeSources")) == 0 {
		return nil, p.Refuse("InvalidKnowledgeBase", "The knowledge base '"+name+"' must have at least one knowledge source.")
	}
	return &definition{shape.Resource{Name: name, Object: object}}, nil
}

func checkKnowledgeBase(_ *Service, c *Catalog, next, _ *definition, rt routing.Route) *reply.Error {
	for _, source := range next.Object.Objects("knowledgeSources") {
		if name := source.Str("name"); c.knowledgeSources[name] == nil {
			return shape.NewParser("knowledgeBase", rt.Version).Refuse("KnowledgeSourceNotFound", "The knowledge base '"+next.Name+"' refers to a knowledge source '"+name+"' that does not exist.")
		}
	}
	return nil
}

// knowledgeSourceStatus answers GET /knowledgesources('x')/status, for a source that has
// ingested nothing.
func (s *Service) knowledgeSourceStatus(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	s.lock.RLock()
	source := s.knowledgeSources[rt.Name]
	s.lock.RUnlock()
	if source == nil {
		reply.WriteError(w, r, knowledgeSourceKind.missing(s, rt.Name))
		return
	}
	body := reply.AppendContext([]byte{'{'}, r, "/$metadata#"+shape.ResourceType(rt.Version, "KnowledgeSourceStatus"))
	body = append(body, `"kind":`...)
	body = reply.AppendString(body, source.Object.Str("kind"))
	body = append(body, `,"synchronizationStatus":"active","synchronizationInterval":null,"currentSynchronizationState":null,"lastSynchronizationState":null,`...)
	body = append(body, `"statistics":{"totalSynchronization":0,"averageSynchronizationDuration":"00:00:00","averageItemsProcessedPerSynchronization":0}}`...)
	reply.WriteJSON(w, r, http.StatusOK, body)
}

// notServed refuses the requests for a feature of a kind of definitions that is not emulated.
func notServed(what string, kind *resourceKind[*definition]) Handler {
	return func(s *Service, w http.ResponseWriter, r *http.Request, rt routing.Route) {
		s.lock.RLock()
		there := kind.find(&s.Catalog, rt.Name) != nil
		s.lock.RUnlock()
		err := reply.NotEmulated(what)
		if !there {
			err = kind.missing(s, rt.Name)
		}
		reply.WriteError(w, r, err)
	}
}
