package digesttree

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
	"github.com/go-azsearch/azsearch/models"
)

// maxParts is into how many files the rows are spread, by segment.
const maxParts = 64

// rebuild is a Rebuild under way.
type rebuild struct {
	tree  *Tree
	began int64
	ended chan struct{} // closed at the end
	parts int           // files
	due   []bool        // by segment: it must be built

	// The mutex of the tree guards these.
	told    *watcher
	dropped map[int]bool // segments of which something was not told

	segments int
	rows     int64
}

// partName is the name of a file with the rows of neighbouring segments.
func partName(i int) string { return fmt.Sprintf("%s%02d", rebuildPrefix, i) }

// Rebuild builds all segments that are due, see Stats.Due, from the rows of one scan of the whole index: the Tree has
// then what the index has. It returns how many segments were built, and how many rows were read. If none is due it
// returns at once, and asks for no row. There is no scan of a segment alone; so a program that scans the index for
// another purpose can let Rebuild see its rows. The iterator is begun when settle is over: longer than it takes until
// what the service has confirmed is seen in the index, ten seconds for example.
//
// What is told to the Tree since the call counts more than a row. A row with an error ends it; then nothing is done.
// One Rebuild runs at a time. Rows are kept in files in the folder meanwhile, the keys that are told in memory. If ctx
// ends it, or the process, the segments that were not built are due as before.
func (t *Tree) Rebuild(ctx context.Context, rows iter.Seq2[models.Row, error], settle time.Duration) (segments int, read int64, err error) {
	r, err := t.beginRebuild()
	if r == nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.life, func() { cancel(errClosed) })
	defer func() { // also if an iterator panics
		cancel(nil)
		_ = stop() // it may have run
		if err = errors.Join(err, r.end()); err != nil {
			err = fmt.Errorf("digesttree: rebuilding: %w", err)
		}
	}()
	if err := sleep(ctx, settle); err != nil {
		return 0, 0, err
	}
	if err := r.spread(ctx, rows); err != nil {
		return 0, r.rows, err
	}
	err = r.build(ctx)
	return r.segments, r.rows, err
}

// beginRebuild returns nil if no segment is due. What is told of those that are is noted from now on.
func (t *Tree) beginRebuild() (*rebuild, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.life.Err() != nil:
		return nil, errClosed
	case t.rebuild != nil:
		return nil, errRebuilding
	}
	now := time.Now()
	r := &rebuild{tree: t, began: now.Unix(), ended: make(chan struct{}), due: make([]bool, len(t.built)), dropped: make(map[int]bool)}
	for i := range t.built {
		r.due[i] = t.isDue(i, now)
	}
	if !slices.Contains(r.due, true) {
		return nil, nil
	}
	r.told = t.watch(func(key string) bool { return r.due[t.shape.segment(hashOf(key))] })
	t.rebuild = r
	return r, nil
}

// end removes the files.
func (r *rebuild) end() (err error) {
	for i := range r.parts {
		err = errors.Join(err, disk.Remove(r.tree.logs.folder, partName(i)))
	}
	r.tree.mu.Lock()
	defer r.tree.mu.Unlock()
	close(r.ended)
	r.tree.rebuild = nil
	r.tree.unwatch(r.told)
	return err
}

// spread writes the rows to files.
func (r *rebuild) spread(ctx context.Context, rows iter.Seq2[models.Row, error]) (err error) {
	var handles []disk.Handle
	var parts []*bufio.Writer
	defer func() {
		for i, h := range handles {
			err = errors.Join(err, parts[i].Flush(), h.Close())
		}
	}()
	for range min(len(r.due), maxParts) {
		folder, name := r.tree.logs.folder, partName(r.parts)
		if err := disk.Remove(folder, name); err != nil { // a crash has left it
			return err
		}
		h, err := folder.Create(name)
		if err != nil {
			return err
		}
		r.parts++
		handles, parts = append(handles, h), append(parts, bufio.NewWriterSize(h, 32<<10))
	}
	var b []byte
	for row, err := range rows {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		r.rows++
		segment := r.tree.shape.segment(hashOf(row.Key))
		if row.Hidden || !r.due[segment] || !journal.IsKey(row.Key) {
			continue
		}
		b = appendEntry(b[:0], []byte(row.Key), row.Version)
		if _, err := parts[segment*r.parts/len(r.due)].Write(b); err != nil {
			return err
		}
	}
	return context.Cause(ctx) // a scan that ends early is not an index that has less
}

// build tells the tree what differs, segment by segment.
func (r *rebuild) build(ctx context.Context) (err error) {
	t := r.tree
	v, err := t.view(nil) // after the last row: what is told later is known
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.release()) }()
	per := len(r.due) / r.parts
	for i := range r.parts {
		entries, err := fs.ReadFile(t.logs.folder, partName(i))
		if err != nil {
			return err
		}
		rows := make(map[int]map[string]int64) // of a key that is there twice the last row counts
		size := 0
		for key, version := range entriesOf(entries) {
			size += entryHead + len(key)
			segment := t.shape.segment(hashOf(key))
			if rows[segment] == nil {
				rows[segment] = make(map[string]int64)
			}
			rows[segment][string(key)] = version
		}
		if size != len(entries) { // rows that are missing would be deletions
			return fmt.Errorf("%s: %w", partName(i), errDamaged)
		}
		for segment := i * per; segment < (i+1)*per; segment++ {
			if !r.due[segment] {
				continue
			}
			if err := t.loop.Await(ctx, func() bool { return t.told.Size <= t.options.MaxPending/2 }); err != nil {
				return err // unlike a caller of Confirmed it can wait for the next fold
			}
			if err := r.segment(v, segment, rows[segment]); err != nil {
				return err
			}
		}
	}
	return nil
}

// segment is build for one.
func (r *rebuild) segment(v *view, segment int, rows map[string]int64) error {
	entries, _, _, err := v.content(segment)
	if err != nil {
		return v.damaged(segment, err) // which leaves it due
	}
	t := r.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.life.Err() != nil {
		return errClosed
	}
	if r.dropped[segment] {
		return nil
	}
	tell := func(key string, version int64, deleted bool) {
		if !r.told.told[key] {
			t.put(appendKey(t.told.Room(&format), key, version, deleted))
		}
	}
	for key, before := range entriesOf(entries) {
		version, there := rows[string(key)]
		if !there || version != before {
			tell(string(key), version, !there)
		}
		delete(rows, string(key))
	}
	for key, version := range rows {
		tell(key, version, false)
	}
	t.build(segment, r.began)
	r.segments++
	return nil
}
