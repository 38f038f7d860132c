package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

// Indexer is the sender's interface to the service; *search.Client implements it. IndexDocumentsRaw sends body as one
// request, without retries. Up to MaxInFlight goroutines call it at once. It must return soon after ctx ends; body
// cannot be read afterwards. Its error implements retry.StatusError for a status other than 200 and 207, and wraps
// models.ErrMalformedReply for a reply that it cannot parse. Other errors count as a broken connection and are retried
// unless wrapped by backoff.Permanent.
//
// Wrappers should pass on the optional methods: KeyFieldName(ctx) (string, error); IndexName() and Endpoint() string;
// Ping(ctx) error, nil if the service answers for this index. Without Ping, a request that fails alone for ten minutes,
// with nothing else to send, fails for good.
type Indexer interface {
	IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error)
}

// BufferedSender sends actions to one index. It is safe for concurrent use.
type BufferedSender[T any] struct{ *sender }

// New creates a BufferedSender. It makes no request. Its error names every problem of the options.
func New[T any](indexer Indexer, opts *Options[T]) (*BufferedSender[T], error) {
	if opts == nil {
		opts = &Options[T]{}
	}
	options := opts.settings()
	errs := []error{options.complete()}
	documents, name, err := newDocuments(opts)
	if err == nil && name == "" && opts.Documents.Key == nil {
		if _, asks := indexer.(models.KeyFieldNamer); !asks {
			err = fmt.Errorf("%w for %T: tag the field with `search:\"key\"`, or set Documents.Key or Documents.KeyField", errNoKeyField, *new(T))
		}
	}
	if err := errors.Join(append(errs, options.check(indexer), err)...); err != nil {
		return nil, fmt.Errorf("bufferedsender: %w", err)
	}
	s, err := newSender(indexer, options, documents, name)
	if err != nil {
		return nil, fmt.Errorf("bufferedsender: %w", err)
	}
	return &BufferedSender[T]{s}, nil
}

// UploadDocuments adds actions that create or completely replace documents. nil means that all are accepted; otherwise
// the error is an *AddError. ctx bounds the wait for room, not the sending. The same applies to all adding methods.
func (s *BufferedSender[T]) UploadDocuments(ctx context.Context, docs ...T) error {
	return s.addDocuments(ctx, models.ActionTypeUpload, docs)
}

// MergeDocuments adds actions that set all fields in the JSON of docs, also zero values unless omitted (omitempty,
// omitzero). To set only some fields, use MergePatch.
func (s *BufferedSender[T]) MergeDocuments(ctx context.Context, docs ...T) error {
	return s.addDocuments(ctx, models.ActionTypeMerge, docs)
}

// MergeOrUploadDocuments is MergeDocuments, but creates missing documents.
func (s *BufferedSender[T]) MergeOrUploadDocuments(ctx context.Context, docs ...T) error {
	return s.addDocuments(ctx, models.ActionTypeMergeOrUpload, docs)
}

// DeleteDocuments adds actions that delete the documents with the keys of docs. Deleting a missing document succeeds.
func (s *BufferedSender[T]) DeleteDocuments(ctx context.Context, docs ...T) error {
	return s.addDocuments(ctx, models.ActionTypeDelete, docs)
}

// DeleteDocumentsByKey adds actions that delete the documents with these keys. Their events have zero documents.
func (s *sender) DeleteDocumentsByKey(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	ctx = orBackground(ctx)
	if _, err := s.keyField.resolve(ctx); err != nil {
		return &AddError{Key: keys[0], Err: err}
	}
	return s.addAll(ctx, len(keys), true, func(ctx context.Context, c *chunk, i int) (string, error) {
		c.header.typ = models.ActionTypeDelete
		return keys[i], c.addKeyed(ctx, keys[i])
	})
}

// IndexDocuments adds actions of any type, with optional tags.
func (s *BufferedSender[T]) IndexDocuments(ctx context.Context, actions ...models.IndexDocumentsAction[T]) error {
	return s.addAll(ctx, len(actions), true, func(ctx context.Context, c *chunk, i int) (string, error) {
		putAction(c, &actions[i])
		return c.add(ctx)
	})
}

// TryIndexDocuments is IndexDocuments, but returns ErrBufferFull instead of waiting for room, as it also does in
// callbacks. Its first call may fetch the key field.
func (s *BufferedSender[T]) TryIndexDocuments(actions ...models.IndexDocumentsAction[T]) error {
	ctx := context.Background()
	return s.addAll(ctx, len(actions), false, func(ctx context.Context, c *chunk, i int) (string, error) {
		putAction(c, &actions[i])
		return c.add(ctx)
	})
}

// IndexSeq adds a sequence. It ends at the first error of the sequence and, unless opts says otherwise, at the first
// rejected document. AddError.Accepted does not count skipped documents.
func (s *BufferedSender[T]) IndexSeq(ctx context.Context, seq iter.Seq2[models.IndexDocumentsAction[T], error], opts *IndexSeqOptions) error {
	if s.publisher.Closing() {
		return &AddError{Err: ErrClosed}
	}
	if seq == nil {
		return &AddError{Err: errors.New("the sequence is nil")}
	}
	ctx = orBackground(ctx)
	// Chunks of one, because the next action may arrive much later.
	if err := ended(ctx); err != nil {
		return &AddError{Err: err}
	}
	a := adding{s: s.sender, ctx: ctx, wait: !s.options.DisableAutoFlush, chunk: s.newChunk(ctx, 1)}
	defer a.end()
	for action, err := range seq {
		key := ""
		if err == nil {
			err = ended(ctx)
		}
		if err == nil {
			if err := a.begin(); err != nil {
				return err
			}
			putAction(a.chunk, &action)
			key, err = a.chunk.add(ctx)
		}
		if err != nil {
			if err := opts.leaveOut(a.fail(key, err)); err != nil {
				return err
			}
			continue
		}
		if err := a.acceptIfFull(); err != nil {
			return err
		}
	}
	return a.finish()
}

// leaveOut asks OnRejected whether to skip a rejected action. nil means skip.
func (o *IndexSeqOptions) leaveOut(err error) error {
	var rejected *AddError
	if !errors.As(err, &rejected) || !rejected.Rejected() {
		return err
	}
	if o == nil || o.OnRejected == nil {
		return err
	}
	if err := o.OnRejected(rejected); err != nil {
		return &AddError{Accepted: rejected.Accepted, Key: rejected.Key, Tag: rejected.Tag, Err: err, document: true}
	}
	return nil
}

// Flush sends everything accepted before the call, without waiting for full batches. It returns after these actions are
// settled and their callbacks have run (with an events.Async see Async.Flush). nil means that they are in the index,
// except failures that an earlier Flush reported. Otherwise the error is a *FlushError or, if ctx ends, its cause with
// ErrCircuitOpen or ErrPaused: an outage is waited for as long as ctx allows, so give it a deadline. After Close it
// returns Close's result, or ErrClosed if a queue keeps something, or with Keys.
func (s *sender) Flush(ctx context.Context, opts *FlushOptions) error {
	ctx = orBackground(ctx)
	began := time.Now()
	var err error
	switch {
	case opts == nil || opts.Keys == nil:
		err = s.flush(ctx, opts != nil && opts.WholeQueue)
	case len(opts.Keys) > 0:
		err = s.flushKeys(ctx, opts.Keys)
	default:
		return nil
	}
	s.observer.drained(ctx, began, err)
	return err
}

func (s *sender) flushKeys(ctx context.Context, keys []string) error {
	h, err := s.hold(ctx, keys, func() string { return "Flush" })
	if err != nil {
		return err
	}
	defer h.Release()
	return translate(h.Failed())
}

func (s *sender) flush(ctx context.Context, whole bool) error {
	if s.feed == nil || s.publisher.InsideHook(ctx) {
		return s.translateClose(s.publisher.Flush(ctx))
	}
	if !s.publisher.Closing() {
		parked, err := s.feed.flush(ctx, whole)
		if err == nil {
			return parkedToo(s.translateClose(s.publisher.Flush(ctx)), parked)
		}
		if !errors.Is(err, ErrClosed) {
			return err
		}
	}
	if err := s.translateClose(s.publisher.Flush(ctx)); err != nil {
		return err
	}
	if whole {
		return ErrClosed // other processes may have added since
	}
	return s.feed.kept(ctx)
}

// Close refuses further actions, sends the buffered ones, and returns after all are settled, callbacks have run and the
// sender's goroutines have ended. nil means that every accepted action is in the index or kept in Options.Queue, except
// failures that a Flush reported; otherwise the error is a *CloseError. Later calls return the same. When ctx ends, and
// it should have a deadline, Close cancels requests and settles the rest as failed with ErrClosed. Then it waits for
// callbacks: at most 2 s for any one, and 10 s in total. Each dead letter kept restarts these limits.
func (s *sender) Close(ctx context.Context) error {
	ctx = orBackground(ctx)
	if s.feed != nil && !s.publisher.InsideHook(ctx) {
		s.feed.stop(ctx)
	}
	err := s.publisher.Close(ctx)
	if s.feed != nil && !errors.Is(err, publisher.ErrInCallback) {
		s.feed.close(ctx)
	}
	if !errors.Is(err, publisher.ErrInCallback) {
		s.observer.telemetry.stop()
		s.unsubscribe()
		s.gate.abandon()
	}
	return s.translateClose(err)
}

// Withdraw takes back the accepted actions for which match returns true, so that those of a lost partition do not
// overwrite the writes of its next owner. Actions not in a request fail with ErrWithdrawn, without a dead letter;
// Withdraw returns their number and sets ActionError.Unknown if an action may have been applied. It waits for matching
// actions in requests, which are not retried. Folded actions are withdrawn together, if match returns true for all.
// When Withdraw returns, handlers have run, except for actions behind an unmatched one of their key. match runs on the
// publisher goroutine. In a callback Withdraw returns 0 and takes effect afterwards. The Indexer and subscribers of the
// breaker must not call it.
func (s *sender) Withdraw(match func(key string, tag any) bool) int {
	return s.publisher.Withdraw(func(key string, p *payload) (wanted bool) {
		s.observer.guard(inWithdraw, func() { wanted = match(key, s.observer.tag(p)) })
		return wanted
	})
}

// Contains reports for each key whether it has an unsettled action. It waits for a running callback, and up to 5 s for
// a Queue; if the queue does not answer it returns true for all.
func (s *sender) Contains(keys ...string) []bool {
	found := s.publisher.Contains(keys)
	if s.feed != nil {
		s.feed.contains(keys, found)
	}
	return found
}

// orBackground replaces a nil context, which would panic in the middle of a call, after part of its documents was
// accepted.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

func (s *BufferedSender[T]) addDocuments(ctx context.Context, typ models.ActionType, docs []T) error {
	return s.addAll(ctx, len(docs), true, func(ctx context.Context, c *chunk, i int) (string, error) {
		c.header.typ = typ
		putDocument(c, docs[i])
		return c.add(ctx)
	})
}

// sender is the part of a BufferedSender that does not depend on the document type.
type sender struct {
	options     settings
	largestBody atomic.Int64 // limit for a request; changed only by SetControl
	documents   documents
	keyField    *keyField
	observer    *observer
	publisher   *publisher.Publisher[payload, models.IndexingResult]
	newLimits   atomic.Pointer[Limits] // for Options.Tuning
	controls    controls
	chunks      sync.Pool                            // of *chunk, all empty
	gate        *gate                                // nil without a breaker
	feed        *feed                                // nil without a queue
	share       *share                               // nil without a pool
	unsubscribe func()                               // from the breaker
	held        signal                               // sent when sending is suspended, with Options.Waiting, and when suspect changes
	suspect     atomic.Pointer[publisher.IndexError] // why the index may be the cause of refusals, or nil

	closeOnce sync.Once // guards closeErr
	closeErr  *CloseError
}

// newSender creates a sender. An empty keyName means that the service must be asked.
//
//archtest:long owed: a sender is put together in one function
func newSender(indexer Indexer, options settings, documents documents, keyName string) (*sender, error) {
	telemetry, err := newTelemetry(indexer, &options)
	if err != nil {
		return nil, err
	}
	s := &sender{
		options:   options,
		documents: documents,
		keyField:  newKeyField(indexer, documents.learn, keyName),
		observer:  newObserver(&options, documents, telemetry),
	}
	if options.Queue != nil {
		s.feed = newFeed(s, indexer != nil)
		s.observer.feed = s.feed
	}
	hold := options.held()
	s.gate = newGate(hold, s.observer.contain)
	s.share = newShare(options.Share, documents.handled().sent)
	limits := options.Limits
	s.controls.current = options.control()
	s.largestBody.Store(int64(limits.largestBody()))
	tuner, tuned := options.tuner(limits, &s.newLimits, s.observer.guard)
	sending := &transport{
		indexer: indexer, telemetry: telemetry, mergeMissing: options.OnMergeMissing,
		contain: s.observer.contain, holds: s.gate.forPublisher() != nil && options.Retry.MaxRetries >= 0,
	}
	s.observer.suspect = func(why *publisher.IndexError) {
		s.suspect.Store(why)
		s.held.send()
	}
	sending.unanswered = s.observer.unanswered
	if s.feed != nil {
		sending.mark, sending.under = s.feed.mark, &s.feed.tally.requests
	}
	s.publisher = publisher.New(publisher.Config[payload, models.IndexingResult]{
		Transport:      sending,
		Recycle:        sending.recycle,
		Hooks:          s.observer.hooks(),
		NewID:          uuid.NewString,
		Limits:         limits.forPublisher(),
		Envelope:       envelopeBytes,
		Comma:          len(bodyComma),
		Gate:           s.gate.forPublisher(),
		Slots:          s.share.forPublisher(),
		Room:           s.share.roomForPublisher(),
		Tap:            options.Tap,
		Tuner:          tuner,
		Tuned:          tuned,
		Overload:       s.observer.policy(hold.WhenFull),
		Fold:           options.folder(),
		KeepsDocuments: s.observer.wantsActions,
		AutoFlush:      !options.DisableAutoFlush,
		Interval:       options.AutoFlushInterval,
		MaxAttempts:    options.Retry.MaxAttempts(),
		Backoff:        options.Retry.Wait,
		Delay:          max(options.Retry.Delay, 0),
		RequestTimeout: options.RequestTimeout,
		UnknownWait:    options.UnknownWait,
		Ping:           pingOf(indexer),
		Leave:          s.leave,
		Back:           s.back,
		Return:         s.goesBack,
	})
	if s.share != nil {
		s.share.start(s.publisher.Wake)
	}
	if options.Waiting.FailFast {
		s.observer.onHeld = s.held.send
	}
	s.observer.start(s.publisher.HookContext)
	s.unsubscribe = s.gate.subscribe(s.observer.breakerChanged, s.publisher.Wake)
	if err := telemetry.observe(s.publisher.Stats, s.publisher.Condition, s.gate); err != nil {
		s.unsubscribe()
		return nil, err
	}
	if s.feed != nil {
		if s.feed.end.unobserve, err = telemetry.observeQueue(s.feed.look); err != nil {
			telemetry.stop()
			s.unsubscribe()
			return nil, err
		}
	}
	s.publisher.Start()
	if s.feed != nil {
		s.feed.start()
	}
	return s, nil
}

// goesBack reports whether an action returns to the queue when it is withdrawn or Close gives it up.
func (s *sender) goesBack(v *payload) bool { return s.feed != nil && s.feed.goesBack(v) }

// leave reports whether an action that is about to be sent may be sent.
func (s *sender) leave(it *item) bool {
	var b bound
	if b.see(it); it.Value.goesBack() || b.limited && b.left < relay.Shortest(s.options.RequestTimeout) {
		it.Value.giveBack()
		return false
	}
	if leave(it) {
		return true
	}
	return it.Value.detach()
}

// back records that an action was not settled by its request, and reports whether it may be sent again.
func (s *sender) back(it *item, unknown bool, err error) bool {
	if it.Value.from.holding != nil {
		if err != nil { // otherwise it was stopped before its first request
			s.feed.cameBack(&it.Value)
		}
		unknown = true // a caller that gives up now gets an unknown outcome, see detach
	}
	return back(it, unknown, err) || it.Value.detach()
}

// gone reports whether a waiting action must not be sent any more.
func (s *sender) gone(_ string, v *payload) bool {
	return v.goesBack() || v.from.holding == nil && v.waiter.withdrawn()
}
