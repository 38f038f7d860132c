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

// maxParts is the number of files that rows are spread over, by segment.
const maxParts = 64

// rebuild is a Rebuild under way.
type rebuild struct {
	tree  *Tree
	began int64
	ended chan struct{} // closed at the end
	parts int           // number of files
	due   []bool        // by segment: it must be built

	// The mutex of the tree guards these.
	told    *watcher
	dropped map[int]bool // segments with a dropped change

	segments int
	rows     int64
}

// partName returns the name of a file with the rows of neighbouring segments.
func partName(i int) string { return fmt.Sprintf("%s%02d", rebuildPrefix, i) }

// Rebuild builds all due segments, see Stats.Due, from the rows of one scan of the whole index, so that the Tree
// matches the index. It returns the number of segments built and of rows read. If no segment is due it returns at once,
// without reading a row. A program that scans the index for another purpose can pass the rows through Rebuild. The
// iteration begins after settle, which must be longer than the index takes to show what the service has confirmed, for
// example ten seconds.
//
// A change recorded since the call counts more than a row. If a row has an error, nothing is changed. Only one Rebuild
// can run at a time; a second call returns an error. Meanwhile rows are kept in files of the folder, and changed keys
// in memory. If ctx or the process ends first, segments not yet built stay due.
func (t *Tree) Rebuild(ctx context.Context, rows iter.Seq2[models.Row, error], settle time.Duration) (segments int, read int64, err error) {
	r, err := t.beginRebuild()
	if r == nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.life, func() { cancel(errClosed) })
	defer func() { // also if the iterator panics
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

// beginRebuild starts recording changes of due segments. It returns nil if no segment is due.
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
		if err := disk.Remove(folder, name); err != nil { // left by a crash
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
	return context.Cause(ctx) // a scan cut off by ctx lacks rows
}

// build records the differences between rows and tree, segment by segment.
func (r *rebuild) build(ctx context.Context) (err error) {
	t := r.tree
	v, err := t.view(nil) // after the last row; the watcher has later changes
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
		rows := make(map[int]map[string]int64) // the last row of a key counts
		size := 0
		for key, version := range entriesOf(entries) {
			size += entryHead + len(key)
			segment := t.shape.segment(hashOf(key))
			if rows[segment] == nil {
				rows[segment] = make(map[string]int64)
			}
			rows[segment][string(key)] = version
		}
		if size != len(entries) { // missing rows would count as deletions
			return fmt.Errorf("%s: %w", partName(i), errDamaged)
		}
		for segment := i * per; segment < (i+1)*per; segment++ {
			if !r.due[segment] {
				continue
			}
			if err := t.loop.Await(ctx, func() bool { return t.told.Size <= t.options.MaxPending/2 }); err != nil {
				return err // unlike Confirmed, build can wait for the next fold
			}
			if err := r.segment(v, segment, rows[segment]); err != nil {
				return err
			}
		}
	}
	return nil
}

// segment builds one segment.
func (r *rebuild) segment(v *view, segment int, rows map[string]int64) error {
	entries, _, _, err := v.content(segment)
	if err != nil {
		return v.damaged(segment, err) // it stays due
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
