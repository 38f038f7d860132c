// Package ledger records which parts of a job are done, in a file, so that a command can continue after a crash.
//
// The first line names the job, each following line a completed part. A crash may leave a partial last line. It is
// ignored, so that part of the job is done again.
package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// Ledger is the file of one job. Note is safe for concurrent use.
type Ledger struct {
	Resumed bool            // the file existed
	Done    map[string]bool // completed parts at Open; the caller may delete parts to be done again

	folder    disk.Folder
	name, job string
	mu        sync.Mutex  // guards writes
	file      disk.Handle // nil until Begin
}

// Open reads the file of a job, if it exists. job is one line that identifies the job; a file of another job is an
// error.
func Open(path, job string) (*Ledger, error) {
	l := &Ledger{folder: disk.View(filepath.Dir(path)), name: filepath.Base(path), job: job, Done: map[string]bool{}}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // reading a device may never end
		return nil, fmt.Errorf("-resume %s: not a regular file; name another file", path)
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	whole := content[:bytes.LastIndexByte(content, '\n')+1]
	first, rest, _ := strings.Cut(string(whole), "\n")
	if first != job {
		return nil, fmt.Errorf("%s belongs to another job: %.500s; remove it to start over", path, first)
	}
	for line := range strings.Lines(rest) {
		l.Done[strings.TrimSuffix(line, "\n")] = true
	}
	l.Resumed = true
	if len(whole) < len(content) {
		return l, l.folder.Cut(l.name, int64(len(whole)))
	}
	return l, nil
}

// Begin creates the file, or opens it for appending. A second call does nothing.
func (l *Ledger) Begin() (err error) {
	if l.file != nil {
		return nil
	}
	if !l.Resumed {
		if err := disk.ReplaceBeside(l.folder, l.name, func(w *bufio.Writer) error {
			_, err := w.WriteString(l.job + "\n")
			return err
		}); err != nil {
			return exit.With(exit.Incomplete, err)
		}
	}
	l.file, err = l.folder.Append(l.name)
	return exit.With(exit.Incomplete, err)
}

// Note appends a completed part, and syncs the file.
func (l *Ledger) Note(part string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := fmt.Fprintf(l.file, "%s\n", part)
	if err == nil {
		err = l.file.Sync()
	}
	return exit.With(exit.Incomplete, err)
}

// Noting returns a channel that passes parts to Note in a separate goroutine, so that the sender's callbacks do not
// wait for the disk. end closes the channel, waits for the last part, and returns the first error.
func (l *Ledger) Noting() (done chan<- string, end func() error) {
	parts, noted := make(chan string, 1024), make(chan error, 1) // buffered, because a blocked callback delays the sender's reports
	go func() {
		var err error
		for part := range parts {
			if err == nil {
				err = l.Note(part)
			}
		}
		noted <- err
	}()
	return parts, func() error {
		close(parts)
		return <-noted
	}
}

// Close closes the file, and keeps it.
func (l *Ledger) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Remove removes the file when the job is complete.
func (l *Ledger) Remove() error { return exit.With(exit.Incomplete, disk.Remove(l.folder, l.name)) }
