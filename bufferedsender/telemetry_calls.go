package bufferedsender

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// The code in this file runs on the goroutines of callers and of code that changes the breaker. A panic of the meter is
// contained as on the publisher goroutine.

// drained records a call of Flush.
func (o *observer) drained(ctx context.Context, began time.Time, err error) {
	o.guardElsewhere(inMeterProvider, func() { o.telemetry.drained(ctx, began, err) })
}

// rejected counts an action that was refused for its content.
func (o *observer) rejected(err error) {
	o.guardElsewhere(inMeterProvider, func() { o.telemetry.rejected(err) })
}

// breakerChanged counts changes of the breaker.
func (o *observer) breakerChanged(c breaker.Change) {
	if c.From != c.To { // otherwise only a probe has ended
		o.guardElsewhere(inMeterProvider, func() { o.telemetry.breakerChanged(c.To) })
	}
}

func (t *telemetry) drained(ctx context.Context, began time.Time, err error) {
	if errors.Is(err, ErrInCallback) || !t.drainDuration.Enabled(ctx) {
		return // it did not wait
	}
	outcome := attribute.String("azsearch.drain.outcome", drainOutcome(ctx, err))
	t.drainDuration.Record(ctx, time.Since(began).Seconds(), t.with(outcome))
}

// drainOutcome names the result of a Flush. It checks the error first, because a Flush whose context ended may still
// have succeeded.
func drainOutcome(ctx context.Context, err error) string {
	flush, closed := (*FlushError)(nil), (*CloseError)(nil)
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &flush), errors.As(err, &closed):
		return "failed"
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case ctx.Err() != nil:
		return "cancelled"
	}
	return "failed" // the queue does not answer, or no process sends from it
}

func (t *telemetry) rejected(err error) {
	t.itemsRejected.Add(context.Background(), 1, t.with(attribute.String("error.type", rejection(err))))
}

// rejection names why a document was refused, with few values.
func rejection(err error) string {
	key := (*keys.InvalidKeyError)(nil)
	switch {
	case errors.Is(err, ErrDocumentTooLarge):
		return "too_large"
	case errors.As(err, &key):
		return "invalid_key"
	}
	return "not_encodable" // also for a nil patch and an unknown action type
}

func (t *telemetry) breakerChanged(to breaker.State) {
	t.breakerChanges.Add(context.Background(), 1, t.with(attribute.String("azsearch.breaker.state", spelled(to))))
}
