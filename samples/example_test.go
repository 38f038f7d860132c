package samples_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

// README.md shows Hotel, load and the body of find, word for word.

type Hotel struct {
	ID     string  `json:"id" search:"key,filterable,sortable"`
	Name   string  `json:"name" search:"searchable"`
	Rating float64 `json:"rating" search:"filterable,sortable"`
} // models.FieldsOf[Hotel]() returns the fields of its index, for IndexClient.CreateIndex

func load(ctx context.Context, client *search.Client, hotels iter.Seq[Hotel]) error {
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{Handlers: events.Handlers[Hotel]{
		ActionFailed: func(_ context.Context, e *events.ActionFailed[Hotel]) { log.Print(e.Err) },
	}})
	if err != nil {
		return err
	}
	for hotel := range hotels {
		if e := sender.UploadDocuments(ctx, hotel); e != nil { // blocks while the buffer is full
			err = errors.Join(err, e)
			if bad, ok := errors.AsType[*bufferedsender.AddError](e); !ok || !bad.Rejected() {
				break // ctx has ended; a rejected document, with an illegal key for example, stops no other
			}
		}
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second) // also after Ctrl-C
	defer cancel()
	return errors.Join(err, sender.Close(closing)) // nil: every document is in the index
}

func find(ctx context.Context, client *search.Client) error {
	opts := &search.SearchOptions{Filter: search.Ge("rating", 3.5), OrderBy: []string{"rating desc"}}
	for hit, err := range search.Search[Hotel](ctx, client, "hotel", opts) { // all pages
		if err != nil {
			return err
		}
		fmt.Println(hit.Document.Name, hit.Document.Rating)
	}
	return nil
}

func createIndex(ctx context.Context, client *search.IndexClient) error {
	fields, err := models.FieldsOf[Hotel]()
	if err != nil {
		return err
	}
	_, err = client.CreateIndex(ctx, models.SearchIndex{Name: "hotels", Fields: fields}, nil)
	return err
}

func Example() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	ctx, key := context.Background(), azcore.NewKeyCredential(searchtest.AdminKey)
	indexes, err := search.NewIndexClientWithKey(srv.URL(), key, nil)
	if err != nil {
		log.Fatal(err)
	}
	client, err := search.NewClientWithKey(srv.URL(), "hotels", key, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := createIndex(ctx, indexes); err != nil {
		log.Fatal(err)
	}
	if _, err := search.Check[Hotel](ctx, client, nil); err != nil {
		log.Fatal(err)
	}
	err = load(ctx, client, slices.Values([]Hotel{
		{ID: "1", Name: "Stay-Kay City Hotel", Rating: 3.6},
		{ID: "2", Name: "Old Century Hotel", Rating: 3.5},
	}))
	fmt.Println(err, srv.DocumentCount("hotels"))
	fmt.Println(find(ctx, client))
	// Output:
	// <nil> 2
	// Stay-Kay City Hotel 3.6
	// Old Century Hotel 3.5
	// <nil>
}

// clientOfREADME is the piece of README.md about testing.
func clientOfREADME(t *testing.T) *search.Client {
	t.Helper()
	client := clienttest.New(t, Hotel{ID: "1", Name: "Ritz"}) // index and client; works inside testing/synctest
	return client
}
