package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// transport sends the publisher's batches through an Indexer and converts the answers into next steps of the actions,
// by the table of package retry.
type transport struct {
	indexer      Indexer
	telemetry    *telemetry
	mergeMissing MergeMissing
	spare        sync.Pool            // of *[]result, for reuse
	contain      func(handler string) // deferred around foreign code
	holds        bool                 // retryable failures wait and use no attempt

	// mark marks suspects in the queue and reports whether the request may be sent; nil without a queue.
	mark func(batch *batch) bool
	// under tracks requests for a queue; nil without one.
	under *underWay
}

type result = publisher.Result[models.IndexingResult]

// newResults returns n empty results.
func (t *transport) newResults(n int) []result {
	if spare, ok := t.spare.Get().(*[]result); ok && cap(*spare) >= n {
		return (*spare)[:n]
	}
	return make([]result, n)
}

// recycle takes back the results of a reply for reuse.
func (t *transport) recycle(results []result) {
	clear(results)
	t.spare.Put(&results)
}

type reply = publisher.Reply[models.IndexingResult]

// Send implements publisher.Transport. It runs on the goroutine of a request.
func (t *transport) Send(ctx context.Context, batch *batch) reply {
	ctx = models.WithClientRequestID(ctx, batch.ID)
	defer t.under.begin()()
	if t.mark != nil && !t.mark(batch) {
		return notSent(len(batch.Items))
	}
	b := boundOf(batch)
	if b.limited && b.left <= 0 {
		return notSent(len(batch.Items))
	}
	ctx, watch := watchLeases(ctx, batch, b)
	defer watch.end() // also after a panic
	ctx, span := t.startSpan(ctx, batch)
	answer, err := t.index(ctx, batch)
	timedOut := err != nil && !errors.Is(ctx.Err(), context.Canceled) && isTimeout(err)
	var r reply
	if cut := watch.end(); cut && err != nil {
		r = cutOff(len(batch.Items))
	} else {
		r = t.judge(batch, answer, err)
	}
	r.RetryAfter = min(r.RetryAfter, breaker.MaxRetryAfter)
	if r.RetryAfter <= 0 {
		r.RetryAfter = -1 // a date in the past, due to clock skew, does not allow sending earlier
	}
	r.TimedOut = timedOut
	r.Status, r.RequestID = statusOf(answer, err), answer.RequestID
	if err != nil {
		if said := models.ServiceError(nil); errors.As(err, &said) {
			r.RequestID = said.ServiceRequestID()
		}
	}
	t.endSpan(span, &r)
	return r
}

// errLeaseEnds means that a request was not sent, or was cut off: its leases would end before the answer, and other
// processes may then send the same keys.
var errLeaseEnds = errors.New("the leases of its keys are about to expire and could not be extended")

// startSpan starts the span of a request. A panic of the tracer does not prevent the request.
func (t *transport) startSpan(ctx context.Context, batch *batch) (spanned context.Context, span trace.Span) {
	defer t.contain("TracerProvider")
	spanned, span = ctx, trace.SpanFromContext(context.Background()) // a no-op span
	return startBatch(ctx, t.telemetry, batch)
}

func (t *transport) endSpan(span trace.Span, r *reply) {
	defer t.contain("TracerProvider")
	endBatch(span, r.Status, r.RequestID, r.Err)
}

// index sends the request. The actions are not read after it returns.
func (t *transport) index(ctx context.Context, batch *batch) (models.IndexDocumentsResult, error) {
	b := newBody(batch)
	defer b.retire() // also after a panic
	return t.indexer.IndexDocumentsRaw(ctx, b)
}

func (t *transport) judge(batch *batch, answer models.IndexDocumentsResult, err error) reply {
	if err != nil {
		return refused(batch.Items, err, t.holds)
	}
	results := associate(batch.Items, answer.Results)
	r := reply{Results: t.newResults(len(batch.Items)), RetryAfter: -1, Service: publisher.ServiceSound}
	missing, works := 0, false
	for i := range batch.Items {
		result := results.of(i)
		r.Results[i] = judgeDocument(result, &r)
		r.Results[i].Bare = batch.Items[i].Value.typ == models.ActionTypeDelete
		if t.mergeMissing != MergeMissingFail && r.Results[i].Next == publisher.Fail && missingDocument(batch.Items[i].Value.typ, result) {
			r.Results[i] = t.mergeMissing.judge(batch.Items[i].Body, r.Results[i])
		}
		if errors.Is(r.Results[i].Err, ErrNoResult) {
			missing++
		}
		if r.Results[i].Next != publisher.Requeue || r.Results[i].Own || r.Results[i].Throttled || r.Results[i].Body != nil {
			works = true
		}
	}
	if !works { // the index is offline, or the reply is empty
		r.Service, r.Pause = publisher.ServiceFails, true
	}
	if answer.RetryAfter > 0 {
		r.RetryAfter = answer.RetryAfter
	}
	if r.Throttled > 0 {
		r.Service = publisher.ServiceThrottles
	}
	if missing > 0 || results.strange > 0 {
		r.Err = fmt.Errorf("%w: %d documents without a result, %d results too many", models.ErrMalformedReply, missing, results.strange)
	}
	return r
}

// judgeDocument converts the result of one document into its next step. A throttled document pauses all sending.
func judgeDocument(answer *models.IndexingResult, r *reply) result {
	if answer == nil {
		return result{Err: ErrNoResult, Unknown: true}
	}
	if err := checkResult(answer); err != nil {
		return result{Value: *answer, Err: err, Unknown: true}
	}
	if answer.Succeeded { // any 2xx
		return result{Value: *answer, Next: publisher.Complete}
	}
	decision := retry.ForDocument(answer.StatusCode)
	if decision.Pause {
		r.Pause = true
		r.Throttled++
	}
	judged := result{
		Value: *answer, Next: stepOf(decision), Throttled: decision.Pause, Unknown: decision.Unknown,
		Own: answer.StatusCode == http.StatusConflict,
	}
	if judged.Next == publisher.Fail && answer.StatusCode != http.StatusNotFound { // a 404 is about this document
		judged.Reason = cause(answer.StatusCode, answer.ErrorMessage)
	}
	return judged
}

func stepOf(d retry.Decision) publisher.Step {
	switch d.Verdict {
	case retry.Done:
		return publisher.Complete
	case retry.Retry:
		return publisher.Requeue
	default:
		return publisher.Fail
	}
}

// timeoutError is an error of the standard library that may be a timeout.
type timeoutError interface{ Timeout() bool }

// isTimeout reports whether a request timed out.
func isTimeout(err error) bool {
	var timeout timeoutError
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// statusOf returns the HTTP status of a reply, or 0 if there was none.
func statusOf(result models.IndexDocumentsResult, err error) int {
	if err == nil {
		return result.StatusCode
	}
	_, status := retry.ForError(err)
	return status
}
