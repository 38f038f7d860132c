package searchtest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// A fixture is written by hand or captured from a filled server.
func ExampleServer_Restore() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	err := srv.Restore(strings.NewReader(`{
		"indexes": [{
			"definition": {"name":"hotels","fields":[
				{"name":"id","type":"Edm.String","key":true},
				{"name":"name","type":"Edm.String"}]},
			"documents": [
				{"id":"1","name":"Ritz"},
				{"id":"2","name":"Roach"}]
		}],
		"aliases": [{"name":"current","indexes":["hotels"]}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(srv.IndexNames(), srv.DocumentCount("hotels"))
	fmt.Println(call(srv, "GET", "/indexes('current')/docs('2')", ""))

	// An invalid snapshot changes nothing, and the error has the position.
	fmt.Println(srv.Restore(strings.NewReader("{\n\t\"indices\": []\n}")))
	// Output:
	// [hotels] 2
	// 200 {"id":"2","name":"Roach"}
	// snapshot: line 2, column 2: the member "indices" is unknown: it must be one of aliases, dataSources, indexers, indexes, knowledgeBases, knowledgeSources, skillsets, synonymMaps
}

func ExampleServer_Snapshot() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"name","type":"Edm.String"}]}`)
	call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"id":"1","name":"Hôtel Ritz"},{"id":"2","name":"Roach"}]}`)
	call(srv, "POST", "/synonymmaps", `{"name":"names","format":"solr","synonyms":"ritz, palace"}`)
	if err := srv.Snapshot(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {
	//   "indexes": [
	//     {
	//       "definition": {
	//         "name": "hotels",
	//         "fields": [
	//           {"name":"id","type":"Edm.String","key":true},
	//           {"name":"name","type":"Edm.String"}
	//         ]
	//       },
	//       "documents": [
	//         {"id":"1","name":"Hôtel Ritz"},
	//         {"id":"2","name":"Roach"}
	//       ]
	//     }
	//   ],
	//   "synonymMaps": [
	//     {"name":"names","format":"solr","synonyms":"ritz, palace"}
	//   ],
	//   "aliases": []
	// }
}

// A test with many changes can return to its initial state.
func ExampleServer_Restore_back() {
	srv := twoHotels(nil)
	defer srv.Close()
	var before bytes.Buffer
	_ = srv.Snapshot(&before)
	call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"@search.action":"delete","id":"1"}]}`)
	fmt.Println(srv.DocumentCount("hotels"))
	_ = srv.Restore(&before)
	fmt.Println(srv.DocumentCount("hotels"))
	// Output:
	// 0
	// 1
}

// A program can start from another one's snapshot. "azsearch emulator -seed" reads such a file, too.
func ExampleServer_SnapshotFile() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "hotels.json")

	srv := twoHotels(nil)
	defer srv.Close()
	if err := srv.SnapshotFile(file); err != nil {
		fmt.Println(err)
		return
	}
	fresh := searchtest.NewServer(nil)
	defer fresh.Close()
	if err := fresh.RestoreFile(file); err != nil {
		fmt.Println(err)
		return
	}
	document, _ := fresh.Document("hotels", "1")
	fmt.Println(string(document))
	// Output: {"id":"1","name":"Ritz","rating":4.0,"tags":[]}
}

func ExampleServer_RestoreFile() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	if err := srv.RestoreFile(filepath.Join("testdata", "seed.json")); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(srv.IndexNames(), srv.DocumentCount("hotels"))
	fmt.Println(call(srv, "GET", "/aliases('current')", ""))
	// Output:
	// [hotels] 2
	// 200 {"@odata.etag":"\"0x8D84B88FBE40003\"","name":"current","indexes":["hotels"]}
}

// By default an index may name an analyzer that is not emulated, as long as no text needs it.
func ExampleOptions_strictAnalysis() {
	const definition = `{"name":"hotels","fields":[
		{"name":"id","type":"Edm.String","key":true},
		{"name":"name","type":"Edm.String","analyzer":"ja.microsoft"}]}`
	for _, strict := range []bool{false, true} {
		srv := searchtest.NewServer(&searchtest.Options{StrictAnalysis: strict})
		defer srv.Close()
		err := srv.CreateIndex(definition)
		fmt.Println(strict, err == nil)
	}
	// Output:
	// false true
	// true false
}
