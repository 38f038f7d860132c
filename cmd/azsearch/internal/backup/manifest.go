package backup

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/digest"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/wire"
)

const (
	formatVersion     = 1
	manifestName      = "manifest.json"
	journalName       = "journal.jsonl"
	lockName          = "lock"
	definitionsFolder = "definitions"
	documentsFolder   = "documents"
)

// Manifest describes the contents of a backup.
type Manifest struct {
	Format     int       `json:"format"`
	Endpoint   string    `json:"endpoint"`
	APIVersion string    `json:"apiVersion"`
	Started    time.Time `json:"started"`
	Ended      time.Time `json:"ended,omitzero"`
	Passes     int       `json:"passes"`
	Indexes    []Index   `json:"indexes"`
}

// Index describes one index of a backup.
type Index struct {
	Name       string   `json:"name"`
	Key        string   `json:"key"`
	Definition string   `json:"definition"` // SHA-256
	Documents  int64    `json:"documents"`
	Digest     string   `json:"digest"`
	LeftOut    []string `json:"leftOut,omitempty"` // for people
	Files      []File   `json:"files,omitempty"`
	Folder     string   `json:"-"` // of the documents, if the index was renamed
}

// File describes a file of documents. In the journal it is one line.
type File struct {
	Index          string `json:"index,omitempty"` // only in a journal
	Pass           int    `json:"pass,omitempty"`  // last pass that read the range; only in a journal
	Name           string `json:"name"`            // in the folder of the index
	keyrange.Range        // the keys
	Documents      int64  `json:"documents"`
	Bytes          int64  `json:"bytes"` // uncompressed
	Digest         string `json:"digest"`

	text uint64 // hash of the documents as received; 0 if another process wrote the file
}

func (f *File) sum() (digest.Sum, error) { return digest.Parse(f.Documents, f.Digest) }

// OpenManifest reads the manifest of a complete backup. An incomplete backup is an error.
func OpenManifest(dir string) (*Manifest, error) {
	content, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, journalName)); err == nil {
			return nil, fmt.Errorf("%s: the backup is not complete; run azsearch backup %s again to continue it", dir, dir)
		}
		return nil, fmt.Errorf("%s is not a backup: it has no %s", dir, manifestName)
	}
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(content, m); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, manifestName), err)
	}
	if m.Format != formatVersion {
		return nil, fmt.Errorf("%s: the backup has format %d, this version reads %d", dir, m.Format, formatVersion)
	}
	return m, nil
}

// Find returns the index of a name, nil if the backup does not have it.
func (m *Manifest) Find(name string) *Index {
	if i := slices.IndexFunc(m.Indexes, func(x Index) bool { return x.Name == name }); i >= 0 {
		return &m.Indexes[i]
	}
	return nil
}

// Sum returns the digest of the documents as read from the service.
func (x *Index) Sum() (digest.Sum, error) { return digest.Parse(x.Documents, x.Digest) }

func fingerprint(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// journal records the completed ranges in a file.
type journal struct {
	folder disk.Folder
	header Manifest
	file   disk.Handle

	mu      sync.Mutex // guards the fields below, and writes to file
	entries []File     // the latest of each range
	last    int        // highest number in a file name
}

// openJournal opens the journal of a directory, or creates one if the directory has no other files. The header of an
// existing journal must match header.
func openJournal(folder disk.Folder, header Manifest) (*journal, error) {
	j := &journal{folder: folder, header: header}
	content, err := fs.ReadFile(folder, journalName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries, err := fs.ReadDir(folder, ".")
		if err != nil {
			return nil, err
		}
		for _, f := range entries {
			if name := f.Name(); name != lockName && name != journalName+".tmp" {
				return nil, fmt.Errorf("the directory has other files, such as %s; use an empty or a new directory", name)
			}
		}
		line, err := json.Marshal(header)
		if err != nil {
			return nil, err
		}
		if err := disk.Replace(folder, journalName+".tmp", journalName, func(w *bufio.Writer) error { // B1
			_, err := w.Write(append(line, '\n'))
			return err
		}); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		if err := j.read(content); err != nil {
			return nil, err
		}
	}
	if err := j.clean(); err != nil {
		return nil, err
	}
	j.file, err = folder.Append(journalName)
	return j, err
}

// read loads the lines of a journal, and cuts off a partial last line.
func (j *journal) read(content []byte) error {
	whole := bytes.LastIndexByte(content, '\n') + 1
	if whole < len(content) {
		if err := j.folder.Cut(journalName, int64(whole)); err != nil {
			return err
		}
	}
	var lines [][]byte
	for line := range bytes.Lines(content[:whole]) {
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return fmt.Errorf("%s has no header; remove the directory to start over", journalName)
	}
	old := j.header
	old.Indexes = nil
	if err := json.Unmarshal(lines[0], &old); err != nil {
		return fmt.Errorf("%s: %w", journalName, err)
	}
	switch {
	case old.Format != j.header.Format, old.Passes != j.header.Passes:
		return errors.New("the incomplete backup there has another format or other -passes; remove the directory to start over")
	case old.Endpoint != j.header.Endpoint:
		return fmt.Errorf("the incomplete backup there is of %s; use another directory", old.Endpoint)
	case !slices.EqualFunc(old.Indexes, j.header.Indexes, func(a, b Index) bool { return a.Name == b.Name && a.Definition == b.Definition }):
		return errors.New("the incomplete backup there is of other indexes, or the definition of one has changed; remove the directory to start over")
	}
	j.header.Started = old.Started
	for i, line := range lines[1:] {
		var e File
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%s: line %d: %w", journalName, i+2, err)
		}
		j.take(e)
	}
	return nil
}

// take adds an entry, or replaces the one of the same range. The caller holds mu, or is the only user.
func (j *journal) take(e File) {
	number, _ := strconv.Atoi(e.Name[:max(0, bytes.IndexByte([]byte(e.Name), '.'))])
	j.last = max(j.last, number)
	for i, old := range j.entries {
		if old.Index == e.Index && old.Range == e.Range {
			j.entries[i] = e
			return
		}
	}
	j.entries = append(j.entries, e)
}

// clean removes document files that no entry names.
func (j *journal) clean() error {
	for _, x := range j.header.Indexes {
		folder := documentsFolder + "/" + x.Name
		entries, err := fs.ReadDir(j.folder, folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, f := range entries {
			if !slices.ContainsFunc(j.entries, func(e File) bool { return e.Index == x.Name && e.Name == f.Name() }) {
				if err := j.folder.Remove(folder + "/" + f.Name()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// name returns the name for a new file.
func (j *journal) name() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	return fmt.Sprintf("%d.jsonl.zst", j.last)
}

// note appends an entry to the journal and syncs it.
func (j *journal) note(e File) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err = j.file.Write(append(line, '\n')); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return exit.With(exit.Incomplete, fmt.Errorf("%s: %w", journalName, err))
	}
	j.take(e)
	return nil
}

// of returns the entries of an index, ordered by range.
func (j *journal) of(index string) (of []File) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if e.Index == index {
			of = append(of, e)
		}
	}
	slices.SortFunc(of, func(a, b File) int { return cmp.Compare(a.After, b.After) })
	return of
}

// before yields the entries of an index that a pass has not handled yet.
func (j *journal) before(index string, pass int) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for _, e := range j.of(index) {
			if e.Pass < pass && !yield(e, nil) {
				return
			}
		}
	}
}

// gaps returns the ranges of an index without an entry.
func (j *journal) gaps(index string) []keyrange.Range {
	var done []keyrange.Range
	for _, e := range j.of(index) {
		done = append(done, e.Range)
	}
	return keyrange.Gaps(done)
}

// complete writes the manifest, then removes the journal and the lock.
func (j *journal) complete(b *Backup) (*Manifest, error) {
	m := j.header
	m.Ended = time.Now().UTC().Truncate(time.Second)
	for i := range m.Indexes {
		x := &m.Indexes[i]
		var all digest.Sum
		for _, f := range j.of(x.Name) {
			sum, err := f.sum()
			if err != nil {
				return nil, err
			}
			all.Add(sum)
			f.Index, f.Pass = "", 0
			x.Files = append(x.Files, f)
		}
		x.Documents, x.Digest = all.Documents, all.String()
	}
	if err := j.clean(); err != nil {
		return nil, err
	}
	content, err := json.MarshalIndent(&m, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := disk.Replace(b.folder, manifestName+".tmp", manifestName, func(w *bufio.Writer) error { // B6
		_, err := w.Write(append(content, '\n'))
		return err
	}); err != nil {
		return nil, err
	}
	return &m, errors.Join(disk.Remove(b.folder, journalName), disk.Remove(b.folder, lockName)) // B7
}

var packers sync.Pool

// packer compresses documents as JSON Lines.
type packer struct {
	*zstd.Encoder
	line []byte
}

func newPacker(w io.Writer) *packer {
	p, _ := packers.Get().(*packer)
	if p == nil {
		// The default window of 4 MB would take 8 MB of memory per concurrent range.
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(512<<10), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options are constant and valid
		}
		p = &packer{Encoder: e}
	}
	p.Reset(w)
	return p
}

func (p *packer) write(document json.RawMessage) error {
	p.line = append(p.line[:0], document...)
	if bytes.IndexByte(document, '\n') >= 0 {
		compact, ok := wire.Compact(p.line[:0:0], document)
		if !ok {
			return errors.New("the service returned a document that is not JSON")
		}
		p.line = compact
	}
	p.line = append(p.line, '\n')
	_, err := p.Write(p.line)
	return err
}

func (p *packer) free() {
	p.Reset(nil)
	packers.Put(p)
}

// Documents yields the documents of a file of a backup. A yielded document is valid until the next one. After the
// last document it yields an error if the digest is not that of the manifest.
func (m *Manifest) Documents(dir string, x *Index, f *File) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		name := filepath.Join(dir, documentsFolder, cmp.Or(x.Folder, x.Name), f.Name)
		file, err := os.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			yield(nil, err)
			return
		}
		defer z.Close()
		var sum digest.Sum
		r := bufio.NewReaderSize(z, 1<<20)
		var long []byte
		for {
			line, err := r.ReadSlice('\n')
			if errors.Is(err, bufio.ErrBufferFull) {
				long = append(long, line...)
				continue
			}
			if errors.Is(err, io.EOF) && len(line)+len(long) == 0 {
				break
			}
			if long = append(long, line...); err == nil {
				var one digest.Sum
				one, err = digest.Of(long)
				sum.Add(one)
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", name, err))
				return
			}
			if !yield(bytes.TrimSuffix(long, []byte("\n")), nil) {
				return
			}
			long = long[:0]
		}
		if want, err := f.sum(); err != nil || want != sum {
			yield(nil, fmt.Errorf("%s: it has %s with the digest %s, want %d with %s; the file was damaged or changed", name, amount.Of(sum.Documents, "document"), sum, f.Documents, f.Digest))
		}
	}
}
