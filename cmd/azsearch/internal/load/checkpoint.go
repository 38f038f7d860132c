package load

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// place is a position in the sequence of files.
type place struct {
	File int `json:"file"`
	source.Position
}

// state is the content of a checkpoint file. Every record before Next is in the index or in the file of rejects.
type state struct {
	Version  int        `json:"version"`
	Endpoint string     `json:"endpoint"`
	Index    string     `json:"index"`
	ETag     string     `json:"etag"`    // of the definition
	Options  string     `json:"options"` // further settings that determine the documents
	Files    []identity `json:"files"`
	Next     place      `json:"next"`
	Done     bool       `json:"done"`
	Rejected int64      `json:"rejected"`          // synced to the file of rejects
	Rejects  string     `json:"rejects,omitempty"` // the file of rejects, once it has a name
}

const stateVersion = 1

// find returns the index of a file, -1 if there is none of this name.
func (s *state) find(name string) int {
	return slices.IndexFunc(s.Files, func(f identity) bool { return f.Name == name || slices.Contains(f.Also, name) })
}

// identity distinguishes a file from another one of the same name. A file may grow: its first Size bytes count.
type identity struct {
	Name   string   `json:"name"`
	Also   []string `json:"also,omitempty"` // other names of it on the command line of later runs, and so in their rejects
	Size   int64    `json:"size"`
	Digest string   `json:"digest"` // of the first and the last 64 KiB
	// At is the position to continue from if the file has grown, or Next is before it; zero if Next was never behind it.
	At source.Position `json:"at,omitzero"`
}

// Destination identifies the index and the conversion of a checkpoint. ETag is "" if there is no index yet.
type Destination struct{ Endpoint, Index, ETag, Options string }

// Checkpoint is the file of -resume.
type Checkpoint struct {
	path    string
	resumed bool

	mu    sync.Mutex // guards state during the run
	state state      // as last written
}

// OpenCheckpoint reads the checkpoint at path, if there is one. A checkpoint of other files, another index or other
// options is an error. With a query, files is the name of a database.
func OpenCheckpoint(path string, files []string, query string, to Destination) (*Checkpoint, error) {
	c := &Checkpoint{path: path, state: state{Version: stateVersion, Endpoint: to.Endpoint, Index: to.Index, ETag: to.ETag, Options: to.Options}}
	for _, name := range files {
		if name == source.Stdin {
			return nil, errors.New("-resume: the standard input cannot be read again from a position; name a file")
		}
		id, err := identify(name, query)
		if err != nil {
			return nil, err
		}
		c.state.Files = append(c.state.Files, id)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // reading a device may never end
		return nil, fmt.Errorf("-resume %s: not a regular file; name another file", path)
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("-resume %s: directory %s does not exist", path, filepath.Dir(path))
		}
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-resume: %w", err)
	}
	var old state
	if err := json.Unmarshal(content, &old); err != nil || old.Version != stateVersion {
		return nil, fmt.Errorf("-resume %s: not a checkpoint of this version; name another file", path)
	}
	differs := func(what string, was, is any) error {
		return fmt.Errorf("-resume %s: the checkpoint is of %s %v, not %v; name another file, or remove this one to start over", path, what, was, is)
	}
	switch {
	case old.Endpoint != to.Endpoint:
		return nil, differs("service", old.Endpoint, to.Endpoint)
	case old.Index != to.Index:
		return nil, differs("index", old.Index, to.Index)
	case to.ETag == "":
		return nil, fmt.Errorf("-resume %s: index %s does not exist any more; remove the file to load everything again", path, to.Index)
	case old.ETag != "" && old.ETag != to.ETag:
		return nil, fmt.Errorf("-resume %s: index %s was changed or created again since; if it kept its documents, remove \"etag\" from the file, else remove the file to start over",
			path, to.Index)
	case old.Options != to.Options:
		return nil, differs("the options", old.Options, to.Options)
	case len(old.Files) != len(c.state.Files):
		return nil, differs("files", len(old.Files), len(c.state.Files))
	}
	for i, was := range old.Files {
		is := c.state.Files[i]
		if query != "" && was.Digest != is.Digest {
			return nil, differs("a query of", was.Name, is.Name+" with this -query")
		}
		begins, grown := is.Digest, is.Size > was.Size
		if grown {
			if begins, err = digestOf(is.Name, was.Size); err != nil {
				return nil, err
			}
		}
		if is.Size < was.Size || begins != was.Digest || grown && !old.grow(i, is) {
			return nil, differs("a file", was.Name+" of "+amount.Of(was.Size, "byte"), is.Name+" of "+amount.Of(is.Size, "byte")+" as it is now")
		}
		switch at := old.find(is.Name); {
		case at < 0:
			old.Files[i].Also = append(was.Also, is.Name)
		case at != i: // equal files in another order, whose rejects could not be told apart
			return nil, differs("a file", was.Name, is.Name)
		}
	}
	c.state, c.resumed = old, true
	c.state.ETag = to.ETag
	return c, nil
}

// Created sets the ETag of an index that did not exist when the checkpoint was opened.
func (c *Checkpoint) Created(etag string) { c.state.ETag = etag }

func identify(name, query string) (identity, error) {
	if query != "" {
		sum := sha256.Sum256([]byte(name + "\n" + query))
		return identity{Name: name, Digest: hex.EncodeToString(sum[:16])}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return identity{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return identity{}, err
	}
	if !info.Mode().IsRegular() {
		return identity{}, fmt.Errorf("-resume: %s is not a file that can be read again", name)
	}
	digest, err := digest(f, info.Size())
	return identity{Name: name, Size: info.Size(), Digest: digest}, err
}

// digestOf returns the digest of the first size bytes of a file.
func digestOf(name string, size int64) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return digest(f, size)
}

func digest(f io.ReaderAt, size int64) (string, error) {
	const part = 64 << 10
	h := sha256.New()
	_, err := io.Copy(h, io.NewSectionReader(f, 0, min(part, size)))
	from := max(0, size-part)
	_, err2 := io.Copy(h, io.NewSectionReader(f, from, size-from))
	return hex.EncodeToString(h.Sum(nil)[:16]), errors.Join(err, err2)
}

// grow makes the next run read what was appended to a file. It returns false if the checkpoint is of a version that
// did not write where the file ended.
func (s *state) grow(i int, is identity) bool {
	f := &s.Files[i]
	if i < s.Next.File {
		if f.At.Offset == 0 && f.Size > 0 {
			return false
		}
		s.Files[s.Next.File].At = s.Next.Position
		s.Next = place{i, f.At}
	}
	f.Size, f.Digest, s.Done = is.Size, is.Digest, false
	return true
}

// start returns where a run continues in a file, unless Next is behind it.
func (s *state) start(i int) source.Position {
	if i == s.Next.File {
		return s.Next.Position
	}
	return s.Files[i].At
}

// read sets the identity of a file that was read to its end, and has grown since the checkpoint was opened. It is safe
// for concurrent use.
func (c *Checkpoint) read(i int, f *source.File) error {
	if c == nil {
		return nil
	}
	file, size := f.Plain()
	c.mu.Lock()
	defer c.mu.Unlock()
	id := &c.state.Files[i]
	if file == nil || size <= id.Size {
		return nil
	}
	sum, err := digest(file, size)
	if err == nil {
		id.Size, id.Digest = size, sum
	}
	return err
}

// ended notes where files ended that the next checkpoint is behind.
func (c *Checkpoint) ended(at map[int]source.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, end := range at {
		c.state.Files[i].At = end
	}
}

// Done reports whether the resumed run had reached the end of all files.
func (c *Checkpoint) Done() bool { return c.resumed && c.state.Done }

// before reports whether the record of a reject precedes the checkpoint, so this run does not read it again. known is
// false if it is of no file of this run.
func (c *Checkpoint) before(x *Reject) (before, known bool) {
	at := origin{x.File, x.Offset}
	if x.Read != nil {
		at = *x.Read
	}
	i := c.state.find(at.File)
	return c.state.Done || i >= 0 && (i < c.state.Next.File || at.Offset < c.state.start(i).Offset), i >= 0
}

// name writes the name of the file of rejects.
func (c *Checkpoint) name(rejects string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Rejects = rejects
	return c.replace(s)
}

// write replaces the file atomically and syncs it.
func (c *Checkpoint) write(next place, done bool, rejected int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Next, s.Done, s.Rejected = next, done, rejected
	return c.replace(s)
}

func (c *Checkpoint) replace(s state) error {
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(c.path, append(content, '\n')); err != nil {
		return exit.With(exit.Incomplete, fmt.Errorf("-resume: the checkpoint cannot be written: %w", err))
	}
	c.state = s
	return nil
}

func replaceFile(path string, content []byte) error {
	folder, err := disk.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return disk.ReplaceBeside(folder, filepath.Base(path), func(w *bufio.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// resume sets the start of the run to the checkpoint. The checkpoint is written at once, before any reject: from then
// on a new one owns the file of rejects, and an old one has the names that this run writes to it.
func (r *run) resume(c *Checkpoint) error {
	if err := c.write(c.state.Next, c.state.Done, c.state.Rejected); err != nil {
		return err
	}
	r.first = c.state.Next.File
	for i := range c.state.Files {
		r.starts = append(r.starts, c.state.start(i))
	}
	r.rejected.Store(r.Rejects.kept)
	r.earlier = r.rejected.Load()
	r.done = c.Done()
	r.saved = c.state.Next
	for i := range min(r.first, len(c.state.Files)) {
		r.before.Add(c.state.Files[i].Size)
	}
	return nil
}

// save syncs the rejects, then writes a checkpoint at the low watermark that was read before the sync. After a
// crash, records after it may be read again.
func (r *run) save(done bool) error {
	mark, ok := r.water.Mark()
	if err := r.Rejects.Sync(); err != nil {
		return exit.With(exit.Incomplete, err)
	}
	if r.Checkpoint == nil {
		return nil
	}
	next := r.saved
	ends := map[int]source.Position{next.File: next.Position}
	r.mu.Lock()
	if ok {
		if at, known := r.places[mark]; known {
			next = at
		}
		for number, at := range r.places {
			if number < mark {
				delete(r.places, number)
				if ends[at.File].Offset < at.Offset {
					ends[at.File] = at.Position
				}
			}
		}
	}
	r.mu.Unlock()
	if next == r.saved && !done {
		return nil
	}
	delete(ends, next.File)
	r.Checkpoint.ended(ends)
	if err := r.Checkpoint.write(next, done, r.Rejects.durable()); err != nil {
		return err
	}
	r.saved = next
	return nil
}
