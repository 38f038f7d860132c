package filequeue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/queuecontrol"
)

// Open opens the queue in a directory, or makes it. No other process may open it meanwhile. Open reads the whole log,
// which takes about two seconds for a million waiting keys. A torn end, left by a crash, is cut off and logged; damage
// elsewhere, or a log that ends before it was synced to, is a *CorruptError, see Repair. Leases of the previous process
// have run out.
//
// With Options.ReadOnly it takes no lock and makes nothing. The content is that of the moment of Open, even while
// another process uses the queue; leases are shown unless they had run out then.
//
// Other errors have ErrLocked, ErrFormat, ErrOther or ErrNetwork in their chains.
func Open(dir string, opts *Options) (*Queue, error) {
	options, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if options.ReadOnly {
		return openReading(dir, options)
	}
	d, release, err := take(dir, &options)
	if err != nil {
		return nil, err
	}
	q, err := open(d, options)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("filequeue: %s: %w", dir, err), release())
	}
	q.path, q.release = dir, release
	q.takeCommands()
	return q, nil
}

// takeCommands makes the control socket. Without one, for example because the disk is full, the queue works, but
// operators cannot change it.
func (q *Queue) takeCommands() {
	stop, err := queuecontrol.Serve(q.path, q, q.options.Logger)
	switch {
	case err == nil:
		q.control = stop
	case !errors.Is(err, errors.ErrUnsupported):
		q.options.Logger.Warn("filequeue: operator commands need the program stopped", "directory", q.path, "error", err)
	}
}

// readAttempts is how often openReading reads the log again while it changes.
const readAttempts = 20

// openReading is Open for reading. It takes no lock and writes nothing, so the directory may be mounted read-only, and
// another process may use it. Frames written meanwhile look like a torn end. A segment that is removed, or added behind
// the end just read, looks like damage. So the log is read until two attempts in a row return the same error.
func openReading(dir string, options Options) (*Queue, error) {
	wrap := func(err error) error { return fmt.Errorf("filequeue: %s: %w", dir, err) }
	if network := networkName(dir); network != "" && !options.AllowNetwork {
		return nil, wrap(fmt.Errorf("%w, %s; see Options.AllowNetwork", ErrNetwork, network))
	}
	var last error
	for range readAttempts {
		q, err := open(disk.View(dir), options)
		if err == nil {
			q.path = dir
			return q, nil
		}
		changed := errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*CorruptError))
		if !changed || last != nil && last.Error() == err.Error() {
			return nil, wrap(err)
		}
		last = err
	}
	return nil, wrap(last)
}

// take makes the directory and locks it.
func take(dir string, options *Options) (disk.Folder, func() error, error) {
	wrap := func(err error) error { return fmt.Errorf("filequeue: %s: %w", dir, err) }
	dir, err := filepath.Abs(dir) // the program may change its working directory
	if err != nil {
		return nil, nil, wrap(err)
	}
	if _, err := disk.Open(dir); err != nil {
		return nil, nil, wrap(err)
	}
	if network := networkName(dir); network != "" && !options.AllowNetwork {
		return nil, nil, wrap(fmt.Errorf("%w, %s, whose syncs and locks are not reliable; see Options.AllowNetwork", ErrNetwork, network))
	}
	d, release, err := disk.LockFolder(dir, lockName)
	if locked := (*disk.LockedError)(nil); errors.As(err, &locked) {
		err = fmt.Errorf("%w: %w", ErrLocked, err)
	}
	if err != nil {
		return nil, nil, wrap(err)
	}
	return d, release, nil
}

// open opens a queue in a locked folder.
func open(dir disk.Folder, options Options) (*Queue, error) {
	if !options.ReadOnly {
		if err := finishDestroy(dir); err != nil {
			return nil, err
		}
	}
	r := recovery{dir: dir, options: &options}
	if err := r.run(); err != nil {
		return nil, err
	}
	q := &Queue{options: options, release: func() error { return nil }, control: func() error { return nil }}
	q.quit, q.cancel = context.WithCancel(context.Background())
	q.moved = make(chan struct{})
	q.log = log{dir: dir, options: &q.options, id: r.id, first: r.first, begins: r.first}
	q.clock = newClock(r.last)
	q.book, q.adders = r.book, r.adders
	if q.book == nil {
		q.book = book.New[ref](q.clock.now().Add(-queue.MaxSkew))
	}
	err := q.start(&r)
	if err != nil {
		q.cancel()
		return nil, errors.Join(err, q.log.close())
	}
	return q, nil
}

// start repairs the end of the log, opens the files, and ends the leases of earlier processes.
func (q *Queue) start(r *recovery) error {
	l := &q.log
	if r.torn > 0 && !q.options.ReadOnly {
		q.options.Logger.Warn("filequeue: torn end of the log cut off",
			"segment", segmentName(r.end.segment), "offset", r.end.offset, "bytes", r.torn)
	}
	if !q.options.ReadOnly {
		if err := r.mend(); err != nil {
			return err
		}
	}
	if err := l.openFiles(r); err != nil {
		return err
	}
	now := q.clock.now()
	q.book.Advance(now) // leases that ran out earlier are not reported again
	q.book.Recount()
	if !q.options.ReadOnly { // in read-only mode the holding process may be alive
		q.book.RunOutAll(now)
	}
	q.book.MaxKeys, q.book.MaxBytes = q.options.MaxKeys, q.options.MaxBytes
	q.parked.Store(q.book.Fault())
	if q.options.ReadOnly {
		return nil
	}
	if len(l.segments) == 0 {
		if err := l.create(now); err != nil {
			return err
		}
	}
	if err := l.findReserve(); err != nil {
		return err
	}
	var err error
	if l.mark, err = disk.OpenMark(l.dir, markName); err != nil {
		l.unmark(err)
	}
	c := call{q: q, now: now}
	if !l.fits(frameHeader + 64) {
		next, err := l.prepare(l.head().number+1, l.begins)
		if err != nil && !disk.Full(err) {
			return err
		}
		if err == nil {
			l.next = next
		}
	}
	q.unopened = true
	if err := c.opens(0); err != nil {
		return err
	}
	return q.sync(context.Background(), l.end())
}

// opens writes that all earlier leases have run out, as soon as there is room for that and for a following frame of
// size bytes. On a full disk there may be no room at Open. Until it is written nothing can be leased, because a
// reservation does not fit either. If a reservation came first in the log, a replay would find those keys still leased
// to the earlier holder.
func (c *call) opens(size int) error {
	q := c.q
	if !q.unopened {
		return nil
	}
	b := q.globals()
	if !q.log.fits(len(b) + size + frameHeader) {
		return nil
	}
	q.unopened = false
	return c.write(kindOpen, b)
}

// Everything behind the end of the log is cut off.
func (r *recovery) mend() error {
	gone := slices.Concat(r.old, r.empty)
	slices.Reverse(r.cut) // from the end, so that a crash leaves no gap
	gone = append(gone, r.cut...)
	for _, name := range gone {
		if err := r.dir.Remove(name); err != nil {
			return err
		}
		if err := r.dir.SyncNames(); err != nil {
			return err
		}
	}
	if r.torn > 0 {
		return r.dir.Cut(segmentName(r.end.segment), int64(r.end.offset))
	}
	return nil
}

// openFiles opens the segments that recovery has read.
func (l *log) openFiles(r *recovery) error {
	for i, n := range r.numbers {
		if n > r.end.segment && n != r.ahead {
			break
		}
		s := &segment{number: n}
		var err error
		switch {
		case l.options.ReadOnly:
			s.area, err = view(l.dir, segmentName(n))
		case n < r.end.segment:
			s.area, err = l.dir.Reopen(segmentName(n), 0)
		default:
			s.area, err = l.dir.Reopen(segmentName(n), int64(l.options.SegmentBytes))
			if disk.Full(err) { // waiting records must still be sent
				s.area, err = l.dir.Reopen(segmentName(n), 0)
			}
		}
		if err != nil {
			return err
		}
		switch n {
		case r.ahead:
			s.used = headerSize
			l.next = s
			continue
		case r.end.segment:
			s.used = int64(r.end.offset)
		default:
			s.used = r.ends[i]
		}
		l.segments = append(l.segments, s)
		l.total += s.used
	}
	// Data that recovery read may be in the page cache only, and so may the file names.
	l.unsynced = slices.Clone(l.segments)
	if l.options.ReadOnly || len(l.segments) == 0 {
		return nil
	}
	if err := l.dir.SyncNames(); err != nil {
		return err
	}
	found := l.segments
	if l.next != nil {
		found = append(slices.Clip(found), l.next)
	}
	for _, s := range found {
		if s.number < r.durable.segment {
			continue
		}
		// Sync before anything is written behind it: a segment that has frames but lost its header counts as damaged.
		if err := errors.Join(s.rewrite(r.durable), s.area.Sync()); err != nil {
			return err
		}
	}
	return nil
}

// rewrite writes everything behind the durable position again, unchanged. After a failed sync the system may hold it in
// memory and regard it as written, so that another sync would do nothing.
func (s *segment) rewrite(durable position) error {
	at := int64(0) // includes the header
	if s.number == durable.segment {
		at = int64(durable.offset)
	}
	buf := make([]byte, min(max(s.used-at, 0), 1<<20))
	for at < s.used {
		b := buf[:min(int64(len(buf)), s.used-at)]
		if n, err := s.area.ReadAt(b, at); n < len(b) {
			return err
		}
		if _, err := s.area.WriteAt(b, at); err != nil {
			return err
		}
		at += int64(len(b))
	}
	return nil
}

// create makes the first segment.
func (l *log) create(now time.Time) error {
	l.id, l.first, l.begins = queue.NewID(), 1, 1
	s, err := l.prepare(1, 1)
	if err != nil {
		return err
	}
	b := appendI64(newFrame(8), 0)
	seal(b, seedOf(l.id, 1), kindLink, position{}, now)
	if _, err := s.area.WriteAt(b, headerSize); err != nil {
		return errors.Join(err, s.area.Close())
	}
	s.used += int64(len(b))
	l.segments, l.unsynced, l.total = []*segment{s}, []*segment{s}, s.used
	return nil
}

// viewed is a segment that is only read.
type viewed struct {
	fs.File
	io.ReaderAt
}

func view(dir fs.FS, name string) (disk.Area, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	return viewed{f, f.(io.ReaderAt)}, nil
}

// Close does nothing for a segment that is missing.
func (v viewed) Close() error {
	if v.File == nil {
		return nil
	}
	return v.File.Close()
}

func (v viewed) ReadAt(b []byte, at int64) (int, error) {
	if v.File == nil {
		return 0, fs.ErrNotExist
	}
	return v.ReaderAt.ReadAt(b, at)
}

func (viewed) WriteAt([]byte, int64) (int, error) { return 0, ErrReadOnly }
func (viewed) Sync() error                        { return ErrReadOnly }
