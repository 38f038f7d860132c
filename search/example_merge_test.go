package search_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Merging a struct overwrites fields with zero values; a patch changes only what it sets.
func ExampleMergeDocuments_patch() {
	ctx := context.Background()
	srv, client := emulatedClient()
	defer srv.Close()

	type Stay struct {
		ID     string   `json:"hotelId" search:"key"`
		Name   string   `json:"name"`
		Rating int      `json:"rating"`
		Tags   []string `json:"tags"`
	}
	show := func() {
		hotel, err := search.GetDocument[Stay](ctx, client, "1", nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%+v\n", hotel)
	}
	show()
	patch := models.NewPatch("hotelId", "1").Set("rating", 4)
	if _, err := search.MergeDocuments(ctx, client, []*models.Patch{patch}, &search.IndexDocumentsOptions{KeyField: "hotelId"}); err != nil {
		log.Fatal(err)
	}
	show()
	if _, err := search.MergeDocuments(ctx, client, []Stay{{ID: "1", Rating: 3}}, nil); err != nil {
		log.Fatal(err)
	}
	show()
	// Output:
	// {ID:1 Name:Fancy Stay Rating:5 Tags:[pool]}
	// {ID:1 Name:Fancy Stay Rating:4 Tags:[pool]}
	// {ID:1 Name: Rating:3 Tags:[]}
}
