package fleet_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Note is the document of the tenants.
type Note struct {
	ID   string `json:"id" search:"key"`
	Text string `json:"text" search:"searchable"`
}

// tenants returns the client of an emulated service with an index for each tenant. The client of a real service is
//
//	search.NewIndexClient("https://my-service.search.windows.net", credential, nil)
func tenants(names ...string) *search.IndexClient {
	srv := searchtest.NewServer(nil)
	client, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
	must(err)
	fields, err := models.FieldsOf[Note]()
	must(err)
	for _, name := range names {
		_, err := client.CreateIndex(context.Background(), models.SearchIndex{Name: name, Fields: fields}, nil)
		must(err)
	}
	return client
}

// One index per tenant, with common limits, readiness, health, and shutdown.
func Example() {
	ctx := context.Background()
	names := []string{"tenant-a", "tenant-b", "tenant-c"}
	f, err := fleet.New(fleet.From(tenants(names...).Client, nil), &fleet.Options{
		Pool: &pool.Options{Expedited: 4, Shared: 4, BufferedActions: 50_000, BufferedBytes: 128 << 20},
	})
	must(err)
	senders := map[string]*bufferedsender.BufferedSender[Note]{} // fleet.Sender creates one for any name, also for a wrong one
	for _, name := range names {
		senders[name], err = fleet.Sender(f, name, &bufferedsender.Options[Note]{AutoFlushInterval: time.Second})
		must(err)
	}

	tenant := senders["tenant-b"]
	must(tenant.UploadDocuments(ctx, Note{ID: "1", Text: "live"}))
	must(tenant.UploadDocuments(models.WithClass(ctx, models.ClassBestEffort), Note{ID: "2", Text: "backfill"}))

	ready := func(w http.ResponseWriter, _ *http.Request) {
		if err := f.Health().Ready(); err != nil { // a failing tenant does not make the program unready; Err is for alarms
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}
	w := httptest.NewRecorder()
	ready(w, nil)
	fmt.Println(w.Code, f.Health())

	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second) // after SIGTERM
	defer cancel()
	fmt.Println(f.Close(closing), f.Stats().All.Completed, "completed")
	// Output:
	// 200 all 3 senders are healthy
	// <nil> 2 completed
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
