package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// transport sends the batches of the publisher through an Indexer and turns the
// answers into verdicts, by the table of package retry.
type transport[T any] struct {
	indexer      Indexer
	telemetry    *telemetry
	mergeMissing MergeMissing
	longestWait  time.Duration // that Retry-After may ask for; negative: any
	spare        sync.Pool     // of *[]result, to be filled again
}

type result = publisher.Result[models.IndexingResult]

// newResults returns n empty results.
func (t *transport[T]) newResults(n int) []result {
	if spare, ok := t.spare.Get().(*[]result); ok && cap(*spare) >= n {
		return (*spare)[:n]
	}
	return make([]result, n)
}

// recycle takes back the results of a reply.
func (t *transport[T]) recycle(results []result) {
	clear(results)
	t.spare.Put(&results)
}

type reply = publisher.Reply[models.IndexingResult]

// Send implements publisher.Transport. It runs on the goroutine of a request.
func (t *transport[T]) Send(ctx context.Context, batch *batch[T]) reply {
	ctx = models.ContextWithClientRequestID(ctx, batch.ID)
	ctx, span := startBatch(ctx, t.telemetry, batch)
	answer, err := t.index(ctx, batch)
	r := t.judge(batch, answer, err)
	if t.longestWait >= 0 {
		r.RetryAfter = min(r.RetryAfter, t.longestWait)
	}
	r.Status, r.RequestID = statusOf(answer, err), answer.RequestID
	if err != nil {
		if known := (interface{ ServiceRequestID() string })(nil); errors.As(err, &known) {
			r.RequestID = known.ServiceRequestID()
		}
	}
	endBatch(span, r.Status, r.RequestID, r.Err)
	return r
}

// index sends the request. When it returns nobody reads the actions any more.
func (t *transport[T]) index(ctx context.Context, batch *batch[T]) (models.IndexDocumentsResult, error) {
	b := newBody(batch)
	defer b.retire() // also after a panic
	return t.indexer.IndexDocumentsRaw(ctx, b)
}

func (t *transport[T]) judge(batch *batch[T], answer models.IndexDocumentsResult, err error) reply {
	if err != nil {
		return refused(batch.Items, err)
	}
	results := associate(batch.Items, answer.Results)
	r := reply{Results: t.newResults(len(batch.Items)), RetryAfter: -1, Service: publisher.ServiceSound}
	missing := 0
	for i := range batch.Items {
		result := results.of(i)
		r.Results[i] = judgeDocument(result, &r)
		if t.mergeMissing != MergeMissingFail && r.Results[i].Verdict == publisher.Fail && missingDocument(batch.Items[i].Value.typ, result) {
			r.Results[i] = t.mergeMissing.judge(batch.Items[i].Body, r.Results[i])
		}
		if errors.Is(r.Results[i].Err, ErrNoResult) {
			missing++
		}
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

// judgeDocument turns the result of one document into a verdict. A document
// that was throttled pauses everything.
func judgeDocument(answer *models.IndexingResult, r *reply) result {
	if answer == nil {
		return result{Err: ErrNoResult, Unknown: true}
	}
	if err := checkResult(answer); err != nil {
		return result{Value: *answer, Err: err, Unknown: true}
	}
	if answer.Succeeded { // with a 2xx, whichever
		return result{Value: *answer, Verdict: publisher.Done}
	}
	decision := retry.Document(answer.StatusCode)
	if decision.Pause {
		r.Pause = true
		r.Throttled++
	}
	return result{Value: *answer, Verdict: verdict(decision), Throttled: decision.Pause}
}

func verdict(d retry.Decision) publisher.Verdict {
	switch d.Verdict {
	case retry.Done:
		return publisher.Done
	case retry.Retry:
		return publisher.Retry
	default:
		return publisher.Fail
	}
}

// refused judges a batch that got no results at all.
func refused[T any](items []item[T], err error) reply {
	decision, status := retry.Error(err)
	r := reply{
		Err:        err,
		Pause:      decision.Pause,
		RetryAfter: -1,
		Split:      decision.Verdict == retry.Split,
		TooLarge:   decision.Learn,
		Service:    service(decision, status),
		Refused:    status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable,
		Results:    make([]result, len(items)),
	}
	if errors.Is(err, models.ErrMalformedReply) && decision.Verdict != retry.Fail {
		// The service answered with success, in a way: whatever it is that
		// mangles its replies, holding back gives it time to go away.
		decision = retry.Decision{Verdict: retry.Retry, Pause: true, Unknown: true}
		r.Pause, r.Split, r.Service = true, false, publisher.ServiceFails
		err = fmt.Errorf("%w: %w", ErrNoResult, err)
	}
	if hinted := retry.Hinted(nil); errors.As(err, &hinted) && (r.Pause || r.Service == publisher.ServiceRefuses) {
		if wait, ok := hinted.RetryAfter(); ok {
			r.RetryAfter = max(wait, 0)
		}
	}
	if r.Split && status == http.StatusBadRequest {
		r.Suspect = suspect(err.Error())
	}
	for i := range items {
		r.Results[i] = result{
			Verdict:   verdict(decision),
			Value:     models.IndexingResult{Key: items[i].Key, StatusCode: status},
			Err:       err,
			Unknown:   decision.Unknown,
			Throttled: r.Refused,
		}
	}
	return r
}

// service returns what the failure of a whole request says about the service.
func service(d retry.Decision, status int) publisher.Service {
	switch {
	case d.Permanent:
		return publisher.ServiceRefuses
	case status == http.StatusTooManyRequests:
		return publisher.ServiceThrottles
	case d.Verdict == retry.Split, status == http.StatusConflict, status == http.StatusUnprocessableEntity:
		return publisher.ServiceSound // it works; it does not like this request
	case d.Pause:
		return publisher.ServiceFails
	}
	return publisher.ServiceUnclear
}

// actionPosition is how the service names the action it objects to, for example
// "actions : 0: Document key cannot be missing or empty."
var actionPosition = regexp.MustCompile(`actions : (\d{1,5}):`)

// suspect returns the position, from 1, of the action that a refusal blames, or
// 0. It is only where to cut first: the action is sent again alone, and fails
// only if the service refuses it then too.
func suspect(message string) int {
	match := actionPosition.FindStringSubmatch(message)
	if match == nil {
		return 0
	}
	position, err := strconv.Atoi(match[1])
	if err != nil {
		return 0
	}
	return position + 1
}

// statusOf returns the HTTP status of a reply, 0 if there was none.
func statusOf(result models.IndexDocumentsResult, err error) int {
	if err == nil {
		return result.StatusCode
	}
	_, status := retry.Error(err)
	return status
}
