package bufferedsender

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// maxLinks is the most links of a batch's span.
const maxLinks = 128

// startBatch starts the span of a request. It is a root span linked to the spans of the adding calls, because a batch
// has no single parent.
func startBatch(ctx context.Context, t *telemetry, b *batch) (context.Context, trace.Span) {
	start := t.spans.of(t, operationOf(b))
	options := slices.Clone(start.options) // a Tracer may modify them
	if links := origins(b); len(links) > 0 {
		options = append(options, trace.WithLinks(links...))
	}
	ctx, span := t.tracer.Start(ctx, start.name, options...)
	// Not at the start: that would cost every request an allocation, even without recording. No convention requires this
	// attribute for sampling.
	if len(b.Items) > 1 && span.IsRecording() {
		span.SetAttributes(attribute.Int("db.operation.batch.size", len(b.Items)))
	}
	return ctx, span
}

// operation is the kind of a request: the type of its actions, or "" for a mixed batch.
type operation struct {
	typ   models.ActionType
	batch bool // two or more actions; the conventions call only that a batch
}

func operationOf(b *batch) operation {
	op := operation{typ: b.Items[0].Value.typ, batch: len(b.Items) > 1}
	for i := range b.Items {
		if b.Items[i].Value.typ != op.typ {
			op.typ = ""
			break
		}
	}
	return op
}

// name is "BATCH upload" for a batch of uploads only, "BATCH" for a mixed one, and "upload" for a single action.
func (o operation) name() string {
	switch {
	case !o.batch:
		return string(o.typ)
	case o.typ == "":
		return "BATCH"
	}
	return "BATCH " + string(o.typ)
}

// spanStart holds the name and options for starting spans of one operation.
type spanStart struct {
	operation
	name    string
	options []trace.SpanStartOption
}

// spanStarts caches one spanStart per operation. Request goroutines use it.
type spanStarts struct {
	mu   sync.Mutex
	made []*spanStart // guarded by mu; most senders have one or two
}

func (s *spanStarts) of(t *telemetry, op operation) *spanStart {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, start := range s.made {
		if start.operation == op {
			return start
		}
	}
	name := op.name()
	attrs := append([]attribute.KeyValue{attribute.String("db.operation.name", name)}, t.common...)
	if t.index != "" {
		name += " " + t.index
	}
	start := &spanStart{op, name, []trace.SpanStartOption{
		trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...),
	}}
	s.made = append(s.made, start)
	return start
}

// origins returns links to the spans that added actions of a batch, at most maxLinks.
func origins(b *batch) []trace.Link {
	var links linkSet
	for i := range b.Items {
		if it := &b.Items[i]; it.Parts == nil {
			links.add(it.Value.origin)
		}
		for j := range b.Items[i].Parts {
			links.add(b.Items[i].Parts[j].Value.origin)
		}
		if len(links.links) == maxLinks {
			break
		}
	}
	return links.links
}

// linkSet holds links to different spans.
type linkSet struct {
	links []trace.Link
	last  *trace.SpanContext
	seen  map[spanKey]bool
}

type spanKey struct {
	trace trace.TraceID
	span  trace.SpanID
}

// add adds a link unless it exists or the set is full. Many actions share one span: a call adds many, and a span may
// make many calls.
func (s *linkSet) add(origin *trace.SpanContext) {
	if origin == nil || origin == s.last || len(s.links) == maxLinks {
		return
	}
	s.last = origin
	key := spanKey{origin.TraceID(), origin.SpanID()}
	if s.seen[key] {
		return
	}
	if s.seen == nil {
		s.seen = make(map[spanKey]bool)
	}
	s.seen[key] = true
	s.links = append(s.links, trace.Link{SpanContext: *origin})
}

func endBatch(span trace.Span, status int, requestID string, err error) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	if status != 0 {
		span.SetAttributes(statusAttribute(status))
	}
	if requestID != "" {
		span.SetAttributes(attribute.String("azure.service.request.id", requestID))
	}
	if err != nil {
		// Not the text: the service's explanations quote documents.
		span.SetAttributes(attribute.String("error.type", errorType(status, err)))
		span.SetStatus(codes.Error, errorType(status, err))
	}
}

// errorType names an error with few values: the status, or the kind of failure if there was no reply.
func errorType(status int, err error) string {
	timeout := timeoutError(nil)
	panicked := (*publisher.PanicError)(nil)
	switch {
	case errors.Is(err, models.ErrMalformedReply):
		return "malformed_reply"
	case status != 0:
		return strconv.Itoa(status)
	case errors.Is(err, publisher.ErrAbandoned):
		return "abandoned"
	case errors.As(err, &panicked):
		return "panic"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.As(err, &timeout) && timeout.Timeout(): // context.DeadlineExceeded implements it
		return "timeout"
	default:
		return "connection"
	}
}
