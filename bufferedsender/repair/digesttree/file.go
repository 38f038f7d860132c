package digesttree

import (
	"context"
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
)

// Open opens the folder of a tree, which nobody else may use as long as the Tree is open, and makes it if need be. It
// reads what was told and not folded, at most some 128 MiB.
//
// The error is ErrLocked if another Tree has the folder, ErrShape if the folder has another number of segments than
// Options, or that of the disk. Files that are spoiled are no error: see Stats.Damaged. Close the Tree at the end.
func Open(folder string, opts *Options) (*Tree, error) {
	options, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if folder == "" {
		return nil, errors.New("digesttree: Open: the name of the folder is empty")
	}
	var t *Tree
	release, err := disk.OpenLocked(folder, lockName, ErrLocked, func(d disk.Folder) (err error) {
		t, err = open(d, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.writer.release = release
	go t.run()
	return t, nil
}

// open is Open for a folder that is locked. Nobody writes yet.
func open(folder disk.Folder, options Options) (*Tree, error) {
	t := &Tree{options: options, closing: make(chan struct{}), fruitless: make(map[int]int)}
	l := loading{tree: t, folder: folder}
	if err := l.run(); err != nil {
		return nil, errors.Join(err, l.close())
	}
	var extra []byte
	if l.fresh && options.Empty {
		now := time.Now().Unix()
		extra = appendBuilt(nil, allSegments, now)
		t.buildAll(now)
	}
	t.writer = &writer{journal: l.journal, release: func() error { return nil }}
	t.writer.Loop = journal.NewLoop(&t.mu, t.due, t.attempt)
	first := kindBegin
	if l.clean {
		first = kindContinues
	}
	if err := t.writer.journal.begin(first, extra); err != nil { // O1
		return nil, errors.Join(err, t.writer.journal.file.Close(), l.close())
	}
	return t, nil
}

// buildAll says of all segments when they were built.
func (t *Tree) buildAll(at int64) {
	for i := range t.built {
		t.built[i] = at
	}
}

// Close writes what is not written yet, ends a Rebuild that is under way, and gives the folder back. ctx bounds the
// waiting: if the disk does not come to an end, or the rows of the Rebuild, that goes on. If the error is not nil,
// what was told last may be lost, and the next Open says that the end was unclean. Close may be called more than
// once.
func (t *Tree) Close(ctx context.Context) error {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.closing)
	}
	t.mu.Unlock()
	return t.writer.Close(ctx)
}
