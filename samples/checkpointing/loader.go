package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// What a crash leaves behind, line by line. "Crash" is kill -9 or a power cut.
//
//	a line is sent                   nothing is written: it is sent again
//	the service has it               the same; an upload may be repeated
//	ActionCompleted                  the mark moves in memory: as above
//	ActionFailed, refused for good   the line is in the file of refused lines, and
//	                                 on disk, before the mark moves; after a crash
//	                                 between the two it is there twice
//	save: FILE.tmp is written        the old checkpoint counts; the rest of a
//	                                 .tmp file is overwritten by the next one
//	save: FILE.tmp is on disk        the same
//	save: renamed to FILE            old or new, never a mixture: rename is atomic
//	save: the folder is on disk      the new one counts
//
// So the mark on disk is never above what is settled, and a rerun that starts
// behind it leaves no gap. What lies between it and the crash is sent twice.
//
// A position is one of a certain file and for a certain index. The checkpoint names
// both, and a run with another file or index is refused: it would leave out lines.

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
	index                              string // where it goes, with the service

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
	l.index = indexOf(indexer)
	if err := at.check(l.input, l.index); err != nil {
		return fmt.Errorf("%s: %w; to load the file from its beginning remove the checkpoint, or move it away", l.checkpointFile, err)
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
	if !ok || mark == l.saved.Offset {
		return nil
	}
	before, err := fingerprint(l.input, mark)
	if err != nil {
		return err
	}
	at := checkpoint{Offset: mark, Index: l.index, Before: before}
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

// checkpoint says that every line of the input that ends at byte Offset or before
// it is settled: in the index, or set aside in the file of refused lines.
type checkpoint struct {
	Offset int64 `json:"offset"`
	// Index is where the lines went, with the service; Before tells the input from another file, see fingerprint.
	Index  string `json:"index"`
	Before string `json:"before"`
}

// check refuses to go on with another index, or with a file that is not the one that was read.
func (c checkpoint) check(input, index string) error {
	if c.Offset == 0 {
		return nil
	}
	if c.Index != index {
		return fmt.Errorf("it is for the index %q, not for %q", c.Index, index)
	}
	before, err := fingerprint(input, c.Offset)
	if err != nil {
		return err
	}
	if before != c.Before {
		return fmt.Errorf("it does not belong to %s, which was replaced or changed before byte %d", input, c.Offset)
	}
	return nil
}

// indexOf names the index that an indexer writes to.
func indexOf(indexer bufferedsender.Indexer) string {
	name := ""
	if service, ok := indexer.(models.EndpointNamer); ok {
		name = strings.TrimSuffix(service.Endpoint(), "/")
	}
	if index, ok := indexer.(models.IndexNamer); ok {
		name += "/" + index.IndexName()
	}
	return name
}

// fingerprint is a hash of the beginning of a file, and of what comes before byte at, 64 KiB each: a file that grows
// keeps it, and one that was replaced has another.
func fingerprint(path string, at int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	const enough = 64 << 10
	h := sha256.New()
	for _, from := range []int64{0, max(0, at-enough)} {
		if _, err := io.Copy(h, io.NewSectionReader(f, from, min(enough, at))); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// readCheckpoint returns the checkpoint in a file, the beginning if there is no
// such file.
func readCheckpoint(path string) (checkpoint, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoint{}, nil
	}
	if err != nil {
		return checkpoint{}, err
	}
	var at checkpoint
	if err := json.Unmarshal(content, &at); err != nil || at.Offset < 0 {
		return checkpoint{}, fmt.Errorf("%s is not a checkpoint: %s: %w", path, content, err)
	}
	return at, nil
}

// writeCheckpoint replaces the checkpoint in a file. When it returns the new one
// survives a power cut.
func writeCheckpoint(path string, at checkpoint) error {
	content, err := json.Marshal(at)
	if err != nil {
		return err
	}
	temp := path + ".tmp" // in the same folder: a rename between file systems is not atomic
	if err := writeSynced(temp, os.O_TRUNC, content); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// setAside appends a line to the file of refused lines, and returns when it
// survives a power cut.
func setAside(path string, record any) error {
	content, err := json.Marshal(record)
	if err != nil {
		return err
	}
	_, statErr := os.Stat(path)
	if err := writeSynced(path, os.O_APPEND, append(content, '\n')); err != nil {
		return err
	}
	if errors.Is(statErr, fs.ErrNotExist) {
		return syncFolder(filepath.Dir(path))
	}
	return nil
}

func writeSynced(path string, how int, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o600) // it has what documents have
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncFolder makes the names in a folder survive a power cut.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // cannot sync folders; NTFS journals names itself
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// line is one line of the input.
type line struct {
	start, end int64 // in bytes; the next one starts at end
	text       string
}

// linesFrom yields the lines of a file that start at byte at or behind it. A last
// line without a newline counts, too: the file must not grow while it is read.
func linesFrom(path string, at int64) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(line{}, err)
			return
		}
		defer f.Close()
		if err := seekTo(f, at); err != nil {
			yield(line{}, err)
			return
		}
		r := bufio.NewReader(f)
		l := line{end: at}
		for {
			text, err := r.ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{}, err)
				return
			}
			if text == "" {
				return
			}
			l.start, l.end = l.end, l.end+int64(len(text))
			l.text = strings.TrimRight(text, "\r\n")
			if !yield(l, nil) {
				return
			}
		}
	}
}

// seekTo refuses a position that does not belong to the file as it is now.
func seekTo(f *os.File, at int64) error {
	if at == 0 {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	foreign := fmt.Errorf("the checkpoint (byte %d) does not belong to %s: it was replaced or cut off", at, f.Name())
	if at > info.Size() {
		return foreign
	}
	before := make([]byte, 1)
	if _, err := f.ReadAt(before, at-1); err != nil {
		return err
	}
	if before[0] != '\n' && at != info.Size() {
		return foreign
	}
	_, err = f.Seek(at, io.SeekStart)
	return err
}
