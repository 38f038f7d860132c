package bufferedsender

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/harmless"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// lineLimit limits the log lines of one kind and counts the omitted ones.
type lineLimit struct {
	begun   time.Time // start of the second or minute
	logged  int
	leftOut int
}

// linesASecond is the most log lines of one kind in a second.
const linesASecond = 10

// allow reports whether a line may be logged now, and how many lines were omitted since the last one.
func (l *lineLimit) allow(now time.Time) (leftOut int, ok bool) {
	return l.within(now, time.Second, linesASecond)
}

func (l *lineLimit) within(now time.Time, period time.Duration, most int) (leftOut int, ok bool) {
	if now.Sub(l.begun) >= period {
		l.begun, l.logged = now, 0
	}
	if l.logged++; l.logged > most {
		l.leftOut++
		return 0, false
	}
	leftOut, l.leftOut = l.leftOut, 0
	return leftOut, true
}

// lines limits the lines of a sender.
type lines struct {
	warnings lineLimit // about requests
	failures lineLimit // about failed documents
	lasting  lasting
}

// lasting limits the lines about a trouble that lasts, such as a queue that does not answer, to one of each message a
// minute. The errors in them may differ, by a port for example. Safe for concurrent use.
type lasting struct {
	mu sync.Mutex
	of map[string]*lineLimit // by message
}

func (r *lasting) allow(message string, now time.Time) (leftOut int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.of[message]
	if l == nil {
		if l = new(lineLimit); r.of == nil {
			r.of = make(map[string]*lineLimit)
		}
		r.of[message] = l
	}
	return l.within(now, time.Minute, 1)
}

// logLasting logs a trouble that may last.
func (o *observer) logLasting(ctx context.Context, level slog.Level, message string, more ...slog.Attr) {
	if leftOut, ok := o.lines.lasting.allow(message, time.Now()); ok {
		o.logger.LogAttrs(ctx, level, message, withLeftOut(append(o.where(), more...), leftOut)...)
	}
}

// unanswered logs that a request has no answer yet. It runs on the goroutine of a timer.
func (o *observer) unanswered() {
	o.guardElsewhere(inLogger, func() {
		o.logLasting(o.ctx, slog.LevelWarn, "azsearch: service has not answered", slog.Duration("for", unheard))
	})
}

// log writes a line for a request, at warning level if the request failed or some of it will be sent again.
func (o *observer) log(e *events.Batch, r *reply) {
	level, message := slog.LevelDebug, "azsearch: request completed"
	switch {
	case errors.Is(e.Err, ErrNotSent):
		message = "azsearch: request not sent: sending suspended meanwhile"
	case e.Split:
		level, message = slog.LevelWarn, "azsearch: request refused; sending it in parts"
	case e.Err != nil && e.Retried > 0:
		level, message = slog.LevelWarn, "azsearch: request failed; it will be retried"
	case e.Err != nil:
		level, message = slog.LevelWarn, "azsearch: request failed"
	case e.Failed > 0:
		level, message = slog.LevelWarn, "azsearch: documents refused"
	case e.Retried > 0:
		level, message = slog.LevelWarn, "azsearch: documents will be retried"
	}
	if !o.logger.Enabled(o.ctx, level) {
		return
	}
	leftOut := 0
	if level == slog.LevelWarn {
		var ok bool
		if leftOut, ok = o.lines.warnings.allow(time.Now()); !ok {
			return
		}
	}
	attrs := append(o.where(),
		slog.String("batch", e.ID), slog.Int("actions", e.Actions), slog.Int64("bytes", e.Bytes),
		slog.Duration("took", e.Duration), slog.Int("status", e.StatusCode),
		slog.Int("succeeded", e.Succeeded), slog.Int("failed", e.Failed), slog.Int("retried", e.Retried),
	)
	if e.RequestID != "" {
		attrs = append(attrs, slog.String("request_id", e.RequestID))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.String("error", o.loggable(e.StatusCode, e.Err)))
	} else if e.Retried > 0 {
		for i := range r.Results {
			if first := &r.Results[i]; first.Next == publisher.Requeue && first.Err != nil {
				attrs = append(attrs, slog.String("first_error", o.loggable(first.Value.StatusCode, first.Err)))
				break
			}
		}
	}
	if panicked := (*publisher.PanicError)(nil); errors.As(e.Err, &panicked) {
		attrs = append(attrs, slog.String("stack", string(panicked.Stack)))
	}
	o.logger.LogAttrs(o.ctx, level, message, withLeftOut(attrs, leftOut)...)
}

// withLeftOut adds the number of omitted lines of this kind.
func withLeftOut(attrs []slog.Attr, leftOut int) []slog.Attr {
	if leftOut == 0 {
		return attrs
	}
	return append(attrs, slog.Int("lines_left_out", leftOut))
}

// loggable returns the text of an error that may be logged. Above debug level it omits the service's own explanation,
// which quotes documents and keys, except for the name of a property that the index lacks. The text of a malformed
// reply is omitted at all levels, because it is not the service's own.
func (o *observer) loggable(status int, err error) string {
	if o.logger.Enabled(o.ctx, slog.LevelDebug) && !errors.Is(err, models.ErrMalformedReply) {
		return err.Error()
	}
	return harmless.Words(status, err)
}

func (o *observer) logPause(wait time.Duration) {
	o.logger.LogAttrs(o.ctx, slog.LevelInfo, "azsearch: sending paused",
		append(o.where(), slog.Duration("for", wait), slog.String("until", time.Now().Add(wait).Format(logTime)))...)
}

// logTime is RFC 3339 with milliseconds.
const logTime = "2006-01-02T15:04:05.000Z07:00"

// logChange logs that sending stops, why and until when, and that it resumes.
func (o *observer) logChange(from, to publisher.Condition, change *events.HealthChange) {
	level, message := slog.LevelDebug, "azsearch: sender health changed"
	switch {
	case to.State == publisher.Held && from.State == publisher.Ready && o.reportedHeld: // a probe has left, or failed
	case to.State == publisher.Held:
		level, message = slog.LevelWarn, "azsearch: sending suspended except for probes"
	case to.State == publisher.Closing && to.Err != nil:
		level, message = slog.LevelWarn, "azsearch: Close waiting: sending suspended"
	case to.State == publisher.Closing && from.State != publisher.Closing: // nothing waits, whether or not it is held
	case o.reportedHeld && to.Err == nil && to.State != publisher.Closed:
		level, message = slog.LevelInfo, "azsearch: sending resumed"
	}
	if level != slog.LevelDebug {
		o.reportedHeld = level == slog.LevelWarn
	}
	if !o.logger.Enabled(o.ctx, level) {
		return
	}
	attrs := append(o.where(), slog.String("health", change.To.String()), slog.String("was", change.From.String()))
	if open := (*breaker.OpenError)(nil); errors.As(to.Err, &open) {
		if !open.Status.Until.IsZero() {
			attrs = append(attrs, slog.String("until", open.Status.Until.Format(logTime)))
		}
		if circuit := (*circuitOpenError)(nil); errors.As(to.Err, &circuit) && circuit.service {
			attrs = append(attrs, slog.String("breaker", "service")) // of all its indexes
		}
		if open.Status.Err != nil {
			attrs = append(attrs, slog.String("reason", o.loggable(statusOfError(open.Status.Err), open.Status.Err)))
		}
	} else if to.Err != nil && level > slog.LevelDebug {
		attrs = append(attrs, slog.String("reason", o.loggable(statusOfError(to.Err), to.Err)))
	}
	o.logger.LogAttrs(o.ctx, level, message, attrs...)
}

// logFailure logs that a document failed for good. A withdrawn document is logged at debug level only.
func (o *observer) logFailure(s *settlement, err error) {
	level := slog.LevelError
	if s.Withdrawn {
		level = slog.LevelDebug
	}
	if !o.logger.Enabled(o.ctx, level) {
		return
	}
	leftOut := 0
	if level == slog.LevelError {
		var ok bool
		if leftOut, ok = o.lines.failures.allow(time.Now()); !ok {
			return
		}
	}
	attrs := append(o.where(), slog.String("action", string(s.Item.Value.typ)), slog.Int("attempts", s.Item.Attempt))
	if failed := (*ActionError)(nil); errors.As(err, &failed) {
		attrs = append(attrs, slog.String("reason", failed.Reason.String()), slog.Int("status", failed.Status), slog.Bool("unknown", failed.Unknown))
		if cause := failed.Err; cause != nil && s.Outcome == publisher.Failed {
			attrs = append(attrs, slog.String("error", o.loggable(failed.Status, cause)))
		} else if reason := harmless.Reason(failed.Status, failed.Message); reason != "" {
			attrs = append(attrs, slog.String("error", reason))
		}
	}
	if o.requestID != "" && s.Outcome == publisher.Failed && !s.Purged && s.Result.Value.StatusCode != 0 {
		attrs = append(attrs, slog.String("request_id", o.requestID))
	}
	switch {
	case o.logger.Enabled(o.ctx, slog.LevelDebug):
		attrs = append(attrs, slog.String("key", s.Item.Key), slog.String("detail", err.Error()))
	case s.Kept:
		attrs = append(attrs, slog.String("key_in", "dead letter"))
	default:
		attrs = append(attrs, slog.String("key_in", "ActionFailed, or this line at debug level"))
	}
	o.logger.LogAttrs(o.ctx, level, "azsearch: document failed", withLeftOut(attrs, leftOut)...)
}

// logLeftOut logs how many lines were omitted at the end.
func (o *observer) logLeftOut() {
	for _, left := range []struct {
		limit   *lineLimit
		level   slog.Level
		message string
	}{
		{&o.lines.failures, slog.LevelError, "azsearch: further document failures not logged"},
		{&o.lines.warnings, slog.LevelWarn, "azsearch: further request failures not logged"},
	} {
		if n := left.limit.leftOut; n > 0 {
			left.limit.leftOut = 0
			o.logger.LogAttrs(o.ctx, left.level, left.message, append(o.where(), slog.Int("lines_left_out", n))...)
		}
	}
}

// where returns the index and the endpoint, for every line.
func (o *observer) where() []slog.Attr {
	attrs := make([]slog.Attr, 0, 16)
	if o.index != "" {
		attrs = append(attrs, slog.String("index", o.index))
	}
	if o.telemetry.endpoint != "" {
		attrs = append(attrs, slog.String("endpoint", o.telemetry.endpoint))
	}
	return attrs
}

// statusOfError returns the HTTP status that an error stands for, or 0.
func statusOfError(err error) int {
	_, status := retry.ForError(err)
	return status
}
