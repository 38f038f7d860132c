package main

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// backend is the index that the products go to.
type backend struct {
	name     string // for people
	client   *search.Client
	emulator *searchtest.Server // nil for a real service
}

// connect creates the index unless it is there.
func connect(ctx context.Context, cfg config) (*backend, error) {
	b := &backend{name: cfg.endpoint}
	indexes, err := b.indexes(cfg)
	if err != nil {
		return nil, err
	}
	fields, err := models.FieldsOf[Product]()
	if err != nil {
		return nil, err
	}
	if _, err := indexes.CreateOrUpdateIndex(ctx, models.SearchIndex{Name: cfg.index, Fields: fields}, nil); err != nil {
		return nil, fmt.Errorf("creating the index: %w", err)
	}
	b.client, err = indexes.Client(cfg.index)
	return b, err
}

func (b *backend) indexes(cfg config) (*search.IndexClient, error) {
	switch {
	case cfg.endpoint == "":
		b.name = "the emulator inside this process"
		b.emulator = searchtest.NewServer(&searchtest.Options{Latency: 20 * time.Millisecond, KeepContents: true, KeepChanges: 1_000_000})
		opts := &search.ClientOptions{}
		opts.Transport = b.emulator
		return search.NewIndexClientWithKey(b.emulator.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	case cfg.apiKey != "":
		return search.NewIndexClientWithKey(cfg.endpoint, azcore.NewKeyCredential(cfg.apiKey), nil)
	}
	identity, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return search.NewIndexClient(cfg.endpoint, identity, nil)
}

func (b *backend) close() {
	if b.emulator != nil {
		_ = b.emulator.Close()
	}
}
