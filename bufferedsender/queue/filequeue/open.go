package filequeue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/queuecontrol"
)

// Open opens the queue in a directory, which no other process may have as long as it is open, and
// makes it if need be. It reads all of the log: about two seconds for a million keys that wait. What
// a crash has left at the end is cut off and logged; damage elsewhere is a *CorruptError, see Repair.
// Leases of the process that had the queue before have run out.
//
// With Options.ReadOnly it takes no lock and makes nothing, and what it shows is as of the moment of
// Open, also while another process has the queue: leases are those that have not run out then.
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

// takeCommands makes the control socket. A queue without one, for lack of room for example, only cannot be changed by
// an operator.
func (q *Queue) takeCommands() {
	stop, err := queuecontrol.Serve(q.path, q, q.options.Logger)
	switch {
	case err == nil:
		q.control = stop
	case !errors.Is(err, errors.ErrUnsupported):
		q.options.Logger.Warn("filequeue: operator commands need the program stopped", "directory", q.path, "error", err)
	}
}

// readAttempts bounds how often openReading begins again while the log changes.
const readAttempts = 20

// openReading is Open for reading. It takes no lock and writes nothing, so that the directory may be mounted for
// reading, and a process may have it. What that writes meanwhile looks like a torn end. A segment that it removes, or
// one that it adds behind the end that was read, looks like damage: so the log is read again until the same is wrong
// twice.
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
	dir, err := filepath.Abs(dir) // the program may change its directory
	if err != nil {
		return nil, nil, wrap(err)
	}
	d := disk.View(dir)
	_, err = os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		there := filepath.Dir(dir)
		for !exists(there) && there != filepath.Dir(there) {
			there = filepath.Dir(there)
		}
		d, err = disk.Open(dir)
		// Or the directory may be gone with all that is durable in it, and so may those that it is in.
		for at := filepath.Dir(dir); err == nil; at = filepath.Dir(at) {
			if err = disk.View(at).SyncNames(); at == there {
				break
			}
		}
	case err == nil:
		// The process that made it may have been killed before that. This one may not be allowed to read the
		// directory that it is in.
		if err = disk.View(filepath.Dir(dir)).SyncNames(); errors.Is(err, fs.ErrPermission) {
			err = nil
		}
	}
	if err != nil {
		return nil, nil, wrap(err)
	}
	if network := networkName(dir); network != "" && !options.AllowNetwork {
		return nil, nil, wrap(fmt.Errorf("%w, %s: what it has synced, and its locks, are not to be relied on; see Options.AllowNetwork", ErrNetwork, network))
	}
	release, err := disk.Lock(filepath.Join(dir, lockName))
	if locked := (*disk.LockedError)(nil); errors.As(err, &locked) {
		err = fmt.Errorf("%w: %w", ErrLocked, err)
	}
	if err != nil {
		return nil, nil, wrap(err)
	}
	return d, release, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// open is Open for a folder that is locked.
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

// start mends the end of the log, opens the files, and ends the leases.
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
	q.book.Advance(now) // those that had run out before are not news
	q.book.Recount()
	if !q.options.ReadOnly { // otherwise the process that has them may live
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

// opens writes that all leases of before have run out, as soon as there is room for it and for a frame of a size
// behind it. An Open of a full disk has none. Until then nothing is leased: a reservation does not fit either, and
// behind a reservation that was read before the leases of the same keys have run out, the log would have them leased
// to the holder of before.
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

// mend cuts off what is behind the end of the log.
func (r *recovery) mend() error {
	gone := slices.Concat(r.old, r.empty)
	slices.Reverse(r.cut) // so that no gap is left by a crash
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
			if disk.Full(err) { // what waits is to be sent all the same
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
	// What was read may be in memory only, and so may its names.
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
		// Before anything is written behind it, too: a segment whose header is lost is damaged if it has frames.
		if err := errors.Join(s.rewrite(r.durable), s.area.Sync()); err != nil {
			return err
		}
	}
	return nil
}

// rewrite writes what lies behind a position once more, as it is: after a sync that has failed the system may have it
// in memory, and take it for written, so that another sync would do nothing.
func (s *segment) rewrite(durable position) error {
	at := int64(0) // the header as well
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

// Close of a segment that is missing does nothing.
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
