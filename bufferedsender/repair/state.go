package repair

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
)

// Store keeps the progress of the ranges of a comparison, and locks them. Its methods must be safe for concurrent use.
type Store interface {
	// Lock locks a range for this process, until unlock or the end of the process. ok is false if another process has it.
	Lock(ctx context.Context, name string) (unlock func() error, ok bool, err error)
	// Load returns the last saved state of a range, nil if there is none.
	Load(ctx context.Context, name string) ([]byte, error)
	// Save replaces the state atomically, and returns when it is durable.
	Save(ctx context.Context, name string, state []byte) error
}

// state is the saved state of a range.
type state struct {
	// Format is 1.
	Format int `json:"format"`
	// Of identifies the source and the index. States of older versions lack it.
	Of sides `json:"of,omitzero"`
	// Through is the last compared key. Done is set when the range is compared, Finished when the pass is over.
	Through  string    `json:"through,omitempty"`
	Done     bool      `json:"done,omitempty"`
	Finished time.Time `json:"finished,omitzero"`
	// Report has the counts so far.
	Report Report `json:"report"`
	// Spans have the differences, to be written when all ranges are compared and the guard has agreed. Cleared is set when
	// it has agreed; Charged is the number of surplus keys that it has counted, none with a negative AllowDeletes.
	// Overwrites are those counted and not yet made.
	Spans      []span `json:"spans,omitempty"`
	Cleared    bool   `json:"cleared,omitempty"`
	Charged    int64  `json:"charged,omitempty"`
	Overwrites int64  `json:"overwrites,omitempty"`
	// Surplus are keys to delete when all ranges are written. Beyond mostSurplus keys a comparison drops further ones; the
	// next pass finds them.
	Surplus []string `json:"surplus,omitempty"`
	// Rejected are the rows of the source that the service has rejected, by key.
	Rejected map[string]rejection `json:"rejected,omitempty"`
}

// span is the keys of a range greater than After and at most Through. Keys are those that differ. If they are not kept
// the span is scanned again.
type span struct {
	After   string   `json:"after,omitempty"`
	Through string   `json:"through"`
	Keys    []string `json:"keys,omitempty"`
}

// keep adds the differences of the next page.
func (s *state) keep(through string, found []difference) {
	if len(found) == 0 {
		return
	}
	kept, n := 0, len(s.Spans)
	for _, sp := range s.Spans {
		kept += len(sp.Keys)
	}
	switch {
	case kept+len(found) <= keysKept:
		s.Spans = append(s.Spans, span{s.Through, through, keysIn(found)})
	case n > 0 && s.Spans[n-1].Keys == nil && s.Spans[n-1].Through == s.Through:
		s.Spans[n-1].Through = through
	default:
		s.Spans = append(s.Spans, span{After: s.Through, Through: through})
	}
}

// mark identifies a state of a document.
type mark struct {
	Version int64  `json:"v,omitempty"`
	Digest  string `json:"d,omitempty"`
}

func markOf(r models.Row) mark { return mark{r.Version, r.Digest} }

// rejection is a rejected state of a document, and the time of its rejection.
type rejection struct {
	mark
	At time.Time `json:"at"`
}

const (
	// keysKept is how many differing keys are kept until they are written. Beyond it their spans are scanned again.
	keysKept = 20_000
	// mostRejected is how many rejected rows a range keeps. Others are tried once in each pass.
	mostRejected = 10_000
	// rejectedFor is how long a rejection is kept. Afterwards the definition of the index may have changed.
	rejectedFor = 24 * time.Hour
	// oldest is the age at which an interrupted pass starts over instead of resuming, because its results are outdated.
	oldest = 7 * 24 * time.Hour
)

// fresh resets the state for a new pass, except rejections.
func (s *state) fresh() {
	*s = state{Format: 1, Of: s.Of, Rejected: s.Rejected}
}

// load reads the state of a range. The state of another source or index is refused, because keys would be left out. If
// the same name stands for another file or index since, or for one with another definition, the pass starts over.
func load(ctx context.Context, store Store, name string, of sides) (*state, error) {
	s := &state{Format: 1}
	text, err := store.Load(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("load the state: %w", err)
	}
	if text != nil {
		if err := json.Unmarshal(text, s); err != nil {
			return nil, fmt.Errorf("the saved state: %w; delete it to start over", err)
		}
		if s.Format != 1 {
			return nil, fmt.Errorf("the saved state has format %d, this version reads 1; delete it to start over", s.Format)
		}
	}
	if err := s.Of.check(of); err != nil {
		return nil, err
	}
	if s.Of.replaced(of) {
		s.fresh()
		s.Rejected = nil
	}
	s.Of = s.Of.updated(of)
	if s.Rejected == nil {
		s.Rejected = make(map[string]rejection)
	}
	return s, nil
}

// sides identifies a source and an index, if they can be identified: by table or file, or by service and index name.
type sides struct {
	Source string `json:"source,omitempty"`
	Index  string `json:"index,omitempty"`
	// Database is that of the table. File is the state of the file, and ETag the version of the definition of the index.
	// They are "" if unknown.
	Database string `json:"database,omitempty"`
	File     string `json:"file,omitempty"`
	ETag     string `json:"etag,omitempty"`
}

func sidesOf(source Source, index Index) sides {
	name := func(of any) (text string) {
		switch x := of.(type) {
		case *SQLSource:
			return "table " + x.Table
		case *JSONL:
			return "file " + x.file.Name()
		}
		if named, ok := of.(models.IndexNamer); ok && named.IndexName() != "" {
			text = fmt.Sprintf("index %q", named.IndexName())
		}
		if at, ok := of.(models.EndpointNamer); ok && at.Endpoint() != "" {
			text += " at " + strings.TrimSuffix(strings.ToLower(at.Endpoint()), "/")
		}
		return text
	}
	of := sides{Source: name(source), Index: name(index)}
	if x, is := source.(*JSONL); is {
		of.File = fmt.Sprintf("%d bytes of %s", x.info.Size(), x.info.ModTime().UTC().Format(time.RFC3339Nano))
	}
	return of
}

// identify asks for the database and the definition, which a state has.
func (p *pass) identify(ctx context.Context, source Source, index Index) {
	if p.Store == (memory{}) {
		return
	}
	if x, is := source.(*SQLSource); is && x.check() == nil {
		p.of.Database, _ = answer(ctx, p.guard, "name of the database", func(ctx context.Context) (string, error) {
			return sqlkit.Place(ctx, x.DB), nil
		}) // the scan has the same error
	}
	if _, is := index.(models.IndexNamer); is { // without keys a search.Rows reads only its definition
		etag := new(string)
		if _, err := p.index.Lookup(wholeindex.Seeing(ctx, etag), nil); err == nil { // the scan has the same error
			p.of.ETag = *etag
		}
	}
}

// differ reports whether two identities are known and different.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// replaced reports whether a file or an index may have other content under the same name.
func (s sides) replaced(now sides) bool { return differ(s.File, now.File) || differ(s.ETag, now.ETag) }

// updated returns now, with what only s knows.
func (s sides) updated(now sides) sides {
	return sides{
		Source: cmp.Or(now.Source, s.Source), Index: cmp.Or(now.Index, s.Index),
		Database: cmp.Or(now.Database, s.Database), File: cmp.Or(now.File, s.File), ETag: cmp.Or(now.ETag, s.ETag),
	}
}

// check refuses the state of another source or index.
func (s sides) check(now sides) error {
	for _, side := range [][2]string{{s.Source, now.Source}, {s.Index, now.Index}, {s.Database, now.Database}} {
		if differ(side[0], side[1]) {
			return fmt.Errorf("the saved state is of %s, and this comparison of %s; set another Name or Store, or delete the state to start over", side[0], side[1])
		}
	}
	return nil
}

func (s *state) save(ctx context.Context, store Store, name string) error {
	maps.DeleteFunc(s.Rejected, func(_ string, r rejection) bool { return time.Since(r.At).Abs() > rejectedFor })
	if over := len(s.Rejected) - mostRejected; over > 0 {
		for _, key := range slices.Collect(maps.Keys(s.Rejected))[:over] {
			delete(s.Rejected, key)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := store.Save(ctx, name, text); err != nil {
		return fmt.Errorf("save the state: %w", err)
	}
	return nil
}

// FileStore keeps the state of each range in a file of a folder. Processes of one machine may share it.
type FileStore struct{ path string }

// NewFileStore returns a store in a folder, and creates the folder.
func NewFileStore(folder string) (*FileStore, error) {
	if folder == "" {
		return nil, errors.New("repair: NewFileStore: the name of the folder is empty")
	}
	if _, err := disk.Open(folder); err != nil { // makes it
		return nil, fmt.Errorf("repair: %w", err)
	}
	return &FileStore{folder}, nil
}

// file returns the file name of a range, without extension. A hash, because names of ranges have arbitrary characters.
func (f *FileStore) file(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// Lock implements Store.
func (f *FileStore) Lock(_ context.Context, name string) (unlock func() error, ok bool, err error) {
	unlock, err = disk.Lock(filepath.Join(f.path, f.file(name)+".lock"))
	if locked := (*disk.LockedError)(nil); errors.As(err, &locked) {
		return nil, false, nil
	}
	return unlock, err == nil, err
}

// Load implements Store.
func (f *FileStore) Load(_ context.Context, name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(f.path, f.file(name)+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// Save implements Store.
func (f *FileStore) Save(_ context.Context, name string, text []byte) error {
	folder, err := disk.Open(f.path)
	if err != nil {
		return err
	}
	name = f.file(name)
	return disk.Replace(folder, name+".new", name+".json", func(w *bufio.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// memory is the Store used by default. It keeps nothing.
type memory struct{}

func (memory) Lock(context.Context, string) (func() error, bool, error) {
	return func() error { return nil }, true, nil
}
func (memory) Load(context.Context, string) ([]byte, error) { return nil, nil }
func (memory) Save(context.Context, string, []byte) error   { return nil }
