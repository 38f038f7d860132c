package repair

import (
	"bufio"
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
	"github.com/go-azsearch/azsearch/models"
)

// Store keeps how far the ranges of a comparison are, and which of them a process has. Its methods are called by
// several goroutines at once.
type Store interface {
	// Lock takes a range for this process. ok is false if another one has it. It is held until unlock, or until the
	// process ends.
	Lock(ctx context.Context, name string) (unlock func() error, ok bool, err error)
	// Load returns what Save was given last for the range, nil if there is nothing.
	Load(ctx context.Context, name string) ([]byte, error)
	// Save replaces it, all or nothing, and returns when it is durable.
	Save(ctx context.Context, name string, state []byte) error
}

// state is what is kept of a range.
type state struct {
	// Format is 1.
	Format int `json:"format"`
	// Of says of which source and index it is. A version before this one did not.
	Of sides `json:"of,omitzero"`
	// Through is the last key of the pages that were compared; Done says that all were, Finished when the pass was over.
	Through  string    `json:"through,omitempty"`
	Done     bool      `json:"done,omitempty"`
	Finished time.Time `json:"finished,omitzero"`
	// Report is what has been counted so far.
	Report Report `json:"report"`
	// Spans are what has differences, and is written when all was compared and the guard has agreed: it has then counted
	// Charged surplus keys, and Cleared is set.
	Spans   []span `json:"spans,omitempty"`
	Cleared bool   `json:"cleared,omitempty"`
	Charged int64  `json:"charged,omitempty"`
	// Surplus are keys to delete when all ranges are done. There may be more: then none is.
	Surplus []string `json:"surplus,omitempty"`
	// Rejected are rows of the source that the service has rejected.
	Rejected map[string]rejection `json:"rejected,omitempty"`
}

// span is a part of a range: the keys behind After, up to and with Through. Keys are those that differ, if they are
// kept; otherwise the span is scanned again.
type span struct {
	After   string   `json:"after,omitempty"`
	Through string   `json:"through"`
	Keys    []string `json:"keys,omitempty"`
}

// keep adds what differs in the next page.
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

// mark is what tells one state of a document from another.
type mark struct {
	Version int64  `json:"v,omitempty"`
	Digest  string `json:"d,omitempty"`
}

func markOf(r models.Row) mark { return mark{r.Version, r.Digest} }

// rejection is what the service has rejected, and when.
type rejection struct {
	mark
	At time.Time `json:"at"`
}

const (
	// keysKept is how many keys that differ are kept until they are written. Where there are more they are found again.
	keysKept = 20_000
	// mostRejected is how many rejected rows a range remembers. What is forgotten is tried once in each pass.
	mostRejected = 10_000
	// rejectedFor is how long they are remembered: the definition of the index may have changed.
	rejectedFor = 24 * time.Hour
	// oldest is how old a pass may be that is gone on with. Otherwise it begins anew: what it has seen says little
	// any more.
	oldest = 7 * 24 * time.Hour
)

// fresh begins a new pass; what was rejected stays.
func (s *state) fresh() {
	*s = state{Format: 1, Of: s.Of, Rejected: s.Rejected}
}

// load reads the state of a range. Of a pass that was finished only what was rejected is kept.
// The state of another source or index is refused: with it keys would be left out.
func load(ctx context.Context, store Store, name string, of sides) (*state, error) {
	s := &state{Format: 1}
	text, err := store.Load(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("load the state: %w", err)
	}
	if text != nil {
		if err := json.Unmarshal(text, s); err != nil {
			return nil, fmt.Errorf("the state that was saved: %w: remove it to begin anew", err)
		}
		if s.Format != 1 {
			return nil, fmt.Errorf("the state that was saved has format %d, and this program knows 1: remove it to begin anew", s.Format)
		}
	}
	if err := s.Of.check(of); err != nil {
		return nil, err
	}
	s.Of = of
	if s.Rejected == nil {
		s.Rejected = make(map[string]rejection)
	}
	return s, nil
}

// sides are a source and an index, as far as they say which they are: a table, a file, or the service and the name.
type sides struct {
	Source string `json:"source,omitempty"`
	Index  string `json:"index,omitempty"`
}

func sidesOf(source Source, index Index) sides {
	name := func(of any) (text string) {
		switch x := of.(type) {
		case *SQLSource:
			return "table " + x.Table
		case *JSONL:
			path, err := filepath.Abs(x.file.Name())
			if err != nil {
				path = x.file.Name()
			}
			return "file " + path
		}
		if named, ok := of.(models.IndexNamer); ok && named.IndexName() != "" {
			text = fmt.Sprintf("index %q", named.IndexName())
		}
		if at, ok := of.(models.EndpointNamer); ok && at.Endpoint() != "" {
			text += " at " + strings.TrimSuffix(strings.ToLower(at.Endpoint()), "/")
		}
		return text
	}
	return sides{name(source), name(index)}
}

// check refuses to take what is known of one for another.
func (s sides) check(now sides) error {
	for _, side := range [][2]string{{s.Source, now.Source}, {s.Index, now.Index}} {
		if side[0] != "" && side[1] != "" && side[0] != side[1] {
			return fmt.Errorf("the state that was saved is of %s, and this comparison of %s: give it another Name or Store, or remove the state to begin again", side[0], side[1])
		}
	}
	return nil
}

func (s *state) save(ctx context.Context, store Store, name string) error {
	maps.DeleteFunc(s.Rejected, func(_ string, r rejection) bool { return time.Since(r.At) > rejectedFor })
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

// FileStore keeps the state of each range in a file of a folder, which it makes. Processes of one machine may share it.
type FileStore struct{ path string }

// NewFileStore returns a store in a folder.
func NewFileStore(folder string) (*FileStore, error) {
	if folder == "" {
		return nil, errors.New("repair: NewFileStore: the name of the folder is empty")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("repair: %w", err)
	}
	return &FileStore{folder}, nil
}

// file returns the name of the file of a range. Ranges may have any names.
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

// memory is the store of who has none.
type memory struct{}

func (memory) Lock(context.Context, string) (func() error, bool, error) {
	return func() error { return nil }, true, nil
}
func (memory) Load(context.Context, string) ([]byte, error) { return nil, nil }
func (memory) Save(context.Context, string, []byte) error   { return nil }
