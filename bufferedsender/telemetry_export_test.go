package bufferedsender

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// ObservingABatch returns a function that does everything a sender does for observers of one batch of n uploads, from
// the n adding calls to the n outcomes. It includes more than telemetry, because the calls are those of the
// publisher, also without an observer.
func ObservingABatch[T any](opts *Options[T], n int) (func(), error) {
	o := opts.settings()
	if err := o.complete(); err != nil {
		return nil, err
	}
	documents, _, err := newDocuments(opts)
	if err != nil {
		return nil, err
	}
	telemetry, err := newTelemetry(nil, &o)
	if err != nil {
		return nil, err
	}
	observer := newObserver(&o, documents, telemetry)
	observer.start(func(ctx context.Context) context.Context { return ctx })
	hooks := observer.hooks()

	b := &batch{ID: "id", Bytes: 600 * n}
	answers := make([]publisher.Result[models.IndexingResult], n)
	ends := make([]settlement, n)
	for i := range n {
		b.Items = append(b.Items, item{Key: fmt.Sprint("k-", i), Value: payload{typ: models.ActionTypeUpload}, Attempt: 1, Waited: time.Second})
		answers[i].Value = models.IndexingResult{Key: b.Items[i].Key, Succeeded: true, StatusCode: 200}
	}
	for i := range n {
		ends[i] = settlement{Item: &b.Items[i], Result: &answers[i], Waited: time.Second}
	}
	answer := &reply{Results: answers, Status: 200, RequestID: "id"}
	return func() {
		ctx := context.Background()
		for range n {
			if trace.SpanContextFromContext(ctx).IsSampled() { // as newChunk does
				panic("not in a trace")
			}
		}
		hooks.Accepted(n)
		hooks.Sent(b)
		_, span := startBatch(ctx, telemetry, b)
		endBatch(span, answer.Status, answer.RequestID, nil)
		hooks.Replied(b, answer, time.Second, publisher.Counts{Done: n})
		for i := range ends {
			hooks.Settled(&ends[i], nil)
		}
		hooks.Delivered()
	}, nil
}
