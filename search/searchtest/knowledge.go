package searchtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
)

func init() {
	knowledgeSourceKind.register()
	knowledgeBaseKind.register()
	register(operation{
		name: "knowledgeSourceStatus", needs: apiversion.KnowledgeBases, serve: (*Server).knowledgeSourceStatus,
		routes: []string{"GET /knowledgesources/{name}/status"},
	})
	register(operation{
		name: "knowledgeSourceFiles", needs: apiversion.KnowledgeBases, serve: notServed("files of knowledge sources"),
		routes: []string{
			"GET /knowledgesources/{name}/files", "POST /knowledgesources/{name}/files",
			"PUT /knowledgesources/{name}/files/{key}", "DELETE /knowledgesources/{name}/files/{key}",
		},
	})
	register(operation{
		name: "retrieve", needs: apiversion.KnowledgeBases, reads: true, serve: notServed("retrieval from knowledge bases"),
		routes: []string{"POST /knowledgebases/{name}/retrieve"},
	})
}

// knowledgeSourceKind is how knowledge sources are kept. Those that ingest make no
// index, indexer, data source and skillset.
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
}).in(func(c *catalog) map[string]*definition { return c.knowledgeSources })

// knowledgeBaseKind is how knowledge bases are kept.
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
}).in(func(c *catalog) map[string]*definition { return c.knowledgeBases })

// What a source has besides depends on its kind and is kept as it came.
var knowledgeSourceShape = shape{typeName: "KnowledgeSource", open: true, members: []property{
	text("name").must(),
	text("kind").must(),
	text("description"),
	objectOf("encryptionKey", &encryptionKeyShape),
}}

var knowledgeBaseShape = shape{typeName: "KnowledgeBase", open: true, members: []property{
	text("name").must(),
	text("description"),
	listOf("knowledgeSources", &shape{typeName: "KnowledgeSourceReference", open: true, members: []property{text("name").must()}}).must(),
	objectOf("encryptionKey", &encryptionKeyShape),
}}

// knowledgeSourceKinds are those of all versions.
var knowledgeSourceKinds = strings.Fields(`
azureBlob fabricDataAgent fabricOntology file indexedOneLake indexedSharePoint indexedSql mcpServer remoteSharePoint searchIndex
web workIQ
`)

func parseKnowledgeSource(_ *Server, body []byte, version apiversion.Version) (*definition, *serviceError) {
	p := newParser("knowledgeSource", version)
	object, err := p.read(body, &knowledgeSourceShape)
	if err != nil {
		return nil, err
	}
	name, kind := object.str("name"), object.str("kind")
	if reason := refusal.Name("Knowledge source", name, 1); reason != "" {
		return nil, p.refuse("InvalidName", "Invalid knowledge source name: "+reason)
	}
	if !slices.Contains(knowledgeSourceKinds, kind) {
		return nil, p.refuse("InvalidKnowledgeSource", "The kind '"+kind+"' of the knowledge source '"+name+"' is not valid. Supported values are: "+strings.Join(knowledgeSourceKinds, ", ")+".")
	}
	if kind == "searchIndex" && sourceIndex(object) == "" {
		return nil, p.refuse("MissingRequiredProperty", "The property 'searchIndexName' of 'searchIndexParameters' is required and cannot be null.")
	}
	return &definition{resource{name: name, object: object}}, nil
}

// sourceIndex is the index that a knowledge source reads, "" if it names none.
func sourceIndex(source *object) string {
	parameters, _ := source.others.get("searchIndexParameters").(*jsonMembers)
	name, _ := parameters.get("searchIndexName").(string)
	return name
}

// get returns a member of JSON that no shape describes, nil if there is none.
func (m *jsonMembers) get(name string) any {
	if m == nil {
		return nil
	}
	if i := slices.Index(m.names, name); i >= 0 {
		return m.values[i]
	}
	return nil
}

func checkKnowledgeSource(_ *Server, c *catalog, next, current *definition, rt route) *serviceError {
	p := newParser("knowledgeSource", rt.version)
	if name := sourceIndex(next.object); name != "" && c.indexes[name] == nil {
		return p.refuse("IndexNotFound", "The knowledge source '"+next.name+"' refers to an index '"+name+"' that does not exist.")
	}
	if current != nil && current.object.str("kind") != next.object.str("kind") {
		return p.refuse("InvalidKnowledgeSource", "The kind of the knowledge source '"+next.name+"' cannot be changed.")
	}
	return nil
}

// knowledgeSourceUnused refuses to remove a source that bases name.
func knowledgeSourceUnused(s *Server, c *catalog, name string) *serviceError {
	var users []string
	for _, base := range sortedKeys(c.knowledgeBases) {
		if named(c.knowledgeBases[base].object.objects("knowledgeSources"), name) != nil {
			users = append(users, base)
		}
	}
	if len(users) == 0 {
		return nil
	}
	e := &serviceError{
		status: http.StatusBadRequest,
		message: "The knowledge source '" + name + "' in service '" + s.opts.ServiceName + "' cannot be deleted because the following knowledge base(s) use it: '" +
			strings.Join(users, "', '") + "'.",
	}
	return e.withCode("OperationNotAllowed", "CannotDeleteKnowledgeSource")
}

func parseKnowledgeBase(_ *Server, body []byte, version apiversion.Version) (*definition, *serviceError) {
	p := newParser("knowledgeBase", version)
	object, err := p.read(body, &knowledgeBaseShape)
	if err != nil {
		return nil, err
	}
	name := object.str("name")
	if reason := refusal.Name("Knowledge base", name, 1); reason != "" {
		return nil, p.refuse("InvalidName", "Invalid knowledge base name: "+reason)
	}
	if len(object.objects("knowledgeSources")) == 0 {
		return nil, p.refuse("InvalidKnowledgeBase", "The knowledge base '"+name+"' must have at least one knowledge source.")
	}
	return &definition{resource{name: name, object: object}}, nil
}

func checkKnowledgeBase(_ *Server, c *catalog, next, _ *definition, rt route) *serviceError {
	for _, source := range next.object.objects("knowledgeSources") {
		if name := source.str("name"); c.knowledgeSources[name] == nil {
			return newParser("knowledgeBase", rt.version).refuse("KnowledgeSourceNotFound", "The knowledge base '"+next.name+"' refers to a knowledge source '"+name+"' that does not exist.")
		}
	}
	return nil
}

// knowledgeSourceStatus answers GET /knowledgesources('x')/status: of a source that
// has taken in nothing.
func (s *Server) knowledgeSourceStatus(w http.ResponseWriter, r *http.Request, rt route, _ *exchange) {
	s.mu.RLock()
	source := s.knowledgeSources[rt.name]
	s.mu.RUnlock()
	if source == nil {
		writeError(w, r, knowledgeSourceKind.missing(s, rt.name))
		return
	}
	body := appendContext([]byte{'{'}, r, "/$metadata#"+resourceType(rt.version, "KnowledgeSourceStatus"))
	body = append(body, `"kind":`...)
	body = appendJSONString(body, source.object.str("kind"))
	body = append(body, `,"synchronizationStatus":"active","synchronizationInterval":null,"currentSynchronizationState":null,"lastSynchronizationState":null,`...)
	body = append(body, `"statistics":{"totalSynchronization":0,"averageSynchronizationDuration":"00:00:00","averageItemsProcessedPerSynchronization":0}}`...)
	writeJSON(w, r, http.StatusOK, body)
}

// notServed refuses the requests for something that the service can do.
func notServed(what string) handler {
	return func(_ *Server, w http.ResponseWriter, r *http.Request, _ route, _ *exchange) {
		writeError(w, r, notEmulated(what))
	}
}
