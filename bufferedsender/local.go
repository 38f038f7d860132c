package bufferedsender

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// local is what this process keeps of a record that it has appended: who waits for it,
// its tag and callback, and the document if handlers want it. None of it is in the queue.
type local struct {
	value  payload
	number uint64 // of the call that brought the record
	index  int    // in that call
	kept   queue.Position
	size   int64 // encoded
	slim   bool  // without the document
}

// bare reports whether nobody waits for its end: it is only for handlers and Withdraw.
func (l *local) bare() bool {
	return l.value.waiter == nil && (l.value.own == nil || l.value.own.onOutcome == nil)
}

// before reports whether the record came before another of its adder.
func (l *local) before(o *queue.Origin) bool {
	return l.number < o.Number || l.number == o.Number && l.index <= o.Index
}

// locals are those of the records that this process has appended and does not hold. What another process, or people,
// or nobody has done with them is asked of the queue.
type locals struct {
	s     *sender
	adder queue.ID
	ctx   context.Context // of the calls of the queue

	mu     sync.Mutex
	byKey  map[string][]*local // in the order in which they were appended
	n      int
	ended  bool        // those who wait are told something at once
	poller *time.Timer // of those that others may have settled
	until  appended    // until which call the poller asks; number 0: it asks about nothing
	others []other     // that are to be told, see endOthers

	// Of the bare ones that have their document. Beyond these bounds they are slim: handlers are given the tag and the
	// zero document.
	bare, most           int
	bareBytes, mostBytes int64
	slim                 int
	full                 bool // and beyond mostBytes/slimBytes of them their ends are not reported; the log says so
}

// keep remembers what belongs to the records of an adding call that is about to be
// appended: the answer may come after they were reserved.
func (ls *locals) keep(c *appending, from int, number uint64, places []int) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for i, at := range places {
		if l := c.locals[from+i]; l != nil {
			l.number, l.index = number, at
			ls.add(c.records[from+i].Key, l)
		}
	}
}

func (ls *locals) drop(c *appending, from, to int) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for i := from; c.locals != nil && i < to; i++ {
		if l, key := c.locals[i], c.records[i].Key; l != nil {
			ls.set(key, slices.DeleteFunc(slices.Clone(ls.byKey[key]), func(x *local) bool { return x == l }))
		}
	}
}

// appended notes that what belongs to these adding calls is in the queue.
func (ls *locals) appended(calls []*appending, receipt *queue.Receipt) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, c := range calls {
		from, to := c.next()
		for i := from; c.locals != nil && i < to; i++ {
			if l := c.locals[i]; l != nil {
				l.kept = receipt.Position
				ls.pollLater(pollFirst)
			}
		}
	}
}

// note notes one more, or with -1 one less.
func (ls *locals) note(l *local, n int) {
	ls.n += n
	switch {
	case l.slim:
		ls.slim += n
	case l.bare():
		ls.bare += n
		ls.bareBytes += int64(n) * l.size
	}
}

// slimBytes is about what one without its document takes.
const slimBytes = 256

// room reports whether one may be kept, without its document if those that have theirs are as many as may be. If no
// handler wants the ends, those give way that it has replaced and that no call waits for.
func (ls *locals) room(key string, l *local) bool {
	full := func() bool {
		return l.bare() && ls.most > 0 && (ls.bare >= ls.most || ls.bareBytes+l.size > ls.mostBytes)
	}
	switch {
	case l.slim || !full():
		return true
	case !ls.s.observer.wantsEnds:
	case int64(ls.slim) < ls.mostBytes/slimBytes:
		l.value.own = &own{tag: ls.s.observer.tag(&l.value)}
		l.value.action, l.slim = nil, true
		return true
	default:
		if !ls.full {
			ls.full = true
			ls.s.feed.warn("azsearch: events of queued documents are dropped", nil)
		}
		return false
	}
	if typ := l.value.typ; typ == models.ActionTypeUpload || typ == models.ActionTypeDelete {
		ls.set(key, slices.DeleteFunc(slices.Clone(ls.byKey[key]), func(x *local) bool {
			return x.bare() && x.before(&queue.Origin{Number: l.number, Index: l.index})
		}))
	}
	return !full()
}

// add keeps one, and reports whether it could: not any more when all are told that the queue
// keeps it. Called with the lock.
func (ls *locals) add(key string, l *local) bool {
	if ls.ended {
		return false
	}
	if !ls.room(key, l) {
		return true
	}
	if ls.byKey == nil {
		ls.byKey = make(map[string][]*local)
	}
	all := ls.byKey[key]
	at := len(all)
	for at > 0 && !all[at-1].before(&queue.Origin{Number: l.number, Index: l.index}) {
		at-- // it was held, and is given back
	}
	ls.byKey[key] = slices.Insert(all, at, l)
	ls.note(l, 1)
	return true
}

// giveBack keeps those of a record that goes back to the queue, and returns the others: it is too late for them.
func (ls *locals) giveBack(key string, all []*local) (late []other) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, l := range all {
		if w := l.value.waiter; w != nil {
			w.state.CompareAndSwap(waiterQueued, waiterMaybe) // others may send it from now on
		}
		if ls.pollLater(pollFirst); !ls.add(key, l) {
			late = append(late, other{item{Key: key, Value: l.value}, errKept})
		}
	}
	return late
}

func (ls *locals) set(key string, left []*local) {
	for _, l := range ls.byKey[key] {
		ls.note(l, -1)
	}
	for _, l := range left {
		ls.note(l, 1)
	}
	if len(left) == 0 {
		delete(ls.byKey, key)
		return
	}
	ls.byKey[key] = left
}

// claim takes what this process knows of a record: its own waiter, and those of the
// records that it has replaced, which end like it. Earlier ones that it has not replaced were
// dealt with by another process, or are part of it: nobody here can tell.
func (ls *locals) claim(r *queue.Record) (all []*local, own *local) {
	if r.From.Adder != ls.adder {
		return nil, nil
	}
	ls.mu.Lock()
	some, n := ls.byKey[r.Key], 0
	for n < len(some) && some[n].before(&r.From) {
		n++
	}
	if all = slices.Clone(some[:n]); n > 0 {
		ls.set(r.Key, slices.Clone(some[n:]))
	}
	ls.mu.Unlock()
	if n > 0 && all[n-1].number == r.From.Number && all[n-1].index == r.From.Index {
		own = all[n-1]
	}
	if r.Replaces() {
		return all, own
	}
	var others []other
	for _, l := range all {
		if l != own {
			others = append(others, other{item{Key: r.Key, Value: l.value}, ErrElsewhere})
		}
	}
	ls.tell(others)
	if own == nil {
		return nil, nil
	}
	return []*local{own}, own
}

const (
	pollFirst = 500 * time.Millisecond
	pollLast  = 5 * time.Second
)

// pollLater asks after a while what became of the records that somebody here waits for. Called
// with the lock.
func (ls *locals) pollLater(after time.Duration) {
	if ls.poller == nil && ls.ctx.Err() == nil {
		ls.poller = time.AfterFunc(after, func() { ls.poll(after) })
	}
}

// poll ends what others have settled. It runs on the goroutine of a timer. It asks about the
// same records until they are settled: about the newest ones the answer would always be no
// while more are added.
func (ls *locals) poll(after time.Duration) {
	if until := ls.ask(); until.number > 0 && ls.ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(ls.ctx, pollLast)
		settled, err := ls.s.options.Queue.Settled(ctx, until.position)
		n := 0
		switch {
		case err == nil && settled:
			n, _ = ls.settle(ctx, until.number)
		case errors.Is(err, queue.ErrLost), errors.Is(err, queue.ErrFailed), errors.Is(err, queue.ErrClosed): // this process will never know
			n = ls.endUntil(until.number, func(string, *local) error { return err })
		}
		if cancel(); n > 0 {
			after = pollFirst
		}
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.poller = nil; ls.n > 0 {
		ls.pollLater(min(2*after, pollLast))
	}
}

// ask returns the last of those that are asked about.
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

// settle ends those until a call of which everything is settled in the queue, or parked, and returns how many they are.
// What people have released meanwhile goes on.
func (ls *locals) settle(ctx context.Context, until uint64) (n int, err error) {
	var keys []string
	ls.mu.Lock()
	for key, all := range ls.byKey {
		if slices.ContainsFunc(all, func(l *local) bool { return l.ends(until) }) {
			keys = append(keys, key)
		}
	}
	ls.mu.Unlock()
	ends := map[string]map[queue.Origin]error{} // of what the queue has
	admin, ok := ls.s.options.Queue.(queue.Admin)
	for some := range slices.Chunk(keys, queuedActions) {
		if !ok {
			break
		}
		entries, err := admin.Inspect(ctx, queue.Inspection{Keys: some, Limit: len(some)})
		if err != nil {
			return 0, err
		}
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
			ends[e.Key] = there
		}
	}
	return ls.endUntil(until, func(key string, l *local) error {
		if end, there := ends[key][queue.Origin{Adder: ls.adder, Number: l.number, Index: l.index}]; there {
			return end
		}
		return ErrElsewhere
	}), nil
}

// ends reports whether it is one of those until a call.
func (l *local) ends(until uint64) bool { return l.kept != "" && l.number <= until }

// endUntil ends those until a call that have an end, and returns how many they are.
func (ls *locals) endUntil(number uint64, end func(string, *local) error) int {
	ls.mu.Lock()
	var ended []other
	if ls.until.number <= number {
		ls.until = appended{}
	}
	for key, all := range ls.byKey {
		ls.set(key, slices.DeleteFunc(slices.Clone(all), func(l *local) bool {
			if !l.ends(number) {
				return false
			}
			err := end(key, l)
			if errors.Is(err, ErrParked) && l.bare() {
				err = nil // it is not waited for, and may be released
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

// settled ends those until a call of which everything is settled, and returns when their callbacks have run.
func (ls *locals) settled(ctx context.Context, until uint64) error {
	n, err := ls.settle(ctx, until)
	if n == 0 || err != nil {
		return err
	}
	told := make(chan struct{})
	ls.s.publisher.Do(func() { close(told) }) // behind what tell has it do
	select {
	case <-told:
	case <-ls.s.publisher.Done():
	case <-ctx.Done():
	}
	return nil
}

// other is a record that this process has appended, and another one, or people, have dealt
// with, or nobody; with what is told about it.
type other struct {
	item item
	err  error
}

// tell ends such records for those who wait for them, soon, on the publisher goroutine.
// Events are of the process that held them.
func (ls *locals) tell(some []other) {
	if len(some) == 0 {
		return
	}
	ls.mu.Lock()
	ls.others = append(ls.others, some...)
	ended := ls.ended
	ls.mu.Unlock()
	if ended { // the publisher does not run it any more
		ls.endOthers()
		return
	}
	ls.s.publisher.Do(ls.endOthers) // else Close does it
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

// end tells those who still wait for what they have appended that the queue keeps it.
// A callback that does not return is left behind.
func (ls *locals) end(patience time.Duration) {
	ls.mu.Lock()
	if ls.poller != nil {
		ls.poller.Stop()
	}
	for key, all := range ls.byKey {
		for _, l := range all {
			ls.others = append(ls.others, other{item{Key: key, Value: l.value}, errKept})
		}
	}
	ls.byKey, ls.n, ls.bare, ls.bareBytes, ls.slim, ls.ended = nil, 0, 0, 0, 0, true
	ls.mu.Unlock()
	within(patience, func() bool { ls.endOthers(); return true })
}

// localOf returns what is to be kept of an action that is appended, nil if nothing.
func localOf(v *payload, size int) *local {
	if v.waiter == nil && v.own == nil && v.action == nil {
		return nil
	}
	if v.waiter != nil {
		// Whoever reserves it may send it, so it cannot be taken back for certain.
		v.waiter.state.CompareAndSwap(waiterQueued, waiterMaybe)
	}
	return &local{value: *v, size: int64(size)}
}

// elsewhere is the end of an action that another holder has, or had, or that is parked.
func elsewhere(it *item, err error) *settlement {
	unknown := !errors.Is(err, ErrParked)
	return &settlement{
		Item: it, Outcome: publisher.Failed, Unknown: unknown,
		Result: &publisher.Result[models.IndexingResult]{Next: publisher.Fail, Err: err, Unknown: unknown},
	}
}
