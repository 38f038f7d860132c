// Package buffered creates the BufferedSenders of the benchmarks.
package buffered

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bench/internal/corpus"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/search"
)

// New returns a sender for the benchmark index at an endpoint.
func New[T any](endpoint string, opts *bufferedsender.Options[T]) (*bufferedsender.BufferedSender[T], error) {
	client, err := search.NewClientWithKey(endpoint, corpus.IndexName, azcore.NewKeyCredential("bench"), nil)
	if err != nil {
		return nil, err
	}
	return bufferedsender.New(client, opts)
}

// NewByBytes returns a sender with default options except these. Its limit of actions is so high that batchBytes ends
// each batch.
func NewByBytes[T any](endpoint string, batchBytes, inFlight int) (*bufferedsender.BufferedSender[T], error) {
	return New(endpoint, &bufferedsender.Options[T]{
		Limits: bufferedsender.Limits{MaxBatchActions: bufferedsender.ServiceMaxBatchActions, MaxBatchBytes: batchBytes, MaxInFlight: inFlight},
	})
}

// Upload uploads the documents of a workload with the given number of goroutines, perCall documents per call.
func Upload[T any](ctx context.Context, sender *bufferedsender.BufferedSender[T], w *corpus.Workload[T], producers, perCall int) error {
	return corpus.Produce(producers, w.Len(), func(from, to int) error {
		docs := make([]T, max(1, perCall))
		for from < to {
			docs = docs[:min(len(docs), to-from)]
			for i := range docs {
				w.Document(from+i, &docs[i])
			}
			if err := sender.UploadDocuments(ctx, docs...); err != nil {
				return err
			}
			from += len(docs)
		}
		return nil
	})
}

// Finish closes the sender, which waits until everything is settled, and returns its counts. Failed documents are
// counted, and are not an error.
func Finish[T any](ctx context.Context, sender *bufferedsender.BufferedSender[T]) (bufferedsender.Stats, error) {
	err := sender.Close(ctx)
	if said := new(*bufferedsender.CloseError); errors.As(err, said) {
		err = nil
	}
	return sender.Stats(), err
}
