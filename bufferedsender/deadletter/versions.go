package deadletter

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unique"

	"github.com/go-azsearch/azsearch/models"
)

// versions knows the dead letters of a File that have a version. When a newer version of their key is applied they are
// marked in their journal, so that no Replay puts them over it. The first applied version fills it.
type versions struct {
	mu     sync.Mutex // may be taken with File.mu held; not the other way round
	loaded bool
	by     map[document][]versioned
	in     map[string][]document // by stem

	late atomic.Bool // some marks are not durable
}

// document identifies the document of a dead letter, except for its service.
type document struct{ index, key string }

// versioned is a dead letter with a version.
type versioned struct {
	stem     string
	n        int64
	endpoint string
	version  int64
	newest   int64 // the highest version that is known to be applied, or 0
}

// outdates marks a dead letter as outdated by a version.
type outdates struct {
	stem string
	newer
}

// applied records that versions of documents are applied: Endpoint, Index, Key and Version of each. Dead letters of
// these keys with an older version are outdated from then on. After an error only this File knows, or some files could
// not be read. The caller does not have the lock.
func (f *File) applied(letters []Letter) error {
	err := f.load()
	marks := f.versions.outdate(letters)
	if len(marks) == 0 && !f.versions.late.Load() {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed && f.walk == nil {
		return ErrClosed
	}
	return errors.Join(err, f.mark(marks))
}

// mark makes marks durable, and those that did not fit on a full disk before. The caller has the lock.
func (f *File) mark(marks []outdates) error {
	if f.unmarked == nil {
		f.unmarked = make(map[string]entry)
	}
	for _, m := range marks {
		f.unmarked[m.stem] = entry{Newer: []newer{m.newer}}.after(f.unmarked[m.stem])
	}
	var errs []error
	for _, stem := range slices.Sorted(maps.Keys(f.unmarked)) {
		if _, there := f.sizes[stem]; there {
			if err := f.record(stem, f.unmarked[stem]); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		delete(f.unmarked, stem)
	}
	f.versions.late.Store(len(f.unmarked) > 0)
	return errors.Join(errs...)
}

// load reads the dead letters that have a version, once.
func (f *File) load() error {
	if f.versions.isLoaded() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.versions.isLoaded() {
		return nil
	}
	var errs []error
	fresh := &versions{by: make(map[document][]versioned), in: make(map[string][]document)}
	for _, stem := range slices.Sorted(maps.Keys(f.sizes)) {
		j, err := readJournal(f.dir, stem)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for l, err := range linesIn(f.dir, stem) {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			if err != nil || !bytes.Contains(l.raw, []byte(`"version"`)) {
				continue // most lines are not parsed
			}
			if r, there, err := l.record(stem, &j); err == nil && there && r.Version != 0 {
				fresh.add(&r.Letter, outdates{stem, newer{r.N, r.Newer}})
			}
		}
	}
	f.versions.mu.Lock()
	defer f.versions.mu.Unlock()
	f.versions.loaded, f.versions.by, f.versions.in = true, fresh.by, fresh.in
	return errors.Join(errs...)
}

func (v *versions) isLoaded() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.loaded
}

// add adds a dead letter. The caller has the lock.
func (v *versions) add(l *Letter, at outdates) {
	d := document{unique.Make(l.Index).Value(), strings.Clone(l.Key)} // which may be a part of something large
	v.by[d] = append(v.by[d], versioned{at.stem, at.N, unique.Make(l.Endpoint).Value(), l.Version, at.Version})
	v.in[at.stem] = append(v.in[at.stem], d)
}

// written adds new dead letters of a file, numbered from first, and returns those that are outdated already.
func (v *versions) written(stem string, first int64, letters []Letter) (marks []outdates) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.loaded {
		return nil
	}
	for i := range letters {
		l := &letters[i]
		if l.Version == 0 {
			continue
		}
		at := outdates{stem, newer{first + int64(i), 0}}
		here := models.SenderInfo{Endpoint: l.Endpoint}
		for _, older := range v.by[document{l.Index, l.Key}] {
			if older.newest > l.Version && here.At(older.endpoint) {
				at.Version = max(at.Version, older.newest)
			}
		}
		if v.add(l, at); at.Version != 0 {
			marks = append(marks, at)
		}
	}
	return marks
}

// outdate records applied versions, and returns the dead letters that are outdated for the first time.
func (v *versions) outdate(applied []Letter) (marks []outdates) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range applied {
		l := &applied[i]
		all := v.by[document{l.Index, l.Key}]
		if len(all) == 0 {
			continue
		}
		here := models.SenderInfo{Endpoint: l.Endpoint}
		for j := range all {
			a := &all[j]
			if a.newest >= l.Version || !here.At(a.endpoint) {
				continue
			}
			if a.newest <= a.version && a.version < l.Version {
				marks = append(marks, outdates{a.stem, newer{a.n, l.Version}})
			}
			a.newest = l.Version
		}
	}
	return marks
}

// newest returns the highest version of the document of a dead letter that is known to be applied, or 0.
func (v *versions) newest(d document, stem string, n int64) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range v.by[d] {
		if a.stem == stem && a.n == n {
			return a.newest
		}
	}
	return 0
}

// prune drops dead letters of a file: those done, or all without a journal.
func (v *versions) prune(stem string, j *journal) {
	v.mu.Lock()
	defer v.mu.Unlock()
	all, known := v.in[stem]
	if !known {
		return
	}
	var rest []document
	for _, d := range all {
		left := slices.DeleteFunc(v.by[d], func(a versioned) bool {
			if a.stem != stem {
				return false
			}
			if j == nil {
				return true
			}
			_, done := j.done[a.n]
			return done
		})
		if len(left) == 0 {
			delete(v.by, d)
			continue
		}
		v.by[d] = left
		if slices.ContainsFunc(left, func(a versioned) bool { return a.stem == stem }) {
			rest = append(rest, d)
		}
	}
	if v.in[stem] = rest; rest == nil {
		delete(v.in, stem)
	}
}
