package filequeue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// RepairReport is the result of Repair. The zero value means that there was nothing to repair.
type RepairReport struct {
	// Damaged are the damaged files, under the names of their copies in the directory. Remove the copies when you no
	// longer need them.
	Damaged []string
	// Missing are log files that were missing.
	Missing []string
	// Dropped is the number of unreadable bytes, Broken the number of unreadable places, including each missing file.
	Dropped int64
	Broken  int
	// Frames is the number of operations read, and Keys the number of keys in the queue after them. Records appended by
	// unreadable operations are lost; settled ones may be sent again; a key whose newest record was lost has an older
	// one.
	Frames int
	Keys   int
}

// Repair salvages the readable part of a queue that Open refuses with a *CorruptError. No process may have the queue
// open. It writes a new log, and keeps copies of the damaged files. After a crash, run it again. A queue that Open
// accepts is not changed.
//
// Add the lost documents again; if you do not know which they are, add all.
func Repair(dir string, opts *Options) (RepairReport, error) {
	options, err := opts.withDefaults()
	if err != nil {
		return RepairReport{}, err
	}
	options.ReadOnly = true // it makes no directory
	d, release, err := take(dir, &options)
	if err != nil {
		return RepairReport{}, err
	}
	report, err := repair(d, options)
	if err != nil {
		err = fmt.Errorf("filequeue: %s: %w", dir, err)
	}
	return report, errors.Join(err, release())
}

// repair is Repair for a locked folder.
func repair(dir disk.Folder, options Options) (report RepairReport, err error) {
	r := recovery{dir: dir, options: &options}
	var corrupt *CorruptError
	if err := r.run(); !errors.As(err, &corrupt) {
		return report, err
	}
	if err := removeRepairs(dir); err != nil {
		return report, err
	}
	r = recovery{dir: dir, options: &options, salvage: &report}
	if err := r.run(); err != nil {
		return report, err
	}
	for _, name := range report.Damaged {
		if err := keep(dir, name); err != nil {
			return report, err
		}
	}
	if err := removeEmpty(dir, r.empty); err != nil {
		return report, err
	}
	if len(r.numbers) == 0 { // the mark was all that was left
		return report, errors.Join(disk.Remove(dir, markName), dir.SyncNames())
	}
	if r.book == nil || r.id == (queue.ID{}) {
		return report, errors.New("no segment of the log has a readable header")
	}
	w := rewrite{dir: dir, options: &options, r: &r, report: &report}
	return report, w.run()
}

func removeRepairs(dir disk.Folder) error {
	entries, err := dir.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), repairPrefix) {
			if err := dir.Remove(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeEmpty removes segments without a header, as Open does. They would be a gap in front of the new segments.
func removeEmpty(dir disk.Folder, names []string) error {
	for _, name := range names {
		if err := errors.Join(dir.Remove(name), dir.SyncNames()); err != nil {
			return err
		}
	}
	return nil
}

// skip finds the next readable frame, and counts the bytes before it as dropped. Behind the last frame of a segment
// these are the bytes up to where it was written.
func (r *recovery) skip(n uint32, at int64, seed uint32) (f frame, ok bool, err error) {
	f, ok = nextFrame(r.data, n, at, seed)
	to := int64(f.at.offset)
	if !ok {
		if to, err = r.written(n); err != nil {
			return f, false, err
		}
		to = max(to, int64(len(bytes.TrimRight(r.data, "\x00"))))
	}
	if to > at {
		r.salvage.Broken++
		r.salvage.Dropped += to - at
		r.damaged(n)
	}
	return f, ok, nil
}

// written returns up to where a segment is known to have had frames: by the link behind it, or by the mark.
func (r *recovery) written(n uint32) (int64, error) {
	if slices.Contains(r.numbers, n+1) {
		if to, ok, err := r.link(n + 1); err != nil || ok {
			return to, err
		}
	}
	switch at := r.marked(); {
	case n == at.segment:
		return int64(at.offset), nil
	case n < at.segment:
		return headerSize + frameHeader + 8, nil // its own link
	}
	return 0, nil
}

// giveUp counts the segments up to the mark that are missing, or empty without a header. skip has counted the others.
func (r *recovery) giveUp(mark position) error {
	from := mark.segment // without a log it is unknown where that began
	if n, ok := r.emptied(mark); ok {
		from = n
	}
	if len(r.numbers) > 0 {
		from = r.numbers[len(r.numbers)-1] + 1
	}
	for n := from; n <= mark.segment; n++ {
		r.salvage.Broken++
		if !slices.Contains(r.empty, segmentName(n)) {
			r.salvage.Missing = append(r.salvage.Missing, segmentName(n))
			continue
		}
		to, err := r.written(n)
		if err != nil {
			return err
		}
		r.salvage.Dropped += to
		r.damaged(n)
	}
	return nil
}

// emptied returns the one segment of a log up to its mark, if its file has no header.
func (r *recovery) emptied(mark position) (n uint32, ok bool) {
	if len(r.numbers) > 0 || len(r.empty) == 0 {
		return 0, false
	}
	n, ok = segmentNumber(r.empty[0])
	return n, ok && n <= mark.segment
}

// salvaged counts a frame as read, or as broken if it could not be replayed.
func (r *recovery) salvaged(f *frame, ok bool) {
	if ok {
		r.salvage.Frames++
		return
	}
	r.salvage.Broken++
	r.salvage.Dropped += f.size()
	r.damaged(f.at.segment)
}

// damaged records a damaged segment.
func (r *recovery) damaged(n uint32) {
	if name := damagedName(n); !slices.Contains(r.salvage.Damaged, name) {
		r.salvage.Damaged = append(r.salvage.Damaged, name)
	}
}

func damagedName(n uint32) string {
	return damagedPrefix + strings.TrimPrefix(segmentName(n), segmentPrefix)
}

// rewrite writes a new log with the state of a book, behind a damaged log.
type rewrite struct {
	dir     disk.Folder
	options *Options
	r       *recovery
	report  *RepairReport

	q       *Queue // to read the records of the old log
	numbers []uint32
	area    disk.Area
	used    int64
	now     time.Time
}

func (w *rewrite) run() (err error) {
	clock := newClock(w.r.last)
	w.now = clock.now()
	w.q = &Queue{book: w.r.book, adders: w.r.adders}
	defer func() { err = errors.Join(err, w.q.log.close()) }()
	if err := w.openOld(); err != nil {
		return err
	}
	if err := w.writeAll(); err != nil {
		return err
	}
	for _, n := range w.numbers { // with the last rename the log begins at the new segments
		if err := errors.Join(w.dir.Rename(repairName(n), segmentName(n)), w.dir.SyncNames()); err != nil {
			return err
		}
	}
	err = w.q.log.close() // Windows does not remove open files
	w.q.log.segments = nil
	if err != nil {
		return err
	}
	for _, n := range w.r.numbers {
		if err := errors.Join(w.dir.Remove(segmentName(n)), w.dir.SyncNames()); err != nil {
			return err
		}
	}
	return nil
}

func repairName(n uint32) string {
	return repairPrefix + strings.TrimPrefix(segmentName(n), segmentPrefix)
}

// keep copies a damaged segment.
func keep(dir disk.Folder, name string) error {
	from, err := dir.Open(segmentPrefix + strings.TrimPrefix(name, damagedPrefix))
	if err != nil {
		return err
	}
	defer from.Close()
	if old, err := dir.Open(name); err == nil { // left by an interrupted Repair
		if err := errors.Join(old.Close(), dir.Remove(name)); err != nil {
			return err
		}
	}
	to, err := dir.Create(name)
	if err != nil {
		return err
	}
	if _, err = io.Copy(to, from); err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close(), dir.SyncNames())
}

// openOld opens the old segments; missing ones stay empty.
func (w *rewrite) openOld() error {
	l := &w.q.log
	missing := func(n uint32) {
		w.report.Broken++
		w.report.Missing = append(w.report.Missing, segmentName(n))
	}
	for n := w.r.first; n > 0 && n < w.r.numbers[0]; n++ {
		missing(n)
	}
	for i, n := range w.r.numbers {
		for i > 0 && l.segments[len(l.segments)-1].number+1 < n {
			gap := l.segments[len(l.segments)-1].number + 1
			l.segments = append(l.segments, &segment{number: gap, area: viewed{}})
			missing(gap)
		}
		area, err := view(w.dir, segmentName(n))
		if err != nil {
			return err
		}
		l.segments = append(l.segments, &segment{number: n, area: area})
	}
	slices.Sort(w.report.Missing)
	return nil
}

// writeAll writes the whole content of the book.
func (w *rewrite) writeAll() error {
	entries := w.r.book.Inspect(w.now, 0, nil, math.MaxInt)
	w.report.Keys = len(entries)
	first := max(w.r.numbers[len(w.r.numbers)-1], w.r.marked().segment) + 1
	if err := w.begin(first); err != nil {
		return err
	}
	if err := w.frame(kindGlobals, appendGlobals(newFrame(64), w.r.book.Globals(), first)); err != nil {
		return err
	}
	if err := w.frame(kindAdders, w.q.addersFrame()); err != nil {
		return err
	}
	s := w.q.newStates()
	flush := func() error {
		b := s.frame()
		s = w.q.newStates()
		return w.frame(kindState, b)
	}
	for i := range entries {
		key, err := w.q.log.keyAt(positionOf(&entries[i]))
		if err == nil {
			err = s.add(w.now, key)
		}
		if err == nil && len(s.b) >= sliceBytes {
			err = flush()
		}
		if err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return w.finish(first)
}

func positionOf(e *book.Entry[ref]) position {
	for _, recs := range [][]book.Rec[ref]{e.Waits, e.Held, e.Aside} {
		if len(recs) > 0 {
			return position{recs[0].Ref.segment, recs[0].Ref.offset}
		}
	}
	return position{}
}

// begin makes the next segment, with a link to the previous one. The header is written last, by finish.
func (w *rewrite) begin(n uint32) error {
	area, err := w.dir.Allocate(repairName(n), int64(w.options.SegmentBytes))
	if err != nil {
		return err
	}
	prev := w.used
	w.numbers, w.area, w.used = append(w.numbers, n), area, headerSize
	return w.put(kindLink, appendI64(newFrame(8), prev))
}

// frame writes a frame, into a new segment if this one has no room.
func (w *rewrite) frame(k kind, b []byte) error {
	if w.used+int64(len(b)) > int64(w.options.SegmentBytes) {
		if err := w.finish(w.r.first); err != nil {
			return err
		}
		if err := w.begin(w.numbers[len(w.numbers)-1] + 1); err != nil {
			return err
		}
	}
	return w.put(k, b)
}

func (w *rewrite) put(k kind, b []byte) error {
	seal(b, seedOf(w.r.id, w.numbers[len(w.numbers)-1]), k, position{}, w.now)
	_, err := w.area.WriteAt(b, w.used)
	w.used += int64(len(b))
	return err
}

// finish writes the header of a segment, and syncs it.
func (w *rewrite) finish(first uint32) error {
	n := w.numbers[len(w.numbers)-1]
	h := header{queue: w.r.id, number: n, first: first, created: w.now.UnixNano(), index: w.options.Index, endpoint: w.options.Endpoint}
	_, err := w.area.WriteAt(h.encode(), 0)
	if err == nil {
		err = w.area.Sync()
	}
	return errors.Join(err, w.area.Close())
}
