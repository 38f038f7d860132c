package digesttree

import (
	"bufio"
	"errors"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// fold makes a new base of the old one and of what was told: R1 and F1 to F3. What is told meanwhile is written in
// between.
func (t *Tree) fold() error {
	t.mu.Lock()
	t.seal()
	todo, end := t.chunks[t.written:], len(t.chunks)
	v := &view{tree: t, base: t.base, built: slices.Clone(t.built)} // built as it is now: see DESIGN.md
	chunks := t.chunks[:end:end]
	t.mu.Unlock()

	w := t.writer
	if err := t.write(todo, end); err != nil {
		return err
	}
	if err := w.journal.begin(kindContinues, nil); err != nil { // R1
		return err
	}
	folder, number := w.journal.folder, w.journal.number
	v.told = newChanges(chunks, t.shape, nil)
	if err := disk.Replace(folder, tmpName, baseName(number), func(to *bufio.Writer) error { // F1 and F2
		return t.writeSegments(newBaseWriter(to, t.shape), v, number)
	}); err != nil {
		return err
	}
	b, _, err := openBase(folder, number)
	if err != nil {
		return err
	}
	idle := t.replace(b, end)
	old := v.base
	if idle {
		err = old.close()
	}
	return errors.Join(err, t.removeOld(number)) // F3
}

// replace puts a base in place that has what was in the first n chunks, and reports whether nobody reads the old one.
func (t *Tree) replace(b *base, n int) (idle bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.chunks[:n] {
		t.pending -= int64(len(c.data) - header)
	}
	t.chunks = slices.Clone(t.chunks[n:]) // which gives the folded ones back
	t.written -= n
	old := t.base
	t.base, old.gone, t.refold = b, true, false
	t.stats.Folds++
	return old.users == 0
}

func (t *Tree) writeSegments(w *baseWriter, v *view, number uint64) error {
	v.window.wide = wideWindow
	last := time.Now()
	for i := range t.shape.segments() {
		entries, keys, digest, err := v.content(i)
		if err = v.damaged(i, err); err != nil {
			return err
		}
		if err := w.add(entries, keys, digest, v.built[i]); err != nil {
			return err
		}
		if i%64 == 0 && time.Since(last) > max(t.options.WriteEvery, time.Second/10) {
			_ = t.flush() // an error is met again by the next one, which begins a new log
			last = time.Now()
		}
	}
	return w.finish(number, t.shape)
}

// removeOld removes what a base replaces.
func (t *Tree) removeOld(number uint64) error {
	folder := t.writer.journal.folder
	entries, err := folder.ReadDir(".")
	if err != nil {
		return err
	}
	for _, n := range numbered(entries, basePrefix) {
		if n < number {
			err = errors.Join(err, disk.Remove(folder, baseName(n)))
		}
	}
	for _, n := range numbered(entries, logPrefix) {
		if n < number {
			err = errors.Join(err, disk.Remove(folder, logName(n)))
		}
	}
	return err
}
