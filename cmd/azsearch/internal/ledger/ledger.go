// Package ledger is for commands that continue after a crash: a file that says which parts of a job are done.
//
// Its first line is the job, each other one a part. A crash leaves the file as it was, or a part of a line at its end,
// which counts as none: that part of the job is done again.
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

// Ledger is such a file. Note is safe for concurrent use.
type Ledger struct {
	Resumed bool            // the file was there
	Done    map[string]bool // by then; the caller may delete what it does again

	folder    disk.Folder
	name, job string
	mu        sync.Mutex  // guards writing
	file      disk.Handle // nil until Begin
}

// Open reads the file of a job, a line of text. It makes none.
func Open(path, job string) (*Ledger, error) {
	l := &Ledger{folder: disk.View(filepath.Dir(path)), name: filepath.Base(path), job: job, Done: map[string]bool{}}
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
		return nil, fmt.Errorf("%s is of another job: %.500s; remove it to start over", path, first)
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

// Begin makes the file, or opens the one that Open has read.
func (l *Ledger) Begin() (err error) {
	if !l.Resumed {
		if err := disk.Replace(l.folder, l.name+".tmp", l.name, func(w *bufio.Writer) error {
			_, err := w.WriteString(l.job + "\n")
			return err
		}); err != nil {
			return exit.With(exit.Incomplete, err)
		}
	}
	l.file, err = l.folder.Append(l.name)
	return exit.With(exit.Incomplete, err)
}

// Note says durably that a part is done.
func (l *Ledger) Note(part string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := fmt.Fprintf(l.file, "%s\n", part)
	if err == nil {
		err = l.file.Sync()
	}
	return exit.With(exit.Incomplete, err)
}

// Noting calls Note for each part that comes, in a goroutine of its own: what settles documents does not wait for the
// disk. end waits for the last one, after which no part may come, and returns the first error.
func (l *Ledger) Noting() (done chan<- string, end func() error) {
	parts, noted := make(chan string, 1024), make(chan error, 1) // a part that waits delays the reports of the sender
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

// Close closes the file, which stays.
func (l *Ledger) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Remove removes the file of a job that is done.
func (l *Ledger) Remove() error { return exit.With(exit.Incomplete, disk.Remove(l.folder, l.name)) }
