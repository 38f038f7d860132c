package main

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// service is where the documents go.
type service struct {
	name     string // for people
	indexes  *search.IndexClient
	emulator *searchtest.Server // nil for a real service
}

// connect makes the clients. It sends nothing yet.
func connect(cfg config) (*service, error) {
	if cfg.endpoint == "" {
		return startEmulator(cfg)
	}
	s := &service{name: cfg.endpoint}
	var err error
	if cfg.apiKey != "" {
		s.indexes, err = search.NewIndexClientWithKey(cfg.endpoint, azcore.NewKeyCredential(cfg.apiKey), nil)
		return s, err
	}
	// Entra ID: whoever is logged in with az login, a managed identity, …
	identity, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	s.indexes, err = search.NewIndexClient(cfg.endpoint, identity, nil)
	return s, err
}

func startEmulator(cfg config) (*service, error) {
	s := &service{
		name: "the emulator inside this process",
		// Its records of requests are for the report on faults. Nobody asks what
		// happened to each of some hundred thousand keys.
		emulator: searchtest.NewServer(&searchtest.Options{KeepRequests: 10_000, KeepChanges: -1}),
	}
	if cfg.faults {
		s.name += ", misbehaving"
		s.emulator.SetFaults(faultScript())
	}
	opts := &search.ClientOptions{}
	opts.Transport = s.emulator
	var err error
	s.indexes, err = search.NewIndexClientWithKey(s.emulator.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	return s, err
}

func (s *service) close() {
	if s.emulator != nil {
		s.emulator.Close()
	}
}

// openIndex creates the index, or updates the one that is there, and returns a
// client for it and how many documents it holds already.
func (s *service) openIndex(ctx context.Context, name string) (*search.Client, int64, error) {
	definition, err := declarations.Index(name)
	if err != nil {
		return nil, 0, err
	}
	if _, err := s.indexes.CreateOrUpdateIndex(ctx, definition, nil); err != nil {
		return nil, 0, fmt.Errorf("creating the index: %w", err)
	}
	client, err := s.indexes.Client(name)
	if err != nil {
		return nil, 0, err
	}
	before, err := client.DocumentCount(ctx, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("counting documents: %w", err)
	}
	return client, before, nil
}
