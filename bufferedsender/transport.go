package bufferedsender

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"go.opentelemetry.io/otel/trace"
)

// transport sends the batches of the publisher through an Indexer and turns the
// answers into the next steps of actions, by the table of package retry.
type transport[T any] struct {
	indexer      Indexer
	telemetry    *telemetry
	mergeMissing MergeMissing
	longestWait  func() time.Duration // that Retry-After may ask for; negative: any
	spare        sync.Pool            // of *[]result, to be filled again
	contain      func(handler string) // to be deferred around the code of others
	holds        bool                 // what does not work for now waits, and uses no attempt

	// lasts says how long a request may take because of the leases of its actions, if
	// they have any.
	lasts func(batch *batch[T]) (time.Duration, bool)
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
	ctx = models.WithClientRequestID(ctx, batch.ID)
	if t.lasts != nil {
		if longest, limited := t.lasts(batch); limited && longest <= 0 {
			return notSent(len(batch.Items))
		} else if limited {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, longest)
			defer cancel()
		}
	}
	ctx, span := t.startSpan(ctx, batch)
	answer, err := t.index(ctx, batch)
	r := t.judge(batch, answer, err)
	if longest := t.longestWait(); longest >= 0 {
		r.RetryAfter = min(r.RetryAfter, longest)
	}
	if r.RetryAfter <= 0 {
		r.RetryAfter = -1 // a date in the past, of a clock that is behind, is no permission
	}
	r.TimedOut = err != nil && !errors.Is(ctx.Err(), context.Canceled) && isTimeout(err)
	r.Status, r.RequestID = statusOf(answer, err), answer.RequestID
	if err != nil {
		if known := (interface{ ServiceRequestID() string })(nil); errors.As(err, &known) {
			r.RequestID = known.ServiceRequestID()
		}
	}
	t.endSpan(span, &r)
	return r
}

// errLeaseEnds is why a request is not sent: before it could be answered others may send the
// same keys.
var errLeaseEnds = errors.New("not sent: the leases of its keys are about to end")

// notSent is the reply to a request that was held back: all of it waits again, and
// Leave has it taken back.
func notSent(n int) reply {
	held := result{Err: errLeaseEnds, Free: true}
	return reply{Results: slices.Repeat([]result{held}, n), Err: errLeaseEnds, RetryAfter: -1, Unconfirmed: true}
}

// startSpan starts the span of a request. A tracer that panics must not keep it
// from being sent.
func (t *transport[T]) startSpan(ctx context.Context, batch *batch[T]) (spanned context.Context, span trace.Span) {
	defer t.contain("TracerProvider")
	spanned, span = ctx, trace.SpanFromContext(context.Background()) // which does nothing
	return startBatch(ctx, t.telemetry, batch)
}

func (t *transport[T]) endSpan(span trace.Span, r *reply) {
	defer t.contain("TracerProvider")
	endBatch(span, r.Status, r.RequestID, r.Err)
}

// index sends the request. When it returns nobody reads the actions any more.
func (t *transport[T]) index(ctx context.Context, batch *batch[T]) (models.IndexDocumentsResult, error) {
	b := newBody(batch)
	defer b.retire() // also after a panic
	return t.indexer.IndexDocumentsRaw(ctx, b)
}

func (t *transport[T]) judge(batch *batch[T], answer models.IndexDocumentsResult, err error) reply {
	if err != nil {
		decision, status := decide(err, len(batch.Items), t.holds)
		return refused(batch.Items, err, decision, status)
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
	if !works { // an index that is off line, or a reply without anything in it
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

// judgeDocument turns the result of one document into its next step. A document
// that was throttled pauses everything.
func judgeDocument(answer *models.IndexingResult, r *reply) result {
	if answer == nil {
		return result{Err: ErrNoResult, Unknown: true}
	}
	if err := checkResult(answer); err != nil {
		return result{Value: *answer, Err: err, Unknown: true}
	}
	if answer.Succeeded { // with a 2xx, whichever
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
	if judged.Next == publisher.Fail && answer.StatusCode != http.StatusNotFound { // which is about this document
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

// refused judges a batch that got no results at all.
func refused[T any](items []item[T], err error, decision retry.Decision, status int) reply {
	r := reply{
		Err:        err,
		Pause:      decision.Pause,
		RetryAfter: -1,
		Split:      decision.Verdict == retry.Split,
		TooLarge:   decision.TooLarge,
		Service:    service(decision, status),
		Refused:    retry.Throttles(status),
		Results:    make([]result, len(items)),
	}
	r.Whole = !r.Split
	if errors.Is(err, models.ErrMalformedReply) && decision.Verdict != retry.Fail {
		// The service answered with success, in a way: whatever it is that
		// mangles its replies, holding back gives it time to go away.
		decision = retry.Decision{Verdict: retry.Retry, Pause: true, Unknown: true}
		r.Pause, r.Split, r.Whole, r.Service = true, false, true, publisher.ServiceFails
		err = fmt.Errorf("%w: %w", ErrNoResult, err)
	}
	if hinted := retry.RetryAfterError(nil); errors.As(err, &hinted) && (r.Pause || r.Service == publisher.ServiceRefuses) {
		if wait, ok := hinted.RetryAfter(); ok {
			r.RetryAfter = wait
		}
	}
	reason := ""
	if r.Split && status == http.StatusBadRequest {
		message := messageOf(err)
		r.Suspect = suspect(message)
		r.Trait = missingProperty(message)
		reason = cause(status, message)
		if len(items) == 1 {
			r.Reason = reason
		}
	}
	for i := range items {
		r.Results[i] = result{
			Next:      stepOf(decision),
			Value:     models.IndexingResult{Key: items[i].Key, StatusCode: status},
			Err:       err,
			Unknown:   decision.Unknown,
			Cut:       decision.NoAnswer,
			Throttled: r.Refused,
			Reason:    reason,
		}
	}
	return r
}

// service returns what the failure of a whole request says about the service.
func service(d retry.Decision, status int) publisher.Service {
	switch {
	case d.Permanent:
		return publisher.ServiceRefuses
	case retry.Throttles(status):
		return publisher.ServiceThrottles // it slows the sender down first
	case d.Verdict == retry.Split:
		return publisher.ServiceSound // it works; it does not like this request
	case d.Pause:
		return publisher.ServiceFails
	}
	return publisher.ServiceUnclear
}

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

// messageOf returns what the service says about a failed request.
func messageOf(err error) string {
	if said := (interface{ ServiceMessage() string })(nil); errors.As(err, &said) {
		return said.ServiceMessage()
	}
	return err.Error()
}

// isTimeout reports whether a request had no reply in time.
func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// missingProperty returns what the documents have in common that the index
// refuses because it lacks one of their properties, or nil.
func missingProperty(message string) *publisher.Trait {
	match := lacks.FindStringSubmatch(message)
	if match == nil {
		return nil
	}
	name := match[1] + match[2] // one of them
	return &publisher.Trait{Name: name, Has: func(action []byte) bool { return hasMember(action, name) }}
}

// hasMember reports whether an encoded action has a member of the name, in whatever
// object. A string that holds the like has a backslash before the second quote.
func hasMember(action []byte, name string) bool {
	quoted := []byte(`"` + name + `"`)
	for {
		_, after, found := bytes.Cut(action, quoted)
		if !found {
			return false
		}
		if bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(":")) {
			return true
		}
		action = after
	}
}

var (
	quoted = regexp.MustCompile(`(property|type|field|named|name)?( ?)'[^']*'`)
	digits = regexp.MustCompile(`[0-9]+`)
)

// cause is why the service refuses something, without what is special about the
// document: its key, its values, its position. Names of properties and types stay.
func cause(status int, message string) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(status) + " ")
	end := 0
	for _, at := range quoted.FindAllStringIndex(message, -1) {
		b.WriteString(digits.ReplaceAllString(message[end:at[0]], "#"))
		if name := message[at[0]:at[1]]; name[0] != '\'' && name[0] != ' ' {
			b.WriteString(name)
		} else {
			b.WriteString("''")
		}
		end = at[1]
	}
	b.WriteString(digits.ReplaceAllString(message[end:], "#"))
	return b.String()
}

// statusOf returns the HTTP status of a reply, 0 if there was none.
func statusOf(result models.IndexDocumentsResult, err error) int {
	if err == nil {
		return result.StatusCode
	}
	_, status := retry.ForError(err)
	return status
}
