package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
)

// Document is what this program sends: see its package for the tags that describe the index.
type Document = declarations.Declaration

// loader parses a tree on all processors and hands what it finds to one sender.
type loader struct {
	tree   declarations.Tree
	sender *bufferedsender.BufferedSender[Document]
	outcomes

	mu       sync.Mutex // guards the fields below
	packages int        // parsed and handed over, whole
	files    int
	accepted int64
	broken   []error // files that are not Go
	refused  []error // documents that the sender did not accept
	err      error   // why it ended before its time, if that was not the end of ctx
}

// newSender returns the sender that everything goes through.
func newSender(client bufferedsender.Indexer, c config, reported *outcomes) (*bufferedsender.BufferedSender[Document], error) {
	opts := &bufferedsender.Options[Document]{
		Limits: bufferedsender.Limits{MaxInFlight: 2},
		Handlers: events.Handlers[Document]{
			ActionCompleted: reported.actionCompleted,
			ActionFailed:    reported.actionFailed,
			BatchCompleted:  reported.batchCompleted,
		},
		Logger: c.logger,
	}
	if c.faults {
		// Patience for a service that is never well for long. The delays are short because the emulator, unlike a
		// service under load, does not recover any sooner for being left alone.
		opts.Retry = retry.Options{MaxRetries: 10, Delay: 40 * time.Millisecond, MaxDelay: time.Second}
	}
	return bufferedsender.New(client, opts)
}

// closeTimeout is how long what was accepted is sent after Ctrl-C.
var closeTimeout = 10 * time.Second

// load returns when everything is sent. When ctx ends it sends what was accepted for as long as closeTimeout says.
func (l *loader) load(ctx context.Context) {
	l.parse(ctx)
	if ctx.Err() == nil {
		// Close would send the rest as well, but with a deadline. What has failed
		// is in the report: its events were reported.
		_ = l.sender.Flush(ctx, nil)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = l.sender.Close(closing) // what it gave up is in the report too
}

// parse returns when everything is handed over, or soon after ctx has ended. The
// sender's own waiting for room is all the flow control there is: parsing is
// faster than any service.
func (l *loader) parse(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next atomic.Int64
	var parsers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		parsers.Go(func() {
			for ctx.Err() == nil {
				at := next.Add(1) - 1
				if at >= int64(len(l.tree.Packages)) {
					return
				}
				if err := l.loadFolder(ctx, l.tree.Packages[at]); err != nil && ctx.Err() == nil {
					cancel() // the other parsers
					l.mu.Lock()
					l.err = errors.Join(l.err, err)
					l.mu.Unlock()
				}
			}
		})
	}
	parsers.Wait()
}

// loadFolder parses a folder and hands its declarations over. A call can be as large as one likes: some folders declare
// a hundred thousand names.
func (l *loader) loadFolder(ctx context.Context, f declarations.Folder) error {
	found := f.Parse()
	accepted, refused, err := addAll(ctx, l.sender, found.Declarations)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted += int64(accepted)
	l.files += len(f.Files)
	l.broken = append(l.broken, found.Broken...)
	l.refused = append(l.refused, refused...)
	if err == nil {
		l.packages++
	}
	return err
}

// addAll uploads docs, and goes on behind a document that the sender refuses for
// what is in it. The error is one that concerns all the rest as well.
func addAll(ctx context.Context, sender *bufferedsender.BufferedSender[Document], docs []Document) (accepted int, refused []error, err error) {
	for len(docs) > 0 {
		err := sender.UploadDocuments(ctx, docs...)
		if err == nil {
			return accepted + len(docs), refused, nil
		}
		var notAdded *bufferedsender.AddError
		if !errors.As(err, &notAdded) {
			return accepted, refused, err
		}
		accepted += notAdded.Accepted
		docs = docs[notAdded.Accepted:]
		if !aboutDocument(err) {
			return accepted, refused, err
		}
		refused = append(refused, err)
		docs = docs[1:]
	}
	return accepted, refused, nil
}

// aboutDocument reports whether err is about one document, and the next may
// well be accepted.
func aboutDocument(err error) bool {
	var badKey *keys.InvalidKeyError
	var badValue *models.EncodeError
	return errors.Is(err, bufferedsender.ErrDocumentTooLarge) || errors.As(err, &badKey) || errors.As(err, &badValue)
}

const (
	lookups       = 3 // documents to get by key at the end
	shownFailures = 5 // failures to describe
)

// outcomes is what the sender has reported about each document. Handlers run one at
// a time, and none runs after Close, so there is no lock: read it then.
type outcomes struct {
	completed int64
	failed    int64
	unsent    int64 // given up by Close
	unknown   int64 // of the failed and the unsent: may be in the index all the same
	failures  []error
	samples   []Document     // of completed documents, drawn at random
	survived  map[string]int // what went wrong on the way, by kind
}

func (o *outcomes) actionCompleted(_ context.Context, e *events.ActionCompleted[Document]) {
	o.completed++
	if len(o.samples) < lookups {
		o.samples = append(o.samples, e.Action.Document)
	} else if at := rand.Int64N(o.completed); at < lookups {
		o.samples[at] = e.Action.Document
	}
}

func (o *outcomes) actionFailed(_ context.Context, e *events.ActionFailed[Document]) {
	if e.Unknown {
		o.unknown++
	}
	if errors.Is(e.Err, bufferedsender.ErrClosed) {
		o.unsent++
		return
	}
	o.failed++
	if len(o.failures) < shownFailures {
		o.failures = append(o.failures, e.Err)
	}
}

func (o *outcomes) batchCompleted(_ context.Context, b *events.Batch) {
	if o.survived == nil {
		o.survived = map[string]int{}
	}
	switch {
	case b.Err == nil && b.Succeeded < b.Actions:
		o.survived["documents refused in a reply to others"] += b.Retried + b.Failed
	case b.Err == nil:
	case b.StatusCode == 0:
		o.survived["requests without a reply"]++
	default:
		o.survived[fmt.Sprintf("requests with status %d", b.StatusCode)]++
	}
}
