package search

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/go-azsearch/azsearch/models"
)

// CheckUse is what a program does with the documents of an index.
type CheckUse int

// What Check can check for.
const (
	CheckForReading CheckUse = iota // documents are queried and looked up
	CheckForWriting                 // documents are uploaded, merged, deleted
	CheckForBoth
)

func (u CheckUse) reads() bool  { return u != CheckForWriting }
func (u CheckUse) writes() bool { return u != CheckForReading }

// CheckOptions are the options of Check. nil and the zero value are ready to use.
type CheckOptions struct {
	// Use is what the program does with documents, and so which rights it needs
	// and in which direction the types of fields must fit. Defaults to
	// CheckForReading.
	Use CheckUse
	// KeyField is the name of the key field in JSON, as in IndexDocumentsOptions.
	// Defaults to the field with the struct tag `search:"key"`.
	KeyField string
}

// CheckKind is what a problem, or what could not be checked, is about.
type CheckKind string

// The kinds, in the order in which they are checked.
const (
	CheckHost         CheckKind = "host"          // DNS does not know the endpoint
	CheckConnection   CheckKind = "connection"    // nothing listens, or the connection breaks, or no answer comes in time
	CheckTLS          CheckKind = "TLS"           // no TLS, or a certificate that is not trusted
	CheckEndpoint     CheckKind = "endpoint"      // something answers that is not a search service: another server, a wrong path
	CheckService      CheckKind = "service"       // the service answers with an error: overloaded, another api-version
	CheckCredential   CheckKind = "credential"    // there is no token, or the key or token is refused
	CheckRole         CheckKind = "role"          // the credential is taken and has not the role, or is not the kind of key
	CheckIndex        CheckKind = "index"         // there is no such index
	CheckSchema       CheckKind = "schema"        // the fields and the key, all together: only in CheckReport.Skipped
	CheckKeyField     CheckKind = "key field"     // the key of the type is not that of the index
	CheckMissingField CheckKind = "missing field" // the index does not have the field
	CheckFieldType    CheckKind = "field type"    // it has it with another type
	CheckHiddenField  CheckKind = "hidden field"  // it never returns it
	CheckAttribute    CheckKind = "attribute"     // it cannot be used as the tag of the field, or a projection, says

	// Of CheckDefinition alone.
	CheckValue     CheckKind = "value"     // a member has none, or one that it may not have
	CheckReference CheckKind = "reference" // a name of nothing, or a path that no skill writes
	CheckDuplicate CheckKind = "duplicate" // two have one name, or one target
	CheckCycle     CheckKind = "cycle"     // skills wait for each other
)

// CheckProblem is one thing that is wrong.
type CheckProblem struct {
	// Kind is what is wrong, for a program.
	Kind CheckKind
	// Field is the field that it is about, in JSON names with a slash between a
	// complex field and those in it: "address/city". "" if it is about none.
	Field string
	// Want is what there must be: a type ("Edm.Int64"), an attribute
	// ("filterable"), the name of a key field, a role ("Search Index Data
	// Reader"), a kind of key ("an admin key"). Empty where it is obvious.
	Want string
	// Have is what there is instead. Empty if that is nothing, or not known.
	Have string
	// Problem says it in words.
	Problem string
	// Hint says what is likely to help. It may be empty.
	Hint string
	// Err is the error that it was found by: an *Error, a *CredentialError, what
	// net/http says, a *models.FieldError. nil for what a definition says.
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

// CheckError is everything that Check or CheckDefinition has found wrong.
type CheckError struct {
	// Endpoint and IndexName are what Check was asked about.
	Endpoint, IndexName string
	// Definition is what CheckDefinition was asked about: skillset "reports".
	Definition string
	// Problems holds at least one.
	Problems []*CheckProblem
}

// Error returns one line, or a line for each problem if there are several.
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

// CheckSkipped is something that could not be checked, which is not to say that it
// is wrong.
type CheckSkipped struct {
	// Kind is what was not checked, and Field of which field, if of one.
	Kind  CheckKind
	Field string
	// Reason says why, and what would make it possible.
	Reason string
	// Err is the error that it is because of, or nil.
	Err error
}

// String returns the gap in one line.
func (g CheckSkipped) String() string {
	what := string(g.Kind)
	if g.Field != "" {
		what += " of field " + g.Field
	}
	return what + " not checked: " + g.Reason
}

// CheckReport says how far Check has come.
type CheckReport struct {
	// Index is the definition of the index, nil if it could not be read.
	Index *models.SearchIndex
	// Skipped is what could not be checked. It is empty if everything was.
	Skipped []CheckSkipped
}

// Check asks the service whether a program can work: whether it is there, takes
// the credential, has the index, grants the rights, and whether documents of type
// T fit into the index. It is for the start of a program, and for pipelines that
// deploy one:
//
//	report, err := search.Check[Hotel](ctx, client, &search.CheckOptions{Use: search.CheckForWriting})
//	if err != nil {
//		log.Fatal(err) // every problem, a line each
//	}
//	for _, skipped := range report.Skipped {
//		log.Print(skipped) // "schema not checked: …"
//	}
//
// The error is a *CheckError with a *CheckProblem for each problem, all at once.
// What cannot be checked because something before it is wrong, or because the
// credential has not the right, is no problem: it is in CheckReport.Skipped,
// and the error is nil if there is nothing else. Reading the definition of an
// index takes an admin key or the role "Search Service Contributor". So with a
// query key, or with nothing but a role for index data, the schema is not checked;
// a pipeline that insists on it requires that CheckReport.Index is not nil.
//
// T is a struct or a pointer to one. Of a map only the key field that
// CheckOptions.KeyField names is compared.
//
// # Fields
//
// Every field that T has in JSON must be in the index, with a type that fits.
// For reading, T must hold whatever the index may return: an Edm.Double does not
// fit into an int, nor an Edm.Int64 into an int32. For writing, the index must
// take what T writes: no float64 for an Edm.Int32. (An int is taken for an
// Edm.Int32; a document with one that is too large fails by itself.) A string may
// be an Edm.DateTimeOffset.
//
// For reading, a field must be retrievable, unless its tag says hidden. What a tag
// says that a field is for must be so in the index: searchable, filterable,
// sortable, facetable, dimensions. Fields that only the index has are no problem,
// nor are other analyzers: DiffIndex compares definitions in full. A field whose
// Go type does not say what it is in JSON (any, a MarshalJSON) is in Skipped.
//
// # Requests
//
// Check asks for the definition of the index, which is all with an admin key. With
// any other credential it then asks for the count of the documents, for reading,
// and sends a batch without documents, for writing: the service checks the
// credential before it refuses such a batch as empty, so that nothing can be
// changed. Each request is tried again as ClientOptions.Retry says, by default twice
// within a second: a service that is not there is found so at once. ctx bounds them
// all; give it a deadline.
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
