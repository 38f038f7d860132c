package resources

import (
	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

func init() { dataSourceKind.offerAll() }

// dataSourceKind describes data sources. The emulator never connects to them.
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
}).in(func(c *Catalog) map[string]*definition { return c.dataSources })

var dataSourceShape = shape.Shape{TypeName: "DataSource", Members: []shape.Property{
	shape.Text("name").Must(),
	shape.Text("description"),
	shape.Text("type").Must(),
	shape.Text("subtype").When(apiversion.RetiredMembers),
	shape.ObjectOf("credentials", &shape.Shape{TypeName: "DataSourceCredentials", Members: []shape.Property{
		shape.Text("connectionString").Hidden(nil), // recorded: never shown, not even in the reply to its creation
	}}).Must(),
	shape.ObjectOf("container", &shape.Shape{TypeName: "DataContainer", Members: []shape.Property{
		shape.Text("name").Must(),
		shape.Text("query"),
	}}).Must(),
	shape.OneOf("dataChangeDetectionPolicy", map[string]*shape.Shape{
		schema.ComponentType + "HighWaterMarkChangeDetectionPolicy": {TypeName: "HighWaterMarkChangeDetectionPolicy", Members: []shape.Property{
			shape.Text("@odata.type"), shape.Text("highWaterMarkColumnName").Must(),
		}},
		schema.ComponentType + "SqlIntegratedChangeTrackingPolicy": {TypeName: "SqlIntegratedChangeTrackingPolicy", Members: []shape.Property{shape.Text("@odata.type")}},
	}),
	shape.OneOf("dataDeletionDetectionPolicy", map[string]*shape.Shape{
		schema.ComponentType + "SoftDeleteColumnDeletionDetectionPolicy": {TypeName: "SoftDeleteColumnDeletionDetectionPolicy", Members: []shape.Property{
			shape.Text("@odata.type"), shape.Text("softDeleteColumnName"), shape.Text("softDeleteMarkerValue"),
		}},
		schema.ComponentType + "NativeBlobSoftDeleteDeletionDetectionPolicy": {TypeName: "NativeBlobSoftDeleteDeletionDetectionPolicy", Members: []shape.Property{shape.Text("@odata.type")}},
	}),
	shape.ObjectOf("encryptionKey", &schema.EncryptionKey).When(apiversion.EncryptionKeys),
	shape.Anything("identity").When(apiversion.DataSourceIdentities),
	shape.Texts("indexerPermissionOptions").When(apiversion.PermissionFilters),
}}

// unchanged is the placeholder in an update for the current connection string.
const unchanged = "<unchanged>"

func parseDataSource(_ *Service, body []byte, version apiversion.Version) (*definition, *reply.Error) {
	p := shape.NewParser("dataSource", version)
	object, err := p.Read(body, &dataSourceShape)
	if err != nil {
		return nil, err
	}
	d := &definition{shape.Resource{Name: object.Str("name"), Object: object}}
	faults, _ := refusal.DataSource(object.AppendTo(nil, version)) // it is JSON
	return d, p.RefuseFirst(faults)
}

// keepConnection copies the current connection string to an update without one.
func keepConnection(_ *Service, _ *Catalog, next, current *definition, rt routing.Route) *reply.Error {
	credentials := next.Object.Object("credentials")
	given := credentials.Str("connectionString")
	switch {
	case given != unchanged && given != "":
	case current != nil:
		credentials.Set("connectionString", current.Object.Object("credentials").Get("connectionString"))
	case given == unchanged:
		return shape.NewParser("dataSource", rt.Version).Refuse("InvalidDataSource", "The data source '"+next.Name+"' is new and has no connection string that could stay unchanged.")
	}
	return nil
}
