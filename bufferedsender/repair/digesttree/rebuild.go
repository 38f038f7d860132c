package digesttree

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/models"
)

// defaultSettle is that of RebuildOptions.
const defaultSettle = 10 * time.Second

// RebuildOptions are for Rebuild. The zero value, or nil, is what most programs need.
type RebuildOptions struct {
	// Settle is how long to wait before the first row is asked for: longer than it takes until what the service has
	// confirmed is to be seen in the index. Defaults to ten seconds; negative: none.
	Settle time.Duration
}

// Rebuilt is what Rebuild has done.
type Rebuilt struct {
	// Segments is how many were built; Left of those that were due were not, since their part of the file was found
	// to be damaged or something was dropped.
	Segments, Left int
	// Rows is how many were read.
	Rows int64
	// Added, Changed and Removed is how many keys the Tree did not have, had in another version, and has no more.
	Added, Changed, Removed int64
}

// maxParts is into how many files the rows are spread, by segment.
const maxParts = 64

// Rebuild builds all segments that are due, see Stats.Due, from the rows of one scan of the whole index: the Tree has
// then what the index has. If none is due it returns at once, and asks for no row. There is no scan of a segment
// alone; so whoever scans the index for another purpose can let Rebuild see its rows. These must be read after the
// call: the iterator is not begun before RebuildOptions.Settle is over.
//
// What is told to the Tree since the call counts more than a row. A row with an error ends it; then nothing is done.
// It may be called while everything else goes on; while another Rebuild does, the error is ErrRebuilding. Rows are
// kept in files in the folder meanwhile, the keys that are told in memory. If ctx ends it, or the process, the
// segments that were not built are due as before.
func (t *Tree) Rebuild(ctx context.Context, rows iter.Seq2[models.Row, error], opts *RebuildOptions) (done Rebuilt, err error) {
	r := rebuild{tree: t, folder: t.writer.journal.folder, began: time.Now().Unix()}
	due, err := t.beginRebuild()
	if err != nil || due == 0 {
		return done, err
	}
	defer func() {
		err = errors.Join(err, r.clean())
		t.mu.Lock()
		close(t.rebuild.ended)
		t.rebuild = nil
		t.mu.Unlock()
		if err != nil {
			err = fmt.Errorf("digesttree: rebuilding: %w", err)
		}
	}()
	settle := defaultSettle
	if opts != nil && opts.Settle != 0 {
		settle = opts.Settle
	}
	if err := r.settle(ctx, settle); err != nil {
		return done, err
	}
	if err := r.spread(ctx, rows); err != nil {
		return done, err
	}
	err = r.build(ctx)
	r.done.Left = due - r.done.Segments
	return r.done, err
}

// beginRebuild returns how many segments are due. From now on it is remembered what is told of them.
func (t *Tree) beginRebuild() (due int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return 0, ErrClosed
	case t.rebuild != nil:
		return 0, ErrRebuilding
	}
	r := &rebuilding{due: make([]bool, len(t.built)), keys: make(map[string]struct{}), ended: make(chan struct{})}
	now := time.Now()
	for i := range t.built {
		if t.isDue(i, now) {
			r.due[i] = true
			due++
		}
	}
	if due > 0 {
		t.rebuild = r
	}
	return due, nil
}

// rebuild is a Rebuild under way.
type rebuild struct {
	tree   *Tree
	folder disk.Folder
	began  int64
	done   Rebuilt
	parts  [maxParts]part
}

// part is a file with the rows of neighbouring segments.
type part struct {
	handle disk.Handle
	w      *bufio.Writer
	there  bool
}

func partName(i int) string { return fmt.Sprintf("%s%02d", rebuildPrefix, i) }

func (r *rebuild) settle(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return r.ended(ctx)
	case <-r.tree.closing:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ended returns why there is no point in going on, or nil.
func (r *rebuild) ended(ctx context.Context) error {
	select {
	case <-r.tree.closing:
		return ErrClosed
	default:
		return context.Cause(ctx)
	}
}

// spread writes the rows to files.
func (r *rebuild) spread(ctx context.Context, rows iter.Seq2[models.Row, error]) error {
	due := r.due()
	var b []byte
	for row, err := range rows {
		if err != nil {
			return err
		}
		r.done.Rows++
		if err := r.ended(ctx); err != nil {
			return err
		}
		segment := r.tree.shape.segment(hashOf(row.Key))
		if row.Hidden || !due[segment] || !valid(row.Key) {
			continue
		}
		b = appendEntry(b[:0], []byte(row.Key), row.Version)
		if err := r.write(segment*maxParts/len(due), b); err != nil {
			return err
		}
	}
	err := r.ended(ctx)
	if err != nil { // a scan that ends early is not an index that has less
		return err
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.handle != nil {
			err = errors.Join(err, p.w.Flush(), p.handle.Close())
			p.handle = nil
		}
	}
	return err
}

// due returns the segments to build. Some may not be any more, when it comes to them.
func (r *rebuild) due() []bool {
	r.tree.mu.Lock()
	defer r.tree.mu.Unlock()
	return slices.Clone(r.tree.rebuild.due)
}

func (r *rebuild) write(i int, b []byte) error {
	p := &r.parts[i]
	if p.handle == nil {
		h, err := r.folder.Create(partName(i))
		if err != nil {
			return err
		}
		p.handle, p.w, p.there = h, bufio.NewWriterSize(h, 32<<10), true
	}
	_, err := p.w.Write(b)
	return err
}

// clean removes the files.
func (r *rebuild) clean() (err error) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.handle != nil {
			err = errors.Join(err, p.handle.Close())
		}
		if p.there {
			err = errors.Join(err, disk.Remove(r.folder, partName(i)))
		}
	}
	return err
}

// scannedRow is a row of a file.
type scannedRow struct {
	segment int
	key     []byte
	version int64
}

// read returns the rows of a file by segment and key. Of a key that is there twice the last one counts.
func (r *rebuild) read(i int) ([]scannedRow, error) {
	if !r.parts[i].there {
		return nil, nil
	}
	f, err := r.folder.Open(partName(i))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	var rows []scannedRow
	for len(data) > 0 {
		key, version, size := entry(data)
		if size == 0 {
			return nil, fmt.Errorf("%s: %w", partName(i), errDamaged)
		}
		rows = append(rows, scannedRow{r.tree.shape.segment(hashOf(key)), key, version})
		data = data[size:]
	}
	slices.SortStableFunc(rows, func(a, b scannedRow) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), bytes.Compare(a.key, b.key))
	})
	kept := rows[:0]
	for i, row := range rows {
		if i+1 == len(rows) || rows[i+1].segment != row.segment || !bytes.Equal(rows[i+1].key, row.key) {
			kept = append(kept, row)
		}
	}
	return kept, nil
}

// build tells the tree what differs, segment by segment.
func (r *rebuild) build(ctx context.Context) (err error) {
	v, err := r.tree.view(nil) // after the last row: what is told later is known
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.release()) }()
	due := r.due()
	part := -1
	var rows []scannedRow
	for segment := range due {
		if p := segment * maxParts / len(due); p != part {
			part = p
			if rows, err = r.read(p); err != nil {
				return err
			}
		}
		end := 0
		for end < len(rows) && rows[end].segment == segment {
			end++
		}
		if due[segment] {
			if err := r.room(ctx); err != nil {
				return err
			}
			if err := r.segment(v, segment, rows[:end]); err != nil {
				return err
			}
		}
		rows = rows[end:]
	}
	return nil
}

// segment is build for one.
func (r *rebuild) segment(v *view, segment int, rows []scannedRow) error {
	entries, _, _, err := v.content(segment)
	if err != nil {
		return v.damaged(segment, err) // which leaves it due
	}
	t := r.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ErrClosed
	}
	if !t.rebuild.due[segment] { // something was dropped meanwhile
		return nil
	}
	tell := func(key []byte, version int64, deleted bool, counter *int64) {
		if _, told := t.rebuild.keys[string(key)]; told {
			return
		}
		*counter++
		if deleted {
			t.append(appendDeleted(t.room(), string(key)))
		} else {
			t.append(appendSet(t.room(), string(key), version))
		}
	}
	for len(entries) > 0 || len(rows) > 0 {
		key, version, size := entry(entries)
		order := -1 // of the entry and the row
		switch {
		case size == 0:
			order = 1
			entries = nil
		case len(rows) > 0:
			order = bytes.Compare(key, rows[0].key)
		}
		switch {
		case order < 0:
			tell(key, 0, true, &r.done.Removed)
		case order > 0 && len(rows) > 0:
			tell(rows[0].key, rows[0].version, false, &r.done.Added)
		case order == 0 && version != rows[0].version:
			tell(key, rows[0].version, false, &r.done.Changed)
		}
		if order <= 0 {
			entries = entries[size:]
		}
		if order >= 0 && len(rows) > 0 {
			rows = rows[1:]
		}
	}
	t.built[segment] = r.began
	t.append(appendBuilt(t.room(), uint32(segment), r.began)) //nolint:gosec // less than 2^20
	delete(t.fruitless, segment)
	t.stats.Rebuilt++
	r.done.Segments++
	return nil
}

// room waits until the writer has folded enough: unlike who tells, it can wait.
func (r *rebuild) room(ctx context.Context) error {
	t := r.tree
	for {
		t.mu.Lock()
		free, turn := t.pending <= t.options.MaxPending/2, t.writer.Turn()
		t.mu.Unlock()
		if free {
			return r.ended(ctx)
		}
		t.writer.Wake()
		select {
		case <-turn:
		case <-t.closing:
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
