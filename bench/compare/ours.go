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
	err = buffered.Upload(ctx, sender, w, c.producers, c.perCall)
	stats, closing := buffered.Finish(ctx, sender)
	return stats.Failed + stats.Unsent, errors.Join(err, closing)
}
