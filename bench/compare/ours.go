package main

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/search"
)

const indexName = "bench"

func sendOurs[T any](ctx context.Context, w *workload[T], c contestant, t task) (int64, error) {
	client, err := search.NewClientWithKey(t.Endpoint, indexName, azcore.NewKeyCredential("bench"), nil)
	if err != nil {
		return 0, err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[T]{
		MaxBatchActions: bufferedsender.ServiceMaxBatchActions,
		MaxBatchBytes:   t.BatchBytes,
		MaxInFlight:     c.inFlight,
	})
	if err != nil {
		return 0, err
	}
	err = produce(c.producers, w.n, func(from, to int) error {
		docs := make([]T, max(1, c.perCall))
		for from < to {
			docs = docs[:min(len(docs), to-from)]
			for i := range docs {
				w.document(from+i, &docs[i])
			}
			if err := sender.UploadDocuments(ctx, docs...); err != nil {
				return err
			}
			from += len(docs)
		}
		return nil
	})
	closing := sender.Close(ctx)
	if said := new(*bufferedsender.CloseError); errors.As(closing, said) {
		closing = nil // it is about documents, which are counted
	}
	stats := sender.Stats()
	return stats.Failed + stats.Unsent, errors.Join(err, closing)
}
