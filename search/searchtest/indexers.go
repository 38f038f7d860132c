package searchtest

import (
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
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
	if reason := nameFault("Indexer", x.name, 1); reason != "" {
		return nil, p.refuse("InvalidName", "Invalid indexer name: "+reason)
	}
	for _, list := range []string{"fieldMappings", "outputFieldMappings"} {
		for _, m := range object.objects(list) {
			if !m.has("targetFieldName") { // documented: it equals the source
				m.set("targetFieldName", m.str("sourceFieldName"))
			}
		}
	}
	schedule := object.object("schedule")
	if schedule == nil {
		return x, nil
	}
	interval := schedule.str("interval")
	if seconds := parseDuration(interval); !durationPattern.MatchString(interval) || seconds < 5*60 || seconds > 24*3600 {
		return nil, p.refuse("InvalidIndexerSchedule", "The interval '"+interval+"' of the indexer '"+x.name+"' must be between 5 minutes and 1 day.")
	}
	if start := schedule.str("startTime"); start != "" {
		if _, err := time.Parse(time.RFC3339, start); err != nil {
			return nil, p.wrongType(start, "Edm.DateTimeOffset")
		}
	}
	return x, nil
}

// checkIndexer checks that what an indexer reads, writes and uses is there.
func checkIndexer(_ *Server, c *catalog, next, current *indexer, _ route) *serviceError {
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
	return nil
}

func noSuchIndexer(s *Server, name string) *serviceError {
	return &serviceError{status: http.StatusNotFound, message: "Indexer '" + name + "' was not found in service '" + s.opts.ServiceName + "'."}
}
