package repair_test

import (
	"context"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Order is a document of a customer.
type Order struct {
	ID       string `json:"id" search:"key,filterable,sortable"`
	Customer string `json:"customer" search:"filterable"`
	Revision int64  `json:"revision"`
}

// orders returns an emulated index and a sender to it.
func orders(ctx context.Context) (*search.Client, *bufferedsender.BufferedSender[Order], func()) {
	srv := searchtest.NewServer(nil)
	opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}}
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		log.Panic(err)
	}
	fields, err := models.FieldsOf[Order]()
	if err != nil {
		log.Panic(err)
	}
	if _, err = indexes.CreateIndex(ctx, models.SearchIndex{Name: "orders", Fields: fields}, nil); err != nil {
		log.Panic(err)
	}
	client, err := indexes.Client("orders")
	if err != nil {
		log.Panic(err)
	}
	sender, err := bufferedsender.New[Order](client, nil)
	if err != nil {
		log.Panic(err)
	}
	return client, sender, func() {
		if err := sender.Close(ctx); err != nil {
			log.Panic(err)
		}
		if err := srv.Close(); err != nil {
			log.Panic(err)
		}
	}
}

// Erase all documents of a customer. The receipt has the time after which the service had none left.
func ExampleDeleteWhere() {
	ctx := context.Background()
	client, sender, end := orders(ctx)
	defer end()
	for i := range 100 {
		if err := sender.UploadDocuments(ctx, Order{ID: fmt.Sprint(i), Customer: fmt.Sprint("c", i%25)}); err != nil {
			log.Panic(err)
		}
	}
	if err := sender.Flush(ctx, nil); err != nil {
		log.Panic(err)
	}

	matching, err := search.NewRows(client, &search.RowsOptions{Filter: search.Eq("customer", "c7")})
	if err != nil {
		log.Panic(err)
	}
	receipt, err := repair.DeleteWhere(ctx, matching, sender.Raw(), &repair.DeleteOptions{
		Total: func(ctx context.Context) (int64, error) { return client.DocumentCount(ctx, nil) },
		Pause: -1, // the emulator shows changes at once; omit this with a real service
	})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(receipt.Deleted, "of", receipt.Total, receipt.Keys, "none left:", !receipt.NoneLeftAt.IsZero())
	// Output: 4 of 100 [32 57 7 82] none left: true
}
