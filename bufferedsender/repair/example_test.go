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
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

type Hotel struct {
	ID      string `json:"id" search:"key"`
	Version int64  `json:"version"`
}

// The source of truth is a database export with a document on each line. A table would be an SQLSource.
func ExampleRepairer_Run() {
	ctx := context.Background()
	service := searchtest.NewServer(nil) // an emulated service
	defer service.Close()
	if err := service.CreateIndex(`{"name":"hotels-of-export","fields":[
		{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true}, {"name":"version","type":"Edm.Int64"}]}`); err != nil {
		log.Fatal(err)
	}
	client, err := search.NewClientWithKey(service.URL(), "hotels-of-export", azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: service}})
	if err != nil {
		log.Fatal(err)
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{})
	if err != nil {
		log.Fatal(err)
	}
	// One document is outdated, one is surplus, and one is missing.
	if err := sender.UploadDocuments(ctx, Hotel{"1", 1}, Hotel{"2", 1}, Hotel{"gone", 1}); err != nil {
		log.Fatal(err)
	}
	if err := sender.Flush(ctx, nil); err != nil {
		log.Fatal(err)
	}
	export := filepath.Join(os.TempDir(), "repair-example.jsonl")
	if err := os.WriteFile(export, []byte(`{"id":"1","version":1}
{"id":"2","version":2}
{"id":"3","version":1}
`), 0o600); err != nil {
		log.Fatal(err)
	}
	defer os.Remove(export)

	source, err := repair.OpenJSONL(export, &repair.JSONLOptions{Key: "id", Version: "version"})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	rows, err := search.NewRows(client, &search.RowsOptions{Version: "version"})
	if err != nil {
		log.Fatal(err)
	}
	r := repair.Repairer{Source: source, Index: rows, Sender: sender.Raw(), Options: repair.Options{DryRun: true, Pause: time.Millisecond}}
	dry, err := r.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dry.Keys)
	r.Options.DryRun = false
	report, err := r.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Repaired, "repaired,", report.Deleted, "deleted")
	if err := sender.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// map[different:[2] missing:[3] surplus:[gone]]
	// 2 repaired, 1 deleted
}
