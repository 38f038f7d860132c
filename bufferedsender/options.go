package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Limits of the service and defaults of Options.
const (
	// ServiceMaxBatchActions is the service's limit for actions in one request, according to its error message.
	ServiceMaxBatchActions = 32000
	// DefaultMaxBatchActions is the largest number that the service's documentation recommends.
	DefaultMaxBatchActions = 1000
	// defaultMaxBatchBytes is the documented limit of a request, 16 MB, with the smaller meaning of MB.
	defaultMaxBatchBytes      = 16_000_000
	DefaultMaxBufferedActions = 32768
	DefaultMaxBufferedBytes   = 64 << 20
	DefaultAutoFlushInterval  = 5 * time.Second
	DefaultRequestTimeout     = time.Minute
	DefaultUnknownWait        = 5 * time.Second
	defaultWaitInterval       = 5 * time.Millisecond

	maxInFlight = 1024
)

// Options configures a BufferedSender. nil means the defaults.
type Options[T any] struct {
	// Handlers receive the events of each action.
	Handlers events.Handlers[T]
	// Documents derives keys and JSON from documents. Defaults to struct tags and the index definition.
	Documents Documents[T]

	// Limits bound requests and buffer. SetControl can change them.
	Limits Limits
	// DisableAutoFlush sends only in Flush and Close. An adding call that finds the buffer full returns ErrBufferFull.
	DisableAutoFlush bool
	// AutoFlushInterval limits how long an action waits for a full batch. Defaults to 5 s; negative means no limit.
	AutoFlushInterval time.Duration
	// Tuning adapts batch sizes and requests in flight to the service, within Limits. Defaults to tuning.Fixed().
	Tuning tuning.Policy

	// RequestTimeout ends a request without an answer. It is retried, although the service may still apply it. Defaults to
	// 60 s, about what the largest request takes at 2 Mbit/s. Negative means no timeout.
	RequestTimeout time.Duration
	// UnknownWait delays an action if an earlier one of its key was in a request that got no reply. An earlier action that
	// the service applies after the wait overwrites the newer one. Defaults to 5 s; negative means no wait.
	UnknownWait time.Duration
	// Retry configures how often, and with which back-off, actions are sent again.
	Retry retry.Options
	// Outage is the behavior while the service is unavailable. Defaults to Hold{}: nothing fails, adding calls wait.
	Outage Outage

	// Queue stores accepted actions durably until they are settled (filequeue, redisqueue). Senders and processes that
	// share it send each other's actions; a sender without an indexer only adds. If a process dies, its keys are sent again
	// after min(12 s, 2 × RequestTimeout) plus UnknownWait. The sender does not close it. Defaults to none.
	Queue queue.Queue
	// Loader returns an action, or nothing, for each key added by IndexKeys, at most 1000 keys a call. After an error it is
	// called with fewer keys. A key that fails alone waits for a second to a minute. All calls are on one goroutine.
	Loader func(ctx context.Context, keys []string) ([]models.IndexDocumentsAction[T], error)
	// DeleteMissing deletes documents that the Loader does not return. Without it such a key is parked after ten tries.
	DeleteMissing bool

	// Share is the sender's member of a pool: its requests take slots, its buffer takes room (with DisableAutoFlush only
	// the floor). Keep MaxInFlight, which then applies to each class, below the number of slots. Defaults to none.
	Share *pool.Member
	// Class is the class of actions without models.WithClass; defaults to ClassExpedited. Urgent classes are sent first,
	// but every fourth request and a quarter of the room are for others, and an eighth of the buffer for Expedited alone.
	Class models.Class

	// Folding merges waiting actions of one key. Defaults to nil: each action is sent.
	Folding *Folding[T]
	// OnMergeMissing is the policy for a merge of a missing document. Defaults to MergeMissingFail.
	OnMergeMissing MergeMissing
	// DeadLetters keeps failed actions, and those that Close gives up, before they are reported. Defaults to none.
	DeadLetters deadletter.Sink
	// Waiting configures IndexDocumentsAndWait.
	Waiting Waiting
	// Tap (search/rebuild) is called before each request, and before applied actions complete. Its errors delay them.
	Tap models.Tap

	// Logger receives warnings about requests, errors about documents and, at debug level, a line for each request. Keys
	// are logged at debug level only, documents never. Defaults to slog.Default().
	Logger *slog.Logger
	// TracerProvider creates a span for each request, MeterProvider the metrics. Default to OpenTelemetry's global ones.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
}

// Documents derives keys and JSON from documents, on many goroutines at once.
type Documents[T any] struct {
	// Key returns the key of a document. A document whose KeyField differs from it is refused. Defaults to the field with
	// the struct tag `search:"key"`, then KeyField, then the index definition's key field, fetched on the first add.
	Key func(doc T) string
	// KeyField is the name of the key field in JSON. Defaults to the name in the tag or the index definition.
	KeyField string
	// Encode returns a document as a JSON object; an error refuses the document. Defaults to models.AppendAction.
	Encode func(doc any) ([]byte, error)
}

// Limits bound requests and buffer. 0 is the default; negative is refused.
type Limits struct {
	// MinBatchActions sends a request when this many actions wait, or after AutoFlushInterval. With a small number
	// documents are searchable sooner, and batches grow only while the service is slow. Defaults to MaxBatchActions.
	MinBatchActions int
	// MaxBatchActions limits the actions in a request. Defaults to 1000; at most 32000.
	MaxBatchActions int
	// MaxBatchBytes limits the request body, in bytes. Defaults to 16,000,000.
	MaxBatchBytes int
	// MaxInFlight limits the requests in flight at once. Defaults to 1; at most 1024.
	MaxInFlight int
	// MaxBufferedActions bounds unsettled actions. Defaults to the largest of 32768, 4 × MaxBatchActions and
	// 2 × MaxInFlight × MaxBatchActions.
	MaxBufferedActions int
	// MaxBufferedBytes bounds the bytes of unsettled actions; bookkeeping may double them. Defaults to 64 MiB or 4 batches.
	MaxBufferedBytes int64
}

// Folding merges waiting actions of one key. Each action has its own outcome, that of the request with the merged
// action: if that action is refused, all of them fail. Documents kept for handlers count toward MaxBufferedBytes.
type Folding[T any] struct {
	// Version returns the version of a document, or 0 if it has none; deletes and patches have none. An upload or merge
	// older than an unsettled action of its key is not sent and settles with that one, as superseded. Actions before a
	// RawSender.HoldKeys are not compared with those after it. Defaults to none: the later action is newer.
	Version func(doc T) int64
}

// Waiting configures IndexDocumentsAndWait.
type Waiting struct {
	// Interval limits how long an action waits for others to share its request. Defaults to 5 ms; negative means no wait.
	Interval time.Duration
	// FailFast ends the call with ErrCircuitOpen or ErrPaused while sending is suspended, or with the service's reply if it
	// asks to wait beyond the deadline of the call, and withdraws its actions.
	FailFast bool
}

// settings are the options without the parts that depend on the document type.
type settings struct {
	Options[struct{}]              // without Documents, Loader, Folding.Version and the handlers whose events have actions
	loads, versioned, keyFunc bool // whether Loader, Folding.Version and Documents.Key are set
}

func (o *Options[T]) settings() settings {
	s := settings{
		Options: Options[struct{}]{
			Handlers: events.Handlers[struct{}]{
				BatchCompleted: o.Handlers.BatchCompleted, HealthChanged: o.Handlers.HealthChanged, Closed: o.Handlers.Closed,
			},
			Limits: o.Limits, DisableAutoFlush: o.DisableAutoFlush, AutoFlushInterval: o.AutoFlushInterval, Tuning: o.Tuning,
			RequestTimeout: o.RequestTimeout, UnknownWait: o.UnknownWait, Retry: o.Retry, Outage: o.Outage,
			Queue: o.Queue, DeleteMissing: o.DeleteMissing,
			Share: o.Share, Class: o.Class,
			OnMergeMissing: o.OnMergeMissing, DeadLetters: o.DeadLetters, Waiting: o.Waiting, Tap: o.Tap,
			Logger: o.Logger, TracerProvider: o.TracerProvider, MeterProvider: o.MeterProvider,
		},
		loads: o.Loader != nil, keyFunc: o.Documents.Key != nil,
	}
	if o.Folding != nil {
		s.Folding, s.versioned = &Folding[struct{}]{}, o.Folding.Version != nil
	}
	return s
}

// complete sets every default. Its error names every problem at once.
//
//archtest:long one line or two for each option
func (o *settings) complete() error {
	errs := []error{nilcheck.Refuse(nilcheck.Option{Name: "Tuning", Value: o.Tuning}, nilcheck.Option{Name: "Outage", Value: o.Outage},
		nilcheck.Option{Name: "Queue", Value: o.Queue}, nilcheck.Option{Name: "DeadLetters", Value: o.DeadLetters}, nilcheck.Option{Name: "Tap", Value: o.Tap},
		nilcheck.Option{Name: "TracerProvider", Value: o.TracerProvider}, nilcheck.Option{Name: "MeterProvider", Value: o.MeterProvider})}
	positive := func(name string, v, standard int64) int64 {
		if v < 0 {
			errs = append(errs, fmt.Errorf("%s is %d: use a positive number, or 0 for the default of %d", name, v, standard))
		}
		if v == 0 {
			return standard
		}
		return v
	}
	l := &o.Limits
	l.MaxBatchActions = int(positive("MaxBatchActions", int64(l.MaxBatchActions), DefaultMaxBatchActions))
	l.MinBatchActions = int(positive("MinBatchActions", int64(l.MinBatchActions), int64(l.MaxBatchActions)))
	l.MaxBatchBytes = int(positive("MaxBatchBytes", int64(l.MaxBatchBytes), defaultMaxBatchBytes))
	l.MaxBufferedBytes = positive("MaxBufferedBytes", l.MaxBufferedBytes, max(DefaultMaxBufferedBytes, 4*int64(l.MaxBatchBytes)))
	l.MaxInFlight = int(positive("MaxInFlight", int64(l.MaxInFlight), 1))
	roomy := max(DefaultMaxBufferedActions, max(4, 2*l.MaxInFlight)*l.MaxBatchActions)
	l.MaxBufferedActions = int(positive("MaxBufferedActions", int64(l.MaxBufferedActions), int64(roomy)))
	errs = append(errs, l.checkMin())
	if l.MaxInFlight > maxInFlight {
		errs = append(errs, fmt.Errorf("MaxInFlight is %d: use at most %d", l.MaxInFlight, maxInFlight))
	}
	if l.MaxBufferedActions > math.MaxInt32 {
		errs = append(errs, fmt.Errorf("MaxBufferedActions is %d: use at most %d", l.MaxBufferedActions, math.MaxInt32))
	}
	if l.MaxBatchActions > ServiceMaxBatchActions {
		errs = append(errs, fmt.Errorf("MaxBatchActions is %d: the service takes at most %d", l.MaxBatchActions, ServiceMaxBatchActions))
	}
	if errors.Join(errs...) == nil && l.MaxBatchBytes < smallestBatch {
		errs = append(errs, fmt.Errorf("MaxBatchBytes is %d: no document fits into less than %d", l.MaxBatchBytes, smallestBatch))
	}
	if err := o.Retry.Validate(); err != nil {
		errs = append(errs, err)
	}
	if o.Class > models.ClassBestEffort {
		errs = append(errs, fmt.Errorf("there is no class %d: use one of models.ClassExpedited to models.ClassBestEffort", o.Class))
	}
	if o.OnMergeMissing > MergeMissingUpload {
		errs = append(errs, fmt.Errorf("OnMergeMissing is %d: use MergeMissingFail, MergeMissingIgnore or MergeMissingUpload", o.OnMergeMissing))
	}
	if nilcheck.IsNil(o.Outage) {
		o.Outage = Hold{}
	}
	hold := o.held()
	errs = append(errs, hold.WhenFull.validate())
	switch o.Outage.(type) {
	case FailSoon, *FailSoon:
	default:
		if hold.Breaker == nil {
			var err error
			if hold.Breaker, err = breaker.New(nil); err != nil {
				errs = append(errs, err)
			}
			o.Outage = hold
		}
	}
	if nilcheck.IsNil(o.Tuning) {
		o.Tuning = tuning.Fixed()
	}
	if o.Waiting.Interval == 0 {
		o.Waiting.Interval = defaultWaitInterval
	}
	if o.AutoFlushInterval == 0 {
		o.AutoFlushInterval = DefaultAutoFlushInterval
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = DefaultRequestTimeout
	}
	if o.UnknownWait == 0 {
		o.UnknownWait = DefaultUnknownWait
	}
	errs = append(errs, o.checkQueue()...)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	return errors.Join(errs...)
}

// check validates the indexer for a sender with these options.
func (o *settings) check(indexer Indexer) error {
	var errs []error
	switch {
	case nilcheck.IsNil(indexer) && o.Queue == nil:
		errs = append(errs, errors.New("indexer is nil: use a *search.Client"))
	case indexer != nil && nilcheck.IsNil(indexer):
		errs = append(errs, fmt.Errorf("indexer is a nil %T: check the error of its constructor, or pass nil to only add to the Queue", indexer))
	}
	if routed, is := indexer.(models.TapRequirer); is && !nilcheck.IsNil(indexer) && routed.NeedsTap() && o.Tap == nil {
		errs = append(errs, errors.New("the indexer needs a tap (its NeedsTap is true) and Options.Tap is nil: set it to the Tap that the indexer belongs to, otherwise a rebuild misses what this sender writes"))
	}
	if tap, is := o.Tap.(models.TapWiring); is && o.Queue == nil && !nilcheck.IsNil(o.Tap) {
		errs = append(errs, tap.Unwired())
	}
	return errors.Join(errs...)
}

// FlushOptions configures Flush.
type FlushOptions struct {
	// Keys limits Flush to these keys; actions of them that are accepted meanwhile wait. Their failures are also in the
	// next error of a Flush without Keys, or of Close. A sender with a Queue refuses Keys. Defaults to nil: all keys.
	Keys []string
	// WholeQueue makes Flush wait until no key in Options.Queue is waiting, delayed or leased, whichever process added it.
	// If keys are parked, Flush returns a *FlushError. If the sender or queue is paused, it returns ErrPaused at once.
	WholeQueue bool
}

// IndexDocumentsAndWaitOptions is reserved for options; see Options.Waiting.
type IndexDocumentsAndWaitOptions struct{}

// IndexSeqOptions configures IndexSeq.
type IndexSeqOptions struct {
	// OnRejected is called on the caller's goroutine for each rejected document. nil skips the document, an error ends
	// IndexSeq with that error. err.Tag is the action's tag. Defaults to ending at the first rejected document.
	OnRejected func(err *AddError) error
}

// checkQueue sets the defaults for a durable queue and refuses the options that conflict with one. DESIGN.md has a
// table of all options.
func (o *settings) checkQueue() (errs []error) {
	if nilcheck.IsNil(o.Queue) {
		o.Queue = nil
		if o.loads || o.DeleteMissing {
			errs = append(errs, errors.New("the options Loader and DeleteMissing require a Queue: set one, or remove them"))
		}
		return errs
	}
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(o.RequestTimeout < 0, "RequestTimeout is off: with a Queue a request that hangs would have its keys forever")
	refuse(o.DisableAutoFlush, "DisableAutoFlush would keep leases until Flush is called: with a Queue use Pause, of the sender or of the queue")
	refuse(o.versioned, "Folding.Version compares what is in the buffer: a Queue folds by the order of arrival before that")
	hold := o.held()
	refuse(hold.Breaker == nil, "FailSoon fails what a Queue is there to keep: use Hold")
	errs = append(errs, hold.WhenFull.withQueue())
	return errs
}
