package searchtest

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
)

func init() { indexerKind.register() }

// indexer is an indexer with what has happened to it. The emulator does not run it.
type indexer struct {
	resource
	executions []execution // the latest first, guarded by Server.mu
}

// indexerKind is how indexers are kept.
var indexerKind = (&resourceKind[*indexer]{
	set:     "indexers",
	shape:   &indexerShape,
	title:   "Indexer",
	plural:  "Indexers",
	noun:    "indexer",
	compact: "indexer",
	service: "service",
	parse:   parseIndexer,
	keep:    checkIndexer,
	// Recorded: for reading and for deleting alike.
	absent: noSuchIndexer,
	gone:   true,
}).in(func(c *catalog) map[string]*indexer { return c.indexers })

var indexerShape = shape{
	typeName: "Indexer", members: []property{
		text("name").must(),
		text("description"),
		text("dataSourceName").must(),
		text("skillsetName"),
		text("targetIndexName").must(),
		flag("disabled"),
		objectOf("schedule", &shape{typeName: "IndexingSchedule", members: []property{
			text("interval").must(),
			text("startTime").or("0001-01-01T00:00:00Z"),
		}}),
		objectOf("parameters", &shape{typeName: "IndexingParameters", members: []property{
			whole("batchSize").within(1, 1<<31-1),
			whole("maxFailedItems").within(-1, 1<<31-1),
			whole("maxFailedItemsPerBatch").within(-1, 1<<31-1),
			flag("base64EncodeKeys").when(apiversion.RetiredMembers),
			anything("configuration").or(&jsonMembers{}),
		}}),
		listOf("fieldMappings", &fieldMappingShape),
		listOf("outputFieldMappings", &fieldMappingShape),
		anything("cache").when(apiversion.IndexerCache),
		objectOf("encryptionKey", &encryptionKeyShape).when(apiversion.EncryptionKeys),
	},
	writes: func(o *object, name string) bool { return name != "encryptionKey" || o.has(name) },
}

var fieldMappingShape = shape{typeName: "FieldMapping", members: []property{
	text("sourceFieldName").must(),
	text("targetFieldName"),
	objectOf("mappingFunction", &shape{typeName: "FieldMappingFunction", members: []property{
		text("name").must().among("base64Encode", "base64Decode", "extractTokenAtPosition", "fixedLengthEncode", "jsonArrayToStringCollection", "toJson", "urlDecode", "urlEncode"),
		anything("parameters"),
	}}),
}}

func parseIndexer(_ *Server, body []byte, version apiversion.Version) (*indexer, *serviceError) {
	p := newParser("indexer", version)
	object, err := p.read(body, &indexerShape)
	if err != nil {
		return nil, err
	}
	x := &indexer{resource: resource{name: object.str("name"), object: object}}
	for _, list := range []string{"fieldMappings", "outputFieldMappings"} {
		for _, m := range object.objects(list) {
			if !m.has("targetFieldName") { // documented: it equals the source
				m.set("targetFieldName", m.str("sourceFieldName"))
			}
		}
	}
	if schedule := object.object("schedule"); schedule != nil && schedule.str("startTime") != "" {
		start := schedule.str("startTime")
		if _, err := time.Parse(time.RFC3339, start); err != nil {
			return nil, p.wrongType(start, "Edm.DateTimeOffset")
		}
	}
	faults, _ := refusal.Indexer(object.appendTo(nil, version), nil) // it is JSON
	return x, p.refuseFirst(faults)
}

// checkIndexer checks that what an indexer reads, writes and uses is there.
func checkIndexer(_ *Server, c *catalog, next, current *indexer, rt route) *serviceError {
	if current != nil {
		next.executions = current.executions
	}
	for _, use := range []struct {
		noun, name string
		there      bool
	}{
		{"a data source", next.object.str("dataSourceName"), c.dataSources[next.object.str("dataSourceName")] != nil},
		{"an index", next.object.str("targetIndexName"), c.indexes[next.object.str("targetIndexName")] != nil},
		{"a skillset", next.object.str("skillsetName"), !next.object.has("skillsetName") || c.skillsets[next.object.str("skillsetName")] != nil},
	} {
		if !use.there {
			// Recorded of data sources, without a full stop.
			return &serviceError{status: http.StatusBadRequest, message: "This indexer refers to " + use.noun + " '" + use.name + "' that doesn't exist"}
		}
	}
	faults, _ := refusal.Indexer(next.object.appendTo(nil, rt.version), func(collection, name string) json.RawMessage { // it is JSON
		if collection != "indexes" {
			return nil
		}
		return c.indexes[name].schema.Load().definition
	})
	return newParser("indexer", rt.version).refuseFirst(faults)
}

func noSuchIndexer(s *Server, name string) *serviceError {
	return &serviceError{status: http.StatusNotFound, message: "Indexer '" + name + "' was not found in service '" + s.opts.ServiceName + "'."}
}
