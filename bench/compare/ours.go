package compare

import (
	"context"
	"errors"

	"github.com/go-azsearch/azsearch/bench/internal/buffered"
	"github.com/go-azsearch/azsearch/bench/internal/corpus"
)

func sendOurs[T any](ctx context.Context, w *corpus.Workload[T], c contestant, t task) (int64, error) {
	sender, err := buffered.NewByBytes[T](t.Endpoint, t.BatchBytes, c.inFlight)
	if err != nil {
		return 0, err
	}
	err = corpus.Produce(c.producers, w.Len(), func(from, to int) error {
		docs := make([]T, max(1, c.perCall))
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
	stats, closing := buffered.Finish(ctx, sender)
	return stats.Failed + stats.Unsent, errors.Join(err, closing)
}
