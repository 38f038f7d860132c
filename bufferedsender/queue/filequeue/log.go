package filequeue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// segment is an open file of the log.
type segment struct {
	number uint32
	area   disk.Area
	used   int64 // where the next frame begins
	// readers counts the reads that began while this segment was the oldest, of it and later ones. No read begins on it
	// once it has left log.segments.
	readers sync.WaitGroup
}

// log is the open segments and the end of the log. Queue.mu guards all of it.
type log struct {
	dir     disk.Folder
	options *Options
	id      queue.ID

	segments []*segment // oldest first; the last one is the head
	total    int64      // sum of used
	unsynced []*segment // oldest first
	synced   position   // everything before it is durable
	next     *segment   // the prepared next head, nil if none
	first    uint32     // the log needs no segment before it; written in globals
	begins   uint32     // the durable value of first; written in headers, which are synced before earlier frames

	syncing bool
	wanted  position      // a caller waits until this position is synced
	round   chan struct{} // closed when a sync has ended
	making  bool          // next is being prepared
	made    chan struct{} // closed when making ends
	full    error         // why next could not be made, or what the reserve holds back
	tried   time.Time     // time of full, by the clock of the queue
	failed  error
	mark    *disk.Mark // notes synced; nil if it cannot be written. Syncs follow each other, and only they use it

	leaving *segment // out of segments, but its name may be on the disk; only compaction uses it

	looked int    // at which segment the last sync has looked
	gone   uint32 // newest segment whose file was removed, 0: none

	reserved bool  // the file reserveName exists
	burned   int64 // bytes that calls have written since moves was set
	moves    int   // how many segments may be rewritten while the disk is full
}

// maxFrame bounds a call, so that offsets in a segment fit into 32 bits.
const maxFrame = 1 << 30

func (l *log) head() *segment { return l.segments[len(l.segments)-1] }

// end returns the position of the next frame, if it fits into the head.
func (l *log) end() position {
	h := l.head()
	return position{h.number, uint32(h.used)} //nolint:gosec // see maxFrame
}

// fits reports whether there is room for a frame in the head or in the next one.
func (l *log) fits(size int) bool {
	return l.next != nil || l.head().used+int64(size) <= int64(l.options.SegmentBytes)
}

// place returns the position of the next frame of a size. If it does not fit into the head, the next segment becomes
// the head.
func (l *log) place(size int, now time.Time) (position, error) {
	h := l.head()
	if h.used+int64(size) <= int64(l.options.SegmentBytes) || l.next == nil {
		return l.end(), nil
	}
	next := l.next
	b := appendI64(newFrame(8), h.used)
	seal(b, seedOf(l.id, next.number), kindLink, l.synced, now)
	if _, err := next.area.WriteAt(b, headerSize); err != nil {
		return position{}, err
	}
	next.used = headerSize + int64(len(b))
	l.total += next.used
	l.segments = append(l.segments, next)
	l.unsynced = append(l.unsynced, next)
	l.next = nil
	return l.end(), nil
}

// write writes a frame at the position that place returned.
func (l *log) write(b []byte, k kind, now time.Time) error {
	h := l.head()
	seal(b, seedOf(l.id, h.number), k, l.synced, now)
	if _, err := h.area.WriteAt(b, h.used); err != nil {
		return err
	}
	h.used += int64(len(b))
	l.total += int64(len(b))
	return nil
}

// prepare makes the next segment. It needs no lock.
func (l *log) prepare(number, first uint32) (*segment, error) {
	name := segmentName(number)
	area, err := l.dir.Allocate(name, int64(l.options.SegmentBytes))
	if err != nil {
		return nil, err
	}
	return l.begin(area, number, first)
}

// begin writes the header of a segment.
func (l *log) begin(area disk.Area, number, first uint32) (*segment, error) {
	name := segmentName(number)
	h := header{queue: l.id, number: number, first: first, created: time.Now().UnixNano(), index: l.options.Index, endpoint: l.options.Endpoint}
	_, err := area.WriteAt(h.encode(), 0)
	if err == nil {
		err = area.Sync()
	}
	if err == nil {
		err = l.dir.SyncNames()
	}
	if err != nil {
		return nil, errors.Join(err, area.Close(), l.dir.Remove(name))
	}
	return &segment{number: number, area: area, used: headerSize}, nil
}

// askFullDisk is the interval at which calls other than Append ask a full disk for room; compaction waits for them.
const askFullDisk = time.Second

// fail ends the queue for good. The caller holds the lock.
func (q *Queue) fail(err error) {
	if q.log.failed != nil {
		return
	}
	q.log.failed = fmt.Errorf("filequeue: %w: %w", queue.ErrFailed, err)
	q.fault.Store(&q.log.failed)
	q.options.Logger.Error("filequeue: queue failed; reopen it after repair", "error", err)
}

// sync waits until the log is durable up to a position, ctx ends, or the queue fails. The first waiting caller starts a
// goroutine that syncs for all.
func (q *Queue) sync(ctx context.Context, until position) error {
	l := &q.log
	q.mu.Lock()
	defer q.mu.Unlock()
	for l.synced.before(until) {
		if l.failed != nil {
			return l.failed
		}
		if l.wanted.before(until) {
			l.wanted = until
		}
		if !l.syncing {
			l.syncing, l.round = true, make(chan struct{})
			q.work.Go(q.syncWanted)
		}
		round := l.round
		q.mu.Unlock()
		select {
		case <-round:
		case <-ctx.Done():
			q.mu.Lock()
			return ctx.Err()
		}
		q.mu.Lock()
	}
	return nil
}

// syncYields is how often other goroutines may run before a sync; it costs microseconds if they have nothing to do.
const syncYields = 4

// syncWanted syncs until no caller waits.
func (q *Queue) syncWanted() {
	l := &q.log
	q.mu.Lock()
	defer q.mu.Unlock()
	for l.failed == nil && l.synced.before(l.wanted) {
		// Let the callers woken by the last sync write first. Otherwise this sync would cover only the first of them,
		// and the callers would alternate in two halves.
		q.mu.Unlock()
		for range syncYields {
			runtime.Gosched()
		}
		q.mu.Lock()
		// Everything before end is written, so a sync that begins now covers it. Older segments go first: the synced
		// part must be a prefix of the log.
		end, count, segments, look := l.end(), q.book.Globals().Seq, l.unsynced, l.nextToLook()
		q.mu.Unlock()
		var err error
		for _, s := range segments {
			if err = s.area.Sync(); err != nil {
				break
			}
		}
		if err == nil {
			l.note(end, count)
		}
		gone := l.isGone(look)
		q.mu.Lock()
		if gone {
			q.rescue(look)
		}
		if err != nil {
			q.fail(err)
			break
		}
		l.synced = end
		l.unsynced = l.unsynced[len(segments)-1:] // the last one was the head, and may be written to again
		close(l.round)
		l.round = make(chan struct{})
	}
	l.syncing = false
	close(l.round)
}

// note writes to the mark up to where the log is durable, and how many records were appended up to there. A mark that
// cannot be written stays behind, so that Open detects less.
func (l *log) note(end position, count uint64) {
	if l.mark == nil {
		return
	}
	err := l.mark.Note(disk.Extent{Of: l.id, Segment: uint64(end.segment), Offset: uint64(end.offset), Count: count})
	if err != nil {
		l.unmark(err)
	}
}

// unmark gives up the mark until the next Open.
func (l *log) unmark(err error) {
	if l.mark != nil {
		err = errors.Join(err, l.mark.Close())
		l.mark = nil
	}
	l.options.Logger.Warn("filequeue: mark cannot be written; damage may stay undetected", "file", markName, "error", err)
}

// nextToLook returns an older segment for a sync to look at: all of them in turn, one a sync, because each costs some
// microseconds. 0: there is none.
func (l *log) nextToLook() uint32 {
	older := l.segments[:len(l.segments)-1]
	if len(older) == 0 || l.synced == (position{}) { // Open has just read all of them
		return 0
	}
	l.looked++
	return older[l.looked%len(older)].number
}

// isGone reports whether a segment has no file.
func (l *log) isGone(number uint32) bool {
	if number == 0 {
		return false
	}
	f, err := l.dir.Open(segmentName(number))
	if err == nil {
		_ = f.Close() // it was not read
	}
	return errors.Is(err, fs.ErrNotExist)
}

// rescue has compaction write the live keys of a segment again whose file an operator has removed. The open file still
// has them, and the next Open would not. The caller holds the lock.
func (q *Queue) rescue(number uint32) {
	l := &q.log
	if number < l.segments[0].number || number <= l.gone { // compaction has removed it, or will
		return
	}
	l.gone = number
	q.options.Logger.Error("filequeue: segment removed while in use; rewriting its records", "segment", segmentName(number))
	q.tidy()
}
