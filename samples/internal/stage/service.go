package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Service is a search service, emulated or real.
type Service struct {
	Name    string // for messages
	Indexes *search.IndexClient
	// Emulator is nil for a real service.
	Emulator *searchtest.Server
}

// Emulate returns an emulated service, reached inside the process.
func Emulate(opts *searchtest.Options) *Service {
	srv := searchtest.NewServer(opts)
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), Inside(srv))
	if err != nil {
		panic(err) // the address comes from the emulator
	}
	return &Service{Name: "the emulator inside this process", Indexes: indexes, Emulator: srv}
}

// Inside returns the options of a client that reaches an emulator without a network.
func Inside(srv *searchtest.Server) *search.ClientOptions {
	opts := &search.ClientOptions{}
	opts.Transport = srv
	return opts
}

// Faults sets the faults of an emulator for indexing requests. Without rules it removes them.
func (s *Service) Faults(rules ...searchtest.Fault) {
	for i := range rules {
		rules[i].Operation = searchtest.OpIndexDocuments
	}
	s.Emulator.SetFaults(&searchtest.Faults{Seed: 1, Rules: rules})
}

// Patience is how long the service may take to show accepted documents: 0 for an emulator, a minute for a real
// service.
func (s *Service) Patience() time.Duration {
	if s.Emulator != nil {
		return 0
	}
	return time.Minute
}

// Close closes an emulator.
func (s *Service) Close() error {
	if s.Emulator == nil {
		return nil
	}
	return s.Emulator.Close()
}

// Open creates the index if it is missing, and returns a client for it. An existing index stays unchanged, and must
// have the fields.
func (s *Service) Open(ctx context.Context, index models.SearchIndex) (*search.Client, error) {
	existing, _, err := s.Indexes.CreateIndexIfMissing(ctx, index, nil)
	if err != nil {
		return nil, fmt.Errorf("creating the index: %w", err)
	}
	for _, want := range index.Fields {
		if !slices.ContainsFunc(existing.Fields, func(f models.SearchField) bool { return f.Name == want.Name && f.Type == want.Type }) {
			return nil, fmt.Errorf("the index %q exists and has no field %q of type %s; choose another name", index.Name, want.Name, want.Type)
		}
	}
	return s.Indexes.Client(index.Name)
}

// Open is Service.Open with the fields of T's tags.
func Open[T any](ctx context.Context, s *Service, name string) (*search.Client, error) {
	fields, err := models.FieldsOf[T]()
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, models.SearchIndex{Name: name, Fields: fields})
}

// Serve returns an emulated service with an index of documents T. Other processes reach it by its URL.
func Serve[T any](ctx context.Context, index string, opts *searchtest.Options) (*Service, error) {
	s := Emulate(opts)
	_, err := Open[T](ctx, s, index)
	if err = errors.Join(err, s.Emulator.Listen("127.0.0.1:0")); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Sent returns the number of indexing requests that an emulator has recorded, and of their actions.
func (s *Service) Sent() (requests, actions int) {
	for _, r := range s.Emulator.Requests() {
		if r.Operation == searchtest.OpIndexDocuments {
			requests++
			actions += r.Actions
		}
	}
	return requests, actions
}

// Address is the place of an index, from flags and environment.
type Address struct {
	Endpoint string // "" for an emulator
	Key      string // "" for Entra ID
	Index    string
}

// Address declares the flags -endpoint, -api-key and -index.
func (p *Program) Address(index string) *Address {
	a := &Address{}
	p.StringVar(&a.Endpoint, "endpoint", "", "use the service at `URL`, not an emulator (default: $AZURE_SEARCH_ENDPOINT)")
	p.StringVar(&a.Key, "api-key", "", "`KEY` of that service (default: $AZURE_SEARCH_API_KEY; Entra ID if there is none)")
	p.StringVar(&a.Index, "index", index, "`NAME` of the index; it is created if it does not exist")
	p.checks = append(p.checks, func() (err error) {
		if !p.Given("endpoint") {
			a.Endpoint = os.Getenv("AZURE_SEARCH_ENDPOINT")
		}
		if a.Key == "" && a.Endpoint != "" {
			a.Key = os.Getenv("AZURE_SEARCH_API_KEY")
		} else if a.Endpoint == "" && a.Key != "" {
			err = errors.New("-api-key is for -endpoint: the emulator has its own")
		}
		if a.Index == "" {
			err = errors.Join(err, errors.New("-index must not be empty"))
		}
		return err
	})
	return a
}

// Connect returns the service at the address, or a new emulator. It sends no request.
func (a *Address) Connect(opts *searchtest.Options) (*Service, error) {
	if a.Endpoint == "" {
		return Emulate(opts), nil
	}
	s := &Service{Name: a.Endpoint}
	var err error
	if a.Key != "" {
		s.Indexes, err = search.NewIndexClientWithKey(a.Endpoint, azcore.NewKeyCredential(a.Key), nil)
		return s, err
	}
	// Entra ID: the account of az login, a managed identity, …
	identity, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	s.Indexes, err = search.NewIndexClient(a.Endpoint, identity, nil)
	return s, err
}
