// Package backup implements azsearch backup and restore. A backup is a directory:
//
//	manifest.json                      indexes, counts and digests; exists only if the backup is complete
//	definitions/indexes/hotels.json    written by package definitions, without secrets
//	documents/hotels/12.jsonl.zst      the documents of one key range
//	journal.jsonl                      in an incomplete backup, instead of the manifest
//
// An index is read in key ranges, several concurrently, with as many queries as package connect allows. With two
// passes each range is read twice: the second pass compares the documents with the written file, and writes the range
// again if they differ. So a backup contains every change of retrievable fields that queries showed before the last
// pass reached the range. It is not a snapshot of one moment.
//
// # After a crash
//
//	B1 write journal.jsonl with its header    no journal, or a complete one: the next run starts or continues
//	B2 write definitions                      a journal: the next run writes the definitions again
//	B3 write a file of documents, sync it     a file with a temporary name: the next run removes it
//	B4 rename it                              a file that no journal line names: the next run removes it
//	B5 append a line to the journal, sync it  a partial line is cut off; after a complete line the range is done
//	B6 write manifest.json                    no manifest, or a complete one: then the backup is complete
//	B7 remove journal.jsonl                   manifest and journal: the manifest counts
//
// A range without a journal line is read again, so no range is missing; at most the ranges in progress are read
// twice. File names are never reused, so a journal line always names the file it was written for.
package backup

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/digest"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Options are the settings of a backup.
type Options struct {
	Service   *connect.Service
	Dir       string
	Patterns  []string // of index names; none: all definitions of the service
	InFlight  int      // most ranges read concurrently
	Passes    int      // 1 or 2
	Partial   bool     // continue even if some documents cannot be read
	RangeSize int      // in documents; 0: keyrange.Size
	Say       func(format string, args ...any)
}

// Backup is a running backup.
type Backup struct {
	Options
	folder  disk.Folder // of Dir
	set     definitions.Set
	indexes []*source
	journal *journal
	release func() error // unlocks the directory
	seed    maphash.Seed // for File.text

	Read  atomic.Int64 // documents, over both passes
	Total atomic.Int64 // documents to read over all passes, as counted by the service at the start
}

// source is one index in a backup.
type source struct {
	*keyrange.Index
	name  string
	count int64
	seen  []string // what the backup leaves out, for the manifest
}

// Begin reads the definitions, reports what the backup will leave out, and creates or opens the directory. Run
// writes the backup.
func Begin(ctx context.Context, o Options) (_ *Backup, err error) {
	b := &Backup{Options: o, seed: maphash.MakeSeed()}
	if b.RangeSize == 0 {
		b.RangeSize = keyrange.Size
	}
	if err := b.free(); err != nil {
		return nil, err
	}
	if b.set, err = definitions.Read(ctx, b.Service); err != nil {
		return nil, err
	}
	if b.set, err = Select(b.set, b.Patterns); err != nil {
		return nil, err
	}
	if err := b.plan(ctx); err != nil {
		return nil, err
	}
	b.release, err = disk.OpenLocked(b.Dir, lockName, errTaken, func(folder disk.Folder) (err error) {
		if err := b.free(); err != nil {
			return err
		}
		b.folder = folder
		b.journal, err = openJournal(folder, b.header())
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

var errTaken = errors.New("another process uses the directory")

// free returns an error if the directory has a complete backup.
func (b *Backup) free() error {
	if _, err := os.Stat(filepath.Join(b.Dir, manifestName)); err == nil {
		return fmt.Errorf("%s holds a complete backup; name another directory", b.Dir)
	}
	return nil
}

var errNoMatch = errors.New("no index matches")

// Select returns the indexes that match at least one pattern, with their synonym maps and aliases. The name of an alias
// is a pattern for its index. Without patterns it returns the whole set. A pattern without a match is an error.
func Select(set definitions.Set, patterns []string) (definitions.Set, error) {
	if len(patterns) == 0 {
		return set, nil
	}
	taken, synonyms, aliased := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, d := range set.Of(definitions.Aliases) {
		var alias models.Alias
		if json.Unmarshal(d.JSON, &alias) == nil && len(alias.Indexes) == 1 {
			aliased[d.Name] = alias.Indexes[0]
		}
	}
	for _, pattern := range patterns {
		found := false
		for _, d := range set.Of(definitions.Indexes) {
			matches, err := path.Match(pattern, d.Name)
			matches = matches || aliased[pattern] == d.Name
			if err != nil {
				return nil, fmt.Errorf("-index %q: %w", pattern, err)
			}
			if matches {
				found, taken[d.Name] = true, true
				var index models.SearchIndex
				if err := json.Unmarshal(d.JSON, &index); err != nil {
					return nil, fmt.Errorf("%s: %w", &d, err)
				}
				for _, f := range index.Fields {
					for _, name := range f.SynonymMaps {
						synonyms[name] = true
					}
				}
			}
		}
		if !found {
			names := []string{}
			for _, d := range set.Of(definitions.Indexes) {
				names = append(names, d.Name)
			}
			if len(names) > 20 {
				names = append(names[:20], "…")
			}
			return nil, fmt.Errorf("-index %s: %w; there are: %s", pattern, errNoMatch, strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(set), func(d definitions.Definition) bool {
		switch d.Kind {
		case definitions.Indexes:
			return !taken[d.Name]
		case definitions.SynonymMaps:
			return !synonyms[d.Name]
		case definitions.Aliases:
			var alias models.Alias
			return json.Unmarshal(d.JSON, &alias) != nil || len(alias.Indexes) != 1 || !taken[alias.Indexes[0]]
		}
		return true
	}), nil
}

// plan opens each index and reports secrets, fields and documents that the backup will leave out.
func (b *Backup) plan(ctx context.Context) error {
	var unreachable []string
	for _, d := range b.set {
		for _, s := range d.Secrets {
			b.Say("left out: secret %s of %s; restore takes it from %s", s.Path, &d, s.Variable)
		}
		if d.Kind != definitions.Indexes {
			continue
		}
		x, err := keyrange.Open(b.Service, &d, search.Filter{}, nil)
		if err != nil {
			return err
		}
		s := &source{Index: x, name: d.Name}
		if s.count, err = x.Count(ctx); err != nil {
			return connect.Failed(err)
		}
		for _, field := range x.Hidden {
			s.seen = append(s.seen, "field "+field)
			b.Say("left out: index %s: values of field %s, which the service does not return", d.Name, field)
		}
		if x.Unscannable != "" {
			reached := min(s.count, keyrange.Paged)
			s.seen = append(s.seen, fmt.Sprintf("%s of %s: %s", humanize.Comma(s.count-reached), amount.Of(s.count, "document"), x.Unscannable))
			b.Say("index %s: %s, so only paging can read its documents, which reaches %s of %s", d.Name, x.Unscannable, humanize.Comma(reached), humanize.Comma(s.count))
			if reached < s.count {
				unreachable = append(unreachable, d.Name)
			}
		}
		if x.Trimmed { // fail now if elevated reads are refused
			for _, err := range x.Documents(keyrange.Whole(ctx), keyrange.Range{}) {
				if err != nil {
					return connect.Failed(err)
				}
				break
			}
		}
		b.Total.Add(s.count * int64(b.Passes))
		b.indexes = append(b.indexes, s)
	}
	if len(unreachable) > 0 && !b.Partial {
		return exit.With(exit.Incomplete, fmt.Errorf("nothing was written: some documents of %s cannot be read; use -partial to back up the rest, or -index to choose others", strings.Join(unreachable, ", ")))
	}
	b.Say("changes made during the backup are included if queries show them before the last pass reads their key range; passes: %d", b.Passes)
	return nil
}

// Run writes the backup, and returns its manifest.
func (b *Backup) Run(ctx context.Context) (m *Manifest, err error) {
	defer func() {
		err = errors.Join(interrupted(ctx, err, "run it again to continue"), b.journal.file.Close(), b.release())
	}()
	if n := len(b.journal.entries); n > 0 {
		b.Say("continuing; written already: %s", amount.Of(n, "key range"))
	}
	if err := os.RemoveAll(filepath.Join(b.Dir, definitionsFolder)); err != nil {
		return nil, exit.With(exit.Incomplete, err)
	}
	if err := b.set.Write(filepath.Join(b.Dir, definitionsFolder)); err != nil { // B2
		return nil, exit.With(exit.Incomplete, err)
	}
	for pass := 1; pass <= b.Passes; pass++ {
		changed := 0
		for _, s := range b.indexes {
			n, err := b.pass(keyrange.Whole(ctx), s, pass)
			if err != nil {
				return nil, err
			}
			changed += n
		}
		if pass > 1 {
			b.Say("second pass: %s had changed, written again", amount.Of(changed, "key range"))
		}
	}
	if err := b.unchanged(ctx); err != nil {
		return nil, err
	}
	if m, err = b.journal.complete(b); err != nil {
		return nil, exit.With(exit.Incomplete, err)
	}
	return m, nil
}

// interrupted replaces err by an error with the exit code Interrupted if ctx has ended.
func interrupted(ctx context.Context, err error, again string) error {
	if err != nil && ctx.Err() != nil {
		return exit.With(exit.Interrupted, fmt.Errorf("interrupted; %s", again))
	}
	return err
}

// unchanged returns an error if the definition of an index differs from the one in the backup.
func (b *Backup) unchanged(ctx context.Context) error {
	set, err := definitions.Read(ctx, b.Service, definitions.Indexes)
	if err != nil {
		return err
	}
	for _, s := range b.indexes {
		now := set.Find(definitions.Indexes, s.name)
		if now == nil || string(now.JSON) != string(b.set.Find(definitions.Indexes, s.name).JSON) {
			return exit.With(exit.Incomplete, fmt.Errorf("the definition of index %s changed during the backup; remove %s and start over", s.name, b.Dir))
		}
	}
	return nil
}

// pass reads the ranges of an index that this pass has not read yet. It returns the number of ranges that the second
// pass wrote again.
func (b *Backup) pass(ctx context.Context, s *source, pass int) (changed int, err error) {
	if pass == 1 {
		return 0, keyrange.Each(ctx, b.InFlight, b.gaps(ctx, s), func(ctx context.Context, r keyrange.Range) error {
			return b.export(ctx, s, r, pass)
		})
	}
	var differed atomic.Int64
	err = keyrange.Each(ctx, b.InFlight, b.journal.before(s.name, pass), func(ctx context.Context, e File) error {
		same, err := b.same(ctx, s, e)
		if err != nil {
			return err
		}
		if same {
			e.Pass = pass
			return b.journal.note(e)
		}
		differed.Add(1)
		return b.export(ctx, s, e.Range, pass)
	})
	return int(differed.Load()), err
}

// gaps returns the ranges that are not in the journal, split to RangeSize.
func (b *Backup) gaps(ctx context.Context, s *source) iter.Seq2[keyrange.Range, error] {
	return func(yield func(keyrange.Range, error) bool) {
		for _, gap := range b.journal.gaps(s.name) {
			for r, err := range s.Split(ctx, gap, b.RangeSize) {
				if !yield(r, connect.Failed(err)) {
					return
				}
			}
		}
	}
}

// same reads a range and reports whether its documents equal those of an entry. If this process wrote the file, it
// compares hashes of the text, which takes a tenth of the time of a digest.
func (b *Backup) same(ctx context.Context, s *source, e File) (bool, error) {
	var text maphash.Hash
	text.SetSeed(b.seed)
	var sum digest.Sum
	for document, err := range s.Documents(ctx, e.Range) {
		if err != nil {
			return false, connect.Failed(err)
		}
		if _, err := text.Write(document); err != nil {
			return false, err
		}
		if e.text == 0 {
			one, err := digest.Of(document)
			if err != nil {
				return false, err
			}
			sum.Add(one)
		}
		b.Read.Add(1)
	}
	if e.text != 0 {
		return e.text == text.Sum64(), nil
	}
	known, err := e.sum()
	return err == nil && known == sum, nil
}

// export writes the documents of a range to a file, and appends a journal entry.
func (b *Backup) export(ctx context.Context, s *source, r keyrange.Range, pass int) error {
	e := File{Index: s.name, Pass: pass, Range: r, Name: b.journal.name()}
	folder, err := disk.Open(filepath.Join(b.Dir, documentsFolder, s.name))
	if err != nil {
		return exit.With(exit.Incomplete, err)
	}
	var unique map[string]bool // keys seen; only with paging, which may return a document twice
	if s.Unscannable != "" {
		unique = map[string]bool{}
	}
	var text maphash.Hash
	text.SetSeed(b.seed)
	var sum digest.Sum
	var read error                                                                  // an error of the service
	err = disk.Replace(folder, e.Name+".tmp", e.Name, func(w *bufio.Writer) error { // B3, B4
		out := newPacker(w)
		defer out.free()
		for document, err := range s.Documents(ctx, r) {
			if err != nil {
				read = connect.Failed(err)
				return read
			}
			if unique != nil {
				key, err := s.KeyOf(document)
				if err == nil && unique[key] {
					err = fmt.Errorf("index %s: paging returned %q twice, because documents changed meanwhile; stop the writers and run it again", s.name, key)
				}
				if err != nil {
					return err
				}
				unique[key] = true
			}
			one, err := digest.Of(document)
			if err != nil {
				return err
			}
			sum.Add(one)
			if _, err := text.Write(document); err != nil {
				return err
			}
			e.Bytes += int64(len(document)) + 1
			if err := out.write(document); err != nil {
				return err
			}
			b.Read.Add(1)
		}
		return out.Close()
	})
	if read != nil {
		return read
	}
	e.Documents, e.Digest = sum.Documents, sum.String()
	if unique == nil { // paging has no stable order, so the text hash could differ
		e.text = text.Sum64()
	}
	if err == nil {
		err = b.journal.note(e) // B5
	}
	return exit.With(exit.Incomplete, err)
}

// header identifies the backup that a journal belongs to.
func (b *Backup) header() Manifest {
	m := Manifest{Format: formatVersion, Endpoint: b.Service.Endpoint(), APIVersion: cmp.Or(b.Service.APIVersion, search.DefaultAPIVersion), Started: time.Now().UTC().Truncate(time.Second), Passes: b.Passes}
	for _, s := range b.indexes {
		d := b.set.Find(definitions.Indexes, s.name)
		m.Indexes = append(m.Indexes, Index{Name: s.name, Key: s.Key(), Definition: fingerprint(d.JSON), LeftOut: s.seen})
	}
	return m
}
