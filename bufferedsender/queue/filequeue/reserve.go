package filequeue

import (
	"context"
	"errors"
	"slices"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
)

// Reserve implements queue.Queue. The leases are written but not synced: if the process ends before they are settled,
// they count as run out.
func (q *Queue) Reserve(ctx context.Context, want queue.Want) ([]queue.Lease, error) {
	c, err := q.reserving(ctx, 0, &want, queue.CheckWant(&want))
	if err != nil {
		return nil, err
	}
	leases, err := c.reserve(&want)
	if err = errors.Join(err, c.end()); err != nil {
		return nil, err
	}
	named(leases)
	return leases, nil
}

// reserving is change for a reservation that follows size bytes of other data. On a full disk it lowers want.Keys to
// the number for which the head has room, including their commits.
func (q *Queue) reserving(ctx context.Context, size int, want *queue.Want, wrong error) (*call, error) {
	if wrong == nil {
		q.mu.Lock()
		if l := &q.log; l.full != nil && len(l.segments) > 0 {
			const each = 12 + commitBytes
			rest := l.left() - q.keeps(spends) - size - reserveSize(&queue.Want{Name: want.Name}) - 2*frameHeader
			want.Keys = min(want.Keys, max(rest/each, 1))
		}
		q.mu.Unlock()
	}
	return q.change(ctx, spends, size+reserveSize(want), wrong)
}

func reserveSize(want *queue.Want) int {
	return 64 + min(len(want.Name), 1<<16) + 12*max(want.Keys, len(want.Only))
}

func (c *call) reserve(want *queue.Want) ([]queue.Lease, error) {
	q := c.q
	q.book.Advance(c.now) // may end this reservation
	repeated := q.book.Reserved(want.Token)
	found := q.book.Reserve(c.now, want)
	if len(found) == 0 {
		return nil, nil
	}
	leases := make([]queue.Lease, len(found))
	c.read.all = slices.Grow(c.read.all, len(found))
	for i := range found {
		l := &found[i]
		leases[i] = queue.Lease{Token: want.Token, Records: c.read.addAll(l.Recs), Expired: l.Expired, Tries: l.Tries}
	}
	if repeated {
		return leases, nil
	}
	b := newFrame(reserveSize(want))
	b = append(b, want.Token[:]...)
	b = append(b, want.Holder[:]...)
	b = appendI64(b, int64(want.For))
	b = appendI64(b, int64(want.Uncertain))
	if q.book.InCompany(want.Token) {
		b = append(b, inCompany)
	} else {
		b = append(b, 0)
	}
	b = appendText(b, want.Name)
	b = appendInt(b, len(found))
	for i := range found {
		at := latest(found[i].Recs)
		b = le.AppendUint32(b, at.segment)
		b = le.AppendUint32(b, at.offset)
		b = appendInt(b, len(found[i].Recs))
	}
	return leases, c.write(kindReserve, b)
}

// Flags of a reservation.
const (
	asSuspects = 1 // only in logs older than request frames, see DESIGN.md
	inCompany  = 2 // its holder was also given something else
)

// latest returns the position of the record that stays in the log the longest. It stands for the key: a segment with an
// earlier record may be removed while the key can still be leased.
func latest(recs []book.Rec[ref]) (at position) {
	for i := range recs {
		if p := (position{recs[i].Ref.segment, recs[i].Ref.offset}); at.before(p) {
			at = p
		}
	}
	return at
}

// named fills in the keys after the records have been read.
func named(leases []queue.Lease) {
	for i := range leases {
		leases[i].Key = leases[i].Records[0].Key
	}
}

// replayReserve applies the frame of a reservation.
func (r *recovery) replayReserve(f *frame) (bool, error) {
	d := decoder{b: f.payload}
	var want queue.Want
	want.Token, want.Holder = d.id(), d.id()
	want.For, want.Uncertain = duration(d.i64()), duration(d.i64())
	flags := d.u8()
	want.Name = d.text()
	n := d.count()
	keys, records := make([]string, 0, min(n, queue.MaxCall)), make([]int, 0, min(n, queue.MaxCall))
	for range n {
		at := position{d.u32(), d.u32()}
		count := d.count()
		if d.bad {
			return false, nil
		}
		key, ok, err := r.keyAt(at)
		if err != nil {
			return false, err
		}
		if !ok {
			if r.salvage == nil && at.segment >= r.numbers[0] {
				return false, nil
			}
			continue // the segment was removed with all records: a state of the key follows, or the key was settled
		}
		keys, records = append(keys, key), append(records, count)
	}
	r.book.Advance(f.now)
	r.book.Repeat(f.now, &want, keys, records, flags == inCompany || n > 1, flags == asSuspects)
	return !d.bad, nil
}
