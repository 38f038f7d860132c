package filequeue

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// Append implements queue.Queue. It returns when the records are synced. If ctx ends during this wait, the error has
// queue.ErrUnknown in its chain; the records are kept unless the machine stops before the sync.
func (q *Queue) Append(ctx context.Context, what queue.Call) (queue.Receipt, error) {
	wrong := queue.CheckCall(&what)
	size := 0
	if wrong == nil {
		if size = callSize(&what); size > maxFrame {
			wrong = fmt.Errorf("got a call of %d bytes, want at most %d", size, maxFrame)
		}
	}
	var e *encodedCall
	if wrong == nil {
		e = encodeCall(&what, size)
		defer e.free()
	}
	c, err := q.change(ctx, adds, size, wrong)
	if errors.Is(err, queue.ErrFull) {
		c, err = q.repeat(ctx, &what, err)
	}
	if err != nil {
		return queue.Receipt{}, err
	}
	receipt, err := c.append(&what, e)
	until := q.log.end()
	unread := c.end()
	if err != nil {
		return queue.Receipt{}, err
	}
	if unread != nil { // the call is kept; the holder that reserves the pile gets the read error
		q.options.Logger.Error("filequeue: records cannot be read; appended without folding", "error", unread)
		receipt.Piles = nil
	}
	if err := q.sync(ctx, until); err != nil {
		return queue.Receipt{}, fmt.Errorf("filequeue: %w: %w", queue.ErrUnknown, err)
	}
	return receipt, nil
}

// repeat begins a call for which there is no room but that needs none, because it is not new. It returns the error full
// for others.
func (q *Queue) repeat(ctx context.Context, what *queue.Call, full error) (*call, error) {
	c, err := q.begin(ctx, nil)
	if err != nil {
		return nil, err
	}
	if _, repeated, err := q.adders.Answer(c.now, what); repeated || err != nil {
		return c, nil
	}
	return nil, errors.Join(full, c.end())
}

func (c *call) append(what *queue.Call, e *encodedCall) (queue.Receipt, error) {
	q := c.q
	receipt, repeated, err := q.adders.Answer(c.now, what)
	if repeated || err != nil {
		return receipt, err // the receipt is durable once the log is synced
	}
	if err := q.book.Fits(e.changes); err != nil {
		return receipt, fmt.Errorf("filequeue: %w", err)
	}
	folds, err := q.folds(what)
	if err != nil {
		return receipt, err
	}
	b := e.frame(folds)
	at, err := q.log.place(len(b), c.now)
	if disk.Full(err) { // then the next segment cannot be made either; see below
		return receipt, fmt.Errorf("filequeue: %w: %w", queue.ErrFull, err)
	}
	if err != nil {
		q.fail(err)
		return receipt, q.log.failed
	}
	at.offset += frameHeader
	q.book.Era = at.segment
	first := q.book.Globals().Seq + 1
	e.locate(at, first)
	if err := q.log.write(b, kindCall, c.now); err != nil {
		if disk.Full(err) { // a file system that does not keep allocated space
			return receipt, fmt.Errorf("filequeue: %w: %w", queue.ErrFull, err)
		}
		q.fail(err)
		return receipt, errors.Join(q.log.failed, queue.ErrUnknown)
	}
	c.wake = true
	q.book.NextSeq(len(e.changes))
	for i := range folds {
		f := &folds[i]
		receipt.Folded += q.book.Fold(f.key, f.count, f.last, e.foldChanges(f, at))
	}
	replaced, piles := q.book.Append(c.now, e.changes)
	receipt.Position, receipt.Replaced = q.book.Position(), replaced
	q.adders.Remember(c.now, what, receipt)
	for _, key := range piles {
		receipt.Piles = append(receipt.Piles, queue.Pile{Key: key, Records: c.read.addAll(q.book.Pile(key, queue.PileLimit))})
	}
	return receipt, nil
}

// fold is a queue.Fold whose comparison holds.
type fold struct {
	key     string
	count   int
	last    uint64
	records []queue.Record // with numbers and origins
}

// folds returns the folds of a call whose comparison holds. Their records get the origin of the last record replaced,
// which is read from the log.
func (q *Queue) folds(what *queue.Call) ([]fold, error) {
	var folds []fold
	for i := range what.Folds {
		f := &what.Folds[i]
		pile := q.book.Pile(f.Key, f.Count)
		if len(pile) < f.Count || pile[f.Count-1].Seq != f.Last {
			continue
		}
		var last queue.Record
		if err := q.log.read([]wanted{{rec: pile[f.Count-1], into: &last}}); err != nil {
			return nil, fmt.Errorf("filequeue: %w", err)
		}
		done := fold{key: f.Key, count: f.Count, last: f.Last}
		for j := range f.Records {
			r := f.Records[j]
			r.From, r.Seq = last.From, pile[f.Count-len(f.Records)+j].Seq
			done.records = append(done.records, r)
		}
		folds = append(folds, done)
	}
	return folds, nil
}

// encodedCall is the frame of a call. It is made before locking, except for the values that the queue decides.
type encodedCall struct {
	b       []byte // frame header, adder, number, count, records
	begins  []int  // offsets of the records in b
	changes []book.Change[ref]
}

// callHeader is the size of the fields in front of the records.
const callHeader = 16 + 8 + 4

func callSize(what *queue.Call) int {
	size := callHeader + 4
	for i := range what.Records {
		size += recordSize(&what.Records[i])
	}
	for i := range what.Folds {
		f := &what.Folds[i]
		size += 2 + len(f.Key) + 16
		for j := range f.Records {
			size += recordSize(&f.Records[j])
		}
	}
	return size
}

// frames reuses the memory of written frames, except that of very large calls.
var frames = sync.Pool{New: func() any { return new([]byte) }}

const largestKept = 4 << 20

// free returns the memory of the frame to the pool.
func (e *encodedCall) free() {
	if cap(e.b) <= largestKept {
		b := e.b[:0]
		frames.Put(&b)
	}
}

func encodeCall(what *queue.Call, size int) *encodedCall {
	b := *frames.Get().(*[]byte)
	if cap(b) < frameHeader+size {
		b = newFrame(size)
	}
	e := &encodedCall{b: b[:frameHeader], begins: make([]int, len(what.Records)), changes: make([]book.Change[ref], len(what.Records))}
	e.b = append(e.b, what.Adder[:]...)
	e.b = le.AppendUint64(e.b, what.Number)
	e.b = appendInt(e.b, len(what.Records))
	for i := range what.Records {
		r := what.Records[i]
		r.From = queue.Origin{Adder: what.Adder, Number: what.Number, Index: i}
		e.begins[i] = len(e.b)
		e.b = appendRecord(e.b, &r)
		c := &e.changes[i]
		c.Key, c.Replaces, c.Class = r.Key, r.Replaces(), r.Class
		c.Ref.length = uint32(len(r.Key) + len(r.Body)) //nolint:gosec // see maxFrame
		if !r.Since.IsZero() {
			c.Since = r.Since.UnixMilli()
		}
	}
	return e
}

// frame appends the folds to the frame, and returns it.
func (e *encodedCall) frame(folds []fold) []byte {
	e.b = appendInt(e.b, len(folds))
	for i := range folds {
		f := &folds[i]
		e.b = appendText(e.b, f.key)
		e.b = appendInt(e.b, f.count)
		e.b = le.AppendUint64(e.b, f.last)
		e.b = appendInt(e.b, len(f.records))
		for j := range f.records {
			begin := len(e.b)
			e.b = appendRecord(e.b, &f.records[j])
			number(e.b[begin:], f.records[j].Seq)
			e.begins = append(e.begins, begin)
		}
	}
	return e.b
}

// locate sets the place and number of each record: the payload of the frame is at position at, and its first record has
// the number first.
func (e *encodedCall) locate(at position, first uint64) {
	for i := range e.changes {
		c := &e.changes[i]
		c.Seq = first + uint64(i)                                                           //nolint:gosec // an index
		c.Ref.segment, c.Ref.offset = at.segment, at.offset+uint32(e.begins[i]-frameHeader) //nolint:gosec // see maxFrame
		number(e.b[e.begins[i]:e.begins[i]+recordHeader+int(c.Ref.length)], c.Seq)
	}
}

// foldChanges takes the records of the next fold.
func (e *encodedCall) foldChanges(f *fold, at position) []book.Change[ref] {
	by := make([]book.Change[ref], len(f.records))
	begins := e.begins[len(e.changes):]
	for i := range f.records {
		d := decoder{b: e.b[frameHeader:], at: begins[i] - frameHeader}
		by[i] = d.change(at)
	}
	e.begins = append(e.begins[:len(e.changes)], begins[len(by):]...)
	return by
}
