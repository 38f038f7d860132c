package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// Entry is one document: a line of the input.
type Entry struct {
	Key   string `json:"key" search:"key"`
	Start int64  `json:"start" search:"filterable,sortable"`
	Text  string `json:"text" search:"searchable"`
}

func entryOf(l line) Entry {
	// The key must be the same in every run: that is why sending a line twice
	// does no harm.
	return Entry{Key: fmt.Sprintf("byte-%d", l.start), Start: l.start, Text: strings.ToValidUTF8(l.text, string(utf8.RuneError))}
}

// loader sends the lines of a file and keeps a checkpoint.
type loader struct {
	input, checkpointFile, refusedFile string
	saveEvery                          time.Duration
	closeTimeout                       time.Duration

	// water knows up to which byte all lines are settled. A line's position is its
	// end; the bytes between are gaps, which mean nothing.
	water   events.LowWatermark[int64]
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
	l.saved = at
	fmt.Fprintf(progress, "starting at byte %d\n", at.Offset)

	ctx, l.stop = context.WithCancel(ctx)
	defer l.stop()
	sender, err := bufferedsender.New(indexer, &bufferedsender.Options[Entry]{
		// Two in flight, so that lines do settle out of order.
		Limits: bufferedsender.Limits{MaxInFlight: 2, MaxBatchActions: 200},
		Handlers: events.Multi(
			events.Track(l.positionOf, &events.TrackOptions[Entry]{Skip: l.skip}),
			events.Handlers[Entry]{ // behind it, when the mark has moved
				ActionCompleted: func(context.Context, *events.ActionCompleted[Entry]) { l.settled() },
				ActionFailed:    func(context.Context, *events.ActionFailed[Entry]) { l.settled() },
			},
		),
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
		closeErr = nil // lines that failed: skip has decided about them
	}
	err = errors.Join(l.err, addErr, closeErr, l.save())
	fmt.Fprintf(progress, "stopped at byte %d, %d lines refused\n", l.saved.Offset, l.refused)
	return err
}

func (l *loader) addLines(ctx context.Context, sender *bufferedsender.BufferedSender[Entry], at checkpoint) error {
	for ln, err := range linesFrom(l.input, at.Offset) {
		if err != nil {
			return err
		}
		action := models.UploadAction(entryOf(ln)).WithTag(ln)
		if err := sender.IndexDocuments(ctx, action); err != nil {
			// Also a line that the sender itself refuses, as one that is larger
			// than a request: passing it over in silence would be the gap. It stays
			// unsettled and the mark below it, which is the truth.
			return fmt.Errorf("the line at byte %d: %w", ln.start, err)
		}
	}
	return nil
}

// positionOf tells Track where a line stands. Lines are added by one goroutine,
// so in the order of their positions.
func (l *loader) positionOf(tag any) (*events.LowWatermark[int64], int64, bool) {
	return &l.water, tag.(line).end, true
}

// skip lets the mark pass lines that will never be accepted, once they are on
// record. Everything else, such as a service that does not answer or a wrong key,
// says nothing about the line: it keeps its place above the mark and is sent again
// by the next run. It is not asked about lines that this run has not sent.
func (l *loader) skip(_ context.Context, e *events.ActionFailed[Entry]) bool {
	var failed *bufferedsender.ActionError
	if !errors.As(e.Err, &failed) || !atFault(failed) {
		l.fail(e.Err)
		return false
	}
	ln := e.Action.Tag.(line)
	record := struct {
		Byte          int64
		Status        int
		Message, Text string
	}{ln.start, failed.Status, failed.Message, ln.text}
	if err := setAside(l.refusedFile, record); err != nil {
		l.fail(err)
		return false
	}
	l.refused++
	return true
}

// atFault reports whether it is up to the line that it was rejected. The quota of an
// index and an index that is missing are up to somebody else, although the service
// rejects the line as well (Rejected).
func atFault(failed *bufferedsender.ActionError) bool {
	switch failed.Reason {
	case models.ReasonDocument, models.ReasonTooLarge:
		return true
	case models.ReasonIndex: // it has a field that the index lacks
		return failed.Status == http.StatusBadRequest
	}
	return false
}

// settled runs on the sender's goroutine. Writing the checkpoint there holds the
// sender up, which is right: it must not run away from its checkpoint.
func (l *loader) settled() {
	if time.Since(l.savedAt) < l.saveEvery {
		return
	}
	if err := l.save(); err != nil {
		l.fail(err)
	}
}

func (l *loader) save() error {
	mark, ok := l.water.Mark()
	at := checkpoint{Offset: mark}
	if !ok || at == l.saved {
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
