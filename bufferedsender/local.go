package bufferedsender

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

// local is the part of an appended record that stays in this process and is not in the queue: its waiter, tag and
// callback, and the document if handlers need it.
type local struct {
	value  payload
	number uint64 // number of the queue call that appended the record
	index  int    // index within that call
	kept   queue.Position
	size   int64 // encoded, in bytes
	slim   bool  // without the document
}

// bare reports whether no call waits for the outcome: only handlers and Withdraw use it.
func (l *local) bare() bool {
	return l.value.waiter == nil && (l.value.own == nil || l.value.own.onOutcome == nil)
}

// before reports whether the record is o or was appended earlier, by the same adder.
func (l *local) before(o *queue.Origin) bool {
	return l.number < o.Number || l.number == o.Number && l.index <= o.Index
}

// locals are those of records that this process appended and does not hold. Their outcomes in other processes are
// learned by polling the queue.
type locals struct {
	s     *sender
	adder queue.ID
	ctx   context.Context // of queue calls

	mu     sync.Mutex
	byKey  map[string][]*local // in the order of appending
	n      int
	ended  bool        // waiting callers are answered at once
	poller *time.Timer // for records that other processes may have settled
	until  appended    // the last call that the poller asks about; number 0: none
	others []other     // to be reported, see endOthers

	// Bounds for bare locals with their documents. Further ones are slim: handlers get their tag and a zero document.
	bare, most           int
	bareBytes, mostBytes int64
	slim                 int
	full                 bool // the limit of slim ones (mostBytes/slimBytes) was exceeded; their outcomes are not reported, as logged
}

// keep stores the locals of an adding call before it is appended, because its records may be reserved before the answer
// arrives.
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

// appended records that the locals of these adding calls are in the queue.
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

// note adds n, which is 1 or -1, to the counts that l belongs to.
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

// slimBytes is the approximate size in bytes of a local without its document.
const slimBytes = 256

// room reports whether l may be kept. Beyond the bound of documents it is kept slim. If no handler needs outcomes, bare
// locals that l replaces are dropped instead.
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

// add stores l. It returns false after the feed has ended; the caller then reports that the queue keeps the record.
// Called with the lock.
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

// giveBack stores the locals of a record that returns to the queue. It returns those that come after the end of the
// feed.
func (ls *locals) giveBack(key string, all []*local) (late []other) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, l := range all {
		if w := l.value.waiter; w != nil {
			w.state.CompareAndSwap(waiterQueued, waiterMaybe) // another process may send it from now on
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

// claim removes and returns the locals of a reserved record: its own, and those of the records that it has replaced,
// which share its outcome. Earlier records that it has not replaced end with ErrElsewhere: another process has settled
// them or folded them into this one.
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

// end reports to all waiting callers that the queue keeps their records, or may keep them if it has not answered. It
// leaves behind a callback that does not return within patience.
func (ls *locals) end(patience time.Duration) {
	ls.mu.Lock()
	if ls.poller != nil {
		ls.poller.Stop()
	}
	for key, all := range ls.byKey {
		for _, l := range all {
			err := errKept
			if l.kept == "" {
				err = errPerhapsKept
			}
			ls.others = append(ls.others, other{item{Key: key, Value: l.value}, err})
		}
	}
	ls.byKey, ls.n, ls.bare, ls.bareBytes, ls.slim, ls.ended = nil, 0, 0, 0, 0, true
	ls.mu.Unlock()
	within(patience, func() bool { ls.endOthers(); return true })
}

// localOf returns the local of an action that is appended, or nil if there is nothing to keep.
func localOf(v *payload, size int) *local {
	if v.waiter == nil && v.own == nil && v.action == nil {
		return nil
	}
	if v.waiter != nil {
		// Another process may reserve and send it, so withdrawing it is uncertain.
		v.waiter.state.CompareAndSwap(waiterQueued, waiterMaybe)
	}
	return &local{value: *v, size: int64(size)}
}
