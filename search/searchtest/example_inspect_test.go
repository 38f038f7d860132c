package searchtest_test

import (
	"fmt"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// twoHotels returns a server that received two documents, then a change and a deletion of one of them.
func twoHotels(opts *searchtest.Options) *searchtest.Server {
	srv := searchtest.NewServer(opts)
	_ = srv.CreateIndex(hotels)
	call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"id":"1","name":"Ritz","rating":5},{"id":"2","name":"Roach"}]}`)
	call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"@search.action":"merge","id":"1","rating":4},{"@search.action":"delete","id":"2"}]}`)
	return srv
}

func ExampleServer_Requests() {
	srv := twoHotels(nil)
	defer srv.Close()
	call(srv, "GET", "/indexes('hotels')/docs('2')", "")
	for _, r := range srv.Requests() {
		fmt.Println(r.Seq, r.Operation, r.Index, r.Actions, r.BodyBytes, r.Status)
	}
	// Output:
	// 1 indexDocuments hotels 2 73 200
	// 2 indexDocuments hotels 2 95 200
	// 3 getDocument hotels 0 0 404
}

// With KeepContents the history has the content of each action.
func ExampleServer_Changes() {
	srv := twoHotels(&searchtest.Options{KeepContents: true})
	defer srv.Close()
	for _, c := range srv.Changes("hotels") {
		fmt.Println(c.Seq, c.Request, c.Key, c.Action, c.Status, string(c.Document))
	}
	// Output:
	// 1 1 1 upload 201 {"id":"1","name":"Ritz","rating":5.0}
	// 2 1 2 upload 201 {"id":"2","name":"Roach"}
	// 3 2 1 merge 200 {"id":"1","rating":4.0}
	// 4 2 2 delete 200
}

func ExampleChange_Applied() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"@search.action":"merge","id":"1"},{"@search.action":"delete","id":"1"}]}`)
	for _, c := range srv.History("hotels", "1") {
		fmt.Println(c.Action, c.Status, c.Applied())
	}
	// Output:
	// merge 404 false
	// delete 200 true
}

func ExampleServer_Document() {
	srv := twoHotels(nil)
	defer srv.Close()
	doc, ok := srv.Document("hotels", "1")
	fmt.Println(string(doc), ok)
	_, ok = srv.Document("hotels", "2")
	fmt.Println(ok)
	// Output:
	// {"id":"1","name":"Ritz","rating":4.0,"tags":[]} true
	// false
}

func ExampleServer_Documents() {
	srv := twoHotels(nil)
	defer srv.Close()
	for key, doc := range srv.Documents("hotels") {
		fmt.Println(key, string(doc))
	}
	// Output: 1 {"id":"1","name":"Ritz","rating":4.0,"tags":[]}
}

func ExampleServer_DocumentCount() {
	srv := twoHotels(nil)
	defer srv.Close()
	fmt.Println(srv.DocumentCount("hotels"), srv.DocumentCount("nonesuch"))
	// Output: 1 0
}

func ExampleServer_IndexNames() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	for _, name := range []string{"motels", "hotels"} {
		_ = srv.CreateIndex(strings.Replace(hotels, "hotels", name, 1))
	}
	fmt.Println(srv.IndexNames())
	// Output: [hotels motels]
}

func ExampleServer_DocumentKeys() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"id":"2"},{"id":"1"},{"id":"3"}]}`)
	call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"@search.action":"merge","id":"2","rating":4}]}`)
	fmt.Println(srv.DocumentKeys("hotels"))
	// Output: [1 3 2]
}

func ExampleServer_IndexVersion() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	before, _ := srv.IndexVersion("hotels")
	call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"id":"1"}]}`)
	after, _ := srv.IndexVersion("hotels")
	fmt.Println(before == after, before.ETag == after.ETag)
	// Output: false true
}

func ExampleServer_IndexDefinition() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	definition, ok := srv.IndexDefinition("hotels")
	fmt.Println(ok, strings.Contains(string(definition), `"retrievable":true`))
	_, ok = srv.IndexDefinition("none")
	fmt.Println(ok)
	// Output:
	// true true
	// false
}
