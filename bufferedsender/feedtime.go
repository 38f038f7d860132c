package bufferedsender

import (
	"context"
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// A lease is extended at each third of its length, and again soon if that fails. Its last
// tenth is a margin for clocks: nobody waits for a request then.
const (
	leaseExtends = 3
	leaseMargin  = 10

	pollFirst = 500 * time.Millisecond
	pollLast  = 5 * time.Second
)

// extend makes the leases of what is held last longer. It runs on the goroutine of a timer.
func (f *feed) extend() {
	f.mu.Lock()
	if len(f.held)+len(f.ends) == 0 || f.unwatch == nil {
		f.extender = nil
		f.mu.Unlock()
		return
	}
	holdings := make([]*holding, 0, len(f.held))
	leases := make([]queue.Lease, 0, len(f.held)+len(f.ends))
	for h := range f.held {
		if !h.lost.Load() {
			holdings = append(holdings, h)
			leases = append(leases, queue.Lease{Key: h.lease.Key, Token: h.lease.Token})
		}
	}
	for i := range f.ends { // until they are settled
		leases = append(leases, f.ends[i].Lease)
	}
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(f.ctx, f.lease/leaseExtends)
	defer cancel()
	began := time.Now()
	lost, err := f.queue.Extend(ctx, f.lease, leases...)
	next := f.lease / leaseExtends
	if err != nil {
		f.log("leases could not be extended", err)
		next = f.lease / (4 * leaseExtends)
	} else {
		f.extended(holdings, lost, &span{began.Add(f.lease)})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.extender = nil; f.unwatch != nil {
		f.extender = time.AfterFunc(next, f.extend)
	}
}

func (f *feed) extended(holdings []*holding, lost []queue.Lease, lasts *span) {
	type one struct {
		key   string
		token queue.ID
	}
	gone := make(map[one]bool, len(lost))
	for i := range lost {
		gone[one{lost[i].Key, lost[i].Token}] = true
	}
	f.mu.Lock()
	for _, h := range holdings {
		if _, held := f.held[h]; !gone[one{h.lease.Key, h.lease.Token}] || !held {
			h.span.Store(lasts)
			continue
		}
		h.lost.Store(true)
		h.back.Store(true)
		f.stale.Add(1)
	}
	f.mu.Unlock()
	if len(lost) > 0 {
		// What has ended meanwhile was settled by us, and is not lost.
		f.s.publisher.Sweep(f.s.gone)
	}
}

// pollLater asks after a while what became of the records that somebody here waits for. Called
// with the lock.
func (f *feed) pollLater(after time.Duration) {
	if f.poller == nil && f.unwatch != nil {
		f.poller = time.AfterFunc(after, func() { f.poll(after) })
	}
}

// poll ends what others have settled. It runs on the goroutine of a timer. It asks about the
// same records until they are settled: about the newest ones the answer would always be no
// while more are added.
func (f *feed) poll(after time.Duration) {
	f.mu.Lock()
	asked, at := f.asked, f.askedAt
	f.mu.Unlock()
	if len(asked) == 0 {
		asked, at = f.locals.kept()
	}
	if len(asked) > 0 {
		ctx, cancel := context.WithTimeout(f.ctx, pollLast)
		switch settled, err := f.queue.Settled(ctx, at); {
		case err == nil && settled:
			f.tell(f.locals.settled(asked), ErrElsewhere)
			asked, after = nil, pollFirst
		case errors.Is(err, queue.ErrLost), errors.Is(err, queue.ErrFailed), errors.Is(err, queue.ErrClosed): // this process will never know
			f.tell(f.locals.settled(asked), err)
			asked, after = nil, pollFirst
		}
		cancel()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.askedAt = asked, at
	f.poller = nil
	if f.unwatch != nil && f.locals.count() > 0 {
		f.pollLater(min(2*after, pollLast))
	}
}

// other is a record that this process has appended, and another one, or people, have dealt
// with, or nobody; with what is told about it.
type other struct {
	item item
	err  error
}

// tell ends such records for those who wait for them, soon, on the publisher goroutine.
// Events are of the process that held them.
func (f *feed) tell(items []item, err error) {
	if len(items) == 0 {
		return
	}
	f.mu.Lock()
	for i := range items {
		f.others = append(f.others, other{items[i], err})
	}
	closed := f.closed
	f.mu.Unlock()
	if closed { // the publisher does not run it any more
		f.endOthers()
		return
	}
	f.s.publisher.Do(f.endOthers) // else Close does it
}

func (f *feed) endOthers() {
	f.mu.Lock()
	all := f.others
	f.others = nil
	f.mu.Unlock()
	eachOnce(0, len(all), func(i int) {
		end := elsewhere(&all[i].item, all[i].err)
		err := f.s.observer.explain(end)
		defer f.s.observer.endWaiter(end, err)
		f.s.observer.callBack(end, err)
	})
}
