package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Limits of the service and defaults of Options.
const (
	// ServiceMaxBatchActions is how many actions the service takes in one
	// request at the most, by its own error message.
	ServiceMaxBatchActions = 32000

	// DefaultMaxBatchActions is the number that the service's documentation
	// recommends not to exceed.
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

// Options configures a BufferedSender. nil and the zero value are ready to use
// when the key of T is known, see Documents.
type Options[T any] struct {
	// Handlers get the events: what becomes of each action.
	Handlers events.Handlers[T]
	// Documents says how keys and JSON are made of documents. Defaults to struct tags
	// and the index definition.
	Documents Documents[T]

	// Limits bound requests and buffer; SetControl changes them later. A field that is 0
	// has its default.
	Limits Limits
	// DisableAutoFlush makes the sender send only when Flush or Close is called.
	// A call that finds the buffer full then returns ErrBufferFull. Defaults to
	// sending full batches at once and smaller ones after AutoFlushInterval.
	DisableAutoFlush bool
	// AutoFlushInterval is how long an action waits for a full batch at the
	// most: how late a single document is found. Defaults to 5 s, which is one
	// request in five seconds for a program that adds little; negative turns the
	// timer off. SetControl changes it later.
	AutoFlushInterval time.Duration
	// Tuning finds out how large batches may be and how many may be in flight,
	// within Limits. Defaults to tuning.Fixed(): the limits as they are.
	Tuning tuning.Policy

	// RequestTimeout ends a request that is not answered; it is then retried.
	// Defaults to 60 s, because the largest request takes that long on a line of
	// 2 Mbit/s, and because a request that is cut may still be applied; negative
	// turns it off.
	RequestTimeout time.Duration
	// UnknownWait is how long an action waits when a request with an earlier action
	// of its key had no reply: the service may still be at work on it, and would then
	// apply the older one last. It counts from the end of that request. Nobody can
	// know from outside how long a service is at work, so an older write that takes
	// longer still wins. Defaults to 5 s; negative turns it off.
	UnknownWait time.Duration
	// Retry says how often and how patiently actions are sent again.
	Retry retry.Options
	// Outage says what happens while the service does not work. Defaults to Hold{}:
	// sending stops, nothing fails, and adding calls wait when the buffer is full.
	Outage Outage

	// Queue keeps what adding calls accept until it is settled, so that it outlives the
	// process: a *filequeue.Queue, a *redisqueue.Queue. With it adding is durable when the
	// call returns, and a sender accepts what it reserves from the queue, whoever has put it
	// there; Stats.Appended counts what it has put there itself. Any number of senders in any
	// number of processes may share one; a sender without an indexer only adds. The sender does
	// not close it. What a sender had reserved when its process died is sent by others after
	// 12 s, or twice RequestTimeout if that is less, and UnknownWait later what was in a
	// request. DESIGN.md says what each option and method means with it. Defaults to none: what
	// is accepted is in memory only.
	Queue queue.Queue
	// Loader is asked for the documents of keys that IndexKeys has added: for each key an
	// action or nothing. It is asked for at most 1000 keys at once. What it returns for other
	// keys is an error. After an error it is asked for half of the keys, and so on: the key that
	// it fails for alone waits in the queue, for a second to a minute, and all keys while it
	// fails for each. It is called by one goroutine of each sender.
	Loader func(ctx context.Context, keys []string) ([]models.IndexDocumentsAction[T], error)
	// DeleteMissing deletes the documents of keys of which the Loader returns nothing. Defaults
	// to asking again, with growing intervals of a second to an hour, and parking the key in
	// the queue after ten times.
	DeleteMissing bool

	// Share is the sender's part in a pool: then its requests take slots that it has in common with others, and what
	// it keeps takes room that is bounded together with theirs, if the pool bounds it. Each request has one slot, and
	// none is held while the sender waits, is paused, or its breaker is open. MaxInFlight is then for each class by
	// itself; keep it below the number of slots, so that an index that begins to hang does not have all of them. When
	// requests hang it sends small ones without a slot to find out whether it is answered, one at a time, and one more
	// than MaxInFlight. A sender that does not flush by itself (DisableAutoFlush) has its floor of room and no more.
	// The sender does not leave the pool. Defaults to none.
	Share *pool.Member
	// Class is how urgent the actions are, unless the context of an adding call says
	// something else, see models.WithClass: a live update can go past a backfill of the same
	// index. Urgent ones are sent first, but while several classes wait every fourth request is one of the others',
	// and so is a quarter of the room. An action behind a less urgent one of its key makes that one urgent. Other
	// classes than Expedited leave an eighth of the buffer to it. Defaults to models.ClassExpedited.
	Class models.Class

	// Folding merges actions of one key while they wait, so that a key that changes
	// often is written less often. Defaults to nil: each is sent.
	Folding *Folding[T]
	// OnMergeMissing says what becomes of a merge when there is no such document.
	// Defaults to MergeMissingFail.
	OnMergeMissing MergeMissing
	// DeadLetters takes the actions that have failed, and those that Close gives
	// up. Its Write is called on the publisher goroutine, before the events that
	// report them. Defaults to none.
	DeadLetters deadletter.Sink
	// Waiting is about IndexDocumentsAndWait.
	Waiting Waiting
	// Tap is asked before each request, and before what was applied is completed: the
	// Tap of search/rebuild keeps a new index from missing what this sender writes. While it
	// returns errors nothing is sent, and nothing fails. Defaults to none.
	Tap models.Tap

	// Logger gets warnings about refused and retried requests, errors about
	// documents that have failed and panics in handlers, and at debug level one line a request. It never gets
	// documents, and their keys only at debug level. Defaults to slog.Default().
	Logger *slog.Logger
	// TracerProvider makes the spans, one a request. Defaults to the global one
	// of OpenTelemetry.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the metrics. Defaults to the global one of
	// OpenTelemetry.
	MeterProvider metric.MeterProvider
}

// Documents says how keys and JSON are made of documents. The zero value does it by
// struct tags and the index definition.
type Documents[T any] struct {
	// Key returns the key of a document, the same that its JSON holds. It is called on
	// the adding goroutines, many at once. If KeyField is set too, a document is refused
	// when the two differ. Defaults to the field with the struct tag `search:"key"`; then
	// KeyField; then the key field of the index definition, which is fetched on the
	// first add and needs a client that may read it.
	Key func(doc T) string
	// KeyField is the name of the key field in JSON. DeleteDocumentsByKey needs it, and
	// documents without a tag. Defaults to what the tag or the index definition says.
	KeyField string
	// Encode turns a document into the bytes of a JSON object, in place of the
	// sender's own way (see models.AppendAction), which is faster than
	// encoding/json and writes the same: use it for documents that another
	// library writes better. It has the signature of json.Marshal, runs on the
	// adding goroutines, many at once, and its error refuses the document. The
	// key is read from the document all the same. That the bytes are one object
	// is checked, but not that all inside it is valid.
	Encode func(doc any) ([]byte, error)
}

// Limits bound what a sender sends and keeps. Negative numbers are refused.
type Limits struct {
	// MinBatchActions is from how many waiting actions on a batch is sent without waiting
	// for AutoFlushInterval, when there is a request to be had (MaxInFlight): it takes
	// what waits then, up to MaxBatchActions. So a small number makes documents findable
	// sooner, and batches as large as the service is slow. A batch that is full by
	// MaxBatchBytes waits for nothing. Defaults to MaxBatchActions: a full batch; while the
	// two are equal a change of MaxBatchActions changes both. At most MaxBatchActions, and
	// where Options.Tuning makes batches smaller, that is enough. With DisableAutoFlush it
	// has no effect.
	MinBatchActions int
	// MaxBatchActions is how many actions a request holds at the most. Defaults
	// to 1000; at most 32000.
	MaxBatchActions int
	// MaxBatchBytes is the size of a request body at the most, envelope
	// included, in bytes. Defaults to 16,000,000.
	MaxBatchBytes int
	// MaxInFlight is how many requests may be under way at once. Order per key
	// is kept whatever the number. Defaults to 1; at most 1024.
	MaxInFlight int
	// MaxBufferedActions is how many actions may be accepted and not settled;
	// more have to wait. Defaults to 32768, or if that is more to 4 full batches,
	// or 2 for each request that may be in flight.
	MaxBufferedActions int
	// MaxBufferedBytes is the size of these actions at the most, encoded, in
	// bytes. Defaults to 64 MiB, or 4 full batches if that is more. A document
	// that is larger is refused. Actions that are accepted one after the other
	// share memory, in pieces of 64 KiB (256 KiB if they are large), that is used
	// again when the last of a piece is settled or is to be sent again.
	MaxBufferedBytes int64
}

// Folding merges actions of one key while they wait. The index ends in the same state.
// Each action still has its own outcome, that of the request which carried it: should
// the service refuse what they make together, they all fail. When handlers want the
// documents back (ActionSent, ActionCompleted, ActionFailed), folded documents count
// towards MaxBufferedBytes until they are settled.
type Folding[T any] struct {
	// Version returns the version of a document, the higher the newer. With it
	// an upload or a merge that is older than an action of its key that is not
	// settled yet is not sent: it settles with that one, as superseded. 0 means
	// that the document has none; deletes and patches never have one.
	// What is accepted before and after a RawSender.HoldKeys is not compared.
	// Defaults to no versions: what comes later is newer.
	Version func(doc T) int64
}

// Waiting is about IndexDocumentsAndWait.
type Waiting struct {
	// Interval is how long an action of IndexDocumentsAndWait waits for others
	// that can share its request. Defaults to 5 ms; negative turns it off: it is
	// sent as soon as there is a slot.
	Interval time.Duration
	// FailFast makes IndexDocumentsAndWait fail at once while nothing is sent,
	// because the breaker is open or the sender is paused, and when that begins while
	// it waits, with ErrCircuitOpen or ErrPaused; its actions are withdrawn. It suits
	// request handlers, whose callers would rather know it now. Defaults to waiting as
	// long as the context allows.
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
