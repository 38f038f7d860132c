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
	// ServiceMaxBatchActions is the service's own limit of actions in one request, by its error message.
	ServiceMaxBatchActions = 32000

	// DefaultMaxBatchActions is the most that the service's documentation recommends.
	DefaultMaxBatchActions = 1000
	// defaultMaxBatchBytes is the documented limit of a request, 16 MB, in the
	// stricter reading of "MB".
	defaultMaxBatchBytes      = 16_000_000
	DefaultMaxBufferedActions = 32768
	DefaultMaxBufferedBytes   = 64 << 20
	DefaultAutoFlushInterval  = 5 * time.Second
	DefaultRequestTimeout     = time.Minute
	DefaultUnknownWait        = 5 * time.Second
	defaultWaitInterval       = 5 * time.Millisecond

	maxInFlight = 1024
)

// Options configures a BufferedSender. nil works if T has a key (Documents).
type Options[T any] struct {
	// Handlers get the events of each action.
	Handlers events.Handlers[T]
	// Documents says how keys and JSON are made of documents. Defaults to struct tags and the index definition.
	Documents Documents[T]

	// Limits bound requests and buffer. SetControl changes them later.
	Limits Limits
	// DisableAutoFlush sends only when Flush or Close is called; a call that finds the buffer full returns ErrBufferFull.
	DisableAutoFlush bool
	// AutoFlushInterval is how long an action waits for a full batch. Defaults to 5 s; negative turns the timer off.
	AutoFlushInterval time.Duration
	// Tuning finds out how large batches may be and how many may be in flight, within Limits. Defaults to tuning.Fixed().
	Tuning tuning.Policy

	// RequestTimeout ends a request without an answer; it is retried, although the service may still apply it. Defaults
	// to 60 s, about what the largest takes on a line of 2 Mbit/s. Negative turns it off.
	RequestTimeout time.Duration
	// UnknownWait is how long an action waits if an earlier one of its key was in a request that got no reply. If the
	// service applies that one after the wait, it overwrites the newer one. Defaults to 5 s; negative turns it off.
	UnknownWait time.Duration
	// Retry says how often and how patiently actions are sent again.
	Retry retry.Options
	// Outage says what happens while the service does not work. Defaults to Hold{}: nothing fails, adding calls wait.
	Outage Outage

	// Queue (filequeue, redisqueue) keeps what adding calls accept until it is settled. Any number of senders and
	// processes may share one: each sends what any has added; without an indexer a sender only adds. The keys of a
	// process that dies are sent after 12 s, or twice RequestTimeout if that is less, and UnknownWait later if they
	// were in a request. The sender does not close it. See DESIGN.md. Defaults to none.
	Queue queue.Queue
	// Loader returns an action, or nothing, for each key added by IndexKeys, at most 1000 a call. After an error it
	// gets fewer keys, until the key that it fails for waits alone, for a second to a minute. One goroutine calls it.
	Loader func(ctx context.Context, keys []string) ([]models.IndexDocumentsAction[T], error)
	// DeleteMissing deletes documents that the Loader does not return. Defaults to parking the key after ten tries.
	DeleteMissing bool

	// Share is the sender's part in a pool: requests take its slots, the buffer its room. Keep MaxInFlight, which then
	// counts for each class, below the number of slots. DisableAutoFlush restricts it to its floor. Defaults to none.
	Share *pool.Member
	// Class is how urgent actions are without models.WithClass. Urgent ones go first, but every fourth request and a
	// quarter of the room are for others, and an eighth of the buffer for Expedited alone. Defaults to ClassExpedited.
	Class models.Class

	// Folding merges actions of one key while they wait. Defaults to nil: each is sent.
	Folding *Folding[T]
	// OnMergeMissing is the policy for a merge of a document that does not exist. Defaults to MergeMissingFail.
	OnMergeMissing MergeMissing
	// DeadLetters takes failed actions, and those that Close gives up, before they are reported. Defaults to none.
	DeadLetters deadletter.Sink
	// Waiting configures IndexDocumentsAndWait.
	Waiting Waiting
	// Tap (search/rebuild) is asked before each request, and before what was applied is completed. Errors postpone
	// these.
	Tap models.Tap

	// Logger gets warnings about requests, errors about documents, and a line a request at debug level, without which
	// keys are not logged. Documents never are. Defaults to slog.Default().
	Logger *slog.Logger
	// TracerProvider makes the spans, one a request. Defaults to OpenTelemetry's global one.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the metrics. Defaults to OpenTelemetry's global one.
	MeterProvider metric.MeterProvider
}

// Documents makes keys and JSON of documents, on many goroutines at once.
type Documents[T any] struct {
	// Key returns the key of a document; if KeyField differs the document is refused. Defaults to the field with the
	// struct tag `search:"key"`, then KeyField, then the key field of the index definition, fetched on the first add.
	Key func(doc T) string
	// KeyField is the name of the key field in JSON. Defaults to what the tag or the index definition says.
	KeyField string
	// Encode returns a document as a JSON object; its error refuses the document. Defaults to models.AppendAction.
	Encode func(doc any) ([]byte, error)
}

// Limits bound requests and buffer. 0 means the default; negative values are refused.
type Limits struct {
	// MinBatchActions is how many waiting actions are sent without waiting for AutoFlushInterval. With a small number
	// documents are searchable sooner, and batches grow only while the service is slow. Defaults to MaxBatchActions.
	MinBatchActions int
	// MaxBatchActions is the most actions in a request. Defaults to 1000; at most 32000.
	MaxBatchActions int
	// MaxBatchBytes is the largest request body, in bytes. Defaults to 16,000,000.
	MaxBatchBytes int
	// MaxInFlight is how many requests may be under way at once. Defaults to 1; at most 1024.
	MaxInFlight int
	// MaxBufferedActions bounds unsettled actions. Defaults to 32768, or if more 4 batches, or 2 for each in flight.
	MaxBufferedActions int
	// MaxBufferedBytes bounds their bytes; bookkeeping may double them. Defaults to 64 MiB, or 4 batches if that is
	// more.
	MaxBufferedBytes int64
}

// Folding merges actions of one key while they wait. Each has its own outcome, that of the request which carried
// it: if what they make together is refused all of them fail. Folded documents that handlers want stay in
// MaxBufferedBytes.
type Folding[T any] struct {
	// Version returns the version of a document, 0 if it has none: deletes and patches have none. An upload or merge older
	// than an unsettled action of its key is not sent: it settles with that one, as superseded. Actions before and
	// after a RawSender.HoldKeys are not compared. Defaults to none: what comes later is newer.
	Version func(doc T) int64
}

// Waiting configures IndexDocumentsAndWait.
type Waiting struct {
	// Interval is how long an action waits for others to share its request. Defaults to 5 ms; negative turns it off.
	Interval time.Duration
	// FailFast ends the call with ErrCircuitOpen or ErrPaused, and withdraws its actions, while sending is suspended.
	FailFast bool
}

// settings are options without what depends on the type of the documents.
type settings struct {
	Options[struct{}]              // Documents, Loader and Folding.Version are not set, nor the handlers that get actions
	loads, versioned, keyFunc bool // Loader, Folding.Version and Documents.Key are
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

// complete fills in every default. The error names every problem at once.
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

// check says what is wrong with the indexer of a sender with these options.
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
