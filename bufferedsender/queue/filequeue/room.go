package filequeue

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// A queue that has filled its volume can only make room by writing: first commits, then the frames that let it remove a
// segment. A reserve file of the size of a segment is kept for these. When there is no room for another segment, the
// reserve file becomes the next one, and Append is refused until a new reserve exists. Until then, use decides which
// frames may take the remaining room.

// reserveName is the name of the reserve file.
const reserveName = "reserve"

// use is the purpose of a frame. While the disk is full, each use leaves the room that the uses after it need.
type use uint8

const (
	adds    use = iota // Append, refused while the disk is full
	spends             // reservations, Park: leave the room to rewrite the oldest segment
	extends            // of leases: leave the commits of everything leased
	makes              // commits, Drop, Unpark, Pause: leave what removing a segment takes
	removes            // removing a segment: may use everything
)

// commitBytes is about how many bytes the commit of a lease takes, with a key of usual length.
const commitBytes = 128

// left returns how many bytes can be written.
func (l *log) left() int {
	n := max(0, l.options.SegmentBytes-int(l.head().used)) // one large call may take more than a segment
	if l.next != nil {
		n += l.options.SegmentBytes - headerSize - frameHeader - 8
	}
	return n
}

// keeps returns how many of these bytes a use leaves to others.
func (q *Queue) keeps(u use) (n int) {
	if q.log.full == nil || u == removes {
		return 0
	}
	n = min(q.adders.Len()*adderBytes+1<<10+2*frameHeader, q.log.options.SegmentBytes/4)
	if u <= extends {
		n += int(q.book.Leased()) * commitBytes
	}
	if u <= spends {
		n += q.rewriteBytes()
	}
	return n
}

// oldestLives returns about how many bytes the states of all keys take that depend on the oldest segment.
func (q *Queue) oldestLives() int {
	l := &q.log
	keys, _, _ := q.book.Size()
	if len(l.segments) < 2 || keys == 0 {
		return 0
	}
	return min(int(q.lives()/int64(keys))*q.book.Older(l.segments[0].number), l.options.SegmentBytes)
}

// rewriteBytes returns the room without which compaction does not rewrite the oldest segment. Reservations leave it, so
// that the bytes which they and their releases have written can be regained.
func (q *Queue) rewriteBytes() int {
	lives, most := q.oldestLives(), q.log.options.SegmentBytes
	return min(lives+lives/4, most+most/16)
}

// affords reports whether there is room to rewrite the oldest segment: a rewrite that ends in the middle gains nothing.
// Keys with one waiting record take no more than they did there, see group.
func (q *Queue) affords(oldest *segment) bool {
	var simple, others int
	for part := range book.Parts {
		q.mu.Lock()
		q.book.EachOlder(part, oldest.number, func(is bool, records, bytes int) {
			bytes += records * recordHeader
			if is {
				simple += bytes + groupBytes
			} else {
				others += bytes + groupBytes + asideOverhead
			}
		})
		q.mu.Unlock()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	need := min(simple, int(oldest.used)) + others
	return q.log.full == nil || q.log.left()-q.keeps(extends) >= need+need/16
}

// lacks reports whether a frame has no room.
func (q *Queue) lacks(u use, size int) bool {
	l := &q.log
	switch {
	case !l.fits(size + frameHeader):
		return true
	case u == adds:
		return l.full != nil || l.next == nil && l.head().used+int64(size) > int64(l.options.SegmentBytes)/2
	}
	return l.full != nil && l.left()-size-frameHeader < q.keeps(u)
}

// isShort reports whether an error means that there is no room for a segment.
func isShort(err error) bool {
	return disk.Full(err) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// provide starts making the next segment and the reserve file, unless they exist. The caller holds the lock.
func (q *Queue) provide() {
	l := &q.log
	if l.next != nil && l.reserved || l.making || l.failed != nil || q.closed {
		return
	}
	l.making, l.made = true, make(chan struct{})
	l.tried = q.clock.now()
	number, first, there, reserved := l.head().number+1, l.begins, l.next != nil, l.reserved
	q.work.Go(func() {
		var next *segment
		var err error
		if !there {
			next, err = l.prepare(number, first)
			if disk.Full(err) && reserved { // with too many open files it could not be opened
				reserved = false
				if of, failed := l.prepareOfReserve(number, first); !errors.Is(failed, fs.ErrNotExist) { // an operator may have removed it for room
					next, err = of, failed
				}
			}
		}
		short := err
		if err == nil && !reserved {
			if short = l.keepReserve(); short == nil {
				reserved = true
			}
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		if l.reserved = reserved; next != nil {
			l.next = next
		}
		switch {
		case short == nil:
			l.full = nil
			q.noRoom.Store(nil)
		case isShort(short):
			full := fmt.Errorf("filequeue: no room for another segment: %w: %w", queue.ErrFull, short)
			l.full = full
			q.noRoom.Store(&full) // not &l.full, which changes while Fault reads it
		default:
			q.fail(short)
		}
		l.making = false
		close(l.made)
	})
}

// prepareOfReserve makes the next segment from the reserve file, which takes no more room.
func (l *log) prepareOfReserve(number, first uint32) (*segment, error) {
	name := segmentName(number)
	if err := l.dir.Rename(reserveName, name); err != nil {
		return nil, err
	}
	area, err := l.dir.Reopen(name, 0)
	if err != nil {
		return nil, errors.Join(err, l.dir.Remove(name))
	}
	return l.begin(area, number, first)
}

// keepReserve makes the reserve file.
func (l *log) keepReserve() error {
	area, err := l.dir.Allocate(reserveName, int64(l.options.SegmentBytes))
	if err != nil {
		return err
	}
	return area.Close()
}

// findReserve takes over an existing reserve file. One of another size, left by a crash, is made again.
func (l *log) findReserve() error {
	f, err := l.dir.Open(reserveName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if l.reserved = info.Size() == int64(l.options.SegmentBytes); l.reserved {
		return nil
	}
	return l.dir.Remove(reserveName)
}
