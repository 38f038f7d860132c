package bufferedsender

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models/keys"
)

// errAdderOnly refuses calls that need an outcome.
var errAdderOnly = errors.New("this sender has no indexer and only adds: outcomes are reported where the queue is sent")

// A chunk of a sender with a queue is larger: each one is an fsync or a round trip, and no lock is held meanwhile.
const (
	queuedActions = 2000
	queuedBytes   = 2 << 20
)

// append puts encoded actions into the queue and returns how many it keeps.
func (f *feed) append(ctx context.Context, items []item, wait bool) (int, error) {
	c := &appending{wait: wait && !f.s.publisher.InsideHook(ctx), records: make([]queue.Record, len(items))}
	for i := range items {
		it := &items[i]
		c.records[i] = queue.Record{Key: it.Key, Op: it.Value.typ, Body: narrow(it.Body), Class: it.Class}
		c.bytes += len(it.Key) + len(it.Body)
		if !f.sends {
			continue // an adder needs no local state
		}
		if l := localOf(&it.Value, len(it.Key)+len(it.Body)); l != nil {
			if c.locals == nil {
				c.locals = make([]*local, len(items))
			}
			c.locals[i] = l
		}
	}
	return f.add(ctx, c)
}

// appendKeys puts keys into the queue.
func (f *feed) appendKeys(ctx context.Context, changed []string) error {
	for at := 0; at < len(changed); {
		c := &appending{wait: !f.s.publisher.InsideHook(ctx)}
		var bad error
		for _, key := range changed[at:min(len(changed), at+queuedActions)] {
			if bad = keys.Validate(key); bad != nil {
				break // earlier keys are added
			}
			c.records = append(c.records, queue.Record{Key: key})
			c.bytes += len(key)
		}
		if len(c.records) > 0 {
			if kept, err := f.add(ctx, c); err != nil {
				return f.s.addError(at+kept, err)
			}
		}
		if at += len(c.records); bad != nil {
			return f.s.refusal(at, changed[at], nil, unfit(bad))
		}
	}
	return nil
}

func (f *feed) add(ctx context.Context, c *appending) (int, error) {
	n, err := f.appender.add(ctx, c)
	if unknown := (*unknownError)(nil); errors.As(err, &unknown) {
		if ctx.Err() != nil {
			unknown = &unknownError{f.stuck(unknown.err)}
		}
		return n, &unknownAppend{unknown, len(c.records) - n, func(ctx context.Context) (int, error) {
			kept, err := f.appender.await(ctx, c)
			return kept - n, err
		}}
	}
	return n, err
}

// unknownAppend is an unknownError that allows waiting for the answer again.
type unknownAppend struct {
	*unknownError
	n     int
	again func(ctx context.Context) (more int, err error)
}

func (e *unknownAppend) Unwrap() error { return e.unknownError }

// addError returns the error of an adding call that accepted n documents.
func (s *sender) addError(n int, err error) *AddError {
	e := &AddError{Accepted: n, Err: err}
	if unknown := (*unknownAppend)(nil); errors.As(err, &unknown) {
		e.Unknown, e.again = unknown.n, unknown.again
		e.Err = unknown.err
	}
	return e
}

// flush waits until everything appended before is settled in the queue; with whole, until no key there is waiting or
// leased. It returns FlushError.Parked.
func (f *feed) flush(ctx context.Context, whole bool) (parked int, err error) {
	at := f.appender.state()
	before, err := f.queue.Stats(ctx)
	if err != nil {
		return 0, fmt.Errorf("cannot read the state of the queue: %w", err)
	}
	f.mu.Lock()
	f.flushes.waiting++
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.flushes.waiting--
		f.mu.Unlock()
	}()
	f.s.publisher.FlushAfter(0)
	f.wake()
	began, seen := time.Now(), before
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		changed := f.changed.wait()
		settled, err := f.queue.Settled(ctx, at.position)
		if errors.Is(err, queue.ErrLost) || errors.Is(err, queue.ErrClosed) || errors.Is(err, queue.ErrFailed) {
			return 0, err
		}
		now, failed := f.queue.Stats(ctx)
		if failed == nil {
			seen = now
			if err == nil && settled && (!whole || now.Waiting+now.Leased == 0) {
				f.tally.queue.Store(&seen)
				if failed = f.locals.settled(ctx, at.number); failed == nil {
					parked, failed = f.parked(ctx, at.number, &now, whole)
				}
				if failed == nil {
					return parked, nil
				}
			}
			if err := f.stalled(&now, began, whole); err != nil {
				return 0, err
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-f.s.publisher.Done():
			timer.Stop()
			return 0, ErrClosed
		case <-ctx.Done():
			timer.Stop()
			return 0, f.waited(ctx, &seen, cmp.Or(err, failed))
		}
		timer.Stop()
	}
}

// mostParked limits how many parked keys a Flush inspects, and how many keys parked by this process are remembered.
const mostParked = 10_000

// notePark remembers the refused record of a key: the Count of a Flush includes it already. Called with the lock.
func (f *feed) notePark(r *queue.Record) {
	if r.From.Adder != f.appender.adder || len(f.flushes.parked) >= mostParked {
		return
	}
	if f.flushes.parked == nil {
		f.flushes.parked = make(map[string]queue.Origin)
	}
	f.flushes.parked[r.Key] = r.From
}

// parked returns FlushError.Parked for a Flush of the records appended by calls up to number until.
func (f *feed) parked(ctx context.Context, until uint64, now *queue.Stats, whole bool) (n int, err error) {
	admin, _ := f.queue.(queue.Admin)
	f.mu.Lock()
	from, own := f.flushes.through, maps.Clone(f.flushes.parked)
	f.mu.Unlock()
	switch {
	case whole:
		n = int(now.Parked)
	case now.Parked > 0 && admin != nil && until > from:
		all, err := admin.Inspect(ctx, queue.Inspection{States: queue.Parked, Limit: mostParked})
		if err != nil {
			return 0, err
		}
		for i := range all {
			if slices.ContainsFunc(slices.Concat(all[i].Parked, all[i].Waiting), func(r queue.Record) bool {
				return r.From.Adder == f.appender.adder && r.From.Number > from && r.From.Number <= until && r.From != own[r.Key]
			}) {
				n++
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flushes.through = max(f.flushes.through, until)
	maps.DeleteFunc(f.flushes.parked, func(_ string, o queue.Origin) bool { return o.Number <= f.flushes.through })
	return n, nil
}

// stalled returns an error if waiting for the queue is pointless.
func (f *feed) stalled(s *queue.Stats, began time.Time, whole bool) error {
	switch held := f.s.publisher.Condition().Held(); {
	case whole && errors.Is(held, ErrPaused):
		return held
	case s.Paused:
		return pausedQueue(s)
	case !f.sends && time.Since(began) > nobody && time.Since(s.LastReserved) > nobody:
		return fmt.Errorf("%w for %v", ErrNobodySends, nobody)
	}
	return nil
}

// stuck adds the fault of the queue to the error of a call that could not append or got no answer.
func (f *feed) stuck(err error) error {
	fault := f.fault()
	if now := f.tally.unseen.lasting(0); fault == nil && now != nil { // too short for Health, but this call waited for it
		fault = unanswered(now.since, now)
	}
	if fault != nil {
		return fmt.Errorf("%w; %w", err, fault)
	}
	return err
}

func pausedQueue(s *queue.Stats) error {
	return fmt.Errorf("%w: the queue is paused: %s", ErrPaused, s.PauseReason)
}

// waited returns why ctx ended and how much the queue still held. s is its last Stats; trouble is the error of the
// last call.
func (f *feed) waited(ctx context.Context, s *queue.Stats, trouble error) error {
	err := f.s.publisher.WaitError(ctx)
	if trouble != nil && !errors.Is(trouble, ctx.Err()) {
		return fmt.Errorf("%w while the queue did not answer: %w", err, trouble)
	}
	err = fmt.Errorf("%w while %d keys of the queue wait and %d are leased, by this process or others", err, s.Waiting, s.Leased)
	if !s.Oldest.IsZero() {
		err = fmt.Errorf("%w, the oldest of them since %s", err, s.Oldest.Format(time.RFC3339))
	}
	if who := f.tally.others.Load(); who != nil {
		err = fmt.Errorf("%w; %s", err, *who)
	}
	return err
}

// Time without a reservation by any process after which Flush returns ErrNobodySends.
const nobody = time.Minute

// stop refuses further appends, waits for the one in flight until ctx ends, and stops reserving. Actions that the
// publisher does not send while it closes go back to the queue.
func (f *feed) stop(ctx context.Context) {
	f.appender.close(ctx)
	f.stopped.Store(true)
	if f.s.publisher.Condition().Held() != nil {
		f.giveBack()
	}
}

// close settles the remaining leases and ends everything that the feed started. The publisher must be closed. A queue
// that does not answer, or a Loader or callback that does not return, is left behind soon after ctx has ended.
func (f *feed) close(ctx context.Context) {
	f.end.once.Do(func() {
		defer close(f.end.done)
		f.closeOnce(ctx)
	})
}

func (f *feed) closeOnce(ctx context.Context) {
	const patience = time.Second
	settling := patience
	if at, limited := ctx.Deadline(); ctx.Err() == nil {
		settling = f.wanted.For // unsettled records are sent again after their leases expire
		if limited {
			settling = max(patience, time.Until(at))
		}
	}
	f.wake()
	f.untilIdle(ctx, settling, patience)
	f.end.sent = within(patience/2, f.lastLook)
	f.end.unobserve()
	f.mu.Lock()
	unwatch := f.unwatch
	f.unwatch = nil
	if f.timers.extend != nil {
		f.timers.extend.Stop()
	}
	if f.timers.watch != nil {
		f.timers.watch.Stop()
	}
	f.mu.Unlock()
	f.cancel()
	if unwatch != nil {
		within(patience/2, func() bool { unwatch(); return true })
	}
	f.untilIdle(context.WithoutCancel(ctx), patience/2, 0)
	f.locals.end(patience / 2)
}

// within calls do on a goroutine, which do may end. It returns false if do has not returned in time; do then continues
// unobserved.
func within(patience time.Duration, do func() bool) bool {
	result := make(chan bool, 1)
	go func() {
		ok := false
		defer func() { result <- ok }()
		ok = do()
	}()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case ok := <-result:
		return ok
	case <-t.C:
		return false
	}
}

// lastLook records the state of the queue when the sender is closed, and reports whether everything added here is
// settled.
func (f *feed) lastLook() bool {
	_, _ = f.look()
	at := f.appender.state()
	settled, err := f.queue.Settled(f.ctx, at.position)
	if errors.Is(err, queue.ErrLost) {
		f.mu.Lock()
		if at.number > f.flushes.through {
			f.end.lost = err
		}
		f.mu.Unlock()
	}
	if err != nil || !settled {
		return false
	}
	_, _ = f.locals.settle(f.ctx, at.number) // otherwise locals.end reports that the queue keeps them
	return true
}

// lost returns an error if the queue had lost acknowledged records when the sender was closed.
func (f *feed) lost() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end.lost
}

// kept returns an error if the queue kept, or may have kept, records added here when the sender was closed.
func (f *feed) kept(ctx context.Context) error {
	select {
	case <-f.end.done:
	case <-ctx.Done():
		return publisher.ContextError(ctx)
	}
	if f.end.sent {
		return nil
	}
	return errKept
}

// errKept is the outcome of records that Close leaves in the queue.
var errKept = fmt.Errorf("%w: the queue keeps it", ErrClosed)

// errPerhapsKept is the outcome of records about which the queue has not answered.
var errPerhapsKept = fmt.Errorf("%w: the queue has not confirmed it", ErrClosed)

// untilIdle waits for the goroutine to end, at most for patience, and at most for after once ctx has ended.
func (f *feed) untilIdle(ctx context.Context, patience, after time.Duration) {
	last := time.Now().Add(patience)
	enough, ended := time.NewTimer(patience), ctx.Done()
	defer enough.Stop()
	for {
		changed := f.changed.wait()
		f.mu.Lock()
		running := f.running
		f.mu.Unlock()
		if !running {
			return
		}
		select {
		case <-changed:
		case <-ended:
			ended = nil
			enough.Reset(min(after, time.Until(last)))
		case <-enough.C:
			return
		}
	}
}

// contains sets found for the keys in the queue. If the queue cannot answer within five seconds it sets all.
func (f *feed) contains(keys []string, found []bool) {
	members, ok := f.queue.(queue.Membership)
	ctx, cancel := context.WithTimeout(f.ctx, 5*time.Second)
	defer cancel()
	var in []bool
	if ok {
		var err error
		in, err = members.Contains(ctx, keys...)
		ok = err == nil && len(in) == len(keys)
	}
	for i := range found {
		found[i] = found[i] || !ok || in[i]
	}
}

// look reads the queue's Stats, for Stats, Health and metrics.
func (f *feed) look() (queue.Stats, error) {
	ctx, cancel := context.WithTimeout(f.ctx, time.Second)
	defer cancel()
	s, err := f.queue.Stats(ctx)
	if err == nil {
		f.tally.queue.Store(&s)
	}
	f.tally.unseen.note(err)
	return s, err
}
