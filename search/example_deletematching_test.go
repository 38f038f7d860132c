package search_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-azsearch/azsearch/search"
)

// Delete all passages of a file from an index whose key is neither filterable nor sortable.
func ExampleDeleteMatching() {
	srv, client := resorts()
	defer srv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	deleted, err := search.DeleteMatching(ctx, client, "hotelId", search.Eq("category", "Budget"), nil)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(len(deleted))
	// Output: 2
}

// Wait until a write is visible: the service confirms a write before queries see it.
func ExampleWaitVisible() {
	srv, client := resorts()
	defer srv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := search.UploadDocuments(ctx, client, []Resort{{ID: "9", Rate: 8}}, nil); err != nil {
		log.Panic(err)
	}
	rows, err := search.NewRows(client, &search.RowsOptions{Version: "rate"})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(search.WaitVisible(ctx, rows, "9", &search.VisibleOptions{Version: 8}))
	// Output: <nil>
}
