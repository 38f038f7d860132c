package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

type (
	item       = publisher.Item[payload]
	batch      = publisher.Batch[payload]
	settlement = publisher.Settlement[payload, models.IndexingResult]
)

// observer reports the publisher's events to handlers, logger and telemetry. Except for added and accepted, it runs on
// the publisher goroutine.
type observer struct {
	handlers     events.Handlers[struct{}] // handlers whose events have no actions
	documents    documents
	handled      handled
	wantsActions bool // a handler needs actions
	wantsEnds    bool // a handler needs the outcome of each action
	logger       *slog.Logger
	lines        lines
	telemetry    *telemetry
	deadLetters  deadletter.Sink                 // or nil
	applied      *applied                        // or nil
	onPurged     func(context.Context, []string) // of Hold, or nil
	onHeld       func()                          // nil if there is no FailFast
	suspect      func(why *publisher.IndexError) // see publisher.Hooks
	in           atomic.Uint32                   // the code that guard runs now
	feed         *feed                           // nil without a queue
	endpoint     string
	index        string
	panics       atomic.Int64 // recovered in handlers
	letters      letterCounts

	// Owned by the publisher goroutine.
	lastBatch    events.Batch // for telemetry, if there is no handler
	requestID    string       // of the reply being reported
	reportedHeld bool         // the log has reported a suspension, and not yet its end

	// Written by start, before any other goroutine uses the sender.
	mark func(context.Context) context.Context // see publisher.HookContext
	ctx  context.Context                       // marked, for handlers
}

// letterCounts counts the dead letters that Options.DeadLetters has taken and those that it refused.
type letterCounts struct{ taken, refused atomic.Int64 }

func newObserver(o *settings, d documents, t *telemetry) *observer {
	h := d.handled()
	return &observer{
		applied:      newApplied(o),
		handlers:     o.Handlers,
		documents:    d,
		handled:      h,
		wantsActions: h.sent || h.completed || h.failed || o.DeadLetters != nil,
		wantsEnds:    h.completed || h.failed,
		logger:       o.Logger,
		telemetry:    t,
		deadLetters:  o.DeadLetters,
		onPurged:     o.held().OnPurged,
		endpoint:     t.endpoint,
		index:        t.index,
	}
}

func (o *observer) start(mark func(context.Context) context.Context) {
	o.mark, o.ctx = mark, mark(context.Background())
}

func (o *observer) hooks() publisher.Hooks[payload, models.IndexingResult] {
	return publisher.Hooks[payload, models.IndexingResult]{
		Name:    func() string { return code(o.in.Load()).String() },
		Suspect: o.suspect,
		Accepted: func(n int) {
			o.guard(inMeterProvider, func() { o.telemetry.accepted(n) })
		},
		Sent:      o.sent,
		Explain:   o.explain,
		Replied:   o.replied,
		Settled:   o.settled,
		Delivered: o.delivered,
		Paused:    o.paused,
		Ending:    o.ending,
		Changed:   o.changed,
		Closed:    o.closed,
	}
}

// added calls the ActionAdded handler with a marked context, on the goroutine of the adding call. A panic refuses the
// action, because the handler may not have checkpointed it.
func (o *observer) added(ctx context.Context, c *chunk, key string, size int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			o.panicked("ActionAdded", v)
			err = fmt.Errorf("the ActionAdded handler panicked: %v", v)
		}
	}()
	return c.document.added(ctx, c.header, key, size)
}

func (o *observer) sent(b *batch) {
	if o.telemetry.timed {
		o.guard(inMeterProvider, func() {
			for i := range b.Items {
				if !b.Items[i].Again {
					o.telemetry.sent(b.Items[i].Waited)
				}
			}
		})
	}
	if !o.handled.sent {
		return
	}
	for i := range b.Items {
		it := &b.Items[i]
		report := func(v *payload) {
			o.guard(inActionSent, func() { o.documents.sent(o.ctx, v.action, it.Key, it.Attempt, b.ID) })
		}
		if it.Parts == nil {
			report(&it.Value)
		}
		for j := range it.Parts {
			report(&it.Parts[j].Value)
		}
	}
}

func (o *observer) replied(b *batch, r *reply, took time.Duration, n publisher.Counts) {
	o.requestID = r.RequestID
	event := &o.lastBatch
	if o.handlers.BatchCompleted != nil {
		event = new(events.Batch) // the handler may keep it
	}
	*event = events.Batch{
		ID:         b.ID,
		RequestID:  r.RequestID,
		Actions:    len(b.Items),
		Bytes:      int64(b.Bytes),
		Duration:   took,
		StatusCode: r.Status,
		Succeeded:  n.Done,
		Failed:     n.Failed,
		Retried:    n.Retried,
		Split:      r.Split && len(b.Items) > 1,
		Err:        r.Err,
	}
	if !errors.Is(r.Err, publisher.ErrNotSent) { // nothing was requested
		o.guard(inMeterProvider, func() {
			o.telemetry.batchCompleted(event)
			if n.Retried > 0 {
				o.countRetries(b, r)
			}
		})
	}
	o.guard(inLogger, func() { o.log(event, r) })
	if o.handlers.BatchCompleted != nil {
		o.guard(inBatchCompleted, func() { o.handlers.BatchCompleted(o.ctx, event) })
	}
}

func (o *observer) countRetries(b *batch, r *reply) {
	if len(r.Results) != len(b.Items) {
		o.telemetry.retried(r.Status, len(b.Items))
		return
	}
	byStatus := make(map[int]int)
	for i := range r.Results {
		if r.Results[i].Next == publisher.Requeue {
			byStatus[r.Results[i].Value.StatusCode]++
		}
	}
	for status, n := range byStatus {
		o.telemetry.retried(status, n)
	}
}

func (o *observer) paused(wait time.Duration) {
	o.guard(inMeterProvider, func() { o.telemetry.paused(wait) })
	o.guard(inLogger, func() { o.logPause(wait) })
	if o.onHeld != nil {
		o.onHeld() // the pause may have become longer than a call can wait
	}
}

func (o *observer) changed(from, to publisher.Condition) {
	change := &events.HealthChange{From: healthStates[from.State], To: healthStates[to.State], At: to.Since, Err: to.Err}
	if o.onHeld != nil && (to.Held() != nil || to.State == publisher.Throttled) {
		o.onHeld()
	}
	if o.feed != nil {
		o.feed.conditionChanged(from, to)
	}
	o.guard(inLogger, func() { o.logChange(from, to, change) })
	if from.State == to.State { // only the reason of the suspension changed
		return
	}
	o.guard(inMeterProvider, func() { o.telemetry.healthChanged(change.To) })
	if o.handlers.HealthChanged != nil {
		o.guard(inHealthChanged, func() { o.handlers.HealthChanged(o.ctx, change) })
	}
}

// policy adapts a WhenFull for the publisher.
func (o *observer) policy(w WhenFull) publisher.Policy {
	return publisher.Policy{Overload: w.policy, Purged: func(keys []string) { o.purged(keys, w.onPurged) }}
}

func (o *observer) purged(keys []string, onPurged func(context.Context, []string)) {
	o.guard(inLogger, func() {
		o.logLasting(o.ctx, slog.LevelWarn, "azsearch: actions purged to make room", slog.Int("actions", len(keys)))
	})
	for _, told := range []func(context.Context, []string){onPurged, o.onPurged} {
		if told != nil {
			o.guard(inOnPurged, func() { told(o.ctx, keys) })
		}
	}
}

func (o *observer) closed(ctx context.Context) (err error) {
	o.guard(inLogger, o.logLeftOut)
	if o.handlers.Closed != nil {
		err = errors.New("the Closed handler panicked")
		o.guard(inClosed, func() { err = o.handlers.Closed(ctx) })
	}
	return err
}

// ending writes the dead letters of failed actions before their failures are reported, and reports whether it
// succeeded.
func (o *observer) ending(all []settlement) (written bool) {
	if o.deadLetters == nil {
		return false
	}
	o.applied.report(o, all)
	var letters []deadletter.Letter
	for i := range all {
		// For folded actions, keep only the action that was sent: sending it again has the effect of all of them.
		if all[i].Outcome != publisher.Completed && all[i].Outcome != publisher.Returned && all[i].Carrier != nil && !all[i].Withdrawn {
			l := o.letter(&all[i])
			letters = append(letters, l)
			o.applied.failed(&l)
		}
	}
	if len(letters) == 0 {
		return false
	}
	err := errors.New("DeadLetters did not return")
	defer func() { o.wrote(len(letters), err) }() // also if it ends the goroutine
	o.guard(inDeadLetters, func() { err = o.deadLetters.Write(o.ctx, letters) })
	o.applied.report(o, nil)
	return err == nil
}

// wrote counts n dead letters as written, or as refused.
func (o *observer) wrote(n int, err error) {
	o.guard(inMeterProvider, func() { o.telemetry.deadLetters(n, err == nil) })
	if err == nil {
		o.letters.taken.Add(int64(n))
		return
	}
	o.letters.refused.Add(int64(n))
	o.guard(inLogger, func() {
		o.logLasting(o.ctx, slog.LevelError, "azsearch: dead letters not written", slog.Int("dead_letters", n), slog.Any("error", err))
	})
}

func (o *observer) letter(s *settlement) deadletter.Letter {
	now := time.Now()
	err, ok := o.explain(s).(*ActionError) //nolint:errorlint // explain returns nothing else
	if !ok {
		err = &ActionError{}
	}
	requestID := o.requestID
	if s.Purged || s.Index || s.Outcome == publisher.Unsent {
		requestID = "" // no reply has settled it
	}
	return deadletter.Letter{
		Endpoint: o.endpoint, Index: o.index, Key: s.Item.Key, Action: s.Carrier.Value.typ, Version: s.Carrier.Value.version, Document: documentOf(s.Carrier.Body),
		Status: err.Status, Message: err.Message, RequestID: requestID, Attempts: s.Item.Attempt,
		Unknown: s.Unknown, Unsent: s.Outcome == publisher.Unsent, Error: err.Error(),
		First: now.Add(-s.Waited), Last: now, Tag: o.tag(&s.Item.Value),
	}
}

// delivered runs after a batch was reported.
func (o *observer) delivered() {
	o.guard(inMeterProvider, o.telemetry.flushSettled)
	if o.feed != nil {
		o.feed.delivered()
	}
}

// settled reports the outcome of an action. err is its failure, or nil.
func (o *observer) settled(s *settlement, err error) {
	if o.feed != nil {
		defer o.feed.reported(s, err) // also if a handler ends the goroutine
		if s.Outcome == publisher.Returned {
			return // it has no outcome here
		}
	}
	o.applied.settled(s)
	o.guard(inMeterProvider, func() {
		o.telemetry.settled(s.Item.Value.typ, s.Outcome, s.Result.Value.StatusCode, s.Waited)
	})
	o.notify(s, err)
}

// notify reports the outcome of an action that may not have been in the buffer.
func (o *observer) notify(s *settlement, err error) {
	defer func() { // also if a handler ends the goroutine
		defer func() { s.Reported = o.endWaiter(s, err) }()
		o.callBack(s, err)
	}()
	if err == nil {
		if o.handled.completed {
			o.guard(inActionCompleted, func() { o.documents.completed(o.ctx, s) })
		}
		return
	}
	o.guard(inLogger, func() { o.logFailure(s, err) })
	if o.handled.failed {
		o.guard(inActionFailed, func() { o.documents.failed(o.ctx, s, err) })
	}
}

// callBack calls the action's OnOutcome, after the handlers.
func (o *observer) callBack(s *settlement, err error) {
	v := &s.Item.Value
	if v.own == nil || v.own.onOutcome == nil {
		return
	}
	outcome := models.Outcome{Key: s.Item.Key, Tag: o.tag(v), Status: s.Result.Value.StatusCode, Cut: s.Cut}
	switch failed := (*ActionError)(nil); {
	case errors.As(err, &failed):
		outcome.Reason, outcome.Unknown, outcome.Err = failed.Reason, failed.Unknown, failed
	case s.Superseded:
		outcome.Reason = models.ReasonSuperseded
	}
	o.guard(inOnOutcome, func() { v.own.onOutcome(outcome) })
}

// endWaiter reports the outcome to the call of IndexDocumentsAndWait, after all handlers, and reports whether there is
// such a call. A caller that gave up has already got ErrWithdrawn.
func (o *observer) endWaiter(s *settlement, err error) bool {
	w := s.Item.Value.waiter
	if w == nil {
		return false
	}
	result := s.Result.Value
	result.Key, result.Succeeded = s.Item.Key, true // by the caller's policy, see MergeMissingIgnore
	var failure *ActionError
	if err != nil {
		result.Succeeded = false
		if !errors.As(err, &failure) {
			failure = &ActionError{Key: s.Item.Key, Type: s.Item.Value.typ, Err: err}
		}
	}
	w.end(result, failure)
	return true
}

// explain is failure, but tolerates an error of the client whose methods panic.
func (o *observer) explain(s *settlement) (err error) {
	defer func() {
		if v := recover(); v != nil {
			o.panicked("error of the client", v)
			err = &ActionError{
				Key: s.Item.Key, Type: s.Item.Value.typ, Status: s.Result.Value.StatusCode, Attempts: s.Item.Attempt,
				Exhausted: s.Exhausted, Unknown: s.Unknown, Err: errors.New("the client's error panicked"),
			}
		}
	}()
	return failure(s)
}

// failure returns why an action was not completed.
func failure(s *settlement) *ActionError {
	cause := s.Result.Err
	switch {
	case errors.Is(cause, publisher.ErrNoResult):
		cause = ErrNoResult
	case s.Purged:
		cause = ErrPurged
	case s.Withdrawn:
		cause = ErrWithdrawn
	case s.Result.Value.StatusCode == http.StatusRequestEntityTooLarge:
		cause = fmt.Errorf("%w for the service: %w", ErrDocumentTooLarge, cause)
	}
	err := &ActionError{
		Key:       s.Item.Key,
		Type:      s.Item.Value.typ,
		Reason:    reasonOf(s),
		Status:    s.Result.Value.StatusCode,
		Message:   s.Result.Value.ErrorMessage,
		Attempts:  s.Item.Attempt,
		Exhausted: s.Exhausted,
		Unknown:   s.Unknown,
		Err:       cause,

		DeadLetter: s.Kept,
	}
	if s.Outcome == publisher.Unsent {
		err.Err = ErrClosed
		if s.Held != nil {
			err.Err = fmt.Errorf("%w while %w", err.Err, s.Held)
		}
		if cause != nil && !errors.Is(s.Held, cause) { // unless it is the reason for the suspension
			err.Err = fmt.Errorf("%w; its last attempt: %w", err.Err, cause)
		}
	}
	return err
}
