package searchtest

import (
	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
)

func init() { dataSourceKind.register() }

// dataSourceKind is how data sources are kept. Nothing connects to them.
var dataSourceKind = (&resourceKind[*definition]{
	set:     "datasources",
	shape:   &dataSourceShape,
	title:   "DataSource",
	plural:  "DataSources",
	noun:    "data source",
	compact: "datasource",
	service: "service",
	parse:   parseDataSource,
	keep:    keepConnection,
}).in(func(c *catalog) map[string]*definition { return c.dataSources })

var dataSourceShape = shape{typeName: "DataSource", members: []property{
	text("name").must(),
	text("description"),
	text("type").must(),
	text("subtype").when(apiversion.RetiredMembers),
	objectOf("credentials", &shape{typeName: "DataSourceCredentials", members: []property{
		text("connectionString").hidden(nil), // recorded: never shown, not even after the creation
	}}).must(),
	objectOf("container", &shape{typeName: "DataContainer", members: []property{
		text("name").must(),
		text("query"),
	}}).must(),
	oneOf("dataChangeDetectionPolicy", map[string]*shape{
		componentType + "HighWaterMarkChangeDetectionPolicy": {typeName: "HighWaterMarkChangeDetectionPolicy", members: []property{
			text("@odata.type"), text("highWaterMarkColumnName").must(),
		}},
		componentType + "SqlIntegratedChangeTrackingPolicy": {typeName: "SqlIntegratedChangeTrackingPolicy", members: []property{text("@odata.type")}},
	}),
	oneOf("dataDeletionDetectionPolicy", map[string]*shape{
		componentType + "SoftDeleteColumnDeletionDetectionPolicy": {typeName: "SoftDeleteColumnDeletionDetectionPolicy", members: []property{
			text("@odata.type"), text("softDeleteColumnName"), text("softDeleteMarkerValue"),
		}},
		componentType + "NativeBlobSoftDeleteDeletionDetectionPolicy": {typeName: "NativeBlobSoftDeleteDeletionDetectionPolicy", members: []property{text("@odata.type")}},
	}),
	objectOf("encryptionKey", &encryptionKeyShape).when(apiversion.EncryptionKeys),
	anything("identity").when(apiversion.DataSourceIdentities),
	texts("indexerPermissionOptions").when(apiversion.PermissionFilters),
}}

// unchanged stands in an update for the connection string that there is.
const unchanged = "<unchanged>"

func parseDataSource(_ *Server, body []byte, version apiversion.Version) (*definition, *serviceError) {
	p := newParser("dataSource", version)
	object, err := p.read(body, &dataSourceShape)
	if err != nil {
		return nil, err
	}
	d := &definition{resource{name: object.str("name"), object: object}}
	faults, _ := refusal.DataSource(object.appendTo(nil, version)) // it is JSON
	return d, p.refuseFirst(faults)
}

// keepConnection takes the connection string over that an update leaves as it is.
func keepConnection(_ *Server, _ *catalog, next, current *definition, rt route) *serviceError {
	credentials := next.object.object("credentials")
	given := credentials.str("connectionString")
	switch {
	case given != unchanged && given != "":
	case current != nil:
		credentials.set("connectionString", current.object.object("credentials").get("connectionString"))
	case given == unchanged:
		return newParser("dataSource", rt.version).refuse("InvalidDataSource", "The data source '"+next.name+"' is new and has no connection string that could stay unchanged.")
	}
	return nil
}
