package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/elastic/go-docappender/v2"
	"github.com/elastic/go-elasticsearch/v9"
	"github.com/elastic/go-elasticsearch/v9/esutil"
	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
	"github.com/opensearch-project/opensearch-go/v4/opensearchutil"
)

// addMarshalled encodes the documents as programs do that use the peers, which
// take bytes, and gives them to add.
func addMarshalled[T any](w *workload[T], producers int, add func(key string, raw []byte) error) error {
	return produce(producers, w.n, func(from, to int) error {
		doc := new(T)
		for i := from; i < to; i++ {
			w.document(i, doc)
			raw, err := json.Marshal(doc)
			if err == nil {
				err = add(w.key(i), raw)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func sendElasticsearch[T any](ctx context.Context, w *workload[T], c contestant, t task) (int64, error) {
	client, err := elasticsearch.New(elasticsearch.WithAddresses(t.Endpoint))
	if err != nil {
		return 0, err
	}
	indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{
		Client: client, Index: indexName, NumWorkers: c.inFlight, FlushBytes: t.BatchBytes,
	})
	if err != nil {
		return 0, err
	}
	err = addMarshalled(w, c.producers, func(key string, raw []byte) error {
		return indexer.Add(ctx, esutil.BulkIndexerItem{Action: "index", DocumentID: key, Body: bytes.NewReader(raw)})
	})
	err = errors.Join(err, indexer.Close(ctx))
	return int64(indexer.Stats().NumFailed), err
}

func sendOpenSearch[T any](ctx context.Context, w *workload[T], c contestant, t task) (int64, error) {
	client, err := opensearchapi.NewClient(opensearchapi.Config{Client: opensearch.Config{Addresses: []string{t.Endpoint}}})
	if err != nil {
		return 0, err
	}
	indexer, err := opensearchutil.NewBulkIndexer(opensearchutil.BulkIndexerConfig{
		Client: client, Index: indexName, NumWorkers: c.inFlight, FlushBytes: t.BatchBytes,
	})
	if err != nil {
		return 0, err
	}
	err = addMarshalled(w, c.producers, func(key string, raw []byte) error {
		return indexer.Add(ctx, opensearchutil.BulkIndexerItem{Action: "index", DocumentID: key, Body: bytes.NewReader(raw)})
	})
	err = errors.Join(err, indexer.Close(ctx))
	return int64(indexer.Stats().NumFailed), err
}

// sendAppender sends without keys, which the appender does not take. It tells
// its log and its metrics of failures, but not its caller; the error of a last
// request that failed is no reason to stop comparing.
func sendAppender[T any](ctx context.Context, w *workload[T], c contestant, t task) (int64, error) {
	client, err := elasticsearch.New(elasticsearch.WithAddresses(t.Endpoint))
	if err != nil {
		return 0, err
	}
	appender, err := docappender.New(client, docappender.Config{FlushBytes: t.BatchBytes})
	if err != nil {
		return 0, err
	}
	err = addMarshalled(w, c.producers, func(_ string, raw []byte) error {
		return appender.Add(ctx, indexName, bytes.NewReader(raw))
	})
	closing := appender.Close(ctx)
	if failed := new(docappender.ErrorFlushFailed); errors.As(closing, failed) {
		closing = nil
	}
	return silent, errors.Join(err, closing)
}
