package filequeue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

func duration(ns int64) time.Duration { return time.Duration(ns) }

// Settle implements queue.Queue. The ends are written but not synced: if the machine stops, some of the records are
// sent again.
func (q *Queue) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	c, err := q.change(ctx, makes, settleSize(ends), queue.CheckEnds(ends))
	if err != nil {
		return nil, leasesOf(ends), err
	}
	stale, err = c.settle(ends)
	if err = errors.Join(err, c.end()); err != nil {
		return stale, leasesOf(ends), err
	}
	return stale, nil, nil
}

// Exchange implements queue.Exchanger. On a full disk without room for the reservation it only settles.
func (q *Queue) Exchange(ctx context.Context, want queue.Want, ends ...queue.End) (leases, stale, failed []queue.Lease, err error) {
	wrong := errors.Join(queue.CheckWant(&want), queue.CheckEnds(ends))
	c, err := q.reserving(ctx, settleSize(ends)+frameHeader, &want, wrong)
	if len(ends) > 0 && errors.Is(err, queue.ErrFull) { // for the reservation only: ends have room of their own
		stale, failed, err = q.Settle(ctx, ends...)
		return nil, stale, failed, err
	}
	if err != nil {
		return nil, nil, leasesOf(ends), err
	}
	stale, err = c.settle(ends)
	if err != nil {
		return nil, stale, leasesOf(ends), errors.Join(err, c.end())
	}
	leases, err = c.reserve(&want)
	if err = errors.Join(err, c.end()); err != nil {
		return nil, stale, nil, err // the new leases run out
	}
	named(leases)
	return leases, stale, nil, nil
}

func leasesOf(ends []queue.End) []queue.Lease {
	leases := make([]queue.Lease, len(ends))
	for i := range ends {
		leases[i] = ends[i].Lease
	}
	return leases
}

func settleSize(ends []queue.End) int {
	size := 4
	for i := range ends {
		size += 64 + len(ends[i].Lease.Key) + min(len(ends[i].Reason), 1<<16)
	}
	return size
}

func (c *call) settle(ends []queue.End) (stale []queue.Lease, err error) {
	late := c.q.book.Settle(c.now, ends)
	for _, i := range late {
		stale = append(stale, ends[i].Lease)
	}
	if len(late) == len(ends) {
		return stale, nil
	}
	c.wake = true
	b := appendInt(newFrame(settleSize(ends)), len(ends)-len(late))
	var last queue.ID
	for i := range ends {
		if len(late) > 0 && late[0] == i {
			late = late[1:]
			continue
		}
		b = appendEnd(b, &ends[i], last, !c.q.book.Contains(ends[i].Lease.Key))
		last = ends[i].Lease.Token
	}
	return stale, c.write(kindSettle, b)
}

// Flags of an end. Most ends are commits of one reservation; these need neither token nor details.
const (
	endToken   = 1 << 4 // the token differs from that of the previous end
	endDetails = 1 << 5
	endAgain   = 1 << 6
	// No record of the key is left. A replay of a log whose beginning was removed may still have records of the key,
	// and then removes them: no state frame follows for a key that is gone.
	endLast = 1 << 7
	endFate = 1<<4 - 1
)

func appendEnd(b []byte, e *queue.End, last queue.ID, gone bool) []byte {
	flags := uint8(e.Fate)
	if e.Lease.Token != last {
		flags |= endToken
	}
	if e.Done > 0 || e.After > 0 || e.Uncertain > 0 || e.Reason != "" {
		flags |= endDetails
	}
	if e.Again {
		flags |= endAgain
	}
	if gone {
		flags |= endLast
	}
	b = append(b, flags)
	if flags&endToken != 0 {
		b = append(b, e.Lease.Token[:]...)
	}
	b = appendText(b, e.Lease.Key)
	if flags&endDetails != 0 {
		b = appendInt(b, e.Done)
		b = appendI64(b, int64(e.After))
		b = appendI64(b, int64(e.Uncertain))
		b = appendText(b, e.Reason)
	}
	return b
}

func (d *decoder) end(last queue.ID) (e queue.End, gone bool) {
	flags := d.u8()
	e.Fate, e.Again = queue.Fate(flags&endFate), flags&endAgain != 0
	e.Lease.Token = last
	if flags&endToken != 0 {
		e.Lease.Token = d.id()
	}
	e.Lease.Key = d.text()
	if flags&endDetails != 0 {
		e.Done, e.After, e.Uncertain, e.Reason = d.count(), duration(d.i64()), duration(d.i64()), d.text()
	}
	return e, flags&endLast != 0
}

func (r *recovery) replaySettle(f *frame) bool {
	d := decoder{b: f.payload}
	ends := make([]queue.End, 0, min(d.count(), queue.MaxCall))
	var last queue.ID
	var gone []string
	for d.at < len(d.b) && !d.bad {
		e, g := d.end(last)
		ends, last = append(ends, e), e.Lease.Token
		if g {
			gone = append(gone, e.Lease.Key)
		}
	}
	if d.bad {
		return false
	}
	r.book.Settle(f.now, ends)
	for _, key := range gone {
		if r.book.Contains(key) {
			r.book.Remove(f.now, key)
		}
	}
	return true
}

// Extend implements queue.Queue.
func (q *Queue) Extend(ctx context.Context, d time.Duration, leases ...queue.Lease) (lost []queue.Lease, err error) {
	var wrong error
	if d <= 0 {
		wrong = fmt.Errorf("got an extension of %v, want more than 0", d)
	}
	size := 16 + frameHeader
	for i := range leases {
		size += 18 + len(leases[i].Key)
	}
	c, err := q.change(ctx, extends, size, wrong)
	if err != nil {
		return nil, err
	}
	late := q.book.Extend(c.now, d, leases)
	var frames [2][]byte // of leases that are only extended, and of those that are also requested
	for i := range leases {
		if len(late) > 0 && late[0] == i {
			late = late[1:]
			lost = append(lost, leases[i])
			continue
		}
		b := &frames[0]
		if leases[i].Requested {
			b = &frames[1]
		}
		if *b == nil {
			*b = appendI64(newFrame(size), int64(d))
		}
		*b = appendText(append(*b, leases[i].Token[:]...), leases[i].Key)
	}
	for i, k := range []kind{kindExtend, kindRequest} {
		if err == nil && frames[i] != nil {
			err = c.write(k, frames[i])
		}
	}
	return lost, errors.Join(err, c.end())
}

func (r *recovery) replayExtend(f *frame) bool {
	d := decoder{b: f.payload}
	by := duration(d.i64())
	var leases []queue.Lease
	for d.at < len(d.b) && !d.bad {
		leases = append(leases, queue.Lease{Token: d.id(), Key: d.text(), Requested: f.kind == kindRequest})
	}
	if !d.bad {
		r.book.Extend(f.now, by, leases)
	}
	return !d.bad
}
