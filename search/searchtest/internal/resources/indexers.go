package resources

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

func init() { indexerKind.offerAll() }

// indexer is an indexer with its history. Its runs read nothing and fail.
type indexer struct {
	shape.Resource
	executions []execution // latest first, guarded by the lock of the service
}

// indexerKind describes indexers.
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
	created: func(x *indexer) { // documented: also by PUT, but not by an update
		_ = x.run() // there is no other run
	},
	// Recorded: the same refusal for reading and for deleting.
	absent: noSuchIndexer,
	gone:   true,
}).in(func(c *Catalog) map[string]*indexer { return c.indexers })

var indexerShape = shape.Shape{
	TypeName: "Indexer", Members: []shape.Property{
		shape.Text("name").Must(),
		shape.Text("description"),
		shape.Text("dataSourceName").Must(),
		shape.Text("skillsetName"),
		shape.Text("targetIndexName").Must(),
		shape.Flag("disabled"),
		shape.ObjectOf("schedule", &shape.Shape{TypeName: "IndexingSchedule", Members: []shape.Property{
			shape.Text("interval").Must(),
			shape.Text("startTime").Or(refusal.FilledIn("schedule")["startTime"]),
		}}),
		shape.ObjectOf("parameters", &shape.Shape{TypeName: "IndexingParameters", Members: []shape.Property{
			shape.Whole("batchSize").Within(1, 1<<31-1),
			shape.Whole("maxFailedItems").Within(-1, 1<<31-1),
			shape.Whole("maxFailedItemsPerBatch").Within(-1, 1<<31-1),
			shape.Flag("base64EncodeKeys").When(apiversion.RetiredMembers),
			shape.Anything("configuration").Or(&shape.Members{}),
		}}),
		shape.ListOf("fieldMappings", &fieldMappingShape),
		shape.ListOf("outputFieldMappings", &fieldMappingShape),
		shape.Anything("cache").When(apiversion.IndexerCache),
		shape.ObjectOf("encryptionKey", &schema.EncryptionKey).When(apiversion.EncryptionKeys),
	},
	Writes: func(o *shape.Object, name string) bool { return name != "encryptionKey" || o.Has(name) },
}

var fieldMappingShape = shape.Shape{TypeName: "FieldMapping", Members: []shape.Property{
	shape.Text("sourceFieldName").Must(),
	shape.Text("targetFieldName"),
	shape.ObjectOf("mappingFunction", &shape.Shape{TypeName: "FieldMappingFunction", Members: []shape.Property{
		shape.Text("name").Must(),
		shape.Anything("parameters"),
	}}),
}}

func parseIndexer(_ *Service, body []byte, version apiversion.Version) (*indexer, *reply.Error) {
	p := shape.NewParser("indexer", version)
	object, err := p.Read(body, &indexerShape)
	if err != nil {
		return nil, err
	}
	x := &indexer{Resource: shape.Resource{Name: object.Str("name"), Object: object}}
	for _, list := range []string{"fieldMappings", "outputFieldMappings"} {
		for _, m := range object.Objects(list) {
			if !m.Has("targetFieldName") { // documented: it defaults to the source
				m.Set("targetFieldName", m.Str("sourceFieldName"))
			}
		}
	}
	if schedule := object.Object("schedule"); schedule != nil && schedule.Str("startTime") != "" {
		start := schedule.Str("startTime")
		if _, err := time.Parse(time.RFC3339, start); err != nil {
			return nil, p.WrongType(start, "Edm.DateTimeOffset")
		}
	}
	faults, _ := refusal.Indexer(object.AppendTo(nil, version), nil) // it is JSON
	return x, p.RefuseFirst(faults)
}

// checkIndexer checks that the definitions which an indexer refers to exist.
func checkIndexer(_ *Service, c *Catalog, next, current *indexer, rt routing.Route) *reply.Error {
	if current != nil {
		next.executions = current.executions
	}
	if c.restoring {
		return nil
	}
	for _, use := range []struct {
		noun, name string
		there      bool
	}{
		{"a data source", next.Object.Str("dataSourceName"), c.dataSources[next.Object.Str("dataSourceName")] != nil},
		{"an index", next.Object.Str("targetIndexName"), c.indexes[next.Object.Str("targetIndexName")] != nil},
		{"a skillset", next.Object.Str("skillsetName"), !next.Object.Has("skillsetName") || c.skillsets[next.Object.Str("skillsetName")] != nil},
	} {
		if !use.there {
			// Recorded for data sources, without a full stop.
			return &reply.Error{Status: http.StatusBadRequest, Message: "This indexer refers to " + use.noun + " '" + use.name + "' that doesn't exist"}
		}
	}
	faults, _ := refusal.Indexer(next.Object.AppendTo(nil, rt.Version), c.find) // it is JSON
	return shape.NewParser("indexer", rt.Version).RefuseFirst(faults)
}

// find returns the definition of an index for rules about definitions that refer to it, nil if there is none.
func (c *Catalog) find(collection, name string) json.RawMessage {
	if x := c.indexes[name]; x != nil && collection == "indexes" {
		return x.Definition().Definition
	}
	return nil
}

func noSuchIndexer(s *Service, name string) *reply.Error {
	return &reply.Error{Status: http.StatusNotFound, Message: "Indexer '" + name + "' was not found in service '" + s.Name + "'."}
}
