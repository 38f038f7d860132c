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

// Options configures tests that need several indexes in one service, faults, or their own
// client options. The zero value and nil mean the defaults.
type Options struct {
	// Server is the service to use. It is not closed, so several clients can share it. Defaults
	// to a new service that is closed when the test ends.
	Server *searchtest.Server
	// Key is an admin key of Server. Defaults to searchtest.AdminKey.
	Key string
	// Client is the options of the client, which are not changed. Its Transport defaults to
	// that of Server; another one must send requests to Server.
	Client *search.ClientOptions
}

// New returns a client for a new emulated index with the given documents. models.FieldsOf
// defines the fields of the index from T. Its name (Client.IndexName) is that of T in lower
// case if it is a legal index name, and "documents" otherwise. The service is closed when the
// test ends. Errors end the test.
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

// NewClient creates an index and returns a client for it. definition is one of those of
// searchtest.Server.CreateIndex: JSON as a string, []byte or json.RawMessage, a
// models.SearchIndex, or another value that encoding/json turns into a definition. Errors end
// the test.
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

// NewIndexClient returns a client for the indexes of an emulated service. Its Client method
// returns clients for documents, its IndexerClient method one for indexers. Errors end the test.
func NewIndexClient(t testing.TB, opts *Options) *search.IndexClient {
	t.Helper()
	indexes, _ := connect(t, opts)
	return indexes
}

// connect returns a client for the service of opts, or for a new one.
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

// named returns a definition as JSON and its name.
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
		return nil, "", fmt.Errorf("not a JSON object: %w", err)
	}
	return body, index.Name, nil
}

// indexName returns the name of the index for documents of type t.
func indexName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := strings.ToLower(t.Name())
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') { // a type argument, or a character that index names cannot have
			return "documents"
		}
	}
	if len(name) < 2 || len(name) > 128 {
		return "documents"
	}
	return name
}
