package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

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

	// unanswered is called when a request has had no answer for as long as unheard, unless the one before had one: an
	// address may be wrong.
	unanswered func()
	answered   atomic.Bool
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
	answer, err := t.indexWatched(ctx, batch)
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

// indexWatched is index with a call of unanswered.
func (t *transport) indexWatched(ctx context.Context, batch *batch) (answer models.IndexDocumentsResult, err error) {
	if !t.answered.Load() {
		defer time.AfterFunc(unheard, t.unanswered).Stop()
	}
	answer, err = t.index(ctx, batch)
	t.answered.Store(statusOf(answer, err) != 0)
	return answer, err
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

// body is a request body: the encoded actions between the pieces of the envelope, read without copying.
//
// An HTTP transport may continue to read a body after the reply has arrived, when the memory of the actions is already
// reused. So the body is retired first: retire waits for a running Read and makes later ones fail.
type body struct {
	size int64

	mu     sync.Mutex
	items  []item // guarded by mu, as are the following fields; nil once retired
	offset int64
	piece  int // the piece at offset; even pieces belong to the envelope
	inside int // offset within the piece
}

var (
	errRetired = errors.New("bufferedsender: the request body is read after the request has ended")
	errSeek    = errors.New("bufferedsender: seek outside of the request body")
)

func newBody(batch *batch) *body {
	return &body{items: batch.Items, size: int64(batch.Bytes)}
}

// retire ends access to the memory of the actions.
func (b *body) retire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = nil
}

// length returns the size of a piece in bytes.
func (b *body) length(piece int) int {
	switch {
	case piece%2 == 1:
		return len(b.items[piece/2].Body)
	case piece == 0:
		return len(bodyOpen)
	case piece == b.last():
		return len(bodyClose)
	}
	return len(bodyComma)
}

// last returns the index of the last piece.
func (b *body) last() int { return 2 * len(b.items) }

func (b *body) copyPiece(p []byte) int {
	switch {
	case b.piece%2 == 1:
		return copy(p, b.items[b.piece/2].Body[b.inside:])
	case b.piece == 0:
		return copy(p, bodyOpen[b.inside:])
	case b.piece == b.last():
		return copy(p, bodyClose[b.inside:])
	}
	return copy(p, bodyComma[b.inside:])
}

func (b *body) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.items == nil {
		return 0, errRetired
	}
	for n < len(p) && b.piece <= b.last() {
		copied := b.copyPiece(p[n:])
		n += copied
		b.inside += copied
		if b.inside == b.length(b.piece) {
			b.piece, b.inside = b.piece+1, 0
		}
	}
	b.offset += int64(n)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (b *body) Seek(offset int64, whence int) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += b.offset
	case io.SeekEnd:
		offset += b.size
	}
	switch {
	case b.items == nil:
		return 0, errRetired
	case offset < 0 || offset > b.size:
		return 0, errSeek
	}
	b.offset, b.piece, b.inside = offset, 0, 0
	if offset == b.size {
		b.piece = b.last() + 1
		return b.offset, nil
	}
	for b.piece <= b.last() && offset >= int64(b.length(b.piece)) {
		offset -= int64(b.length(b.piece))
		b.piece++
	}
	b.inside = int(offset)
	return b.offset, nil
}

func (b *body) Close() error { return nil }

// bound limits the remaining duration of a request by the leases of its keys, of the feed or of the caller that added
// an action.
type bound struct {
	left    time.Duration
	limited bool
	now     time.Time // read once for all leases of the feed: reading a clock can be slow
}

func boundOf(b *batch) (all bound) {
	for i := range b.Items {
		all.see(&b.Items[i])
	}
	return all
}

// see adds the bounds of an action and of the actions folded into it.
func (b *bound) see(it *item) {
	b.add(&it.Value)
	for i := range it.Parts {
		b.add(&it.Parts[i].Value)
	}
}

func (b *bound) add(v *payload) {
	var left time.Duration
	switch h := v.from.holding; {
	case h != nil:
		if b.now.IsZero() {
			b.now = time.Now()
		}
		left = h.terms.Until(&h.lasts, b.now)
	case v.own != nil && v.own.until != nil:
		left = remaining(v.own.until)
	default:
		return
	}
	if !b.limited || left < b.left {
		b.left, b.limited = left, true
	}
}

// remaining calls the function of a program. If it panics, no time is left.
func remaining(until func() time.Duration) (left time.Duration) {
	defer func() {
		if recover() != nil {
			left = 0
		}
	}()
	return until()
}

// watch cancels a request when the leases of its keys are about to end without having been extended. Leases are shorter
// than the longest request, so that a holder's death is detected within seconds, and are extended while the request
// runs. The watch checks when the first lease would end, and then again.
type watch struct {
	batch  *batch
	cancel context.CancelFunc

	mu    sync.Mutex
	timer *time.Timer
	ended bool // the batch is not read any more
	cut   bool
}

// watchLeases starts a watch of the request with this ctx. It returns nil if no action has a bound.
func watchLeases(ctx context.Context, b *batch, left bound) (context.Context, *watch) {
	if !left.limited {
		return ctx, nil
	}
	w := &watch{batch: b}
	ctx, w.cancel = context.WithCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(left.left, w.look)
	return ctx, w
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if left := boundOf(w.batch).left; left > 0 {
		w.timer.Reset(left)
		return
	}
	w.cut = true
	w.cancel()
}

// end ends the watch and reports whether it cut the request off.
func (w *watch) end() (cut bool) {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timer.Stop()
	w.cancel()
	return w.cut
}

// cutOff is the reply to a request that outlasted its leases. It says nothing about the service and uses no attempt.
func cutOff(n int) reply {
	r := notSent(n)
	for i := range r.Results {
		r.Results[i].Unknown, r.Results[i].Cut = true, true
	}
	return r
}

// notSent is the reply to a request that was not sent. Its actions wait again; Leave then returns them to the queue.
func notSent(n int) reply {
	r := reply{Results: make([]result, n), Err: errLeaseEnds, RetryAfter: -1, Unconfirmed: true}
	for i := range r.Results {
		r.Results[i] = result{Err: errLeaseEnds, Free: true, Next: publisher.Requeue}
	}
	return r
}
