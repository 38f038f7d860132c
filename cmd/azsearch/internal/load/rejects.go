package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/csvtext"
)

// Kinds of rejects in addition to those of convert.
const (
	KindTooLarge  = "too-large"
	KindFilter    = "jq"
	KindService   = "service"   // Status and Message have the service's answer
	KindElsewhere = "elsewhere" // another process took it from the queue, or it is parked there
)

// Reject is a line in a file of rejects, which azsearch load can read.
type Reject struct {
	Azsearch string `json:"azsearch"` // "reject"
	File     string `json:"file"`
	Line     int64  `json:"line"`   // from 1; for Parquet the row
	Offset   int64  `json:"offset"` // of the record in bytes; for Parquet the row, from 0
	At       int    `json:"at,omitzero"`
	convert.Problem
	Status   int            `json:"status,omitzero"` // from the service
	Read     *origin        `json:"read,omitempty"`  // where the load found the record, if its input was a file of rejects
	Key      string         `json:"key,omitempty"`
	Original *string        `json:"original,omitempty"`
	Bytes    []byte         `json:"originalBase64,omitempty"` // instead of Original if it is not UTF-8
	Columns  []string       `json:"columns,omitempty"`
	Format   csvtext.Format `json:"format,omitzero"`
}

// origin is the place of a record in a file of rejects that is loaded. File and Offset of its Reject stay those of
// the file it came from first, which say nothing about the position of the load.
type origin struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
}

// String formats the reject as one line.
func (x *Reject) String() string {
	at := fmt.Sprintf("%s:%d: ", x.File, x.Line)
	if x.Status != 0 {
		return at + fmt.Sprintf("document %s: status %d: %s", x.Key, x.Status, x.Message)
	}
	return at + x.Error()
}

// reject returns the reject of a record with problem p.
func (r *record) reject(p *convert.Problem) Reject {
	x := Reject{}
	f := r.job.block.File
	if r.origin != nil {
		x = *r.origin
		x.Read = &origin{f.Name, r.at.Offset}
	} else {
		x = Reject{Azsearch: "reject", File: f.Name, Line: r.at.Line + 1, Offset: r.at.Offset}
		if f.Kind == source.CSV {
			x.Columns, x.Format = f.Columns, f.Format
		}
		if text := string(r.text); utf8.ValidString(text) {
			x.Original = &text
		} else {
			x.Bytes = bytes.Clone(r.text)
		}
	}
	x.Problem, x.At, x.Status = *p, p.At, 0
	return x
}

// parseReject parses a line of a file of rejects, and returns the original record.
func parseReject(line []byte) (*Reject, []byte, error) {
	x := &Reject{}
	if err := json.Unmarshal(line, x); err != nil || x.Azsearch != "reject" {
		return nil, nil, fmt.Errorf("not a line of a file of rejects: %w", err)
	}
	if x.Original != nil {
		return x, []byte(*x.Original), nil
	}
	return x, x.Bytes, nil
}

// Rejects is a file of rejects, created with the first reject. It is safe for concurrent use.
type Rejects struct {
	at *Checkpoint // or nil

	mu     sync.Mutex // guards the fields below
	path   string     // "" until the first reject chooses the name
	file   *os.File
	w      *bufio.Writer
	failed error
	kept   int64 // number of rejects kept from the resumed run
	first  []string
	wrote  int64
	synced int64 // of kept and wrote
}

// OpenRejects returns the file of rejects at path. If the file has rejects of an earlier run, it is an error, unless
// at resumes that run: then it keeps the rejects of records before the checkpoint. Without a path the file is that of
// the checkpoint, or else the first free one of rejects.jsonl, rejects-2.jsonl and so on, chosen at the first reject.
func OpenRejects(path string, at *Checkpoint) (*Rejects, error) {
	if path == "" && at != nil {
		if path = at.state.Rejects; path == "" && at.state.Rejected > 0 {
			path = rejectsName(1) // the checkpoint of a version that did not write the name
		}
	}
	r := &Rejects{path: path, at: at}
	if path == "" {
		return r, nil
	}
	if at != nil {
		at.state.Rejects = path
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, fmt.Errorf("-rejects %s: directory %s does not exist", path, filepath.Dir(path))
		}
		if at != nil && at.state.Rejected > 0 {
			return nil, fmt.Errorf("-rejects %s: missing; the run to resume wrote %s, name its file", path, amount.Of(at.state.Rejected, "reject"))
		}
		return r, nil
	case err != nil:
		return nil, fmt.Errorf("-rejects: %w", err)
	case at != nil && at.resumed && info.Mode().IsRegular():
		return r, r.keep(at)
	case info.Mode().IsRegular() && info.Size() > 0:
		return nil, fmt.Errorf("-rejects %s: the file has rejects of an earlier run; load them from it, remove it, or name another file", path)
	}
	return r, nil
}

// rejectsName returns the nth default name of a file of rejects.
func rejectsName(n int) string {
	if n == 1 {
		return "rejects.jsonl"
	}
	return fmt.Sprintf("rejects-%d.jsonl", n)
}

// keep rewrites the file without the rejects of records that are read again. Those of other files belong to another
// run, and stay.
func (r *Rejects) keep(at *Checkpoint) error {
	content, err := os.ReadFile(r.path)
	if err != nil {
		return err
	}
	var kept bytes.Buffer
	var found int64
	for line := range bytes.Lines(content) {
		x, _, err := parseReject(line)
		if err != nil {
			continue // half a line, written at a crash
		}
		before, known := at.before(x)
		if before {
			r.kept++
		}
		if known {
			found++
		}
		if before || !known {
			kept.Write(append(bytes.TrimSuffix(line, []byte("\n")), '\n'))
		}
	}
	if found < at.state.Rejected {
		return fmt.Errorf("-rejects %s: %d of %s are missing that the run to resume had written; restore the file, or remove %s to start over",
			r.path, at.state.Rejected-found, amount.Of(at.state.Rejected, "reject"), at.path)
	}
	r.synced = r.kept
	if err := at.write(at.state.Next, at.state.Done, r.kept); err != nil { // first, or a crash would leave too few rejects
		return err
	}
	return replaceFile(r.path, kept.Bytes())
}

// Write appends a line. After an error it writes nothing and returns the same error.
func (r *Rejects) Write(x *Reject) error {
	line, err := json.Marshal(x)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		return r.failed
	}
	if err == nil && r.file == nil {
		if err = r.create(); err == nil {
			r.w = bufio.NewWriter(r.file)
		}
	}
	if err == nil {
		_, err = r.w.Write(append(line, '\n'))
	}
	if err != nil {
		r.failed = fmt.Errorf("a record was rejected, and cannot be written to %s: %w", r.path, err)
	}
	if r.wrote++; len(r.first) < 5 {
		r.first = append(r.first, x.String())
	}
	return r.failed
}

// create opens the file, and chooses its name if it has none. The checkpoint has the name before the file has a
// reject, so a run that resumes it continues with this file.
func (r *Rejects) create() (err error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if r.path != "" {
		r.file, err = os.OpenFile(r.path, flags, 0o600)
		return err
	}
	for n := 1; r.path == ""; n++ {
		name := rejectsName(n)
		switch r.file, err = os.OpenFile(name, flags|os.O_EXCL, 0o600); {
		case err == nil:
			r.path = name
		case !errors.Is(err, fs.ErrExist):
			r.path = name // for the text of the error
			return err
		}
	}
	if r.at == nil {
		return nil
	}
	return r.at.name(r.path)
}

// Sync writes buffered lines and syncs the file.
func (r *Rejects) Sync() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil || r.failed != nil {
		return r.failed
	}
	err := r.w.Flush()
	if info, statErr := r.file.Stat(); err == nil && (statErr != nil || info.Mode().IsRegular()) { // a pipe cannot be synced
		err = r.file.Sync()
	}
	if err != nil {
		r.failed = fmt.Errorf("the rejects cannot be written to %s: %w", r.path, err)
	} else {
		r.synced = r.kept + r.wrote
	}
	return r.failed
}

// durable returns how many rejects of the run, and of the run that it resumes, are in the file for certain.
func (r *Rejects) durable() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.synced
}

// Close syncs and closes the file.
func (r *Rejects) Close() error {
	err := r.Sync()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return err
	}
	return errors.Join(err, r.file.Close())
}

// First returns the first five rejects of this run as text.
func (r *Rejects) First() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

// Name returns the path, "" if there are no rejects.
func (r *Rejects) Name() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == 0 && r.wrote == 0 {
		return ""
	}
	return r.path
}
