// Package backup is for azsearch backup and restore: it writes definitions and documents of a service into a
// directory,
// and brings them back.
//
//	manifest.json                      what there is, by counts and digests; it is there when the backup is complete
//	definitions/indexes/hotels.json    as package definitions writes them, without secrets
//	documents/hotels/12.jsonl.zst      the documents of a range of keys
//	journal.jsonl                      of a backup that is under way, in the place of the manifest
//
// An index is read in ranges of its keys, several at a time. A range is read twice: the second pass compares what it
// finds with what was written, by a digest, and writes a range that differs again. So the backup has every change of
// retrievable fields that queries showed before the second pass came to the range, and is not of one moment.
//
// # After a crash
//
//	B1 write journal.jsonl with its header    no journal, or a whole one: the next run begins, or goes on
//	B2 write definitions                      the journal: they are written again, of the same service
//	B3 write a file of documents, sync it     the file has a temporary name, and is removed by the next run
//	B4 rename it                              it has a name that no line of the journal has: removed as well
//	B5 append a line to the journal, sync it  a part of the line is cut off; with all of it the range is done
//	B6 write manifest.json                    no manifest, or a whole one: with it the backup is complete
//	B7 remove journal.jsonl                   both are there: the manifest counts
//
// A range is read again unless its line is there, so there is no gap, and at most the ranges that were being read are
// read twice. The name of a file is never used again, so a line never means another file than the one it was
// written of.
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

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/digest"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Options say what a backup takes.
type Options struct {
	Service   *connect.Service
	Dir       string
	Patterns  []string // of indexes; none: everything that the service has
	InFlight  int      // ranges that are read at once
	Passes    int      // 1 or 2
	Partial   bool     // go on where not all documents can be reached
	RangeSize int      // documents; 0: keyrange.Size
	Say       func(format string, args ...any)
}

// Backup is a backup at work.
type Backup struct {
	Options
	folder  disk.Folder // of Dir
	set     definitions.Set
	indexes []*source
	journal *journal
	release func() error // of the lock
	seed    maphash.Seed // of File.text

	Read  atomic.Int64 // documents, in both passes
	Total atomic.Int64 // that will be read, by the count of the service
}

// source is one index of a backup.
type source struct {
	*keyrange.Index
	name  string
	count int64
	seen  []string // what cannot come along, in words
}

// Begin reads the definitions, says what cannot come along, and makes or opens the directory. Run does the rest.
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

var errTaken = errors.New("another process has the directory")

// free returns an error if the directory has a backup that is complete.
func (b *Backup) free() error {
	if _, err := os.Stat(filepath.Join(b.Dir, manifestName)); err == nil {
		return fmt.Errorf("%s holds a complete backup; name another directory", b.Dir)
	}
	return nil
}

// Select returns the indexes whose names match one of the patterns, with the synonym maps and aliases that belong to
// them; everything if there is no pattern.
func Select(set definitions.Set, patterns []string) (definitions.Set, error) {
	if len(patterns) == 0 {
		return set, nil
	}
	taken, synonyms := map[string]bool{}, map[string]bool{}
	for _, pattern := range patterns {
		found := false
		for _, d := range set.Of(definitions.Indexes) {
			matches, err := path.Match(pattern, d.Name)
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
			return nil, fmt.Errorf("-index %s: no index has such a name", pattern)
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

// plan finds out what of each index can be read, and says what cannot.
func (b *Backup) plan(ctx context.Context) error {
	var unreachable []string
	for _, d := range b.set {
		for _, s := range d.Secrets {
			b.Say("left out: secret %s of %s; restore takes it from %s", s.Path, &d, s.Variable)
		}
		if d.Kind != definitions.Indexes {
			continue
		}
		x, err := open(b.Service, &d)
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
			s.seen = append(s.seen, fmt.Sprintf("%d of %d documents: %s", s.count-reached, s.count, x.Unscannable))
			b.Say("index %s: %s, so paging is the only way to its documents: %s of %s can be reached", d.Name, x.Unscannable, humanize.Comma(reached), humanize.Comma(s.count))
			if reached < s.count {
				unreachable = append(unreachable, d.Name)
			}
		}
		if x.Trimmed { // it is refused now if it is refused at all
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
		return exit.With(exit.Incomplete, fmt.Errorf("nothing was written: not all documents of %s can be reached; use -partial to back up the rest, or -index to choose others", strings.Join(unreachable, ", ")))
	}
	b.Say("a change made meanwhile is in the backup if queries show it before the last pass comes to its range of keys; passes: %d", b.Passes)
	return nil
}

// open returns an index by its definition in a set.
func open(service *connect.Service, d *definitions.Definition) (*keyrange.Index, error) {
	var definition models.SearchIndex
	if err := json.Unmarshal(d.JSON, &definition); err != nil {
		return nil, fmt.Errorf("%s: %w", d, err)
	}
	client, err := service.Client(d.Name)
	if err != nil {
		return nil, err
	}
	return keyrange.Of(client, &definition, search.Filter{}, nil)
}

// Run writes the backup, and returns its manifest.
func (b *Backup) Run(ctx context.Context) (m *Manifest, err error) {
	defer func() {
		err = errors.Join(interrupted(ctx, err, "run it again to continue"), b.journal.file.Close(), b.release())
	}()
	if n := len(b.journal.entries); n > 0 {
		b.Say("continuing: %d ranges are written", n)
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
			b.Say("second pass: %d ranges had changed, and were written again", changed)
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

// interrupted gives the end of a context its exit code.
func interrupted(ctx context.Context, err error, again string) error {
	if err != nil && ctx.Err() != nil {
		return exit.With(exit.Interrupted, fmt.Errorf("interrupted; %s", again))
	}
	return err
}

// unchanged compares the definitions with those that the backup has.
func (b *Backup) unchanged(ctx context.Context) error {
	set, err := definitions.Read(ctx, b.Service, definitions.Indexes)
	if err != nil {
		return err
	}
	for _, s := range b.indexes {
		now := set.Find(definitions.Indexes, s.name)
		if now == nil || string(now.JSON) != string(b.set.Find(definitions.Indexes, s.name).JSON) {
			return exit.With(exit.Incomplete, fmt.Errorf("the definition of index %s changed during the backup; remove %s and begin again", s.name, b.Dir))
		}
	}
	return nil
}

// pass reads the ranges of an index that have not been read in this pass, and returns how many differed.
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

// gaps returns the ranges that are not in the journal yet.
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

// same reads a range, and reports whether it has the documents of an entry: by their text if this process has written
// them, which takes a tenth of the time of a digest.
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

// export writes the documents of a range into a file, and notes it.
func (b *Backup) export(ctx context.Context, s *source, r keyrange.Range, pass int) error {
	e := File{Index: s.name, Pass: pass, Range: r, Name: b.journal.name()}
	folder, err := disk.Open(filepath.Join(b.Dir, documentsFolder, s.name))
	if err != nil {
		return exit.With(exit.Incomplete, err)
	}
	var unique map[string]bool // where paging might return one twice
	if s.Unscannable != "" {
		unique = map[string]bool{}
	}
	var text maphash.Hash
	text.SetSeed(b.seed)
	var sum digest.Sum
	var read error                                                                  // of the service
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
					err = fmt.Errorf("index %s: paging returned %q twice, as documents changed meanwhile; stop the writers, and run it again", s.name, key)
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
	if unique == nil { // paging has no order
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
