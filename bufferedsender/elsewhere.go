package bufferedsender

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

const (
	pollFirst = 500 * time.Millisecond
	pollLast  = 5 * time.Second
)

// pollLater schedules a poll. Called with the lock.
func (ls *locals) pollLater(after time.Duration) {
	if ls.poller == nil && ls.ctx.Err() == nil {
		ls.poller = time.AfterFunc(after, func() { ls.poll(after) })
	}
}

// poll ends records that other processes have settled. It runs on the goroutine of a timer. It asks about the same
// records until they are settled, because newer records keep arriving.
func (ls *locals) poll(after time.Duration) {
	if until := ls.ask(); until.number > 0 && ls.ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(ls.ctx, pollLast)
		settled, err := ls.s.options.Queue.Settled(ctx, until.position)
		cancel()
		n := 0
		if err == nil && settled {
			n, err = ls.settle(ls.ctx, until.number)
		}
		if errors.Is(err, queue.ErrLost) || errors.Is(err, queue.ErrFailed) || errors.Is(err, queue.ErrClosed) {
			n += ls.endUntil(until.number, func(string, *local) error { return err }) // this process can never learn the outcomes
		}
		if n > 0 {
			after = pollFirst
		}
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.poller = nil; ls.n > 0 {
		ls.pollLater(min(2*after, pollLast))
	}
}

// ask returns the last call to ask about.
func (ls *locals) ask() appended {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.until.number == 0 {
		for _, some := range ls.byKey {
			for _, l := range some {
				if l.kept != "" && l.number > ls.until.number {
					ls.until = appended{position: l.kept, number: l.number}
				}
			}
		}
	}
	return ls.until
}

// settle ends the locals up to a call whose records are all settled or parked in the queue, and returns how many it
// ended. Unparked records stay. Each part of the keys ends before the next one is asked about, so that a slow queue
// delays the end of the others and does not prevent it.
func (ls *locals) settle(ctx context.Context, until uint64) (n int, err error) {
	admin, ok := ls.s.options.Queue.(queue.Admin)
	if !ok {
		return ls.endUntil(until, func(string, *local) error { return ErrElsewhere }), nil
	}
	var keys []string
	ls.mu.Lock()
	for key, all := range ls.byKey {
		if slices.ContainsFunc(all, func(l *local) bool { return l.ends(until) }) {
			keys = append(keys, key)
		}
	}
	ls.mu.Unlock()
	for some := range slices.Chunk(keys, settledKeys) {
		left, err := ls.inspect(ctx, admin, some)
		if err != nil {
			return n, err
		}
		n += ls.endKeys(some, until, func(key string, l *local) error {
			if end, there := left[key][queue.Origin{Adder: ls.adder, Number: l.number, Index: l.index}]; there {
				return end
			}
			return ErrElsewhere
		})
	}
	ls.askNext(until)
	return n, nil
}

// settledKeys is how many keys one call of Inspect asks about; it has pollLast for them.
const settledKeys = 200

// inspect returns the records of keys that are still in the queue, with ErrParked for those that are parked.
func (ls *locals) inspect(ctx context.Context, admin queue.Admin, keys []string) (map[string]map[queue.Origin]error, error) {
	ctx, cancel := context.WithTimeout(ctx, pollLast)
	defer cancel()
	entries, err := admin.Inspect(ctx, queue.Inspection{Keys: keys, Limit: len(keys)})
	if err != nil {
		return nil, err
	}
	left := map[string]map[queue.Origin]error{}
	for i := range entries {
		e := &entries[i]
		end := error(nil)
		if e.State&queue.Parked != 0 {
			end = ErrParked
		}
		there := map[queue.Origin]error{}
		for _, r := range slices.Concat(e.Leased, e.Parked, e.Waiting) {
			there[r.From] = end
		}
		left[e.Key] = there
	}
	return left, nil
}

// ends reports whether the local belongs to a call up to until.
func (l *local) ends(until uint64) bool { return l.kept != "" && l.number <= until }

// askNext lets the next poll ask about calls after number.
func (ls *locals) askNext(number uint64) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.until.number <= number {
		ls.until = appended{}
	}
}

// endUntil ends the locals up to a call for which end returns an error, and returns how many it ended.
func (ls *locals) endUntil(number uint64, end func(string, *local) error) int {
	ls.askNext(number)
	ls.mu.Lock()
	keys := slices.Collect(maps.Keys(ls.byKey))
	ls.mu.Unlock()
	return ls.endKeys(keys, number, end)
}

// endKeys is endUntil for the locals of some keys.
func (ls *locals) endKeys(keys []string, number uint64, end func(string, *local) error) int {
	ls.mu.Lock()
	var ended []other
	for _, key := range keys {
		all := ls.byKey[key]
		ls.set(key, slices.DeleteFunc(slices.Clone(all), func(l *local) bool {
			if !l.ends(number) {
				return false
			}
			err := end(key, l)
			if errors.Is(err, ErrParked) && l.bare() {
				err = nil // no call waits for it, and it may be unparked
			}
			if err != nil {
				ended = append(ended, other{item{Key: key, Value: l.value}, err})
			}
			return err != nil
		}))
	}
	ls.mu.Unlock()
	ls.tell(ended)
	return len(ended)
}

// settled ends the locals up to a call that is settled completely, and returns when their callbacks have run.
func (ls *locals) settled(ctx context.Context, until uint64) error {
	n, err := ls.settle(ctx, until)
	if n == 0 || err != nil {
		return err
	}
	told := make(chan struct{})
	ls.s.publisher.Do(func() { close(told) }) // runs after the callbacks that settle has queued
	select {
	case <-told:
	case <-ls.s.publisher.Done():
	case <-ctx.Done():
	}
	return nil
}

// other is an appended record that was settled elsewhere or stays in the queue, with the error to report.
type other struct {
	item item
	err  error
}

// Such records are reported to their waiting callers asynchronously, on the publisher goroutine. Their events are
// raised by the process that held them.
func (ls *locals) tell(some []other) {
	if len(some) == 0 {
		return
	}
	ls.mu.Lock()
	ls.others = append(ls.others, some...)
	ended := ls.ended
	ls.mu.Unlock()
	if ended { // the publisher no longer runs functions
		ls.endOthers()
		return
	}
	ls.s.publisher.Do(ls.endOthers) // otherwise Close does it
}

func (ls *locals) endOthers() {
	ls.mu.Lock()
	all := ls.others
	ls.others = nil
	ls.mu.Unlock()
	observer := ls.s.observer
	eachOnce(0, len(all), func(i int) {
		end := elsewhere(&all[i].item, all[i].err)
		err := observer.explain(end)
		defer observer.endWaiter(end, err)
		observer.callBack(end, err)
	})
}

// elsewhere returns the settlement of an action that another process holds or held, or that is parked.
func elsewhere(it *item, err error) *settlement {
	unknown := !errors.Is(err, ErrParked)
	return &settlement{
		Item: it, Outcome: publisher.Failed, Unknown: unknown,
		Result: &publisher.Result[models.IndexingResult]{Next: publisher.Fail, Err: err, Unknown: unknown},
	}
}

// mostInspected limits the keys of a queue that is inspected for leases: some back ends read all of it.
const mostInspected = 10_000

// leasedElsewhere returns the oldest key that is leased, and by which process and until when; lease is "" if that is
// not known.
func (f *feed) leasedElsewhere(s *queue.Stats) (key, lease string) {
	admin, ok := f.queue.(queue.Admin)
	if !ok || s.Leased == 0 || s.Waiting+s.Leased > mostInspected {
		return "", ""
	}
	ctx, cancel := context.WithTimeout(f.ctx, time.Second)
	defer cancel()
	entries, err := admin.Inspect(ctx, queue.Inspection{States: queue.Leased, Limit: 1})
	if err != nil || len(entries) == 0 {
		return "", ""
	}
	e := &entries[0]
	return e.Key, fmt.Sprintf("leased by %s until %s", cmp.Or(e.Holder, "a process without a name"), e.Until.Format(time.RFC3339))
}

// lookElsewhere records for Health, and logs, which process has leased what this one waits for, when this one has held
// nothing for as long as unheard. It runs on the goroutine of watch.
func (f *feed) lookElsewhere(s *queue.Stats) {
	f.mu.Lock()
	holds := len(f.held.all)+len(f.ends)+len(f.aside) > 0
	f.mu.Unlock()
	if holds || !f.sends || s.Paused || s.Leased == 0 || time.Since(s.Oldest) < unheard {
		f.timers.idle = time.Time{}
		f.tally.others.Store(nil)
		return
	}
	if f.timers.idle.IsZero() {
		f.timers.idle = time.Now()
	}
	if time.Since(f.timers.idle) < unheard {
		return
	}
	key, lease := f.leasedElsewhere(s)
	if lease == "" {
		f.tally.others.Store(nil)
		return
	}
	who := fmt.Sprintf("key %q is %s", key, lease)
	if f.tally.others.Swap(&who) == nil { // the log has no keys
		f.s.observer.guardElsewhere(inLogger, func() {
			f.s.observer.logLasting(f.ctx, slog.LevelInfo, "azsearch: another process has leased the queue's keys", slog.String("lease", lease))
		})
	}
}
