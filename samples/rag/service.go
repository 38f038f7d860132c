package main

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// service is where the passages are kept.
type service struct {
	name     string // for people
	indexes  *search.IndexClient
	emulator *searchtest.Server // nil for a real service
}

// connect makes the clients. It sends nothing yet.
func connect(cfg config) (*service, error) {
	s := &service{name: cfg.endpoint}
	var err error
	switch {
	case cfg.endpoint == "":
		s.name, s.emulator = "the emulator inside this process", searchtest.NewServer(&searchtest.Options{KeepChanges: -1})
		opts := &search.ClientOptions{}
		opts.Transport = s.emulator
		s.indexes, err = search.NewIndexClientWithKey(s.emulator.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	case cfg.apiKey != "":
		s.indexes, err = search.NewIndexClientWithKey(cfg.endpoint, azcore.NewKeyCredential(cfg.apiKey), nil)
	default:
		// Entra ID: whoever is logged in with az login, a managed identity, …
		var identity azcore.TokenCredential
		if identity, err = azidentity.NewDefaultAzureCredential(nil); err == nil {
			s.indexes, err = search.NewIndexClient(cfg.endpoint, identity, nil)
		}
	}
	return s, err
}

func (s *service) close() {
	if s.emulator != nil {
		s.emulator.Close()
	}
}

// patience is how long a service may take to show what it has accepted.
const patience = 60 * time.Second

// openStore creates the index, or updates the one that is there.
func (s *service) openStore(ctx context.Context, index string, embedder Embedder) (*store, error) {
	definition, err := indexDefinition(index)
	if err != nil {
		return nil, err
	}
	if _, err := s.indexes.CreateOrUpdateIndex(ctx, definition, nil); err != nil {
		return nil, fmt.Errorf("creating the index: %w", err)
	}
	client, err := s.indexes.Client(index)
	if err != nil {
		return nil, err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Passage]{Limits: bufferedsender.Limits{MaxInFlight: 2}})
	if err != nil {
		return nil, err
	}
	st := &store{client: client, sender: sender, embedder: embedder, patience: patience}
	if s.emulator != nil {
		st.refresh = -1 // it shows everything at once
	}
	return st, nil
}
