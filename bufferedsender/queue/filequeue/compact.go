package filequeue

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// What a key needs in the log beside its records, about.
const keyOverhead = 64

// What a key needs besides if it is leased or parked, about, without the reason.
const asideOverhead = 200

// adderBytes is what the last call of an adder needs, about: all are written with each segment that is removed.
const adderBytes = 64

// sliceBytes is how much compaction writes before it lets others go on.
const sliceBytes = 128 << 10

// lives returns about how many bytes a log of only what is known would have. The caller has the lock.
func (q *Queue) lives() int64 {
	keys, records, live := q.book.Size()
	aside, texts := q.book.Aside()
	return live + records*recordHeader + int64(keys)*keyOverhead + aside*asideOverhead + texts + int64(q.adders.Len())*adderBytes
}

// crowded reports whether the log has to become smaller, and can. Two segments, the head and the next one are four;
// and what lives is to be a third of it at the least.
//
// While the disk is full each segment on which nothing depends goes, and one that lives is written again if there is
// room for it and so much that does not live that this makes room in the end: as many segments as there are, for each
// quarter of one that calls have written.
func (q *Queue) crowded() bool {
	l := &q.log
	if len(l.segments) < 2 {
		return false
	}
	live := q.lives()
	if l.full != nil {
		lives := q.oldestLives()
		return q.book.Older(l.segments[0].number) == 0 ||
			l.moves > 0 && l.total-live > int64(l.options.SegmentBytes)/2 && l.left()-q.keeps(extends) >= lives+lives/4
	}
	return l.total > max(2*int64(l.options.SegmentBytes), 3*live)
}

// burn counts what calls write.
func (l *log) burn(n int) {
	if l.burned += int64(n); l.burned >= int64(l.options.SegmentBytes)/4 {
		l.burned, l.moves = 0, len(l.segments)
	}
}

// overgrown reports whether the log is over its bound although keys are being written again: writers are faster. (Not
// while a segment waits for its readers, who may be slow.)
func (q *Queue) overgrown() bool {
	return q.moving && q.log.total > max(4*int64(q.options.SegmentBytes), 4*q.lives())
}

// tidy starts a compaction if there is need. The caller has the lock.
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
		if err != nil && q.quit.Err() == nil && !disk.Full(err) {
			q.fail(err)
		}
	})
}

// setMoving notes whether keys are being written again, and lets those go on who have waited for it.
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
		nothing := q.book.Nothing()
		q.log.moves = max(0, q.log.moves-1)
		q.mu.Unlock()
		if !crowded {
			return nil
		}
		if !nothing { // what comes into the book from now on depends on later segments
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

// dependents counts the keys that would be lost with a segment, from the book itself: neither what move has found in
// the file nor what it has written is trusted with the removal.
func (q *Queue) dependents(number uint32) (keys int) {
	in := func(r ref) bool { return r.segment <= number }
	for part := range book.Parts {
		q.mu.Lock()
		keys += q.book.Dependents(part, number, in)
		q.mu.Unlock()
	}
	return keys
}

// keep ends all compaction until the queue is opened again.
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

// readFrame reads the frame at an offset of a segment into buf, which has room for the largest one so far: one after
// the other, so that compaction does not need the memory of a segment.
func readFrame(s *segment, at int64, seed uint32, buf *[]byte) (f frame, err error) {
	size := int64(frameHeader)
	for range 2 { // the header says how much follows
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
		return f, &CorruptError{Segment: s.number, Offset: at, Reason: "what was written here is not what it was"}
	}
	f.at.offset = uint32(at) //nolint:gosec // see maxSegment
	return f, nil
}

// readsAtOnce is how many records compaction reads that are not where the keys are, before it lets others go on: the
// disk may be slow, and nobody else gets on meanwhile.
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
	q.book.Advance(c.now) // the state is to be that of now
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
		q.fail(err) // some keys say that they were written
	}
	if end := c.end(); err == nil {
		err = end
	}
	return keys, err
}

// dependsOn reports whether a key would be lost with the log up to a segment. The caller has the lock.
func (q *Queue) dependsOn(key string, segment uint32) bool {
	era, ok := q.book.EraOf(key)
	return ok && era <= segment
}

// namedIn returns the keys that came into the book, or were written whole, with a frame.
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
		for range d.count() {
			key := d.text()
			if d.flag() {
				keys = append(keys, key)
				d.state(position{})
			}
			if d.bad {
				return nil, false
			}
		}
	}
	return keys, !d.bad
}

// drop removes the oldest segment, on which nothing depends any more.
func (q *Queue) drop(oldest *segment) error {
	q.mu.Lock()
	adders, globals := q.addersFrame(), q.globals()
	q.mu.Unlock()
	const more = 1 << 10 // a few adders may come meanwhile
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
	q.mu.Unlock()
	oldest.readers.Wait() // they have begun before
	err = oldest.area.Close()
	if err != nil {
		return err
	}
	if err := q.log.dir.Remove(segmentName(oldest.number)); err != nil {
		return err
	}
	if err := q.log.dir.SyncNames(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.log.full != nil {
		q.provide() // there may be room now
	}
	return nil
}
