package bufferedsender

import (
	"slices"
	"sync"

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
}

// bare reports whether nobody waits for its end: it is only for handlers and Withdraw.
func (l *local) bare() bool {
	return l.value.waiter == nil && (l.value.own == nil || l.value.own.onOutcome == nil)
}

// before reports whether the record came before another of its adder.
func (l *local) before(o *queue.Origin) bool {
	return l.number < o.Number || l.number == o.Number && l.index <= o.Index
}

// locals are those of the records that this process has appended and does not hold.
type locals struct {
	mu    sync.Mutex
	byKey map[string][]*local // in the order in which they were appended
	n     int
	ended bool // all was called

	// Of the bare ones, which are not kept beyond these: handlers are given the zero document
	// then.
	bare, most           int
	bareBytes, mostBytes int64
}

// note notes one more, or with -1 one less.
func (ls *locals) note(l *local, n int) {
	ls.n += n
	if l.bare() {
		ls.bare += n
		ls.bareBytes += int64(n) * l.size
	}
}

// room reports whether one may be kept, after dropping those that it has replaced and that
// nobody waits for.
func (ls *locals) room(key string, l *local) bool {
	full := func() bool {
		return l.bare() && ls.most > 0 && (ls.bare >= ls.most || ls.bareBytes+l.size > ls.mostBytes)
	}
	if !full() {
		return true
	}
	if typ := l.value.typ; typ == models.ActionTypeUpload || typ == models.ActionTypeDelete {
		ls.set(key, slices.DeleteFunc(slices.Clone(ls.byKey[key]), func(x *local) bool {
			return x.bare() && x.before(&queue.Origin{Number: l.number, Index: l.index})
		}))
	}
	return !full()
}

// add keeps one, and reports whether it could: not any more when all are told that the queue
// keeps it.
func (ls *locals) add(key string, l *local) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
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

func (ls *locals) remove(key string, l *local) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.set(key, slices.DeleteFunc(slices.Clone(ls.byKey[key]), func(x *local) bool { return x == l }))
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

// take takes those that a reserved record is the end of: its own, last, and those of
// earlier records that it has replaced, or that were folded into it.
func (ls *locals) take(key string, adder queue.ID, from *queue.Origin) []*local {
	if from.Adder != adder {
		return nil
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	all := ls.byKey[key]
	n := 0
	for n < len(all) && all[n].before(from) {
		n++
	}
	if n == 0 {
		return nil
	}
	taken := slices.Clone(all[:n])
	ls.set(key, slices.Clone(all[n:]))
	return taken
}

// all takes all of them.
func (ls *locals) all() (ended []item) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for key, all := range ls.byKey {
		for _, l := range all {
			ended = append(ended, item{Key: key, Value: l.value})
		}
	}
	ls.byKey, ls.n, ls.bare, ls.bareBytes, ls.ended = nil, 0, 0, 0, true
	return ended
}

// settled takes those that were kept until a position.
func (ls *locals) settled(until map[*local]bool) (ended []item) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for key, all := range ls.byKey {
		left := slices.DeleteFunc(slices.Clone(all), func(l *local) bool {
			if until[l] {
				ended = append(ended, item{Key: key, Value: l.value})
			}
			return until[l]
		})
		ls.set(key, left)
	}
	return ended
}

// kept returns those whose append is known to have been kept, and the last position of
// them.
func (ls *locals) kept() (all map[*local]bool, last queue.Position) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	all = make(map[*local]bool, ls.n)
	number := uint64(0)
	for _, some := range ls.byKey {
		for _, l := range some {
			if l.kept == "" {
				continue
			}
			all[l] = true
			if l.number >= number {
				number, last = l.number, l.kept
			}
		}
	}
	return all, last
}

func (ls *locals) count() int {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.n
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

// elsewhere is the end of an action that another holder has, or had.
func elsewhere(it *item, err error) *settlement {
	return &settlement{
		Item: it, Outcome: publisher.Failed, Unknown: true,
		Result: &publisher.Result[models.IndexingResult]{Next: publisher.Fail, Err: err, Unknown: true},
	}
}
