package deadletter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// walk goes over all files that were there when it began. It alone removes and
// rewrites files.
type walk struct {
	f      *File
	ctx    context.Context // ended by Close too
	cancel context.CancelCauseFunc
	stems  []string
	ended  chan struct{}
	// owed are, by stem, the entries for which the disk has no room. Other files may make some.
	owed   map[string]entry
	unsure string // stem of a file of which what is owed was there when the walk began
}

// beginWalk seals what there is. The caller calls end.
func (f *File) beginWalk(ctx context.Context) (*walk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, ErrClosed
	case f.walk != nil:
		return nil, ErrBusy
	}
	stems, err := f.sealed()
	if err != nil {
		return nil, err
	}
	p := &walk{f: f, stems: stems, ended: make(chan struct{}), owed: make(map[string]entry)}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	f.walk = p
	return p, nil
}

func (p *walk) end() {
	p.cancel(nil)
	p.f.mu.Lock()
	p.f.walk = nil
	p.f.mu.Unlock()
	close(p.ended)
}

// err says why the walk must end early, if it must.
func (p *walk) err() error { return context.Cause(p.ctx) }

// journal returns what has become of the letters of a file, for certain: what
// was not written by this File, or was followed by a failure, may be in memory
// only. If letters were sent because an older one is done, and a crash brought
// that one back, it would be sent after them.
func (p *walk) journal(stem string) (journal, error) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	j, err := readJournal(p.f.dir, stem)
	if err == nil && !j.empty() && p.f.journals[stem] == 0 {
		err = p.f.record(stem, entry{}) // which repeats what is there
		if disk.Full(err) {
			p.owed[stem], p.unsure, err = j.entry(), stem, nil
		}
	}
	return j, err
}

// record makes an entry durable, and adds it to j. If the disk is full the walk owes it, and
// the file may still be rewritten, or removed.
func (p *walk) record(stem string, j *journal, e entry) error {
	if len(e.Done)+len(e.Again) == 0 {
		return nil
	}
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	j.add(e)
	return p.pay(stem, e)
}

// pay records an entry, and what is owed of its file. The caller has the lock.
func (p *walk) pay(stem string, e entry) error {
	before := p.owed[stem]
	e.Done, e.Again = append(before.Done, e.Done...), append(before.Again, e.Again...)
	if len(e.Done)+len(e.Again) == 0 {
		delete(p.owed, stem)
		return nil
	}
	err := p.f.record(stem, e)
	if disk.Full(err) {
		p.owed[stem] = e
		return nil
	}
	if err == nil {
		delete(p.owed, stem)
	}
	return err
}

// owes reports whether something of a file is not recorded.
func (p *walk) owes(stem string) bool { _, owes := p.owed[stem]; return owes }

// settle tries again what the full disk had no room for, now that files were removed, and
// returns how many letters are still there that are done.
func (p *walk) settle() (left int, err error) {
	var errs []error
	for _, stem := range slices.Sorted(maps.Keys(p.owed)) {
		e := p.owed[stem]
		p.f.mu.Lock()
		err := p.pay(stem, entry{})
		p.f.mu.Unlock()
		if err = errors.Join(err, p.rewrite(stem)); err == nil && p.owes(stem) {
			err = fmt.Errorf("cannot record the outcome of dead letters: %w; make room on the disk", syscall.ENOSPC)
		}
		if p.owes(stem) {
			left += len(e.Done)
		}
		errs = append(errs, err)
	}
	return left, errors.Join(errs...)
}

// rewrite leaves in a file only what its journal leaves, and then removes the
// journal. Whatever happens in between, and if it fails, the letters are the
// same before and after.
func (p *walk) rewrite(stem string) error {
	p.f.mu.Lock()
	_, there := p.f.sizes[stem]
	entries := p.f.journals[stem]
	p.f.mu.Unlock()
	if !there {
		return nil
	}
	j, err := readJournal(p.f.dir, stem)
	if err == nil && p.owes(stem) {
		j.add(p.owed[stem])
	}
	if err != nil || j.empty() {
		return err
	}
	size, err := p.copyRest(stem, &j)
	if errors.Is(err, errNotRewritten) {
		return nil
	}
	if disk.Full(err) { // settle tries again
		if !p.owes(stem) {
			p.owed[stem] = entry{}
		}
		return nil
	}
	if err != nil {
		return err
	}

	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	if size > 0 {
		err = p.f.dir.Rename(stem+rewriteExt, stem+lettersExt)
	} else {
		err = p.f.dir.Remove(stem + lettersExt)
	}
	if err != nil {
		return err
	}
	p.f.total += size - p.f.sizes[stem]
	p.f.sizes[stem] = size
	if size == 0 {
		delete(p.f.sizes, stem)
	}
	if err := p.f.dir.SyncNames(); err != nil {
		return err
	}
	delete(p.owed, stem)
	if size > 0 && p.f.journals[stem] != entries {
		return nil // Write has appended meanwhile; the next walk sees to it
	}
	delete(p.f.journals, stem)
	return disk.Remove(p.f.dir, stem+journalExt)
}

// errNotRewritten says that a file holds something that cannot be copied.
var errNotRewritten = errors.New("not rewritten")

// copyRest writes what the journal leaves of a file to another one, durably, and
// returns its size. If that is 0 there is none, and none was written: there may be no
// room. Damaged lines stay as they are, for somebody to look at.
func (p *walk) copyRest(stem string, j *journal) (size int64, err error) {
	if rest, err := p.anyRest(stem, j); err != nil || !rest {
		return 0, err
	}
	name := stem + rewriteExt
	err = disk.WriteNew(p.f.dir, name, func(w *bufio.Writer) error {
		for l, err := range linesIn(p.f.dir, stem) {
			if err != nil {
				return err
			}
			kept, err := l.rest(stem, j)
			if err != nil {
				return err
			}
			size += int64(len(kept))
			if _, err := w.Write(kept); err != nil {
				return err
			}
		}
		return nil
	})
	return size, err
}

// anyRest reports whether the journal leaves anything of a file.
func (p *walk) anyRest(stem string, j *journal) (bool, error) {
	for l, err := range linesIn(p.f.dir, stem) {
		if err != nil {
			return false, err
		}
		if kept, err := l.rest(stem, j); err != nil || len(kept) > 0 {
			return true, err
		}
	}
	return false, nil
}

// rest returns the line as it is by now, with its line feed, or nothing.
func (l *line) rest(stem string, j *journal) ([]byte, error) {
	if l.long {
		return nil, errNotRewritten
	}
	r, there, err := l.record(stem, j)
	if damaged := (*DamagedError)(nil); errors.As(err, &damaged) {
		return append(l.raw, '\n'), nil
	}
	if err != nil || !there {
		return nil, err
	}
	if _, changed := j.again[r.N]; !changed {
		return append(l.raw, '\n'), nil
	}
	encoded, err := encodeLetter(r.Letter)
	if err != nil {
		return nil, err
	}
	return appendRecord(nil, r.N, encoded), nil
}

// forget drops a file that somebody has removed, with the letters in it.
func (p *walk) forget(stem string) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.f.total -= p.f.sizes[stem]
	delete(p.f.sizes, stem)
}

// recorded reports whether Write has recorded a newer reason for a letter that
// was sent.
func (p *walk) recorded(of *place) bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return of.recorded
}
