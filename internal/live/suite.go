package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// suite is one run of the steps.
type suite struct {
	prefix   string
	recorder *recorder
	indexes  *search.IndexClient
	indexers *search.IndexerClient
	hotels   *search.Client
	beginsIn time.Duration // how long a run may take to begin
}

// hotel is a document of the suite.
type hotel struct {
	ID     string    `json:"id" search:"key,filterable,sortable"`
	Name   string    `json:"name" search:"searchable,sortable"`
	Tags   []string  `json:"tags" search:"searchable,filterable,facetable"`
	Rating float64   `json:"rating" search:"filterable,sortable,facetable"`
	Mood   []float32 `json:"mood" search:"dimensions=3,vectorProfile=nearest"`
}

// newSuite returns a suite for a service. A nil transport means the default one.
func newSuite(endpoint, key string, transport policy.Transporter, recording io.Writer) (*suite, error) {
	if transport == nil {
		transport = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	r, err := newRecorder(transport, endpoint, key, recording)
	if err != nil {
		return nil, err
	}
	s := &suite{prefix: "azs-live-" + strings.ToLower(rand.Text()[:10]), recorder: r, beginsIn: 10 * time.Second}
	opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: r}}
	opts.InsecureAllowCredentialWithHTTP = strings.HasPrefix(endpoint, "http://")
	credential := azcore.NewKeyCredential(key)
	var errs [3]error
	s.indexes, errs[0] = search.NewIndexClientWithKey(endpoint, credential, opts)
	s.indexers, errs[1] = search.NewIndexerClientWithKey(endpoint, credential, opts)
	s.hotels, errs[2] = search.NewClientWithKey(endpoint, s.prefix, credential, opts)
	return s, errors.Join(errs[:]...)
}

// remove deletes all definitions with the prefix, dependent ones first. Recording stops, because the lists contain
// the names of other definitions.
func (s *suite) remove(ctx context.Context) (string, error) {
	s.recorder.pause()
	bases, sources := func(yield func(string, error) bool) {
		for b, err := range s.indexes.ListKnowledgeBases(ctx, nil) {
			if !yield(b.Name, err) {
				return
			}
		}
	}, func(yield func(string, error) bool) {
		for k, err := range s.indexes.ListKnowledgeSources(ctx, nil) {
			if !yield(k.Name, err) {
				return
			}
		}
	}
	aliases := func(yield func(string, error) bool) {
		for a, err := range s.indexes.ListAliases(ctx, nil) {
			if !yield(a.Name, err) {
				return
			}
		}
	}
	var errs []error
	removed := 0
	for _, kind := range []struct {
		all    func(func(string, error) bool)
		remove func(name string) error
	}{
		{s.indexers.ListIndexerNames(ctx, nil), func(n string) error { return s.indexers.DeleteIndexer(ctx, n, nil) }},
		{s.indexers.ListSkillsetNames(ctx, nil), func(n string) error { return s.indexers.DeleteSkillset(ctx, n, nil) }},
		{s.indexers.ListDataSourceNames(ctx, nil), func(n string) error { return s.indexers.DeleteDataSource(ctx, n, nil) }},
		{bases, func(n string) error { return s.indexes.DeleteKnowledgeBase(ctx, n, nil) }},
		{sources, func(n string) error { return s.indexes.DeleteKnowledgeSource(ctx, n, nil) }},
		{aliases, func(n string) error { return s.indexes.DeleteAlias(ctx, n, nil) }},
		{s.indexes.ListIndexNames(ctx, nil), func(n string) error { return s.indexes.DeleteIndex(ctx, n, nil) }},
		{s.indexes.ListSynonymMapNames(ctx, nil), func(n string) error { return s.indexes.DeleteSynonymMap(ctx, n, nil) }},
	} {
		for name, err := range kind.all {
			if err == nil && strings.HasPrefix(name, s.prefix) {
				err = kind.remove(name)
				removed++
			}
			errs = append(errs, err)
		}
	}
	return fmt.Sprintf("%d definitions", removed), errors.Join(errs...)
}

// eventually calls ask until it returns true or an error, because the service shows writes with a delay.
func eventually(ctx context.Context, ask func() (bool, error)) error {
	for {
		ok, err := ask()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// refusal describes how the service refused a request. nil means that it accepted.
func refusal(err error) (string, error) {
	var e *search.Error
	switch {
	case err == nil:
		return "taken", nil
	case errors.As(err, &e):
		return fmt.Sprintf("refused: HTTP %d %s", e.StatusCode, strings.ReplaceAll(strings.Join(strings.Fields(e.Message), " "), "|", "/")), nil
	}
	return "", err
}

func index(name string) models.SearchIndex {
	fields, err := models.FieldsOf[hotel]()
	if err != nil {
		panic(err)
	}
	return models.SearchIndex{
		Name: name, Fields: fields, Suggesters: []models.Suggester{{Name: "names", SourceFields: []string{"name"}}},
		VectorSearch: &models.VectorSearch{
			Algorithms: []models.VectorSearchAlgorithm{{Name: "graph", Kind: models.VectorSearchAlgorithmHNSW}},
			Profiles:   []models.VectorSearchProfile{{Name: "nearest", Algorithm: "graph"}},
		},
	}
}
