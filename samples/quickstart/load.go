package main

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
)

// loader parses a tree on all processors and hands what it finds to one sender.
type loader struct {
	tree   declarations.Tree
	sender *bufferedsender.BufferedSender[declarations.Declaration]

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
func newSender(client bufferedsender.Indexer, cfg config, reported *outcomes, met *survived) (*bufferedsender.BufferedSender[declarations.Declaration], error) {
	opts := &bufferedsender.Options[declarations.Declaration]{
		Limits:   bufferedsender.Limits{MaxInFlight: cfg.inFlight},
		Handlers: reported.handlers(met),
		// The report says what went wrong; log lines would tear the bar apart.
		Logger: slog.New(slog.DiscardHandler),
	}
	if cfg.verbose {
		opts.Logger = slog.Default()
	}
	if cfg.faults {
		opts.Retry = faultRetries()
	}
	return bufferedsender.New(client, opts)
}

// run returns when everything is handed over, or soon after ctx has ended. The
// sender's own waiting for room is all the flow control there is: parsing is
// faster than any service.
func (l *loader) run(ctx context.Context) {
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

// loadFolder parses a folder and hands its declarations over.
func (l *loader) loadFolder(ctx context.Context, f declarations.Folder) error {
	found := f.Parse()
	var (
		accepted int
		refused  []error
		counted  int64 // of f.Bytes
		err      error
	)
	// A call can be as large as one likes. These are small for the sake of the
	// display: some folders declare a hundred thousand names.
	for some := range slices.Chunk(found.Declarations, 1000) {
		n, no, failed := addAll(ctx, l.sender, some)
		accepted += n
		refused = append(refused, no...)
		l.accepted.Add(int64(n))
		if err = failed; err != nil {
			break
		}
		share := f.Bytes * int64(len(some)) / int64(len(found.Declarations))
		counted += share
		l.sourceBytes.Add(share)
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	l.files += len(f.Files)
	l.broken = append(l.broken, found.Broken...)
	l.refused = append(l.refused, refused...)
	l.notAdded += len(found.Declarations) - accepted - len(refused)
	if err == nil {
		l.packages++
		l.sourceBytes.Add(f.Bytes - counted) // rounding, and folders that declare nothing
	}
	return err
}

// addAll uploads docs, and goes on behind a document that the sender refuses for
// what is in it. The error is one that concerns all the rest as well.
func addAll(ctx context.Context, sender *bufferedsender.BufferedSender[declarations.Declaration], docs []declarations.Declaration) (accepted int, refused []error, err error) {
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

// position says how far the run has come. How many documents there will be is
// not known before everything is parsed, so progress is that share of the source
// whose declarations are settled.
func (l *loader) position() position {
	stats := l.sender.Stats()
	p := position{documents: stats.Completed + stats.Failed, total: l.tree.Bytes}
	if accepted := l.accepted.Load(); accepted > 0 {
		p.done = int64(float64(l.sourceBytes.Load()) * min(1, float64(p.documents)/float64(accepted)))
	}
	return p
}
