package repair_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// A tree follows a sender, so that lost changes are found without reading the index.
func ExampleRepairer_RunTree() {
	ctx := context.Background()
	service := searchtest.NewServer(nil) // an emulated service
	defer service.Close()
	if err := service.CreateIndex(`{"name":"hotels-of-tree","fields":[
		{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true}, {"name":"version","type":"Edm.Int64"}]}`); err != nil {
		log.Fatal(err)
	}
	client, err := search.NewClientWithKey(service.URL(), "hotels-of-tree", azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: service}})
	if err != nil {
		log.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "tree") // a program uses a fixed one
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	tree, err := digesttree.Open(filepath.Join(folder, "tree"), &digesttree.Options{Empty: true}) // the index is new
	if err != nil {
		log.Fatal(err)
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{
		Handlers: digesttree.Follow(tree, func(h Hotel) int64 { return h.Version }),
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := sender.UploadDocuments(ctx, Hotel{"1", 1}, Hotel{"2", 1}); err != nil {
		log.Fatal(err)
	}
	if err := sender.Flush(ctx, nil); err != nil {
		log.Fatal(err)
	}
	// The database has changed, and the messages about that were lost.
	export := filepath.Join(folder, "export.jsonl")
	if err := os.WriteFile(export, []byte(`{"id":"1","version":1}
{"id":"2","version":2}
{"id":"3","version":1}
`), 0o600); err != nil {
		log.Fatal(err)
	}
	source, err := repair.OpenJSONL(export, &repair.JSONLOptions{Key: "id", Version: "version"})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	index, err := search.NewRows(client, &search.RowsOptions{Version: "version"})
	if err != nil {
		log.Fatal(err)
	}
	r := repair.Repairer{Source: source, Index: index, Sender: sender.Raw(), Options: repair.Options{Pause: time.Millisecond}}
	for range 2 {
		report, err := r.RunTree(ctx, tree)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(report.Tree.Found, "found,", report.Repaired, "repaired")
	}
	if err := sender.Close(ctx); err != nil {
		log.Fatal(err)
	}
	if err := tree.Close(ctx); err != nil { // after the sender, which reports changes until its end
		log.Fatal(err)
	}
	// Output:
	// 2 found, 2 repaired
	// 0 found, 0 repaired
}
