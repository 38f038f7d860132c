package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// Indexer is what a sender needs from the service, and nothing more.
// *search.Client is one.
//
// IndexDocumentsRaw sends body, a complete request body, as one request, without
// retrying it: that is the sender's business. It may be called from MaxInFlight
// goroutines at once, must return soon after ctx ends, and need not close body.
// What is left of body cannot be read any more when it has returned.
// A reply with status 200 or 207 is a result; any other is an error that
// implements retry.StatusError. An error that does not counts as a broken
// connection and is retried, unless it is wrapped by backoff.Permanent. A reply
// that cannot be understood is an error with models.ErrMalformedReply in its
// chain.
//
// An Indexer may have a second method, KeyFieldName(ctx) (string, error), that
// returns the name of the index's key field, IndexName() string and Endpoint()
// string, which name it in telemetry, and Ping(ctx) error, which returns nil if the
// service answers for this index. Ping is asked, at most once for a failed request,
// only when a document fails and there is nothing else to send that would show
// whether the document is to blame or the service. An Indexer that wraps a client
// should pass all of these on. Without Ping nobody can tell a service that is down from
// a document that it cannot digest when nothing else gets through: then what fails
// for ten minutes fails for good.
type Indexer interface {
	IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error)
}

// BufferedSender sends actions to one index in batches. It is safe for
// concurrent use. Make one with New, share it, and Close it.
type BufferedSender[T any] struct{ *sender }

// New returns a sender that sends to indexer, usually a *search.Client. It
// makes no request. The error names every problem of the options at once. Close
// the sender to have everything sent, and to end what it watches: the breaker
// and the meter. Its goroutine ends by itself while there is nothing to do.
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

// UploadDocuments adds actions that create or completely replace documents. It
// encodes each document at once, so docs may be reused afterwards, and waits
// while the buffer is full. ctx bounds that waiting, not the sending. nil means
// that all are accepted; otherwise the error is an *AddError.
func (s *BufferedSender[T]) UploadDocuments(ctx context.Context, docs ...T) error {
	return s.addDocuments(ctx, models.ActionTypeUpload, docs)
}

// MergeDocuments adds actions that set fields of existing documents: all fields
// that docs have in JSON, so that a field of a struct which was not given a value
// becomes zero, unless it is omitted (omitempty, omitzero). To change some fields
// use MergePatch. A document that does not exist fails with status 404. It waits
// and reports like UploadDocuments.
func (s *BufferedSender[T]) MergeDocuments(ctx context.Context, docs ...T) error {
	return s.addDocuments(ctx, models.ActionTypeMerge, docs)
}

// MergeOrUploadDocuments adds actions that merge into existing documents and
// create the others. It waits and reports like UploadDocuments.
func (s *BufferedSender[T]) MergeOrUploadDocuments(ctx context.Context, docs ...T) error {
	return s.addDocuments(ctx, models.ActionTypeMergeOrUpload, docs)
}

// DeleteDocuments adds actions that delete the documents with the keys of docs;
// their other fields are ignored. Deleting what does not exist succeeds. It
// waits and reports like UploadDocuments.
func (s *BufferedSender[T]) DeleteDocuments(ctx context.Context, docs ...T) error {
	return s.addDocuments(ctx, models.ActionTypeDelete, docs)
}

// DeleteDocumentsByKey is DeleteDocuments for callers who have only the keys.
// The events of these actions carry the key and a zero document. If the name of
// the key field is not known from the type or the options it is read from the
// index definition, within ctx. It waits and reports like UploadDocuments.
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

// IndexDocuments adds actions of any type, with tags if wanted. It waits and
// reports like UploadDocuments.
func (s *BufferedSender[T]) IndexDocuments(ctx context.Context, actions ...models.IndexDocumentsAction[T]) error {
	return s.addAll(ctx, len(actions), true, func(ctx context.Context, c *chunk, i int) (string, error) {
		putAction(c, &actions[i])
		return c.add(ctx)
	})
}

// TryIndexDocuments is IndexDocuments that never waits: when the buffer is full
// the error is an *AddError with ErrBufferFull in its chain. It may be used in
// callbacks. Unless the key field is known from the type or the options, the
// first call of all fetches the index definition.
func (s *BufferedSender[T]) TryIndexDocuments(actions ...models.IndexDocumentsAction[T]) error {
	ctx := context.Background()
	return s.addAll(ctx, len(actions), false, func(ctx context.Context, c *chunk, i int) (string, error) {
		putAction(c, &actions[i])
		return c.add(ctx)
	})
}

// IndexSeq adds the actions of a sequence until it ends, waiting while the
// buffer is full. An error in the sequence stops it and is returned in an
// *AddError; everything before it is accepted. So does a document that is rejected,
// unless opts says otherwise: Accepted then counts without those left out.
func (s *BufferedSender[T]) IndexSeq(ctx context.Context, seq iter.Seq2[models.IndexDocumentsAction[T], error], opts *IndexSeqOptions) error {
	if s.publisher.Closing() {
		return &AddError{Err: ErrClosed}
	}
	if seq == nil {
		return &AddError{Err: errors.New("the sequence is nil")}
	}
	ctx = orBackground(ctx)
	// Chunks of one: nobody knows when the sequence yields the next.
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
			if err := opts.leaveOut(a.fail(key, err), action.Tag); err != nil {
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

// leaveOut asks OnRejected about the error with which an action with a tag was not
// accepted. nil means that the action is left out.
func (o *IndexSeqOptions) leaveOut(err error, tag any) error {
	var rejected *AddError
	if !errors.As(err, &rejected) || !rejected.Rejected() {
		return err
	}
	rejected.Tag = tag
	if o == nil || o.OnRejected == nil {
		return err
	}
	if err := o.OnRejected(rejected); err != nil {
		return &AddError{Accepted: rejected.Accepted, Key: rejected.Key, Tag: tag, Err: err, document: true}
	}
	return nil
}

// Flush sends everything that was accepted before the call, without waiting for
// full batches, and returns when all of it is settled and its callbacks have
// run. It does not wait for later additions; any number of calls may run at
// once. nil means that all of it is in the index, but for failures that an
// earlier Flush reported; otherwise the error is a *FlushError. opts may narrow it to some keys, or
// extend it to all that is in the queue. If ctx ends
// first Flush returns its cause, and the work goes on; if sending was held
// meanwhile, ErrCircuitOpen or ErrPaused is in the chain too. After Close it
// returns what Close returned; with a queue ErrClosed if that keeps something which was
// added here. Callbacks behind an events.Async are queued when it returns; Async.Flush
// waits for them.
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
	h, err := s.hold(ctx, keys)
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
		return ErrClosed // others may have added since
	}
	return s.feed.kept(ctx)
}

// Close refuses further actions, sends what is left, and returns when all of it
// is settled, its callbacks have run, and the sender's goroutines have ended.
// nil means that everything that no Flush has reported is in the index, or in Options.Queue;
// otherwise the error is a *CloseError. If ctx ends first, Close cancels the
// requests under way, settles the rest as failed with ErrClosed, runs their
// callbacks and returns. While the breaker is not closed, or the sender is
// paused, Close waits like Flush: give it a deadline. It may be called more than once; every call returns
// the same.
//
// A callback or an Indexer that does not return cannot be stopped: Close leaves
// it behind about two seconds after ctx has ended, and callbacks that together take
// more than ten seconds. It waits longer as long as DeadLetters take what it has given
// up, 64 actions or 1 MiB at a time. CloseError.DeadLetters says how many they have.
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

// Withdraw takes back the accepted actions that match wants, given their keys and
// tags, and returns how many. A consumer needs it when a partition is taken away:
// what another one is to write from now on must not be overwritten by what this
// sender still has.
//
// What is not in a request at this moment, waiting for a retry included, is never
// sent again: it fails with ErrWithdrawn, and ActionError.Unknown says whether an
// earlier request may have applied it. What is in a request ends with that request
// and is not retried; Withdraw waits for these requests, RequestTimeout at the most,
// and does not count their actions. Actions that were folded into one are taken
// back if match wants all of them. Handlers have run for all of them when it
// returns, but for those behind an action of the same key that match does not
// want: they are never sent either, and reported after that one.
//
// match runs on the publisher goroutine; a panic in it counts as false. Dead letters
// are not written for what is withdrawn. Called from inside a callback, Withdraw
// takes effect when the callback has returned, and returns 0. It must not be called
// by a subscriber of the breaker or by the Indexer, whose request it would wait for.
func (s *sender) Withdraw(match func(key string, tag any) bool) int {
	return s.publisher.Withdraw(func(key string, p *payload) (wanted bool) {
		s.observer.guard("Withdraw", func() { wanted = match(key, s.observer.tag(p)) })
		return wanted
	})
}

// Contains says of each key whether an action of it is accepted and not settled.
// It waits for a callback that is running.
// With a Queue it also asks the queue, for up to five seconds, and says true if that does
// not answer.
func (s *sender) Contains(keys ...string) []bool {
	found := s.publisher.Contains(keys)
	if s.feed != nil {
		s.feed.contains(keys, found)
	}
	return found
}

// orBackground keeps a nil context from panicking half-way through a call, when
// part of its documents is accepted.
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
