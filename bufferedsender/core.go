package bufferedsender

import (
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

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
	if err := telemetry.observe(s.publisher.Stats, s.publisher.Condition, hold.Breaker); err != nil {
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
		s.feed.cameBack(&it.Value)
		unknown = true // a caller that gives up now gets an unknown outcome, see detach
	}
	return back(it, unknown, err) || it.Value.detach()
}

// gone reports whether a waiting action must not be sent any more.
func (s *sender) gone(_ string, v *payload) bool {
	return v.goesBack() || v.from.holding == nil && v.waiter.withdrawn()
}
