package filequeue

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// keyOverhead is about how many bytes the log needs for a key in addition to its records.
const keyOverhead = 64

// asideOverhead is about how many bytes more the log needs for a leased or parked key, without the reason.
const asideOverhead = 200

// adderBytes is about how many bytes the last call of an adder needs. All adders are written with each segment that is
// removed.
const adderBytes = 64

// sliceBytes is how much compaction writes before it releases the lock.
const sliceBytes = 128 << 10

// lives returns about how many bytes a log of the present state alone would have. The caller holds the lock.
func (q *Queue) lives() int64 {
	keys, records, live := q.book.Size()
	aside, texts := q.book.Aside()
	return live + records*recordHeader + int64(keys)*keyOverhead + aside*asideOverhead + texts + int64(q.adders.Len())*adderBytes
}

// crowded reports whether the log should and can become smaller. With a full disk aside, it may have two segments or
// three times the live bytes, whichever is more: with the head and the next segment that makes at most four.
//
// While the disk is full, each segment on which nothing depends is removed. A segment with live keys is rewritten only
// if there is room for it and enough dead bytes to gain room in the end. For each quarter of a segment that calls
// write, and each Drop, at most as many segments are rewritten as there are.
func (q *Queue) crowded() bool {
	l := &q.log
	if len(l.segments) < 2 {
		return false
	}
	if l.gone >= l.segments[0].number {
		return true
	}
	live := q.lives()
	if l.full != nil {
		keys, _, _ := q.book.Size()
		dead := l.total - live + int64(keys)*keyOverhead // most keys need no more than in the frame of a call
		return q.book.Older(l.segments[0].number) == 0 ||
			l.moves > 0 && dead > int64(l.options.SegmentBytes)/4 && l.left()-q.keeps(extends) >= q.rewriteBytes()
	}
	return l.total > max(2*int64(l.options.SegmentBytes), 3*live)
}

// burn counts the bytes that calls write.
func (l *log) burn(n int) {
	if l.burned += int64(n); l.burned >= int64(l.options.SegmentBytes)/4 {
		l.burned, l.moves = 0, len(l.segments)
	}
}

// overgrown reports whether the log is over its limit although compaction is rewriting keys: writers are faster. It is
// false while a segment waits for its readers, which may be slow.
func (q *Queue) overgrown() bool {
	return q.moving && q.log.total > max(4*int64(q.options.SegmentBytes), 4*q.lives())
}

// tidy starts a compaction if needed. The caller holds the lock.
func (q *Queue) tidy() {
	if q.compacting || q.closed || q.kept || q.log.failed != nil || !q.crowded() {
		return
	}
	q.compacting = true
	q.work.Go(func() {
		err := q.compact()
		q.mu.Lock()
		defer q.mu.Unlock()
		q.compacting = false
		if err != nil && q.quit.Err() == nil && !isShort(err) {
			q.fail(err)
		}
	})
}

// setMoving sets moving and wakes the callers that wait for a change of it.
func (q *Queue) setMoving(moving bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.moving = moving
	close(q.moved)
	q.moved = make(chan struct{})
}

// compact removes segments from the front of the log until it is small enough.
func (q *Queue) compact() error {
	for {
		q.mu.Lock()
		oldest, crowded := q.log.segments[0], q.crowded() && !q.closed
		nothing, full := q.book.Nothing() || q.book.Older(oldest.number) == 0, q.log.full != nil
		q.log.moves = max(0, q.log.moves-1)
		q.mu.Unlock()
		if !crowded {
			return nil
		}
		if full && !nothing && !q.affords(oldest) {
			q.mu.Lock()
			q.log.moves = 0
			q.mu.Unlock()
			return nil
		}
		if !nothing { // if nothing depends on the segment now, nothing will: new keys depend on later ones
			q.setMoving(true)
			err := q.move(oldest)
			q.setMoving(false)
			if err != nil {
				return err
			}
		}
		if keys := q.dependents(oldest.number); keys > 0 {
			q.keep(&keptError{Segment: oldest.number, Keys: keys})
			return nil
		}
		if err := q.drop(oldest); err != nil {
			return err
		}
	}
}

// dependents counts the keys that would be lost with a segment. It asks the book again, so that the removal depends
// neither on the keys that move found in the file nor on what it wrote.
func (q *Queue) dependents(number uint32) (keys int) {
	in := func(r ref) bool { return r.segment <= number }
	for part := range book.Parts {
		q.mu.Lock()
		keys += q.book.Dependents(part, number, in)
		q.mu.Unlock()
	}
	return keys
}

// keep ends all compaction until the queue is reopened.
func (q *Queue) keep(why *keptError) {
	q.mu.Lock()
	q.kept = true
	if q.log.failed == nil {
		err := error(why)
		q.fault.Store(&err)
	}
	q.mu.Unlock()
	q.options.Logger.Error("filequeue: queue segment kept: keys depend on it", "segment", segmentName(why.Segment), "keys", why.Keys)
}

// move writes the state of all keys that depend on the oldest segment to the head.
func (q *Queue) move(oldest *segment) error {
	var buf []byte
	seed := seedOf(q.log.id, oldest.number)
	for at := int64(headerSize); at < oldest.used; {
		f, err := readFrame(oldest, at, seed, &buf)
		if err != nil {
			return err
		}
		at += f.size()
		named, ok := namedIn(&f)
		if !ok {
			return &CorruptError{Segment: oldest.number, Offset: int64(f.at.offset), Reason: fmt.Sprintf("a frame of kind %d cannot be read", f.kind)}
		}
		for len(named) > 0 {
			var err error
			if named, err = q.moveSome(&f, named); err != nil {
				return err
			}
		}
	}
	return nil
}

// readFrame reads the frame at an offset of a segment into buf, which grows to the largest frame. Frames are read one
// by one, so that compaction does not need the memory of a whole segment.
func readFrame(s *segment, at int64, seed uint32, buf *[]byte) (f frame, err error) {
	size := int64(frameHeader)
	for range 2 { // the header has the size of the rest
		if int64(cap(*buf)) < size {
			*buf = make([]byte, size)
		}
		b := (*buf)[:size]
		if n, err := s.area.ReadAt(b, at); n < len(b) && err != nil && !errors.Is(err, io.EOF) {
			return f, err
		}
		size = max(frameHeader, min(frameHeader+int64(le.Uint32(b[4:])), s.used-at))
	}
	f, ok := parse((*buf)[:size], s.number, 0, seed)
	if !ok {
		return f, &CorruptError{Segment: s.number, Offset: at, Reason: "corrupt frame"}
	}
	f.at.offset = uint32(at) //nolint:gosec // see maxSegment
	return f, nil
}

// readsAtOnce is how many records compaction reads from elsewhere than its own frame before it releases the lock: the
// disk may be slow, and all other calls wait.
const readsAtOnce = 16

// moveSome writes the state of some of the keys that a frame names, and returns the others.
func (q *Queue) moveSome(f *frame, keys []string) ([]string, error) {
	q.mu.Lock()
	for len(keys) > 0 && !q.dependsOn(keys[0], f.at.segment) {
		keys = keys[1:]
	}
	size := statesHeader
	if len(keys) > 0 {
		size += q.stateSize(q.clock.now(), keys[0])
	}
	q.mu.Unlock()
	if len(keys) == 0 {
		return nil, nil
	}
	c, err := q.change(q.quit, extends, size, nil)
	if err != nil {
		return nil, err
	}
	s := q.newStates()
	s.near = f
	q.book.Advance(c.now) // the state must be the present one
	most := min(sliceBytes, q.options.SegmentBytes/4)
	for n := 0; len(keys) > 0 && len(s.b) < most && n < 1000 && s.reads < readsAtOnce; n++ {
		if q.dependsOn(keys[0], f.at.segment) {
			if !q.log.fits(len(s.b) + q.stateSize(c.now, keys[0])) {
				break // the next call waits for room
			}
			if err = s.add(c.now, keys[0]); err != nil {
				break
			}
			q.book.Renew(keys[0]) // not twice in this frame
		}
		keys = keys[1:]
	}
	if err == nil {
		err = s.write(c)
	}
	if err != nil {
		q.fail(err) // some keys are marked as written
	}
	if end := c.end(); err == nil {
		err = end
	}
	return keys, err
}

// dependsOn reports whether a key would be lost with the log up to a segment. The caller holds the lock.
func (q *Queue) dependsOn(key string, segment uint32) bool {
	era, ok := q.book.EraOf(key)
	return ok && era <= segment
}

// namedIn returns the keys that a frame brought into the book, or wrote whole.
func namedIn(f *frame) (keys []string, ok bool) {
	d := decoder{b: f.payload}
	switch f.kind {
	case kindCall:
		d.bytes(callHeader - 4)
		for range d.count() {
			if keys = append(keys, d.change(position{}).Key); d.bad {
				return nil, false
			}
		}
	case kindState:
		d.states(position{}, func(key string, _ book.State[ref], ok bool) {
			if ok {
				keys = append(keys, key)
			}
		})
	}
	return keys, !d.bad
}

// drop removes the oldest segment, on which nothing depends any more.
func (q *Queue) drop(oldest *segment) error {
	if err := q.erase(); err != nil { // the one before, if that failed: segments leave the disk in order
		return err
	}
	q.mu.Lock()
	adders, globals := q.addersFrame(), q.globals()
	q.mu.Unlock()
	const more = 1 << 10 // a few adders may come in the meantime
	c, err := q.change(q.quit, removes, len(adders)+len(globals)+more, nil)
	if err != nil {
		return err
	}
	q.log.first = oldest.number + 1
	err = c.write(kindAdders, q.addersFrame())
	if err == nil {
		err = c.write(kindGlobals, q.globals())
	}
	err = q.settleDown(q.quit, c, err)
	if err != nil {
		return err
	}
	q.mu.Lock()
	q.log.begins = q.log.first
	q.log.segments = q.log.segments[1:]
	q.log.total -= oldest.used
	q.log.leaving = oldest
	q.mu.Unlock()
	return q.erase()
}

// erase removes the file of the segment that has left the log, durably. If that fails for want of room or of open
// files, the next removal begins with it.
func (q *Queue) erase() error {
	s := q.log.leaving
	if s == nil {
		return nil
	}
	s.readers.Wait() // reads that began before
	if err := s.area.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	if err := disk.Remove(q.log.dir, segmentName(s.number)); err != nil {
		return err
	}
	if err := q.log.dir.SyncNames(); err != nil {
		return err
	}
	q.log.leaving = nil
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.log.full != nil {
		q.provide() // there may be room now
	}
	return nil
}
