package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// Entry is one document: a line of the input.
type Entry struct {
	Key    string `json:"key" search:"key"`
	Number int64  `json:"number" search:"filterable,sortable"`
	Text   string `json:"text" search:"searchable"`
}

func entryOf(l line) Entry {
	// The key must be the same in every run: that is why sending a line twice
	// does no harm.
	return Entry{Key: fmt.Sprintf("line-%d", l.number), Number: l.number, Text: strings.ToValidUTF8(l.text, string(utf8.RuneError))}
}

// loader sends the lines of a file and keeps a checkpoint.
type loader struct {
	input, checkpointFile, refusedFile string
	saveEvery                          time.Duration
	closeTimeout                       time.Duration

	water   lowWater
	saved   checkpoint // on disk; publisher goroutine, and load before and after it
	savedAt time.Time  // likewise
	refused int        // likewise
	err     error      // likewise: why the run cannot succeed any more
	stop    context.CancelFunc
}

// load sends what lies behind the checkpoint. nil means that the whole file is
// settled and that the checkpoint says so; after any error, or a crash, call it
// again. The end of ctx stops it soon.
func (l *loader) load(ctx context.Context, indexer bufferedsender.Indexer, progress io.Writer) error {
	at, err := readCheckpoint(l.checkpointFile)
	if err != nil {
		return err
	}
	l.water.at, l.saved = at, at
	fmt.Fprintf(progress, "starting behind line %d\n", at.Line)

	ctx, l.stop = context.WithCancel(ctx)
	defer l.stop()
	sender, err := bufferedsender.New(indexer, &bufferedsender.Options[Entry]{
		MaxInFlight:     2, // so that lines do settle out of order
		MaxBatchActions: 200,
		Handlers: events.Handlers[Entry]{
			ActionAdded:     l.actionAdded,
			ActionCompleted: l.actionCompleted,
			ActionFailed:    l.actionFailed,
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	addErr := l.addLines(ctx, sender, at)

	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.closeTimeout)
	defer cancel()
	closeErr := sender.Close(closing)
	var lost *bufferedsender.CloseError
	if errors.As(closeErr, &lost) && lost.CallbackStuck {
		return closeErr // a handler may still run: leave its fields alone
	}
	if lost != nil && lost.Unsent+lost.Unknown == 0 {
		closeErr = nil // lines that failed: actionFailed has decided about them
	}
	err = errors.Join(l.err, addErr, closeErr, l.save())
	fmt.Fprintf(progress, "stopped behind line %d, %d refused\n", l.saved.Line, l.refused)
	return err
}

func (l *loader) addLines(ctx context.Context, sender *bufferedsender.BufferedSender[Entry], at checkpoint) error {
	for ln, err := range linesFrom(l.input, at) {
		if err != nil {
			return err
		}
		action := models.UploadAction(entryOf(ln)).WithTag(ln)
		if err := sender.IndexDocuments(ctx, action); err != nil {
			// Also a line that the sender itself refuses, as one that is larger
			// than a request: passing it over in silence would be the gap.
			return fmt.Errorf("line %d: %w", ln.number, err)
		}
	}
	return nil
}

// actionAdded runs before a line is accepted, on the one goroutine that adds:
// in the order of the input. Should the sender not accept it after all, it stays
// unsettled and the mark below it, which is the truth.
func (l *loader) actionAdded(_ context.Context, e *events.ActionAdded[Entry]) error {
	l.water.added(lineOf(e.Action))
	return nil
}

func (l *loader) actionCompleted(_ context.Context, e *events.ActionCompleted[Entry]) {
	l.settled(lineOf(e.Action))
}

// actionFailed moves the mark over lines that will never be accepted, once they
// are on record. Everything else, such as a service that does not answer, a wrong key
// or the end of this run, says nothing about the line: it keeps its place above
// the mark and is sent again by the next run.
func (l *loader) actionFailed(_ context.Context, e *events.ActionFailed[Entry]) {
	var failed *bufferedsender.ActionError
	if !errors.As(e.Err, &failed) || failed.Err != nil || failed.Exhausted || failed.Status == 429 {
		if !errors.Is(e.Err, bufferedsender.ErrClosed) {
			l.fail(e.Err)
		}
		return
	}
	ln := lineOf(e.Action)
	record := struct {
		Line          int64
		Status        int
		Message, Text string
	}{ln.number, failed.Status, failed.Message, ln.text}
	if err := setAside(l.refusedFile, record); err != nil {
		l.fail(err)
		return
	}
	l.refused++
	l.settled(ln)
}

// settled runs on the sender's goroutine. Writing the checkpoint there holds the
// sender up, which is right: it must not run away from its checkpoint.
func (l *loader) settled(ln line) {
	l.water.settled(ln.number)
	if time.Since(l.savedAt) < l.saveEvery {
		return
	}
	if err := l.save(); err != nil {
		l.fail(err)
	}
}

func (l *loader) save() error {
	at := l.water.mark()
	if at == l.saved {
		return nil
	}
	if err := writeCheckpoint(l.checkpointFile, at); err != nil {
		return err
	}
	l.saved, l.savedAt = at, time.Now()
	return nil
}

// fail ends the run; the first reason is reported.
func (l *loader) fail(err error) {
	if l.err == nil {
		l.err = err
	}
	l.stop()
}

func lineOf(a models.IndexDocumentsAction[Entry]) line { return a.Tag.(line) }
