package clienttest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

type Hotel struct {
	ID     string  `json:"id" search:"key"`
	Name   string  `json:"name" search:"searchable"`
	Rating float64 `json:"rating" search:"filterable,sortable"`
}

// exampleT replaces *testing.T, which examples do not have.
type exampleT struct {
	testing.TB
	cleanup []func()
}

func (t *exampleT) Helper()                  {}
func (t *exampleT) Context() context.Context { return context.Background() }
func (t *exampleT) Cleanup(f func())         { t.cleanup = append(t.cleanup, f) }
func (t *exampleT) end() {
	for _, f := range t.cleanup {
		f()
	}
}

// Create an index of two hotels and its client in one line. In a test t is the *testing.T.
func ExampleNew() {
	t := new(exampleT)
	defer t.end()

	client := clienttest.New(t, Hotel{"1", "Ritz", 5}, Hotel{"2", "Roach Motel", 1})

	opts := &search.SearchOptions{Filter: search.Ge("rating", 3)}
	for hotel, err := range search.Search[Hotel](t.Context(), client, "", opts) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(hotel.Document.Name)
	}
	// Output: Ritz
}

// Use a server of your own to inspect requests or inject faults.
func ExampleNewClient() {
	t := new(exampleT)
	defer t.end()

	srv := searchtest.NewServer(nil)
	client := clienttest.NewClient(t, `{"name":"hotels","fields":[
		{"name":"id","type":"Edm.String","key":true},
		{"name":"name","type":"Edm.String"}]}`, &clienttest.Options{Server: srv})

	if _, err := search.UploadDocuments(t.Context(), client, []map[string]string{{"id": "1", "name": "Ritz"}}, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(client.IndexName(), srv.DocumentCount("hotels"), len(srv.Requests()))
	// Output: hotels 1 1
}
