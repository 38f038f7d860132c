package clienttest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Options are for tests that want more than one index in one service, faults, or
// clients with options of their own. The zero value and nil work.
type Options struct {
	// Server is the service to use. It is left open, so that clients of several
	// calls can share it. Defaults to a new one, which is closed when the test ends.
	Server *searchtest.Server
	// Key is an admin key of Server. Defaults to searchtest.AdminKey.
	Key string
	// Client are the options of the client. Its Transport defaults to Server; one
	// that is set has to get requests there by itself. The options are not changed.
	Client *search.ClientOptions
}

// New returns a client for a new emulated index that holds documents, any number of
// them. models.FieldsOf makes the fields of the index of T; its name, which
// Client.IndexName returns, is that of T in lower case if that is a legal one, and
// "documents" otherwise. The service is closed when the test ends. Problems end the
// test.
func New[T any](t testing.TB, documents ...T) *search.Client {
	t.Helper()
	fields, err := models.FieldsOf[T]()
	if err != nil {
		t.Fatalf("clienttest: the fields of %v: %v", reflect.TypeFor[T](), err)
	}
	client := NewClient(t, models.SearchIndex{Name: indexName(reflect.TypeFor[T]()), Fields: fields}, nil)
	for some := range slices.Chunk(documents, search.DefaultMaxBatchActions) {
		if _, err := search.UploadDocuments(t.Context(), client, some, nil); err != nil {
			t.Fatalf("clienttest: uploading the documents: %v", err)
		}
	}
	return client
}

// NewClient creates an index and returns a client for it. definition is what
// searchtest.Server.CreateIndex takes: JSON as a string, []byte or json.RawMessage, a
// models.SearchIndex, or anything else that encoding/json makes a definition of.
// Problems end the test.
func NewClient(t testing.TB, definition any, opts *Options) *search.Client {
	t.Helper()
	body, name, err := named(definition)
	if err != nil {
		t.Fatalf("clienttest: the definition of the index: %v", err)
	}
	indexes, srv := connect(t, opts)
	if err := srv.CreateIndex(body); err != nil {
		t.Fatalf("clienttest: %v", err)
	}
	client, err := indexes.Client(name)
	if err != nil {
		t.Fatalf("clienttest: %v", err)
	}
	return client
}

// NewIndexClient returns a client for the indexes of an emulated service; its Client
// method returns those for documents. Problems end the test.
func NewIndexClient(t testing.TB, opts *Options) *search.IndexClient {
	t.Helper()
	indexes, _ := connect(t, opts)
	return indexes
}

// connect returns a client for the service that opts name, or for a new one.
func connect(t testing.TB, opts *Options) (*search.IndexClient, *searchtest.Server) {
	t.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Server == nil {
		o.Server = searchtest.NewServer(nil)
		t.Cleanup(func() {
			if err := o.Server.Close(); err != nil {
				t.Errorf("clienttest: closing the service: %v", err)
			}
		})
	}
	if o.Key == "" {
		o.Key = searchtest.AdminKey
	}
	var clientOptions search.ClientOptions
	if o.Client != nil {
		clientOptions = *o.Client
	}
	if clientOptions.Transport == nil {
		clientOptions.Transport = o.Server
	}
	indexes, err := search.NewIndexClientWithKey(o.Server.URL(), azcore.NewKeyCredential(o.Key), &clientOptions)
	if err != nil {
		t.Fatalf("clienttest: %v", err)
	}
	return indexes, o.Server
}

// named returns a definition as JSON, and the name in it.
func named(definition any) (body json.RawMessage, name string, err error) {
	switch d := definition.(type) {
	case string:
		body = json.RawMessage(d)
	case []byte:
		body = d
	case json.RawMessage:
		body = d
	default:
		if body, err = json.Marshal(definition); err != nil {
			return nil, "", err
		}
	}
	var index struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(body, &index); err != nil {
		return nil, "", fmt.Errorf("it is not JSON of an object: %w", err)
	}
	return body, index.Name, nil
}

// indexName is the name of the index for documents of type t.
func indexName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := strings.ToLower(t.Name())
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') { // a type argument, or a letter that no index has
			return "documents"
		}
	}
	if len(name) < 2 || len(name) > 128 {
		return "documents"
	}
	return name
}
