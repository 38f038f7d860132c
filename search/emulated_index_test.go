package search_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// everything is an index with a field of each type.
const everything = `{
	"name": "everything",
	"fields": [
		{"name": "id", "type": "Edm.String", "key": true, "filterable": true, "sortable": true},
		{"name": "text", "type": "Edm.String", "filterable": true, "sortable": true, "facetable": true},
		{"name": "texts", "type": "Collection(Edm.String)", "filterable": true, "facetable": true},
		{"name": "flag", "type": "Edm.Boolean", "filterable": true, "sortable": true, "facetable": true},
		{"name": "int", "type": "Edm.Int32", "filterable": true, "sortable": true, "facetable": true},
		{"name": "long", "type": "Edm.Int64", "filterable": true, "sortable": true, "facetable": true},
		{"name": "double", "type": "Edm.Double", "filterable": true, "sortable": true, "facetable": true},
		{"name": "time", "type": "Edm.DateTimeOffset", "filterable": true, "sortable": true, "facetable": true},
		{"name": "point", "type": "Edm.GeographyPoint", "filterable": true, "sortable": true},
		{"name": "object", "type": "Edm.ComplexType", "fields": [{"name": "text", "type": "Edm.String", "filterable": true}]},
		{"name": "objects", "type": "Collection(Edm.ComplexType)", "fields": [
			{"name": "text", "type": "Edm.String", "filterable": true},
			{"name": "int", "type": "Edm.Int32", "filterable": true}]},
		{"name": "plain", "type": "Edm.String", "searchable": false, "filterable": false, "sortable": false, "facetable": false},
		{"name": "single", "type": "Collection(Edm.Single)", "searchable": true, "retrievable": true, "dimensions": 2, "vectorSearchProfile": "cosine"},
		{"name": "half", "type": "Collection(Edm.Half)", "searchable": true, "retrievable": true, "dimensions": 2, "vectorSearchProfile": "euclidean"},
		{"name": "int16", "type": "Collection(Edm.Int16)", "searchable": true, "retrievable": true, "dimensions": 2, "vectorSearchProfile": "dotProduct"},
		{"name": "sbyte", "type": "Collection(Edm.SByte)", "searchable": true, "retrievable": true, "dimensions": 2, "vectorSearchProfile": "cosine"},
		{"name": "byte", "type": "Collection(Edm.Byte)", "searchable": true, "retrievable": true, "dimensions": 16, "vectorEncoding": "packedBit", "vectorSearchProfile": "hamming"}
	],
	"suggesters": [{"name": "sg", "searchMode": "analyzingInfixMatching", "sourceFields": ["text", "texts"]}],
	"vectorSearch": {
		"algorithms": [
			{"name": "cosine", "kind": "hnsw", "hnswParameters": {"metric": "cosine"}},
			{"name": "euclidean", "kind": "exhaustiveKnn", "exhaustiveKnnParameters": {"metric": "euclidean"}},
			{"name": "dotProduct", "kind": "hnsw", "hnswParameters": {"metric": "dotProduct"}},
			{"name": "hamming", "kind": "hnsw", "hnswParameters": {"metric": "hamming"}}
		],
		"profiles": [
			{"name": "cosine", "algorithm": "cosine"}, {"name": "euclidean", "algorithm": "euclidean"},
			{"name": "dotProduct", "algorithm": "dotProduct"}, {"name": "hamming", "algorithm": "hamming"}
		]
	}
}`

// impatient returns options of a client that makes four attempts without delay.
func impatient(srv *searchtest.Server) *search.ClientOptions {
	return &search.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: srv,
		Retry:     policy.RetryOptions{RetryDelay: -1, MaxRetryDelay: time.Millisecond},
	}}
}

// emulating returns a server with an index and documents, and its client.
func emulating(t testing.TB, definition, index string, docs ...models.Document) (*searchtest.Server, *search.Client) {
	t.Helper()
	return emulatingWith(t, &searchtest.Options{KeepBodies: 1 << 20}, definition, index, docs...)
}

func emulatingWith(t testing.TB, opts *searchtest.Options, definition, index string, docs ...models.Document) (*searchtest.Server, *search.Client) {
	t.Helper()
	srv := searchtest.NewServer(opts)
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	require.NoError(t, srv.CreateIndex(definition))
	client, err := search.NewClientWithKey(srv.URL(), index, azcore.NewKeyCredential(searchtest.AdminKey), impatient(srv))
	require.NoError(t, err)
	for len(docs) > 0 {
		n := min(len(docs), search.DefaultMaxBatchActions)
		_, err := search.UploadDocuments(t.Context(), client, docs[:n], &search.IndexDocumentsOptions{KeyField: "id"})
		require.NoError(t, err)
		docs = docs[n:]
	}
	return srv, client
}

// emulatingEverything is like emulating with the index everything.
func emulatingEverything(t testing.TB, docs ...models.Document) (*searchtest.Server, *search.Client) {
	t.Helper()
	return emulating(t, everything, "everything", docs...)
}

// numbered returns n documents with keys of five digits. Field int counts from 0.
func numbered(n int) []models.Document {
	docs := make([]models.Document, n)
	for i := range docs {
		docs[i] = models.Document{"id": numberedID(i), "int": i}
	}
	return docs
}

func numberedID(i int) string { return fmt.Sprintf("%05d", i) }

// found returns the keys of a query's results in order.
func found(t testing.TB, client *search.Client, text string, opts *search.SearchOptions) (ids []string, err error) {
	t.Helper()
	for result, err := range search.Search[struct{ ID string }](t.Context(), client, text, opts) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, result.Document.ID)
	}
	return ids, nil
}

// searches returns the number of searches that the server has received.
func searches(srv *searchtest.Server) (n int) {
	for _, r := range srv.Requests() {
		if r.Operation == searchtest.OpSearch {
			n++
		}
	}
	return n
}
