package compare

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

	"github.com/go-azsearch/azsearch/bench/internal/corpus"
)

// addMarshalled encodes the documents and passes them to add. The peers take bytes, so their users encode too.
func addMarshalled[T any](w *corpus.Workload[T], producers int, add func(key string, raw []byte) error) error {
	return corpus.Produce(producers, w.Len(), func(from, to int) error {
		doc := new(T)
		for i := from; i < to; i++ {
			w.Document(i, doc)
			raw, err := json.Marshal(doc)
			if err == nil {
				err = add(w.Key(i), raw)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func sendElasticsearch[T any](ctx context.Context, w *corpus.Workload[T], c contestant, t task) (int64, error) {
	client, err := elasticsearch.New(elasticsearch.WithAddresses(t.Endpoint))
	if err != nil {
		return 0, err
	}
	indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{
		Client: client, Index: corpus.IndexName, NumWorkers: c.inFlight, FlushBytes: t.BatchBytes,
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

func sendOpenSearch[T any](ctx context.Context, w *corpus.Workload[T], c contestant, t task) (int64, error) {
	client, err := opensearchapi.NewClient(opensearchapi.Config{Client: opensearch.Config{Addresses: []string{t.Endpoint}}})
	if err != nil {
		return 0, err
	}
	indexer, err := opensearchutil.NewBulkIndexer(opensearchutil.BulkIndexerConfig{
		Client: client, Index: corpus.IndexName, NumWorkers: c.inFlight, FlushBytes: t.BatchBytes,
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

// sendAppender sends without keys, which the appender does not support. The appender reports failures to its log and
// metrics only, so a failed last request does not end the comparison.
func sendAppender[T any](ctx context.Context, w *corpus.Workload[T], c contestant, t task) (int64, error) {
	client, err := elasticsearch.New(elasticsearch.WithAddresses(t.Endpoint))
	if err != nil {
		return 0, err
	}
	appender, err := docappender.New(client, docappender.Config{FlushBytes: t.BatchBytes})
	if err != nil {
		return 0, err
	}
	err = addMarshalled(w, c.producers, func(_ string, raw []byte) error {
		return appender.Add(ctx, corpus.IndexName, bytes.NewReader(raw))
	})
	closing := appender.Close(ctx)
	if failed := new(docappender.ErrorFlushFailed); errors.As(closing, failed) {
		closing = nil
	}
	return silent, errors.Join(err, closing)
}
