package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
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

// The state after a crash (kill -9 or a power cut) at each step of a line.
//
//	a line is sent                   nothing is written: the next run sends it again
//	the service has it               the same; repeating an upload is harmless
//	ActionCompleted                  the mark moves in memory only: the same
//	ActionFailed, line rejected      the line is synced to the file of refused lines
//	                                 before the mark moves; a crash between the two
//	                                 writes it there twice
//	save: FILE.tmp is written        the old checkpoint is valid; the next save
//	                                 overwrites FILE.tmp
//	save: FILE.tmp is synced         the same
//	save: renamed to FILE            old or new, never a mixture: rename is atomic
//	save: the folder is synced       the new checkpoint is valid
//
// So the mark on disk is never above an unsettled line, and a run that starts there leaves no gap. It sends the lines
// between the mark and the crash a second time.
//
// A position belongs to one file and one index. The checkpoint identifies both; a run with another file or index, or
// with an index that was created again, fails, because resuming there would skip lines.

// Entry is the document of one line.
type Entry struct {
	Key   string `json:"key" search:"key"`
	Start int64  `json:"start" search:"filterable,sortable"`
	Text  string `json:"text" search:"searchable"`
}

func entryOf(l line) Entry {
	// The key of a line is the same in every run, so sending the line twice is harmless.
	return Entry{Key: fmt.Sprintf("byte-%d", l.start), Start: l.start, Text: strings.ToValidUTF8(l.text, string(utf8.RuneError))}
}

// loader sends the lines of a file and keeps a checkpoint.
type loader struct {
	input, checkpointFile, refusedFile string
	saveEvery                          time.Duration
	closeTimeout                       time.Duration
	index                              string // endpoint and name of the index
	etag                               string // of its definition; "" leaves out that check

	// water is the byte up to which all lines are settled. The position of a line is its end; the gaps between
	// positions have no meaning.
	water   events.LowWatermark[int64]
	read    prefix     // the file up to the checkpoint; same goroutines as saved
	saved   checkpoint // on disk; used by the publisher's goroutine, and by load before and after it
	savedAt time.Time  // same goroutines
	refused int        // same goroutines
	err     error      // same goroutines; why the run failed
	stop    context.CancelFunc
}

// load sends the lines after the checkpoint. nil means that the whole file is settled and the checkpoint covers it;
// after an error or a crash, call load again. It returns soon after ctx ends.
func (l *loader) load(ctx context.Context, indexer bufferedsender.Indexer, progress io.Writer) error {
	at, err := readCheckpoint(l.checkpointFile)
	if err != nil {
		return err
	}
	l.index = indexOf(indexer)
	if err := l.check(ctx, at); err != nil {
		return fmt.Errorf("%s: %w; to load the file from its beginning remove the checkpoint, or move it away", l.checkpointFile, err)
	}
	l.saved = at
	fmt.Fprintf(progress, "starting at byte %d\n", at.Offset)

	ctx, l.stop = context.WithCancel(ctx)
	defer l.stop()
	sender, err := bufferedsender.New(indexer, &bufferedsender.Options[Entry]{
		// With two requests in flight, lines settle out of order.
		Limits: bufferedsender.Limits{MaxInFlight: 2, MaxBatchActions: 200},
		Handlers: events.Multi(
			events.Track(l.positionOf, &events.TrackOptions[Entry]{Skip: l.skip}),
			events.Handlers[Entry]{ // runs after Track has moved the mark
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
		closeErr = nil // skip has already decided about every line that failed
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
			// This includes a line that the sender refuses, for example one larger than a request. Skipping it
			// silently would be a gap: it stays unsettled, and the mark stays below it.
			return fmt.Errorf("the line at byte %d: %w", ln.start, err)
		}
	}
	return nil
}

// positionOf gives Track the mark and the position of an action. One goroutine adds the lines, in the order of their
// positions, as Track requires.
func (l *loader) positionOf(tag any) (*events.LowWatermark[int64], int64, bool) {
	return &l.water, tag.(line).end, true
}

// skip lets the mark pass lines that the service will never accept, after recording them. Other failures, such as an
// unreachable service or a wrong API key, end the run: the mark stays below the line, and the next run sends it
// again.
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

// atFault reports whether the line itself caused the rejection. It is narrower than Rejected: it leaves out a
// merge of a missing document, and an index that refuses every document.
func atFault(failed *bufferedsender.ActionError) bool {
	switch failed.Reason {
	case models.ReasonDocument, models.ReasonTooLarge:
		return true
	case models.ReasonIndex: // the index lacks a field of the document
		return failed.Status == http.StatusBadRequest
	}
	return false
}

// settled runs on the sender's goroutine. Writing the checkpoint there delays the sender on purpose: it cannot run
// far ahead of the checkpoint.
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
	before, err := l.read.through(context.Background(), l.input, mark) // only what was read since the last checkpoint
	if err != nil {
		return err
	}
	at := checkpoint{Offset: mark, Index: l.index, ETag: l.etag, Before: before}
	if err := writeCheckpoint(l.checkpointFile, at); err != nil {
		return err
	}
	l.saved, l.savedAt = at, time.Now()
	return nil
}

// fail ends the run. load reports the first error.
func (l *loader) fail(err error) {
	if l.err == nil {
		l.err = err
	}
	l.stop()
}

// checkpoint states that every line that ends at or before byte Offset is settled: in the index, or in the file of
// refused lines.
type checkpoint struct {
	Offset int64 `json:"offset"`
	// Index is the endpoint and name of the index, ETag that of its definition. An index that is created again gets
	// another one, as does one whose definition is changed. Before is the hash of the input up to Offset.
	Index  string `json:"index"`
	ETag   string `json:"etag,omitempty"`
	Before string `json:"before"`
}

// check refuses a checkpoint of another index, of one that may have lost its documents, or of a file that was changed
// before Offset.
func (l *loader) check(ctx context.Context, c checkpoint) error {
	if c.Offset == 0 {
		return nil
	}
	if c.Index != l.index {
		return fmt.Errorf("it is for the index %q, not for %q", c.Index, l.index)
	}
	if c.ETag != l.etag && c.ETag != "" && l.etag != "" {
		return fmt.Errorf("the index %q was changed or created again since; if it kept its documents remove \"etag\" from the checkpoint", l.index)
	}
	before, err := l.read.through(ctx, l.input, c.Offset)
	if err != nil {
		return err
	}
	if before != c.Before {
		return fmt.Errorf("it does not belong to %s, which was replaced or changed before byte %d", l.input, c.Offset)
	}
	return nil
}

// indexOf returns the endpoint and name of the index that an indexer writes to.
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

// prefix hashes a file from its beginning. Appending to the file keeps the hash; every other change changes it.
type prefix struct {
	hash hash.Hash
	at   int64 // bytes hashed
}

// through returns the hash of the bytes before byte to, and reads only those that it has not read yet.
func (p *prefix) through(ctx context.Context, path string, to int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if p.hash == nil {
		p.hash = sha256.New()
	}
	const some = 16 << 20 // ctx is asked after so many bytes
	for p.at < to && ctx.Err() == nil {
		n, err := io.Copy(p.hash, io.NewSectionReader(f, p.at, min(some, to-p.at)))
		if p.at += n; err != nil {
			return "", err
		}
		if n == 0 { // the file is shorter, so the hash is that of another file
			break
		}
	}
	return hex.EncodeToString(p.hash.Sum(nil)[:16]), ctx.Err()
}

// readCheckpoint returns the checkpoint in a file. Without a file it is the beginning of the input.
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

// writeCheckpoint replaces the checkpoint. When it returns nil, the new one survives a power cut.
func writeCheckpoint(path string, at checkpoint) error {
	content, err := json.Marshal(at)
	if err != nil {
		return err
	}
	temp := path + ".tmp" // in the same folder: a rename across file systems is not atomic
	if err := writeSynced(temp, os.O_TRUNC, content); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// setAside appends a line to the file of refused lines. When it returns nil, the line survives a power cut.
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
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o600) // readable by the owner only: it contains documents
	if err != nil {
		return err
	}
	err = f.Chmod(0o600) // an existing file keeps its mode otherwise
	if err == nil {
		_, err = f.Write(content)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// syncFolder makes created and renamed files of a folder survive a power cut.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows cannot sync folders; NTFS journals names
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// line is one line of the input.
type line struct {
	start, end int64 // in bytes; the next line starts at end
	text       string
}

// linesFrom yields the lines that start at or after byte at. A last line without a newline counts as a line, so the
// file must not grow while it is read.
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

// seekTo refuses a position that is not the end of a line of the file.
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
