package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// connect returns a client for the index, of the service or of an emulator that
// it fills first. A query key, or the role "Search Index Data Reader", is enough
// for the service.
func connect(ctx context.Context, cfg config, stderr io.Writer) (client *search.Client, closeService func(), err error) {
	switch {
	case cfg.endpoint == "":
		return startEmulator(ctx, cfg, stderr)
	case cfg.apiKey != "":
		client, err = search.NewClientWithKey(cfg.endpoint, cfg.index, azcore.NewKeyCredential(cfg.apiKey), nil)
	default:
		// Entra ID: whoever is logged in with az login, a managed identity, …
		var identity azcore.TokenCredential
		if identity, err = azidentity.NewDefaultAzureCredential(nil); err == nil {
			client, err = search.NewClient(cfg.endpoint, cfg.index, identity, nil)
		}
	}
	return client, func() {}, err
}

func startEmulator(ctx context.Context, cfg config, stderr io.Writer) (*search.Client, func(), error) {
	srv := searchtest.NewServer(&searchtest.Options{KeepChanges: -1})
	opts := &search.ClientOptions{}
	opts.Transport = srv
	began := time.Now()
	n, err := fill(ctx, srv, opts, cfg)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("filling the emulator: %w", err), srv.Close())
	}
	fmt.Fprintf(stderr, "%s declarations below %s are in an emulated index, after %.1f s\n", humanize.Comma(int64(n)), cfg.root, time.Since(began).Seconds())
	client, err := search.NewClientWithKey(srv.URL(), cfg.index, azcore.NewKeyCredential(searchtest.QueryKey), opts)
	return client, func() { srv.Close() }, err
}

// fill does what the quickstart does, which also shows how it goes and checks
// that all is there.
func fill(ctx context.Context, srv *searchtest.Server, opts *search.ClientOptions, cfg config) (int, error) {
	tree, err := declarations.Find(cfg.root)
	if err != nil {
		return 0, err
	}
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		return 0, err
	}
	definition, err := declarations.Index(cfg.index)
	if err != nil {
		return 0, err
	}
	if _, err := indexes.CreateIndex(ctx, definition, nil); err != nil {
		return 0, err
	}
	client, err := indexes.Client(cfg.index)
	if err != nil {
		return 0, err
	}
	sender, err := bufferedsender.New[declarations.Declaration](client, nil)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, folder := range tree.Packages {
		found := folder.Parse().Declarations
		if err := sender.UploadDocuments(ctx, found...); err != nil {
			return 0, errors.Join(err, closeSoon(ctx, sender))
		}
		n += len(found)
	}
	return n, closeSoon(ctx, sender)
}

// closeSoon closes the sender with a deadline of its own: when ctx has ended, as by
// Ctrl-C, what was accepted is sent all the same.
func closeSoon(ctx context.Context, sender *bufferedsender.BufferedSender[declarations.Declaration]) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return sender.Close(ctx)
}
