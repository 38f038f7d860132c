// Package refusal is for the client and for its emulator: it predicts what the service refuses in definitions of data
// sources, skillsets and indexers, and in names and keys of indexes, and what it fills in. Both use it, so that a
// definition that passes in a test also passes the check before a deployment. It works on JSON and depends on neither
// of them.
//
// The rules are those of the documentation and of recorded refusals. Fault.Service is empty if the service accepts a
// definition but an indexer run fails.
package refusal

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is the kind of a fault.
type Kind string

// The kinds.
const (
	Value        Kind = "value"         // a missing member, or one with an invalid value
	Reference    Kind = "reference"     // a name, or a path of the enriched document, that does not exist
	Duplicate    Kind = "duplicate"     // two with the same name
	Cycle        Kind = "cycle"         // skills that depend on each other
	MissingField Kind = "missing field" // a field that the index does not have
	FieldType    Kind = "field type"    // a field whose type does not fit its value
	Attribute    Kind = "attribute"     // a field without an attribute that its use requires
)

// Fault is one refused detail.
type Fault struct {
	Kind       Kind
	Path       string // as in the changes of search.DiffDefinition
	Have, Want string
	Problem    string // our description
	Fix        string // suggested fix
	Service    string // the service's message at creation; "" if an indexer run fails
	Code       string // of newer versions, or ""
	Unsent     bool   // no service can read the value, so the client does not send it
}

// Field is the part of an index field that matters to indexers.
type Field struct {
	Name, Type, Analyzer string
	Key                  bool
	Filterable           *bool
	Dimensions           *int
	Fields               []Field
}

// Others returns a referenced definition as JSON, or nil if it is unknown. collection is as in addresses, for example
// "indexes".
type Others func(collection, name string) json.RawMessage

// fields returns the fields of an index.
func (o Others) fields(index string) (fields []Field, known bool) {
	var definition struct{ Fields []Field }
	return definition.Fields, o.read("indexes", index, &definition)
}

// read decodes a definition if it is known.
func (o Others) read(collection, name string, into any) bool {
	if name == "" || o == nil {
		return false
	}
	b := o(collection, name)
	return b != nil && decode(b, into) == nil
}

// decode decodes JSON. It ignores members of an unexpected type, because no rule is about them.
func decode(b json.RawMessage, into any) error {
	err := json.Unmarshal(b, into)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		return nil
	}
	return err
}

// field returns a field by its path. Indexers match names case-insensitively.
func field(fields []Field, path string) *Field {
	head, rest, nested := strings.Cut(path, "/")
	for i := range fields {
		switch f := &fields[i]; {
		case !strings.EqualFold(f.Name, head):
		case nested:
			return field(f.Fields, rest)
		default:
			return f
		}
	}
	return nil
}

const longestName = 128

// ShortestIndexName is the least number of characters of the name of an index. Others have one.
const ShortestIndexName = 2

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// Name returns the message of the service about an invalid name of a definition, or "" if the name is valid.
func Name(what, name string, shortest int) string {
	switch {
	case len(name) < shortest || len(name) > longestName:
		return what + " name must have between " + strconv.Itoa(shortest) + " and 128 characters."
	case !namePattern.MatchString(name) || strings.HasSuffix(name, "-"):
		return what + " name must only contain lowercase letters, digits, dashes or underscores, must start with a letter or digit and cannot end with a dash."
	case strings.Contains(name, "--") || strings.Contains(name, "__") || strings.Contains(name, "-_") || strings.Contains(name, "_-"):
		return what + " name cannot contain consecutive dashes or underscores."
	}
	return ""
}

// faults collects the faults of a definition.
type faults []Fault

func (l *faults) add(f Fault) { *l = append(*l, f) }

// name checks the name of a definition.
func (l *faults) name(what, name string) {
	shortest := 1
	if what == "Index" {
		shortest = ShortestIndexName
	}
	reason := Name(what, name, shortest)
	if reason == "" {
		return
	}
	l.add(Fault{
		Kind: Value, Path: "name", Have: name, Problem: fmt.Sprintf("got the name %q", name),
		Fix:  "use lower-case letters, digits, single dashes and underscores, at most 128 characters, with a letter or digit first and no dash last",
		Code: "InvalidName", Service: "Invalid " + strings.ToLower(what) + " name: " + reason,
	})
}

// needs checks that members have values.
func (l *faults) needs(members ...[2]string) {
	for _, m := range members {
		if m[1] == "" {
			l.add(Fault{Kind: Value, Path: m[0], Problem: "it has no value", Fix: "set it"})
		}
	}
}

// encryptionKey is a key of a vault. In previews it may instead be that of the service.
type encryptionKey struct {
	KeyVaultKeyName, KeyVaultURI string
	IsServiceLevelKey            bool
	AccessCredentials            *struct{ ApplicationID string }
}

// encryption checks that a key has the members that the specifications of all api-versions require.
func (l *faults) encryption(key *encryptionKey) {
	if key == nil || key.IsServiceLevelKey {
		return
	}
	l.needs([2]string{"encryptionKey.keyVaultKeyName", key.KeyVaultKeyName}, [2]string{"encryptionKey.keyVaultUri", key.KeyVaultURI})
	if key.AccessCredentials != nil {
		l.needs([2]string{"encryptionKey.accessCredentials.applicationId", key.AccessCredentials.ApplicationID})
	}
}

// among checks the value of a member that has only these values.
func (l *faults) among(path, have string, values []string) {
	if slices.Contains(values, have) {
		return
	}
	all := strings.Join(values, ", ")
	l.add(Fault{
		Kind: Value, Path: path, Have: have, Want: all, Problem: fmt.Sprintf("got %q", have), Fix: "use one of " + all, Code: "InvalidPropertyValue",
		Service: "The value '" + have + "' of the property '" + path[strings.LastIndexByte(path, '.')+1:] + "' is not valid. Supported values are: " + all + ".",
	})
}

// The data source types that indexers support.
var (
	types = []string{"azuresql", "cosmosdb", "azureblob", "azuretable", "mysql", "adlsgen2", "onelake", "sharepoint"}
	files = []string{"azureblob", "adlsgen2", "onelake"}
)

type dataSource struct {
	Name, Type string
	Container  struct{ Name, Query string }
	Change     struct {
		Type   string `json:"@odata.type"`
		Column string `json:"highWaterMarkColumnName"`
	} `json:"dataChangeDetectionPolicy"`
	Deletion struct {
		Type   string `json:"@odata.type"`
		Column string `json:"softDeleteColumnName"`
	} `json:"dataDeletionDetectionPolicy"`
	Permissions   []string `json:"indexerPermissionOptions"`
	EncryptionKey *encryptionKey
}

// DataSource returns the faults of a data source.
func DataSource(definition json.RawMessage) (l faults, err error) {
	var s dataSource
	if err := decode(definition, &s); err != nil {
		return nil, err
	}
	l.name("Data source", s.Name)
	l.encryption(s.EncryptionKey)
	if !slices.Contains(types, s.Type) {
		l.add(Fault{
			Kind: Value, Path: "type", Have: s.Type, Want: strings.Join(types, ", "), Problem: fmt.Sprintf("got the type %q", s.Type),
			Fix: "use one of " + strings.Join(types, ", "), Service: "Data source type '" + s.Type + "' is not supported",
		})
		return l, nil // the other rules depend on it
	}
	l.needs([2]string{"container.name", s.Container.Name})
	refuse := func(path, problem, fix string) {
		l.add(Fault{Kind: Value, Path: path, Problem: "a data source of type " + s.Type + " " + problem, Fix: fix})
	}
	_, change, _ := strings.Cut(s.Change.Type, "Search.")
	_, deletion, _ := strings.Cut(s.Deletion.Type, "Search.")
	isFiles := slices.Contains(files, s.Type)
	switch {
	case isFiles && change != "":
		refuse("dataChangeDetectionPolicy", "takes no policy: it knows the time of each change", "leave the policy out")
	case change == "HighWaterMarkChangeDetectionPolicy":
		l.needs([2]string{"dataChangeDetectionPolicy.highWaterMarkColumnName", s.Change.Column})
	case change == "SqlIntegratedChangeTrackingPolicy" && s.Type != "azuresql":
		refuse("dataChangeDetectionPolicy", "has no change tracking of SQL", "use HighWaterMarkChangeDetectionPolicy")
	}
	switch {
	case deletion == "SoftDeleteColumnDeletionDetectionPolicy":
		l.needs([2]string{"dataDeletionDetectionPolicy.softDeleteColumnName", s.Deletion.Column})
	case deletion == "NativeBlobSoftDeleteDeletionDetectionPolicy" && !isFiles:
		refuse("dataDeletionDetectionPolicy", "has no blobs", "use SoftDeleteColumnDeletionDetectionPolicy")
	}
	if s.Type == "azuresql" && s.Container.Query != "" {
		refuse("container.query", "takes no query", "leave it out, and name a view in container.name")
	}
	if len(s.Permissions) > 0 && !slices.Contains([]string{"azureblob", "adlsgen2", "sharepoint"}, s.Type) {
		refuse("indexerPermissionOptions", "has no permissions to ingest", "leave the options out")
	}
	return l, nil
}

var interval = regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)

// duration parses an xs:dayTimeDuration.
func duration(text string) (time.Duration, bool) {
	parts := interval.FindStringSubmatch(text)
	if parts == nil || strings.HasSuffix(text, "P") || strings.HasSuffix(text, "T") {
		return 0, false
	}
	total := 0.0
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		n, _ := strconv.ParseFloat(parts[i+1], 64)
		total += n * unit.Seconds()
	}
	return time.Duration(min(total, 1e9) * float64(time.Second)), true
}
