package filequeue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// recovery reads a log into a book.
type recovery struct {
	dir     disk.Folder
	options *Options

	id      queue.ID
	numbers []uint32 // of the segments, contiguous
	ends    []int64  // where the frames of each segment end that was read
	empty   []string // files of segments that were being made
	old     []string // files before the first segment of the log
	created time.Time

	book    *book.Book[ref]
	adders  book.Adders
	first   uint32 // see header.first
	last    time.Time
	durable position           // the largest durable position of all frames
	noted   disk.Extent        // how far the log was durable according to the mark
	opened  map[uint32]fs.File // for keyAt
	current uint32             // the segment in data
	data    []byte
	changes []book.Change[ref]

	end   position // of the log
	torn  int64    // bytes behind the end to cut off
	ahead uint32   // the prepared next segment, 0: none
	cut   []string // segments behind the end

	salvage *RepairReport // nil: refuse damage
}

// run reads the log. It changes nothing on the disk.
func (r *recovery) run() error {
	defer r.close()
	r.opened = make(map[uint32]fs.File)
	var err error
	if r.noted, err = disk.ReadMark(r.dir, markName); err != nil { // before the log, to which its owner may add
		return err
	}
	if err := r.list(); err != nil {
		return err
	}
	if len(r.numbers) == 0 {
		return r.short()
	}
	// The times of all frames must be later than the start of the book.
	r.book = book.New[ref](r.created.Add(-queue.MaxSkew))
	prev := int64(-1)
	for i := range r.numbers {
		end, done, err := r.segment(i, prev)
		if err != nil {
			return err
		}
		if done {
			break
		}
		r.ends = append(r.ends, end)
		prev = end
	}
	if r.first > 0 && r.numbers[0] > r.first && r.salvage == nil {
		return &CorruptError{Reason: fmt.Sprintf("%s is missing", segmentName(r.first))}
	}
	return r.short()
}

// short returns an error if the log ends before its mark, which proves that synced frames are missing at the end. A
// crash cannot do that, but a bad copy, a disk that lies about syncs, or an incomplete restore can. While salvaging it
// counts what is missing instead.
func (r *recovery) short() error {
	at, end := r.marked(), r.end
	if !end.before(at) {
		return nil
	}
	if r.salvage != nil {
		return r.giveUp(at)
	}
	lost := r.noted.Count
	if r.book != nil {
		lost -= min(lost, r.book.Globals().Seq)
	}
	if len(r.numbers) == 0 {
		n, ok := r.emptied(at)
		if !ok {
			return &CorruptError{Reason: fmt.Sprintf(
				"all log files are missing; the last one was %s; %d appended records are missing", segmentName(at.segment), lost)}
		}
		end.segment = n
	}
	return &CorruptError{Segment: end.segment, Offset: int64(end.offset), Reason: fmt.Sprintf(
		"the log ends here, but was synced up to %s byte %d; %d appended records are missing", segmentName(at.segment), at.offset, lost)}
}

// marked returns up to where the log was durable according to its mark. Without a log each mark is that of the log.
func (r *recovery) marked() position {
	if len(r.numbers) > 0 && r.noted.Of != r.id {
		return position{}
	}
	return position{uint32(r.noted.Segment), uint32(r.noted.Offset)} //nolint:gosec // from a position
}

// close closes the files. openFiles needs only numbers, ends and end.
func (r *recovery) close() {
	for _, f := range r.opened {
		_ = f.Close() // it was only read
	}
	r.opened, r.data = nil, nil
}

// list finds the segments and reads their headers.
func (r *recovery) list() error {
	entries, err := r.dir.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if n, ok := segmentNumber(e.Name()); ok {
			r.numbers = append(r.numbers, n)
		}
	}
	slices.Sort(r.numbers)
	var first uint32
	headers := make(map[uint32]header)
	for i, n := range r.numbers {
		h, ok, err := r.header(n)
		if err == nil && ok {
			err = h.fits(r.options)
		}
		if err != nil {
			return err
		}
		last, unused := i == len(r.numbers)-1, false
		if last && !ok {
			if unused, err = r.unused(n); err != nil {
				return err
			}
		}
		switch {
		case ok && (h.number != n || r.id != queue.ID{} && h.queue != r.id):
			if r.salvage == nil {
				return &CorruptError{Segment: n, Reason: "segment of another log"}
			}
			r.damaged(n)
		case ok:
			r.id, headers[n] = h.queue, h
			first = max(first, h.first)
		case unused:
			r.empty = append(r.empty, segmentName(n))
		case r.salvage == nil:
			return &CorruptError{Segment: n, Reason: "no header"}
		default:
			r.damaged(n)
		}
	}
	if len(r.empty) > 0 {
		r.numbers = r.numbers[:len(r.numbers)-1]
	}
	if r.salvage != nil && r.id == (queue.ID{}) {
		r.id = r.noted.Of
	}
	r.first = first
	for len(r.numbers) > 0 && slices.Contains(r.numbers, first) && r.numbers[0] < first {
		r.old = append(r.old, segmentName(r.numbers[0]))
		r.numbers = r.numbers[1:]
	}
	for i, n := range r.numbers {
		if i > 0 && n != r.numbers[i-1]+1 && r.salvage == nil {
			return &CorruptError{Reason: fmt.Sprintf("%s is missing", segmentName(r.numbers[i-1]+1))}
		}
	}
	if len(r.numbers) > 0 {
		r.created = time.Unix(0, headers[r.numbers[0]].created) // 1970 if the header cannot be read
	}
	return nil
}

func (r *recovery) header(n uint32) (h header, ok bool, err error) {
	b := make([]byte, headerSize)
	if got, err := r.readAt(n, b, 0); got < len(b) {
		return h, false, readError(err)
	}
	return decodeHeader(b)
}

// unused loads a segment, and reports whether it is empty behind its header.
func (r *recovery) unused(n uint32) (bool, error) {
	if err := r.load(n); err != nil {
		return false, err
	}
	return len(r.data) <= headerSize || allZero(r.data[headerSize:]), nil
}

func allZero(b []byte) bool {
	return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1])
}

func (r *recovery) readAt(n uint32, b []byte, at int64) (int, error) {
	f := r.opened[n]
	if f == nil {
		var err error
		if f, err = r.dir.Open(segmentName(n)); err != nil {
			return 0, err
		}
		r.opened[n] = f
	}
	return f.(io.ReaderAt).ReadAt(b, at)
}

// load reads a segment into data.
func (r *recovery) load(n uint32) error {
	if r.current == n {
		return nil
	}
	r.current = 0
	if _, err := r.readAt(n, nil, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	info, err := r.opened[n].Stat()
	if err != nil {
		return err
	}
	r.data = slices.Grow(r.data[:0], int(info.Size()))[:info.Size()]
	if got, err := r.readAt(n, r.data, 0); got < len(r.data) {
		return fmt.Errorf("%s: %w", segmentName(n), err)
	}
	r.current = n
	return nil
}

// segment replays a segment, and returns where its frames end. done is set if the log ends in it. prev is where the
// previous segment ended, -1 for the first.
func (r *recovery) segment(i int, prev int64) (end int64, done bool, err error) {
	n := r.numbers[i]
	if err := r.load(n); err != nil {
		return 0, false, err
	}
	seed := seedOf(r.id, n)
	end = headerSize
	if _, ok, err := decodeHeader(r.data); err == nil && !ok {
		end = 0 // skip counts it
	}
	for {
		f, ok := parse(r.data, n, end, seed)
		if !ok && r.salvage != nil {
			if f, ok, err = r.skip(n, end, seed); err != nil {
				return 0, false, err
			}
		}
		if !ok {
			break
		}
		replayed, err := r.replay(&f)
		if err != nil {
			return 0, false, err
		}
		if r.salvage != nil {
			r.salvaged(&f, replayed)
		} else if !replayed {
			return 0, false, &CorruptError{Segment: n, Offset: end, Reason: fmt.Sprintf("a frame of kind %d cannot be read", f.kind)}
		}
		r.last = later(r.last, f.now)
		if r.durable.before(f.durable) {
			r.durable = f.durable
		}
		end = int64(f.at.offset) + f.size()
	}
	if r.salvage == nil || end > headerSize { // not a segment ahead, which no frame has reached
		r.end = position{n, uint32(end)} //nolint:gosec // see maxFrame
	}
	if r.salvage != nil {
		return end, false, nil // a link that does not fit shows that frames are missing, but not which
	}
	return r.ending(i, end)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ending decides whether the end of the frames of a segment is the end of the segment, the end of the log, or damage.
// A read error is not damage: it is returned, and nothing is cut off.
func (r *recovery) ending(i int, end int64) (_ int64, done bool, err error) {
	n, at := r.numbers[i], r.end
	rest := r.data[min(end, int64(len(r.data))):]
	if i+1 < len(r.numbers) {
		link, ok, err := r.link(r.numbers[i+1])
		if err != nil || ok && link == end {
			return end, false, err
		}
	}
	clean, size := allZero(rest), int64(len(bytes.TrimRight(rest, "\x00")))
	attested := r.attested(at, end)
	behind := r.numbers[i+1:]
	if len(behind) == 1 {
		unused, err := r.unused(behind[0])
		if err != nil {
			return 0, false, err
		}
		if unused {
			r.ahead, behind = behind[0], nil
		}
	}
	for _, b := range behind {
		if err := r.load(b); err != nil {
			return 0, false, err
		}
		attested = attested || r.attested(at, headerSize)
		r.cut = append(r.cut, segmentName(b))
		size += int64(len(bytes.TrimRight(r.data, "\x00")))
	}
	switch {
	case attested:
		return 0, false, &CorruptError{Segment: n, Offset: end, Reason: "synced data is missing or changed"}
	case clean && len(behind) == 0:
		return end, true, nil
	}
	r.torn = max(size, 1)
	return end, true, nil
}

// link returns where the previous segment ended according to segment n; false if n has no valid link.
func (r *recovery) link(n uint32) (prev int64, ok bool, err error) {
	b := make([]byte, headerSize+frameHeader+8)
	if got, err := r.readAt(n, b, 0); got < len(b) {
		return 0, false, readError(err)
	}
	f, ok := parse(b, n, headerSize, seedOf(r.id, n))
	if !ok || f.kind != kindLink || len(f.payload) != 8 {
		return 0, false, nil
	}
	return int64(le.Uint64(f.payload)), true, nil //nolint:gosec // see log.place
}

// readError returns the error of a short read; nil if the file is just shorter.
func readError(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// attested reports whether a valid frame of the loaded segment, at from or behind it, proves that the log was durable
// beyond a position.
func (r *recovery) attested(at position, from int64) bool {
	seed := seedOf(r.id, r.current)
	for {
		f, ok := nextFrame(r.data, r.current, from, seed)
		if !ok {
			return false
		}
		if at.before(f.durable) {
			return true
		}
		from = int64(f.at.offset) + f.size()
	}
}

// keyAt returns the key of a record; false if its segment is gone.
func (r *recovery) keyAt(at position) (key string, ok bool, err error) {
	if at.segment == r.current {
		key, ok = keyIn(r.data, int(at.offset))
		return key, ok, nil
	}
	if !slices.Contains(r.numbers, at.segment) {
		return "", false, nil
	}
	b := make([]byte, recordHeader+1024)
	n, err := r.readAt(at.segment, b, int64(at.offset))
	if n < len(b) && readError(err) != nil {
		return "", false, err
	}
	key, ok = keyIn(b[:n], 0)
	return key, ok, nil
}

func keyIn(b []byte, at int) (string, bool) {
	if at < 0 || at+recordHeader > len(b) {
		return "", false
	}
	end := at + recordHeader + int(le.Uint16(b[at+8:]))
	if end > len(b) {
		return "", false
	}
	return string(b[at+recordHeader : end]), true
}

// replay applies a frame to the book. It returns false if the frame makes no sense.
func (r *recovery) replay(f *frame) (ok bool, err error) {
	r.book.Era = f.at.segment
	switch f.kind {
	case kindLink:
		ok = len(f.payload) == 8 && f.at.offset == headerSize
	case kindOpen:
		ok = r.replayGlobals(f)
		r.book.RunOutAll(f.now)
	case kindGlobals:
		ok = r.replayGlobals(f)
	case kindClose:
		ok = true
	case kindRanOut:
		r.book.Advance(f.now)
		ok = true
	case kindCall:
		ok = r.replayCall(f)
	case kindReserve:
		return r.replayReserve(f)
	case kindSettle:
		ok = r.replaySettle(f)
	case kindExtend, kindRequest:
		ok = r.replayExtend(f)
	case kindState:
		ok = r.replayState(f)
	case kindAdders:
		ok = r.replayAdders(f)
	}
	return ok, nil
}
