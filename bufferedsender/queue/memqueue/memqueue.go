package memqueue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/watch"
)

// Options holds the bounds of a Queue. nil and the zero value mean no bounds.
type Options struct {
	// MaxKeys is how many keys may wait or be leased, and how many more may be parked. Defaults to no bound.
	MaxKeys int
	// MaxBytes is the size of all keys and bodies that may wait or be leased, and as many bytes more may be parked.
	// Defaults to no bound.
	MaxBytes int64
}

// Queue is a queue.Queue with all optional interfaces. It is safe for concurrent use, and any number of senders may
// share it. No method blocks.
type Queue struct {
	watchers watch.Watchers
	fault    atomic.Pointer[error] // fault of book, nil for none

	mu     sync.Mutex // guards the fields below
	book   *book.Book[*record]
	adders book.Adders
	closed bool
}

var (
	_ queue.Queue      = (*Queue)(nil)
	_ queue.Admin      = (*Queue)(nil)
	_ queue.Membership = (*Queue)(nil)
	_ queue.Exchanger  = (*Queue)(nil)
	_ queue.Faulty     = (*Queue)(nil)
)

// record is the reference of book to a record: the record itself.
type record struct{ queue.Record }

// Bytes returns the size of key and body.
func (r *record) Bytes() int { return len(r.Key) + len(r.Body) }

// New returns an empty queue. The error names the wrong option.
func New(opts *Options) (*Queue, error) {
	if opts == nil {
		opts = &Options{}
	}
	if opts.MaxKeys < 0 || opts.MaxBytes < 0 {
		return nil, fmt.Errorf("memqueue: got MaxKeys %d and MaxBytes %d, want positive numbers, or 0 for no bound", opts.MaxKeys, opts.MaxBytes)
	}
	q := &Queue{book: book.New[*record](time.Now())}
	q.book.MaxKeys, q.book.MaxBytes = opts.MaxKeys, opts.MaxBytes
	return q, nil
}

// begin locks the queue for a call. It returns an error, without the lock, if ctx has ended, wrong is not nil, or the
// queue is closed.
func (q *Queue) begin(ctx context.Context, wrong error) (now time.Time, err error) {
	if err := errors.Join(ctx.Err(), wrong); err != nil {
		return time.Time{}, fmt.Errorf("memqueue: %w", err)
	}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return time.Time{}, fmt.Errorf("memqueue: %w", queue.ErrClosed)
	}
	return time.Now(), nil
}

// end unlocks the queue. wake declares that there may be more to reserve than before.
func (q *Queue) end(wake bool) {
	next, _ := q.book.Next(time.Now()) // zero means never, as in WakeAt
	wake = q.book.Ripe() || wake
	q.watchers.WakeAt(next) // under the lock, so that the time of the later call wins
	q.fault.Store(q.book.Fault())
	q.mu.Unlock()
	if wake {
		q.watchers.Wake()
	}
}

// Append implements queue.Queue.
func (q *Queue) Append(ctx context.Context, call queue.Call) (queue.Receipt, error) {
	now, err := q.begin(ctx, queue.CheckCall(&call))
	if err != nil {
		return queue.Receipt{}, err
	}
	defer q.end(true)
	receipt, repeated, err := q.adders.Answer(now, &call)
	if repeated || err != nil {
		return receipt, err
	}
	changes := q.changes(&call)
	if err := q.book.Fits(changes); err != nil {
		return queue.Receipt{}, fmt.Errorf("memqueue: %w", err)
	}
	for i := range call.Folds {
		receipt.Folded += q.fold(&call.Folds[i])
	}
	q.number(changes)
	replaced, piles := q.book.Append(now, changes)
	receipt.Position, receipt.Replaced = q.book.Position(), replaced
	q.adders.Remember(now, &call, receipt)
	for _, key := range piles {
		receipt.Piles = append(receipt.Piles, queue.Pile{Key: key, Records: out(q.book.Pile(key, queue.PileLimit))})
	}
	return receipt, nil
}

func (q *Queue) changes(call *queue.Call) []book.Change[*record] {
	changes := make([]book.Change[*record], len(call.Records))
	for i := range call.Records {
		r := call.Records[i]
		r.From = queue.Origin{Adder: call.Adder, Number: call.Number, Index: i}
		changes[i] = change(r)
	}
	return changes
}

func change(r queue.Record) book.Change[*record] {
	r.Body = bytes.Clone(r.Body)
	c := book.Change[*record]{Key: r.Key, Ref: &record{r}, Replaces: r.Replaces(), Class: r.Class}
	if !r.Since.IsZero() {
		c.Since = r.Since.UnixMilli()
	}
	return c
}

// number assigns sequence numbers to the changes.
func (q *Queue) number(changes []book.Change[*record]) {
	first := q.book.NextSeq(len(changes))
	for i := range changes {
		changes[i].Seq = first + uint64(i) //nolint:gosec // an index
		changes[i].Ref.Seq = changes[i].Seq
	}
}

func (q *Queue) fold(f *queue.Fold) int {
	pile := q.book.Pile(f.Key, f.Count)
	if len(pile) < f.Count {
		return 0
	}
	by := make([]book.Change[*record], len(f.Records))
	for i := range f.Records {
		r := f.Records[i]
		old := &pile[f.Count-len(by)+i]
		r.From, r.Seq = pile[f.Count-1].Ref.From, old.Seq
		by[i] = change(r)
	}
	return q.book.Fold(f.Key, f.Count, f.Last, by)
}

// out copies records for the caller.
func out(recs []book.Rec[*record]) []queue.Record {
	records := make([]queue.Record, len(recs))
	for i := range recs {
		records[i] = recs[i].Ref.Record
		records[i].Body = bytes.Clone(records[i].Body)
	}
	return records
}

// Reserve implements queue.Queue.
func (q *Queue) Reserve(ctx context.Context, want queue.Want) ([]queue.Lease, error) {
	now, err := q.begin(ctx, queue.CheckWant(&want))
	if err != nil {
		return nil, err
	}
	defer q.end(false)
	return q.reserve(now, &want), nil
}

func (q *Queue) reserve(now time.Time, want *queue.Want) []queue.Lease {
	var leases []queue.Lease
	for _, l := range q.book.Reserve(now, want) {
		leases = append(leases, queue.Lease{
			Key: l.Recs[0].Ref.Key, Token: want.Token, Records: out(l.Recs), Expired: l.Expired, Tries: l.Tries,
		})
	}
	return leases
}

// Settle implements queue.Queue.
func (q *Queue) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	now, err := q.begin(ctx, queue.CheckEnds(ends))
	if err != nil {
		return nil, nil, err
	}
	defer q.end(true)
	return q.settle(now, ends), nil, nil
}

func (q *Queue) settle(now time.Time, ends []queue.End) (stale []queue.Lease) {
	for _, i := range q.book.Settle(now, ends) {
		stale = append(stale, ends[i].Lease)
	}
	return stale
}

// Exchange implements queue.Exchanger.
func (q *Queue) Exchange(ctx context.Context, want queue.Want, ends ...queue.End) (leases, stale, failed []queue.Lease, err error) {
	now, err := q.begin(ctx, errors.Join(queue.CheckWant(&want), queue.CheckEnds(ends)))
	if err != nil {
		return nil, nil, nil, err
	}
	defer q.end(true)
	stale = q.settle(now, ends)
	return q.reserve(now, &want), stale, nil, nil
}

// Extend implements queue.Queue.
func (q *Queue) Extend(ctx context.Context, d time.Duration, leases ...queue.Lease) (lost []queue.Lease, err error) {
	var wrong error
	if d <= 0 {
		wrong = fmt.Errorf("got an extension of %v, want more than 0", d)
	}
	now, err := q.begin(ctx, wrong)
	if err != nil {
		return nil, err
	}
	defer q.end(false)
	for _, i := range q.book.Extend(now, d, leases) {
		lost = append(lost, leases[i])
	}
	return lost, nil
}

// Settled implements queue.Queue.
func (q *Queue) Settled(ctx context.Context, at queue.Position) (bool, error) {
	now, err := q.begin(ctx, nil)
	if err != nil {
		return false, err
	}
	defer q.end(false)
	settled, err := q.book.Settled(now, at)
	if err != nil {
		return false, fmt.Errorf("memqueue: %w", err)
	}
	return settled, nil
}

// Watch implements queue.Queue.
func (q *Queue) Watch(wake func()) (stop func()) { return q.watchers.Watch(wake) }

// Stats implements queue.Queue.
func (q *Queue) Stats(ctx context.Context) (queue.Stats, error) {
	now, err := q.begin(ctx, nil)
	if err != nil {
		return queue.Stats{}, err
	}
	defer q.end(false)
	return q.book.Stats(now), nil
}

// Fault implements queue.Faulty: it returns queue.ErrFull once parked keys have used up their share.
func (q *Queue) Fault() error {
	if err := q.fault.Load(); err != nil {
		return fmt.Errorf("memqueue: %w", *err)
	}
	return nil
}

// Close implements queue.Queue. The content of the queue is lost.
func (q *Queue) Close() error {
	q.watchers.Close()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	return nil
}
