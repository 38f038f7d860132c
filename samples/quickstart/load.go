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

	"github.com/dustin/go-humanize"

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

	// Written by the parsing goroutines, read by the display meanwhile.
	sourceBytes atomic.Int64 // of the source whose declarations are handed over
	accepted    atomic.Int64

	mu       sync.Mutex // guards the fields below
	packages int        // parsed and handed over, whole
	files    int
	broken   []error // files that are not Go
	refused  []error // documents that the sender did not accept
	notAdded int     // documents that were parsed and not accepted because the run ended
	err      error   // why it ended before its time, if that was not the end of ctx
}

// newSender returns the sender that everything goes through.
func newSender(client bufferedsender.Indexer, c config, reported *outcomes, met *survived) (*bufferedsender.BufferedSender[Document], error) {
	opts := &bufferedsender.Options[Document]{
		Limits: bufferedsender.Limits{MaxInFlight: c.inFlight},
		Handlers: events.Handlers[Document]{
			ActionCompleted: reported.actionCompleted,
			ActionFailed:    reported.actionFailed,
			BatchCompleted:  met.batch,
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

// load returns when everything is sent. When ctx ends it sends what was accepted for as long as closeTimeout says.
func (l *loader) load(ctx context.Context, closeTimeout time.Duration, interrupted func()) {
	l.parse(ctx)
	if ctx.Err() == nil {
		// Close would send the rest as well, but with a deadline. What has failed
		// is in the report: its events were reported.
		_ = l.sender.Flush(ctx, nil)
	}
	if ctx.Err() != nil {
		interrupted()
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
	folders := make(chan declarations.Folder)
	var parsers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		parsers.Go(func() {
			for f := range folders {
				if err := l.loadFolder(ctx, f); err != nil {
					cancel() // the other parsers, and the loop below
					if !errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)) {
						l.mu.Lock()
						l.err = errors.Join(l.err, err)
						l.mu.Unlock()
					}
					return
				}
			}
		})
	}
feeding:
	for _, f := range l.tree.Packages {
		select {
		case folders <- f:
		case <-ctx.Done():
			break feeding
		}
	}
	close(folders)
	parsers.Wait()
}

// loadFolder parses a folder and hands its declarations over. A call can be as large as one likes: some folders declare
// a hundred thousand names.
func (l *loader) loadFolder(ctx context.Context, f declarations.Folder) error {
	found := f.Parse()
	accepted, refused, err := addAll(ctx, l.sender, found.Declarations)
	l.accepted.Add(int64(accepted))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files += len(f.Files)
	l.broken = append(l.broken, found.Broken...)
	l.refused = append(l.refused, refused...)
	l.notAdded += len(found.Declarations) - accepted - len(refused)
	if err == nil {
		l.packages++
		l.sourceBytes.Add(f.Bytes)
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

// progress says how far the run has come. How many documents there will be is
// not known before everything is parsed, so progress is that share of the source
// whose declarations are settled.
func (l *loader) progress() string {
	stats := l.sender.Stats()
	settled, done := stats.Completed+stats.Failed, int64(0)
	if accepted := l.accepted.Load(); accepted > 0 {
		done = int64(float64(l.sourceBytes.Load()) * min(1, float64(settled)/float64(accepted)))
	}
	return fmt.Sprintf("%4d%% %10s documents", 100*done/max(1, l.tree.Bytes), humanize.Comma(settled))
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
	maybeSent int64 // of the unsent alone: likewise
	failures  []error
	samples   []Document // of completed documents, drawn at random
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
		if e.Unknown {
			o.maybeSent++
		}
		return
	}
	o.failed++
	if len(o.failures) < shownFailures {
		o.failures = append(o.failures, e.Err)
	}
}
