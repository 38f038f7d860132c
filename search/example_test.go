package search_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Hotel is the document type of the examples.
type Hotel struct {
	ID     string   `json:"hotelId"          search:"key"`
	Name   string   `json:"name,omitempty"   search:"searchable"`
	Rating int      `json:"rating,omitempty" search:"filterable,sortable"`
	Tags   []string `json:"tags,omitempty"   search:"filterable,facetable"`
}

// emulated returns a server with an index of two hotels, and the options of its clients.
func emulated() (*searchtest.Server, *search.ClientOptions) {
	srv := searchtest.NewServer(nil)
	opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}}
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		log.Panic(err)
	}
	fields, err := models.FieldsOf[Hotel]()
	if err != nil {
		log.Panic(err)
	}
	if _, err := indexes.CreateIndex(context.Background(), models.SearchIndex{Name: "hotels", Fields: fields}, nil); err != nil {
		log.Panic(err)
	}
	client, err := indexes.Client("hotels")
	if err != nil {
		log.Panic(err)
	}
	two := []Hotel{{ID: "1", Name: "Fancy Stay", Rating: 5, Tags: []string{"pool"}}, {ID: "2", Name: "Roach Motel", Rating: 1}}
	if _, err := search.UploadDocuments(context.Background(), client, two, nil); err != nil {
		log.Panic(err)
	}
	return srv, opts
}

// emulatedClient returns an emulated server and a document client.
func emulatedClient() (*searchtest.Server, *search.Client) {
	srv, opts := emulated()
	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		log.Panic(err)
	}
	return srv, client
}

// emulatedIndexClient returns an emulated server and an index client.
func emulatedIndexClient() (*searchtest.Server, *search.IndexClient) {
	srv, opts := emulated()
	client, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		log.Panic(err)
	}
	return srv, client
}

// Create an index from a document type, upload a document and read it back.
func Example() {
	ctx := context.Background()
	srv := searchtest.NewServer(nil) // a real service needs no server and no Transport
	defer srv.Close()
	opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}}

	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		log.Fatal(err)
	}
	fields, err := models.FieldsOf[Hotel]()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := indexes.CreateOrUpdateIndex(ctx, models.SearchIndex{Name: "hotels", Fields: fields}, nil); err != nil {
		log.Fatal(err)
	}
	client, err := indexes.Client("hotels")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := search.UploadDocuments(ctx, client, []Hotel{{ID: "1", Name: "Fancy Stay", Rating: 5}}, nil); err != nil {
		log.Fatal(err)
	}
	hotel, err := search.GetDocument[Hotel](ctx, client, "1", nil)
	fmt.Println(hotel.Name, hotel.Rating, err)
	// Output: Fancy Stay 5 <nil>
}

// staticToken replaces a credential of azidentity.
type staticToken string

func (t staticToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(t), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// Use Entra ID: the account of az login, a managed identity, a workload identity, or AZURE_… variables. The first
// request acquires a token.
func ExampleNewClient() {
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		log.Fatal(err)
	}
	client, err := search.NewClient("https://my-service.search.windows.net", "hotels", cred, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.IndexName(), client.Endpoint())
	// Output: hotels https://my-service.search.windows.net
}

// The identity lacks a role.
func ExampleNewClient_role() {
	srv := searchtest.NewServer(&searchtest.Options{Token: func(bearer string) bool { return bearer == "good token" }})
	defer srv.Close()
	opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}}

	client, err := search.NewClient(srv.URL(), "hotels", staticToken("bad token"), opts)
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.DocumentCount(context.Background(), nil)
	var e *search.Error
	if errors.As(err, &e) {
		fmt.Println(e.Hint)
	}
	// Output:
	// the identity needs the role "Search Index Data Reader" on this service (a new assignment takes some minutes)
}

// Use an API key, which can be rotated while the client is in use.
func ExampleNewClientWithKey() {
	srv, opts := emulated()
	defer srv.Close()

	key := azcore.NewKeyCredential("the-old-key")
	client, err := search.NewClientWithKey(srv.URL(), "hotels", key, opts)
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.DocumentCount(context.Background(), nil)
	var e *search.Error
	fmt.Println("refused:", errors.As(err, &e) && e.StatusCode == 403)
	key.Update(searchtest.AdminKey)
	n, err := client.DocumentCount(context.Background(), nil)
	fmt.Println(n, err)
	// Output:
	// refused: true
	// 2 <nil>
}

// One error reports all invalid arguments, and nothing is sent.
func ExampleNewIndexClient() {
	_, err := search.NewIndexClient("my-service.search.windows.net", nil, nil)
	fmt.Println(err)
	// Output:
	// search: new index client: the credential is nil: pass an azcore.TokenCredential, for example of azidentity.NewDefaultAzureCredential
	// the endpoint my-service.search.windows.net does not start with https://, for example "https://my-service.search.windows.net"
}

func ExampleNewIndexClientWithKey() {
	client, err := search.NewIndexClientWithKey("https://my-service.search.windows.net", azcore.NewKeyCredential("key"), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Endpoint())
	// Output: https://my-service.search.windows.net
}

func ExampleIndexClient_Client() {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	client, err := indexes.Client("hotels")
	if err != nil {
		log.Fatal(err)
	}
	n, err := client.DocumentCount(context.Background(), nil)
	fmt.Println(client.IndexName(), n, err)
	// Output: hotels 2 <nil>
}

func ExampleIndexClient_CreateIndex() {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	fields, err := models.FieldsOf[Hotel]()
	if err != nil {
		log.Fatal(err)
	}
	index, err := indexes.CreateIndex(context.Background(), models.SearchIndex{Name: "hotels-2", Fields: fields}, nil)
	fmt.Println(index.Name, len(index.Fields), index.ETag != "", err)
	_, err = indexes.CreateIndex(context.Background(), models.SearchIndex{Name: "hotels-2", Fields: fields}, nil)
	var e *search.Error
	fmt.Println("exists:", errors.As(err, &e) && e.StatusCode == 409)
	// Output:
	// hotels-2 4 true <nil>
	// exists: true
}

// Change an index only if it has not changed since it was read.
func ExampleIndexClient_CreateOrUpdateIndex() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()

	index, err := indexes.GetIndex(ctx, "hotels", nil)
	if err != nil {
		log.Fatal(err)
	}
	ours := azcore.ETag(index.ETag)
	for range 2 { // the first update changes the ETag, so the second fails
		index.Description = "Hotels and motels"
		updated, err := indexes.CreateOrUpdateIndex(ctx, index, &search.CreateOrUpdateIndexOptions{IfMatch: &ours})
		fmt.Printf("%q, changed by another client: %v\n", updated.Description, errors.Is(err, search.ErrPreconditionFailed))
	}
	// Output:
	// "Hotels and motels", changed by another client: false
	// "", changed by another client: true
}

func ExampleIndexClient_GetIndex() {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	index, err := indexes.GetIndex(context.Background(), "hotels", nil)
	if err != nil {
		log.Fatal(err)
	}
	key, _ := index.KeyField()
	fmt.Println(index.Name, key.Name)
	_, err = indexes.GetIndex(context.Background(), "motels", nil)
	fmt.Println("not found:", errors.Is(err, search.ErrIndexNotFound))
	// Output:
	// hotels hotelId
	// not found: true
}

func ExampleIndexClient_ListIndexes() {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	for index, err := range indexes.ListIndexes(context.Background(), nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(index.Name, len(index.Fields))
	}
	// Output: hotels 4
}

func ExampleIndexClient_ListIndexNames() {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	for name, err := range indexes.ListIndexNames(context.Background(), nil) {
		fmt.Println(name, err)
	}
	// Output: hotels <nil>
}

func ExampleIndexClient_DeleteIndex() {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	fmt.Println(indexes.DeleteIndex(context.Background(), "hotels", nil))
	err := indexes.DeleteIndex(context.Background(), "hotels", nil)
	fmt.Println("not found:", errors.Is(err, search.ErrIndexNotFound))
	// Output:
	// <nil>
	// not found: true
}

func ExampleIndexClient_GetIndexStatistics() {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	stats, err := indexes.GetIndexStatistics(context.Background(), "hotels", nil)
	fmt.Println(stats.DocumentCount, err)
	// Output: 2 <nil>
}

func ExampleIndexClient_GetServiceStatistics() {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	stats, err := indexes.GetServiceStatistics(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Counters.Indexes.Usage)
	// Output: 1
}

func ExampleIndexDocuments() {
	srv, client := emulatedClient()
	defer srv.Close()
	result, err := search.IndexDocuments(context.Background(), client, models.NewIndexDocumentsBatch(
		models.UploadAction(Hotel{ID: "3", Name: "Secret Point"}),
		models.MergeAction(Hotel{ID: "2", Rating: 2}),
		models.DeleteAction(Hotel{ID: "1"}),
	), nil)
	for _, r := range result.Results {
		fmt.Println(r.Key, r.StatusCode)
	}
	fmt.Println(err)
	// Output:
	// 3 201
	// 2 200
	// 1 200
	// <nil>
}

func ExampleUploadDocuments() {
	srv, client := emulatedClient()
	defer srv.Close()
	_, err := search.UploadDocuments(context.Background(), client, []Hotel{{ID: "ok"}, {ID: "not ok"}}, nil)
	fmt.Println(err)
	// Output:
	// search: UploadDocuments of index "hotels": nothing was sent, because 1 of 2 actions cannot be: action 1: invalid document key "not ok": a key can only contain letters, digits, underscore (_), dash (-) and equal sign (=)
}

// An error reports each document that was not indexed.
func ExampleMergeDocuments() {
	srv, client := emulatedClient()
	defer srv.Close()
	_, err := search.MergeDocuments(context.Background(), client, []Hotel{{ID: "1", Rating: 4}, {ID: "77", Rating: 4}}, nil)
	var e *search.IndexingError
	if errors.As(err, &e) {
		for _, failed := range e.Failed {
			fmt.Println(failed.Key, failed.StatusCode, failed.ErrorMessage)
		}
	}
	// Output: 77 404 Document not found.
}

func ExampleMergeOrUploadDocuments() {
	srv, client := emulatedClient()
	defer srv.Close()
	// A map has no struct tag, so name its key field.
	opts := &search.IndexDocumentsOptions{KeyField: "hotelId"}
	result, err := search.MergeOrUploadDocuments(context.Background(), client, []models.Document{
		{"hotelId": "1", "tags": nil},
		{"hotelId": "77", "rating": 3},
	}, opts)
	fmt.Println(result.Results[0].StatusCode, result.Results[1].StatusCode, err)
	// Output: 200 201 <nil>
}

func ExampleDeleteDocuments() {
	srv, client := emulatedClient()
	defer srv.Close()
	_, err := search.DeleteDocuments(context.Background(), client, []Hotel{{ID: "1"}, {ID: "gone"}}, nil)
	fmt.Println(err, srv.DocumentCount("hotels"))
	// Output: <nil> 1
}

func ExampleDeleteDocumentsByKey() {
	srv, client := emulatedClient()
	defer srv.Close()
	_, err := search.DeleteDocumentsByKey(context.Background(), client, "hotelId", []string{"1", "2"}, nil)
	fmt.Println(err, srv.DocumentCount("hotels"))
	// Output: <nil> 0
}

func ExampleGetDocument() {
	ctx := context.Background()
	srv, client := emulatedClient()
	defer srv.Close()
	hotel, err := search.GetDocument[Hotel](ctx, client, "1", &search.GetDocumentOptions{Select: []string{"name"}})
	fmt.Printf("%+v %v\n", hotel, err)
	_, err = search.GetDocument[Hotel](ctx, client, "77", nil)
	fmt.Println(errors.Is(err, search.ErrDocumentNotFound), errors.Is(err, search.ErrIndexNotFound))
	// Output:
	// {ID: Name:Fancy Stay Rating:0 Tags:[]} <nil>
	// true false
}

func ExampleClient_DocumentCount() {
	srv, client := emulatedClient()
	defer srv.Close()
	fmt.Println(client.DocumentCount(context.Background(), nil))
	// Output: 2 <nil>
}

func ExampleClient_KeyFieldName() {
	srv, client := emulatedClient()
	defer srv.Close()
	fmt.Println(client.KeyFieldName(context.Background()))
	// Output: hotelId <nil>
}

// Send a pre-encoded batch with a client request id of the caller, as bufferedsender does.
func ExampleClient_IndexDocumentsRaw() {
	srv, client := emulatedClient()
	defer srv.Close()
	ctx := models.WithClientRequestID(context.Background(), "7b7d0b5b-5c2e-4b7e-9c9b-000000000001")
	batch := `{"value":[{"@search.action":"merge","hotelId":"77","rating":4}]}`
	result, err := client.IndexDocumentsRaw(ctx, streaming.NopCloser(strings.NewReader(batch)))
	fmt.Println(result.StatusCode, result.Results[0].StatusCode, err)
	// Output: 207 404 <nil>
}

func ExampleError() {
	srv, opts := emulated()
	defer srv.Close()
	client, err := search.NewClientWithKey(srv.URL(), "motels", azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		log.Fatal(err)
	}
	_, err = search.UploadDocuments(context.Background(), client, []Hotel{{ID: "1"}}, nil)
	var e *search.Error
	if errors.As(err, &e) {
		fmt.Println(e.StatusCode, e.Message)
		fmt.Println(e.Hint)
	}
	var azure *azcore.ResponseError
	fmt.Println(errors.As(err, &azure), errors.Is(err, search.ErrIndexNotFound))
	// Output:
	// 404 The index 'motels' for service 'searchtest' was not found.
	// the index "motels" does not exist on searchtest.search.windows.net: check its name and the endpoint, or create it with IndexClient.CreateIndex
	// true true
}
