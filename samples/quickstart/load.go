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

// Document is the type that this program sends. The tags of declarations.Declaration define the index.
type Document = declarations.Declaration

// loader parses a tree on all processors and adds the declarations to one sender.
type loader struct {
	tree   declarations.Tree
	sender *bufferedsender.BufferedSender[Document]
	outcomes

	mu       sync.Mutex // guards the fields below
	packages int        // folders whose declarations were all added or refused
	files    int
	accepted int64
	broken   []error // files that do not parse
	refused  []error // documents that the sender refused
	err      error   // why the load ended early, unless ctx ended
}

// newSender returns the sender for all documents of this run.
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
		// The faults recur throughout the run, so each document gets more attempts. The delays are short because the
		// emulator, unlike a real service, does not recover faster when it gets fewer requests.
		opts.Retry = retry.Options{MaxRetries: 10, Delay: 40 * time.Millisecond, MaxDelay: time.Second}
	}
	return bufferedsender.New(client, opts)
}

// closeTimeout limits how long Close sends accepted documents after Ctrl-C.
var closeTimeout = 10 * time.Second

// load returns when everything is sent. After the end of ctx it sends accepted documents for at most closeTimeout.
func (l *loader) load(ctx context.Context) {
	l.parse(ctx)
	if ctx.Err() == nil {
		// Close would send the rest too, but within closeTimeout. Handlers have reported every failure, so the error
		// has nothing new for the report.
		_ = l.sender.Flush(ctx, nil)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = l.sender.Close(closing) // handlers have reported unsent documents too
}

// parse returns when every folder is added, or soon after ctx ends. Adding blocks while the buffer is full; that is
// the only flow control needed, although parsing is faster than the service.
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
					cancel() // stop the other parsers
					l.mu.Lock()
					l.err = errors.Join(l.err, err)
					l.mu.Unlock()
				}
			}
		})
	}
	parsers.Wait()
}

// loadFolder parses a folder and adds its declarations. One adding call takes any number of documents; some folders
// declare a hundred thousand names.
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

// addAll uploads docs and skips documents that the sender refuses for their content. It returns any other error: the
// remaining documents would meet it too.
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

// aboutDocument reports whether err concerns one document only, so that adding can continue with the next.
func aboutDocument(err error) bool {
	var badKey *keys.InvalidKeyError
	var badValue *models.EncodeError
	return errors.Is(err, bufferedsender.ErrDocumentTooLarge) || errors.As(err, &badKey) || errors.As(err, &badValue)
}

const (
	lookups       = 3 // documents to read by key at the end
	shownFailures = 5 // failures to print
)

// outcomes counts what the sender reports. Handlers run one at a time and not after Close, so it needs no lock; read
// it after Close.
type outcomes struct {
	completed int64
	failed    int64
	unsent    int64 // given up by Close
	unknown   int64 // of failed and unsent: may be in the index anyway
	failures  []error
	samples   []Document     // of completed documents, chosen at random
	survived  map[string]int // faults that were retried, counted by kind
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
