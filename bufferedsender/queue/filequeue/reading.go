package filequeue

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
)

// Records that lie close to each other are read at once, up to readBytes, with gaps of up to readGap bytes. Their
// bodies share the memory: keeping one body keeps up to readBytes.
const (
	readBytes = 64 << 10
	readGap   = 4 << 10
)

// area finds a segment by its number. The caller holds a reader of it, or Queue.mu.
func (l *log) area(number uint32) (*segment, error) {
	if len(l.segments) > 0 {
		if i := int(number) - int(l.segments[0].number); i >= 0 && i < len(l.segments) {
			return l.segments[i], nil
		}
	}
	return nil, &CorruptError{Segment: number, Reason: "file is missing, but records are in it"}
}

// wanted is a record to read.
type wanted struct {
	rec  book.Rec[ref]
	into *queue.Record
}

// snapshot copies the list of segments; the caller holds Queue.mu. The reader keeps the files open through
// segment.readers of the oldest one.
func (l *log) snapshot() *log { return &log{segments: slices.Clone(l.segments)} }

// read reads records. The caller makes sure that the segments stay open.
func (l *log) read(all []wanted) error {
	sorted := make([]*wanted, len(all))
	for i := range all {
		sorted[i] = &all[i]
	}
	slices.SortFunc(sorted, func(x, y *wanted) int {
		a, b := x.rec.Ref, y.rec.Ref
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.offset, b.offset))
	})
	for len(sorted) > 0 {
		first := sorted[0].rec.Ref
		begin, end := int64(first.offset), endOf(first)
		n := 1
		for ; n < len(sorted); n++ {
			r := sorted[n].rec.Ref
			if r.segment != first.segment || int64(r.offset) > end+readGap || endOf(r)-begin > readBytes {
				break
			}
			end = max(end, endOf(r))
		}
		if err := l.readRange(first.segment, begin, end, sorted[:n]); err != nil {
			return err
		}
		sorted = sorted[n:]
	}
	return nil
}

func endOf(r ref) int64 { return int64(r.offset) + recordHeader + int64(r.length) }

func (l *log) readRange(number uint32, begin, end int64, records []*wanted) error {
	s, err := l.area(number)
	if err != nil {
		return err
	}
	b := make([]byte, end-begin)
	if n, err := s.area.ReadAt(b, begin); n < len(b) && err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, w := range records {
		r := w.rec.Ref
		rec, err := decodeRecord(b[int64(r.offset)-begin : endOf(r)-begin])
		if err != nil {
			return &CorruptError{Segment: number, Offset: int64(r.offset), Reason: err.Error()}
		}
		rec.Seq = w.rec.Seq
		*w.into = rec
	}
	return nil
}

// keyAt reads the key of the record at a position.
func (l *log) keyAt(at position) (string, error) {
	s, err := l.area(at.segment)
	if err != nil {
		return "", err
	}
	b := make([]byte, recordHeader+64)
	n, err := s.area.ReadAt(b, int64(at.offset))
	if n < recordHeader {
		return "", fmt.Errorf("filequeue: %s: %w", segmentName(at.segment), err)
	}
	end := recordHeader + int(le.Uint16(b[8:]))
	if end > n {
		b = make([]byte, end)
		if n, err := s.area.ReadAt(b, int64(at.offset)); n < end {
			return "", fmt.Errorf("filequeue: %s: %w", segmentName(at.segment), err)
		}
	}
	return string(b[recordHeader:end]), nil
}

// readers collects the reads of a call, which are done after unlocking.
type readers struct{ all []wanted }

// add schedules a read of rec into into, which must not move.
func (r *readers) add(rec book.Rec[ref], into *queue.Record) {
	r.all = append(r.all, wanted{rec: rec, into: into})
}

// addAll schedules reads of records, and returns where they will be.
func (r *readers) addAll(recs []book.Rec[ref]) []queue.Record {
	if len(recs) == 0 {
		return nil
	}
	out := make([]queue.Record, len(recs))
	for i := range recs {
		r.add(recs[i], &out[i])
	}
	return out
}
