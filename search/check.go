package search

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/go-azsearch/azsearch/models"
)

// CheckUse is the way in which a program uses the documents of an index.
type CheckUse int

// The uses of documents.
const (
	CheckForReading CheckUse = iota // documents are queried and looked up
	CheckForWriting                 // documents are uploaded, merged, deleted
	CheckForBoth
)

func (u CheckUse) reads() bool  { return u != CheckForWriting }
func (u CheckUse) writes() bool { return u != CheckForReading }

// CheckOptions are the options of Check. nil and the zero value are ready to use.
type CheckOptions struct {
	// Use is the use of documents by the program. It determines the rights that are checked, and whether the types of
	// fields must fit for reading, for writing or for both. Defaults to CheckForReading.
	Use CheckUse
	// KeyField is the name of the key field in JSON, as in IndexDocumentsOptions.
	// Defaults to the field with the struct tag `search:"key"`.
	KeyField string
}

// CheckKind classifies a problem, or a part of the check that was skipped.
type CheckKind string

// The kinds of problems, in the order in which Check looks for them.
const (
	CheckHost         CheckKind = "host"          // DNS has no address for the endpoint
	CheckConnection   CheckKind = "connection"    // the connection is refused or breaks, or no reply comes in time
	CheckTLS          CheckKind = "TLS"           // the server does not speak TLS, or its certificate is not trusted
	CheckEndpoint     CheckKind = "endpoint"      // the replies are not those of a search service: another server, a wrong path
	CheckService      CheckKind = "service"       // the service replies with an error: overloaded, another api-version
	CheckCredential   CheckKind = "credential"    // there is no token, or the key or token is refused
	CheckRole         CheckKind = "role"          // the credential is valid but lacks the role, or is the wrong kind of key
	CheckIndex        CheckKind = "index"         // the index does not exist
	CheckSchema       CheckKind = "schema"        // the fields and the key together; only in CheckReport.Skipped
	CheckKeyField     CheckKind = "key field"     // the type has another key field than the index
	CheckMissingField CheckKind = "missing field" // the index lacks the field
	CheckFieldType    CheckKind = "field type"    // the index has the field with another type
	CheckHiddenField  CheckKind = "hidden field"  // the index never returns the field
	CheckAttribute    CheckKind = "attribute"     // the index lacks an attribute that the tag of the field, or a projection, needs

	// For CheckDefinition only.
	CheckValue     CheckKind = "value"     // a member has no value, or one that is not allowed
	CheckReference CheckKind = "reference" // the named definition does not exist, or a path goes below a value without members
	CheckDuplicate CheckKind = "duplicate" // two entries have the same name or target
	CheckCycle     CheckKind = "cycle"     // skills depend on each other in a cycle
)

// CheckProblem is one problem.
type CheckProblem struct {
	// Kind classifies the problem.
	Kind CheckKind
	// Field is the path of the affected field in JSON names, with a slash after each complex field: "address/city". It is
	// "" if the problem concerns no single field.
	Field string
	// Want is the required value: a type ("Edm.Int64"), an attribute ("filterable"), the name of a key field, a role
	// ("Search Index Data Reader"), a kind of key ("an admin key"). Empty if it is obvious.
	Want string
	// Have is the actual value. Empty if there is none or it is unknown.
	Have string
	// Problem describes the problem in words.
	Problem string
	// Hint is the likely fix. May be empty.
	Hint string
	// Err is the error that revealed the problem: an *Error, a *CredentialError, an error of net/http, a
	// *models.FieldError. nil for a problem of a definition.
	Err error
}

// Error returns the problem and the hint in one line.
func (p *CheckProblem) Error() string {
	text := p.Problem
	if p.Field != "" {
		text = "field " + p.Field + ": " + text
	}
	if p.Hint != "" {
		text += ": " + p.Hint
	}
	return text
}

// Unwrap returns Err.
func (p *CheckProblem) Unwrap() error { return p.Err }

// CheckError holds all problems that Check or CheckDefinition found.
type CheckError struct {
	// Endpoint and IndexName identify the index that Check was called for.
	Endpoint, IndexName string
	// Definition is the definition that CheckDefinition was called for, for example: skillset "reports".
	Definition string
	// Problems has at least one entry.
	Problems []*CheckProblem
}

// Error returns one line, or a heading and a line for each problem if there are several.
func (e *CheckError) Error() string {
	head := fmt.Sprintf("search: the check of index %q at %s", e.IndexName, e.Endpoint)
	if e.Definition != "" {
		head = "search: the check of " + e.Definition
	}
	if len(e.Problems) == 1 {
		return head + ": " + e.Problems[0].Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s found %d problems:", head, len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n- " + p.Error())
	}
	return b.String()
}

// Unwrap returns the problems, for errors.Is and errors.As.
func (e *CheckError) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}

// CheckSkipped is a part of the check that could not be done. The skipped part may or may not have a problem.
type CheckSkipped struct {
	// Kind is the skipped part, and Field the affected field, if it concerns one.
	Kind  CheckKind
	Field string
	// Reason explains why the part was skipped, and what would make it possible.
	Reason string
	// Err is the cause, or nil.
	Err error
}

// String returns the skipped part and the reason in one line.
func (g CheckSkipped) String() string {
	what := string(g.Kind)
	if g.Field != "" {
		what += " of field " + g.Field
	}
	return what + " not checked: " + g.Reason
}

// CheckReport is the result of Check, apart from problems.
type CheckReport struct {
	// Index is the definition of the index, nil if it could not be read.
	Index *models.SearchIndex
	// Skipped lists the parts that could not be checked. Empty if all were.
	Skipped []CheckSkipped
}

// String returns the skipped parts with their reasons, a line each, or one line that says that everything was checked.
func (r CheckReport) String() string {
	if len(r.Skipped) == 0 {
		return "everything was checked"
	}
	lines := make([]string, len(r.Skipped))
	for i, skipped := range r.Skipped {
		lines[i] = skipped.String()
	}
	return strings.Join(lines, "\n")
}

// Check asks the service whether a program can work with an index: whether the service is reachable and accepts the
// credential, the index exists, the rights suffice, and documents of type T fit into the index. Use it at the start
// of a program, and in deployment pipelines:
//
//	report, err := search.Check[Hotel](ctx, client, &search.CheckOptions{Use: search.CheckForWriting})
//	if err != nil {
//		log.Fatal(err) // every problem, a line each
//	}
//	for _, skipped := range report.Skipped {
//		log.Print(skipped) // "schema not checked: …"
//	}
//
// The error is a *CheckError that lists all problems, each as a *CheckProblem. A part may be impossible to check,
// because an earlier part failed or the credential lacks the right. Such a part is listed in CheckReport.Skipped and
// does not cause an error. Reading the definition of an index takes an admin key or the role "Search Service
// Contributor". Therefore the schema is not checked with a query key, or with only a role for index data. A pipeline
// that must have the schema checked requires that CheckReport.Index is not nil.
//
// T is a struct or a pointer to one. For a map, only the key field named by CheckOptions.KeyField is compared.
//
// # Fields
//
// Every field that T has in JSON must be in the index, with a type that fits. For reading, T must hold every value
// that the index may return: an Edm.Double does not fit into an int, nor an Edm.Int64 into an int32. Values that a Go
// type lacks although its usual type is that of the index are not checked: those beyond an int8, int16, unsigned type
// or float32, and the last digits of an Edm.Int64 in a float64. For writing, the index must accept every value of T: no
// float64 for an Edm.Int32. An int is accepted for an Edm.Int32, although the service rejects a document whose number
// is too large. A string may be an Edm.DateTimeOffset.
//
// For reading, a field must be retrievable, unless its tag has hidden. Attributes in a tag must be set in the index:
// searchable, filterable, sortable, facetable, dimensions. Extra fields and other analyzers in the index are ignored:
// DiffIndex compares definitions in full. A field whose Go type does not determine its JSON type (any, a MarshalJSON)
// is listed in Skipped.
//
// # Requests
//
// Check reads the definition of the index. With an admin key that is the only request. With any other credential it
// also counts the documents, for reading, and sends a batch without documents, for writing. The service checks the
// credential before it refuses such a batch as empty, so the request changes nothing. ClientOptions.Retry applies to
// each request; by default there are two retries within a second, so that an unreachable service is reported soon.
// ctx bounds all requests; give it a deadline.
//
// Check writes nothing and logs nothing. It is safe for concurrent use.
func Check[T any](ctx context.Context, c *Client, opts *CheckOptions) (_ CheckReport, err error) {
	if opts == nil {
		opts = &CheckOptions{}
	}
	ctx, end := c.conn.span(ctx, "Client.Check")
	defer func() { end(err) }()
	k := checker{client: c, use: opts.Use}
	if opts.Use < CheckForReading || opts.Use > CheckForBoth {
		return CheckReport{}, k.call(readDocuments).wrap(fmt.Errorf("CheckOptions.Use is %d: use CheckForReading, CheckForWriting or CheckForBoth", opts.Use))
	}
	shape := documentShape{name: reflect.TypeFor[T]().String()}
	shape.fields, shape.unknown = models.DocumentFieldsOf[T]()
	key, err := keyFieldOf[T](opts.KeyField)
	if shape.keyField = key.Name; err != nil {
		shape.badKey = true
		k.found(&CheckProblem{Kind: CheckKeyField, Problem: err.Error(), Err: err})
	}
	k.run(policy.WithRetryOptions(ctx, c.conn.forCheck))
	if k.report.Index != nil {
		k.schema(shape)
	}
	if len(k.problems) > 0 {
		return k.report, &CheckError{Endpoint: c.conn.root, IndexName: c.indexName, Problems: k.problems}
	}
	return k.report, nil
}
