package deadletter

import (
	"bufio"
	"context"
	"errors"

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
	p := &walk{f: f, stems: stems, ended: make(chan struct{})}
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
	}
	return j, err
}

// record makes an entry durable, and adds it to j.
func (p *walk) record(stem string, j *journal, e entry) error {
	if len(e.Done)+len(e.Again) == 0 {
		return nil
	}
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	if err := p.f.record(stem, e); err != nil {
		return err
	}
	j.add(e)
	return nil
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
	if err != nil || j.empty() {
		return err
	}
	size, err := p.copyRest(stem, &j)
	if errors.Is(err, errNotRewritten) {
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
	if size > 0 && p.f.journals[stem] != entries {
		return nil // Write has appended meanwhile; the next walk sees to it
	}
	delete(p.f.journals, stem)
	return p.f.dir.Remove(stem + journalExt)
}

// errNotRewritten says that a file holds something that cannot be copied.
var errNotRewritten = errors.New("not rewritten")

// copyRest writes what the journal leaves of a file to another one, durably, and
// returns its size. If that is 0 there is none. Damaged lines stay as they are,
// for somebody to look at.
func (p *walk) copyRest(stem string, j *journal) (size int64, err error) {
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
	if err == nil && size == 0 {
		err = disk.Remove(p.f.dir, name)
	}
	return size, err
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
