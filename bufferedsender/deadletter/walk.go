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

// walk visits all files that existed when it began. Only a walk removes or rewrites files.
type walk struct {
	f      *File
	ctx    context.Context // also ended by Close
	cancel context.CancelCauseFunc
	stems  []string
	ended  chan struct{}
	// owed has, by stem, entries that did not fit on a full disk. Removing other files may make room.
	owed   map[string]entry
	unsure string // stem whose owed entry already existed when the walk began
}

// beginWalk seals the current file. The caller must call end.
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

// err returns the reason to end the walk early, if there is one.
func (p *walk) err() error { return context.Cause(p.ctx) }

// journal returns the journal of a file, made durable. Entries that this File did not write, or that preceded a
// failure, may only be in memory. If a crash lost an entry, an older dead letter would return after newer ones of its
// key were sent.
func (p *walk) journal(stem string) (journal, error) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	j, err := readJournal(p.f.dir, stem)
	if err == nil && !j.empty() && p.f.journals[stem] == 0 {
		err = p.f.record(stem, entry{}) // this repeats the existing entries
		if disk.Full(err) {
			p.owed[stem], p.unsure, err = p.owed[stem].after(j.entry()), stem, nil
		}
	}
	if p.owes(stem) {
		j.add(p.owed[stem])
	}
	return j, err
}

// record makes an entry durable and adds it to j. If the disk is full the walk owes the entry, and may still rewrite or
// remove the file.
func (p *walk) record(stem string, j *journal, e entry) error {
	if e.empty() {
		return nil
	}
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	j.add(e)
	return p.pay(stem, e)
}

// pay records an entry and the owed ones of its file. The caller has the lock.
func (p *walk) pay(stem string, e entry) error {
	e = e.after(p.owed[stem])
	if e.empty() {
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

// owes reports whether entries of a file are not recorded.
func (p *walk) owes(stem string) bool { _, owes := p.owed[stem]; return owes }

// settle retries the owed entries, now that files were removed.
func (p *walk) settle() error {
	var errs []error
	for _, stem := range slices.Sorted(maps.Keys(p.owed)) {
		p.f.mu.Lock()
		err := p.pay(stem, entry{})
		p.f.mu.Unlock()
		if err = errors.Join(err, p.rewrite(stem)); err == nil && p.owes(stem) {
			err = fmt.Errorf("cannot record the outcome of dead letters: %w; make room on the disk", syscall.ENOSPC)
		}
		errs = append(errs, err)
	}
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return errors.Join(append(errs, p.f.mark(nil))...)
}

// rewrite removes the done dead letters from a file, and then its journal. If it fails or a crash interrupts it, the
// remaining dead letters are the same.
func (p *walk) rewrite(stem string) error {
	p.f.mu.Lock()
	_, there := p.f.sizes[stem]
	last := p.f.journals[stem]
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
	size, letters, err := p.copyRest(stem, &j)
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
	if err := disk.Remove(p.f.dir, stem+markExt); err != nil {
		return err
	}
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
	p.f.versions.prune(stem, &j)
	if size > 0 && p.f.journals[stem] != last {
		return nil // Write has appended meanwhile; leave it to the next walk
	}
	delete(p.f.journals, stem)
	err = disk.Remove(p.f.dir, stem+journalExt)
	if err == nil && size > 0 {
		rest := segment{stem: stem, letters: letters}
		rest.note(p.f.dir, size, true)
		rest.unmark()
	}
	return err
}

// errNotRewritten means that a file has a line that cannot be copied.
var errNotRewritten = errors.New("not rewritten")

// copyRest writes the remaining lines of a file to a new one, durably, and returns their size and number. If none
// remain it writes no file, for which there may be no room, and returns 0. Damaged lines are copied, for inspection.
func (p *walk) copyRest(stem string, j *journal) (size, letters int64, err error) {
	if rest, err := p.anyRest(stem, j); err != nil || !rest {
		return 0, 0, err
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
			if len(kept) > 0 {
				size, letters = size+int64(len(kept)), letters+1
			}
			if _, err := w.Write(kept); err != nil {
				return err
			}
		}
		return nil
	})
	return size, letters, err
}

// anyRest reports whether lines of a file remain.
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

// rest returns the line with its newest reason and a line feed, or nothing if it is done.
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
	_, changed := j.again[r.N]
	if _, outdated := j.newer[r.N]; !changed && !outdated {
		return append(l.raw, '\n'), nil
	}
	encoded, err := encodeLetter(r.Letter, r.Newer)
	if err != nil {
		return nil, err
	}
	return appendRecord(nil, r.N, encoded), nil
}

// Drops the accounts of a file that was removed by hand.
func (p *walk) forget(stem string) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.f.total -= p.f.sizes[stem]
	delete(p.f.sizes, stem)
	p.f.versions.prune(stem, nil)
}

// recorded reports whether Write has recorded a newer reason for a replayed dead letter.
func (p *walk) recorded(of *place) bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return of.recorded
}
