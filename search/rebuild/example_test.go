package rebuild_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/rebuild"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

type Hotel struct {
	ID   string `json:"id" search:"key"`
	Name string `json:"name" search:"searchable"`
}

// emulated returns a service with the index hotels-1 and its alias hotels.
func emulated() (*search.IndexClient, models.SearchIndex, *searchtest.Server) {
	srv := searchtest.NewServer(nil)
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
	if err != nil {
		panic(err)
	}
	fields, err := models.FieldsOf[Hotel]()
	if err != nil {
		panic(err)
	}
	definition := models.SearchIndex{Name: "hotels-1", Fields: fields}
	if _, err = indexes.CreateIndex(context.Background(), definition, nil); err != nil {
		panic(err)
	}
	if _, err = indexes.CreateAlias(context.Background(), models.Alias{Name: "hotels", Indexes: []string{"hotels-1"}}, nil); err != nil {
		panic(err)
	}
	return indexes, definition, srv
}

// A writer that takes part in rebuilds.
func ExampleNewTap() {
	indexes, _, srv := emulated()
	defer srv.Close()
	ctx := context.Background()
	store := rebuild.NewMemory() // with several writing processes use rebuild.NewSQL
	tap, err := rebuild.NewTap(ctx, store, rebuild.TapOptions{
		Writer: "booking", Index: "hotels-1",
		Connect: func(index string) (rebuild.Indexer, error) { return indexes.Client(index) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	sender, err := bufferedsender.New(tap.Indexer(), &bufferedsender.Options[Hotel]{Tap: tap})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = sender.UploadDocuments(ctx, Hotel{ID: "1", Name: "Ritz"})
	fmt.Println(err, sender.Close(ctx))
	status, err := rebuild.ReadStatus(ctx, store)
	fmt.Println(tap.Index(), status.Active, status.Writers[0].Name, err)
	// Output:
	// <nil> <nil>
	// hotels-1 false booking <nil>
}

// Run changes an index in place if the service allows that. Otherwise it creates a new index and takes at least a
// minute.
func ExampleRun() {
	indexes, definition, srv := emulated()
	defer srv.Close()
	ctx := context.Background()
	hotels := map[string]Hotel{"1": {"1", "Ritz"}} // the source of truth: a database
	upload := func(h Hotel) (models.RawAction, error) {
		doc, err := json.Marshal(h)
		return models.RawAction{Key: h.ID, Type: models.ActionTypeUpload, Document: doc}, err
	}
	fill := rebuild.Fill{
		All: func(_ context.Context, _ string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				for _, h := range hotels {
					if !yield(upload(h)) {
						return
					}
				}
			}
		},
		Keys: func(_ context.Context, keys []string) (all []models.RawAction, err error) {
			for _, key := range keys {
				if h, ok := hotels[key]; ok {
					a, err := upload(h)
					if err != nil {
						return nil, err
					}
					all = append(all, a)
				}
			}
			return all, nil
		},
	}
	next := definition
	next.Name = "hotels-2"
	var filling *bufferedsender.BufferedSender[Hotel]
	report, err := rebuild.Run(ctx, rebuild.NewMemory(), indexes, next, fill, rebuild.Options{
		Alias: "hotels", Alone: true, // or Writers: []string{"booking"}
		Logger: slog.New(slog.DiscardHandler),
		Sender: func(index string) (rebuild.Sender, error) {
			client, err := indexes.Client(index)
			if err != nil {
				return nil, err
			}
			if filling, err = bufferedsender.New(client, &bufferedsender.Options[Hotel]{}); err != nil {
				return nil, err
			}
			return filling.Raw(), nil
		},
	})
	if filling != nil { // Run does not close it
		err = errors.Join(err, filling.Close(ctx))
	}
	fmt.Println(report.Needed, report.Index, err)
	// Output: false hotels-1 <nil>
}

func ExampleAbort() {
	indexes, _, srv := emulated()
	defer srv.Close()
	err := rebuild.Abort(context.Background(), rebuild.NewMemory(), indexes, nil)
	fmt.Println(errors.Is(err, rebuild.ErrNothing))
	// Output: true
}

func ExampleDropOld() {
	indexes, _, srv := emulated()
	defer srv.Close()
	fmt.Println(rebuild.DropOld(context.Background(), rebuild.NewMemory(), indexes, &rebuild.DropOptions{Now: true}))
	// Output: rebuild: no rebuild in progress
}
