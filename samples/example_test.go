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

// README.md shows what stands between here and the end of find, word for word.

type Hotel struct {
	ID     string   `json:"id" search:"key"`
	Name   string   `json:"name" search:"searchable"`
	Tags   []string `json:"tags" search:"filterable,facetable"`
	Rating float64  `json:"rating" search:"filterable,sortable"`
}

func load(ctx context.Context, endpoint, apiKey string, hotels iter.Seq[Hotel]) error {
	client, err := search.NewClientWithKey(endpoint, "hotels", azcore.NewKeyCredential(apiKey), nil)
	if err != nil {
		return err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{
		Handlers: events.Handlers[Hotel]{
			ActionFailed: func(_ context.Context, e *events.ActionFailed[Hotel]) { log.Print(e.Err) },
		},
	})
	if err != nil {
		return err
	}
	for hotel := range hotels {
		if err := sender.UploadDocuments(ctx, hotel); err != nil { // waits while the buffer is full
			return errors.Join(err, finish(sender))
		}
	}
	return finish(sender)
}

// finish has a deadline of its own: what was accepted is sent also after Ctrl-C has
// ended the other context. nil means that everything is in the index.
func finish(sender *bufferedsender.BufferedSender[Hotel]) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return sender.Close(ctx)
}

func prepare(ctx context.Context, endpoint, adminKey string) error {
	fields, err := models.FieldsOf[Hotel]() // of the struct tags
	if err != nil {
		return err
	}
	key := azcore.NewKeyCredential(adminKey) // azcore is github.com/Azure/azure-sdk-for-go/sdk/azcore
	indexes, err := search.NewIndexClientWithKey(endpoint, key, nil)
	if err != nil {
		return err
	}
	if _, err := indexes.CreateIndex(ctx, models.SearchIndex{Name: "hotels", Fields: fields}, nil); err != nil {
		return err
	}
	client, err := search.NewClientWithKey(endpoint, "hotels", key, nil)
	if err != nil {
		return err
	}
	_, err = search.Check[Hotel](ctx, client, &search.CheckOptions{Use: search.CheckForWriting})
	return err
}

func find(ctx context.Context, client *search.Client, text string) error {
	opts := &search.SearchOptions{Filter: search.Ge("rating", 3.5), OrderBy: []string{"rating desc"}}
	for hotel, err := range search.Search[Hotel](ctx, client, text, opts) { // all pages
		if err != nil {
			return err
		}
		fmt.Println(hotel.Document.Name, hotel.Document.Rating)
	}
	return nil
}

func Example() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	if err := prepare(context.Background(), srv.URL(), searchtest.AdminKey); err != nil {
		log.Fatal(err)
	}

	err := load(context.Background(), srv.URL(), searchtest.AdminKey, slices.Values([]Hotel{
		{ID: "1", Name: "Stay-Kay City Hotel", Tags: []string{"view"}, Rating: 3.6},
		{ID: "2", Name: "Old Century Hotel", Rating: 3.5},
	}))
	fmt.Println(err, srv.DocumentCount("hotels"))

	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.QueryKey), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(find(context.Background(), client, "hotel"))
	// Output:
	// <nil> 2
	// Stay-Kay City Hotel 3.6
	// Old Century Hotel 3.5
	// <nil>
}

// clientOfREADME is the piece of README.md about testing.
func clientOfREADME(t *testing.T) *search.Client {
	t.Helper()
	client := clienttest.New(t, Hotel{ID: "1", Name: "Ritz"}) // a *search.Client, its index made of the struct tags
	return client
}
