package filequeue

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// A queue that has filled its volume can only make room by writing: commits, and then that a segment is not needed any
// more. So a file of the size of a segment is kept for that. It becomes the next segment when there is no room for one
// otherwise, and until there is one again Append is refused. How the room is shared then is what use decides.

// reserveName is the file that is kept.
const reserveName = "reserve"

// use is what a frame is for. Each use leaves room for those behind it while the disk is full.
type use uint8

const (
	adds    use = iota // Append, for which there is no room then
	spends             // reservations, Park: they leave what writing the oldest segment again takes
	extends            // of leases: they leave the commits of all that is leased
	makes              // commits, Drop, Unpark, Pause: they leave what removing a segment takes
	removes            // a segment: all that there is
)

// commitBytes is what the commit of a lease takes, about, with a key of some length.
const commitBytes = 128

// left is how many bytes can be written.
func (l *log) left() int {
	n := l.options.SegmentBytes - int(l.head().used)
	if l.next != nil {
		n += l.options.SegmentBytes - headerSize - frameHeader - 8
	}
	return n
}

// keeps is how many bytes of them a use leaves to others.
func (q *Queue) keeps(u use) (n int) {
	if q.log.full == nil || u == removes {
		return 0
	}
	n = min(q.adders.Len()*adderBytes+1<<10+2*frameHeader, q.log.options.SegmentBytes/4)
	if u <= extends {
		n += int(q.book.Leased()) * commitBytes
	}
	if u <= spends {
		n += q.oldestLives()
	}
	return n
}

// oldestLives is about what the state of all takes that depends on the oldest segment.
func (q *Queue) oldestLives() int {
	l := &q.log
	keys, _, _ := q.book.Size()
	if len(l.segments) < 2 || keys == 0 {
		return 0
	}
	return min(int(q.lives()/int64(keys))*q.book.Older(l.segments[0].number), l.options.SegmentBytes)
}

// lacks reports whether there is no room for a frame.
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

// isShort reports whether an error says that there is no room for a segment.
func isShort(err error) bool {
	return disk.Full(err) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// provide has the next segment made unless it is there, and what is kept behind it. The caller has the lock.
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
			if err != nil && isShort(err) && reserved {
				reserved = false
				next, err = l.prepareOfReserve(number, first)
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
			l.full = fmt.Errorf("filequeue: there is no room for another segment: %w: %w", queue.ErrFull, short)
			q.noRoom.Store(&l.full)
		default:
			q.fail(short)
		}
		l.making = false
		close(l.made)
	})
}

// prepareOfReserve makes the next segment of what is kept, which takes no room.
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

// keepReserve makes the file that is kept.
func (l *log) keepReserve() error {
	area, err := l.dir.Allocate(reserveName, int64(l.options.SegmentBytes))
	if err != nil {
		return err
	}
	return area.Close()
}

// findReserve takes the file over that is kept. One of another size, which a crash has left, is made again.
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
