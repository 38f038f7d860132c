package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Hotel is what the stories are about.
type Hotel struct {
	ID     string  `json:"id" search:"key"`
	Name   string  `json:"name" search:"searchable"`
	Rating float64 `json:"rating" search:"filterable,sortable"`
}

// clientOptions reach srv inside this process. The delays of a client's own
// retries are short so that the stories are.
func clientOptions(srv *searchtest.Server) *search.ClientOptions {
	opts := &search.ClientOptions{}
	opts.Transport = srv
	opts.Retry = policy.RetryOptions{MaxRetries: -1}
	return opts
}

// newService returns an emulated service with an index for hotels, and a client.
func newService(ctx context.Context, opts *searchtest.Options) (*searchtest.Server, *search.Client, error) {
	srv := searchtest.NewServer(opts)
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), clientOptions(srv))
	if err != nil {
		return nil, nil, err
	}
	fields, err := models.FieldsOf[Hotel]()
	if err != nil {
		return nil, nil, err
	}
	if _, err := indexes.CreateIndex(ctx, models.SearchIndex{Name: "hotels", Fields: fields}, nil); err != nil {
		return nil, nil, err
	}
	client, err := indexes.Client("hotels")
	return srv, client, err
}

// newSender returns a sender that does not wait between its attempts, and has no
// breaker unless the story brings one: a service that fails is the end of it, not
// a reason to wait.
func newSender(indexer bufferedsender.Indexer, opts bufferedsender.Options[Hotel]) (*bufferedsender.BufferedSender[Hotel], error) {
	opts.Retry = retry.Options{Delay: -1}
	if opts.Outage == nil {
		opts.Outage = bufferedsender.FailSoon{}
	}
	opts.Logger = slog.New(slog.DiscardHandler) // it would warn about what the stories provoke
	return bufferedsender.New(indexer, &opts)
}

// closeSoon closes the sender with a deadline of its own: when ctx has ended, as by
// Ctrl-C, what was accepted is sent all the same.
func closeSoon(ctx context.Context, sender *bufferedsender.BufferedSender[Hotel]) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return sender.Close(ctx)
}

// refusing answers every document with a status.
func refusing(status int) *searchtest.Faults {
	return &searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments,
		Documents: []searchtest.DocumentFault{{Status: status}},
	}}}
}
