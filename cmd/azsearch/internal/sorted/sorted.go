// Package sorted sorts documents by key for a comparison with an index. Documents are in files; only keys and
// offsets must fit in memory.
package sorted

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Documents collects documents. It is not safe for concurrent use.
type Documents struct {
	file   *os.File
	w      *bufio.Writer
	line   bytes.Buffer
	size   int64
	places map[string]place
}

type place struct {
	offset int64
	length int
}

// New returns an empty collection that keeps its documents in a file in dir.
func New(dir string) (*Documents, error) {
	f, err := os.OpenFile(filepath.Join(dir, "unsorted.jsonl"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &Documents{file: f, w: bufio.NewWriterSize(f, 1<<20), places: map[string]place{}}, nil
}

// Add adds a document, or replaces the earlier one with the same key.
func (d *Documents) Add(key string, document json.RawMessage) error {
	d.line.Reset()
	if err := json.Compact(&d.line, document); err != nil {
		return fmt.Errorf("the document %q: %w", key, err)
	}
	d.line.WriteByte('\n')
	d.places[key] = place{d.size, d.line.Len()}
	d.size += int64(d.line.Len())
	_, err := d.w.Write(d.line.Bytes())
	return err
}

// Write writes the documents to a new file as JSON Lines, sorted by the bytes of their keys.
func (d *Documents) Write(path string) (err error) {
	if err := d.w.Flush(); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	for _, key := range slices.Sorted(maps.Keys(d.places)) {
		p := d.places[key]
		if _, err := io.Copy(w, io.NewSectionReader(d.file, p.offset, int64(p.length))); err != nil {
			return err
		}
	}
	return w.Flush()
}

// Close closes the file in dir, and keeps it.
func (d *Documents) Close() error { return d.file.Close() }
