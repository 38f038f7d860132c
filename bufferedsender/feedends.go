package bufferedsender

import (
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/internal/relay"
)

// reported records the outcome of a reserved record after the handlers have run. It runs on the publisher goroutine.
func (f *feed) reported(s *settlement, err error) {
	v := &s.Item.Value
	h := v.from.holding
	if h == nil {
		return
	}
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	end := fateOf(s)
	f.mu.Lock()
	h.sent = h.sent || s.Item.Attempt > 0
	f.mu.Unlock()
	unknown := s.Cut || s.Unknown && !s.Item.Unknown
	defer f.ended(v, end, unknown, reason) // also if a callback ends the goroutine
	if end == relay.Refused && h.left > 1 {
		// Later records of the key stay in the queue, parked behind this one, and are not sent.
		h.lasts.GiveBack()
		f.s.publisher.Sweep(f.s.gone)
	}
	if s.Outcome != publisher.Returned { // also for records that Close gave up: their handlers have run
		all := h.locals[v.from.record]
		h.locals[v.from.record] = nil
		eachOnce(0, len(all), func(i int) { f.follow(all[i], v, s, err) })
	}
}

// follow gives a record that another one replaced the outcome of that one.
func (f *feed) follow(l *local, v *payload, s *settlement, err error) {
	if l == v.from.own {
		return
	}
	end := *s
	it := *s.Item
	it.Value, it.Parts = l.value, nil
	f.s.observer.fill(&it.Value)
	end.Item, end.Folded, end.Superseded, end.Carrier = &it, true, err == nil, nil
	end.Unknown = end.Unknown || err != nil
	f.s.observer.notify(&end, err)
}

// eachOnce calls do for each number. If do ends the goroutine, it continues with the next number.
func eachOnce(from, n int, do func(i int)) {
	defer func() {
		if from < n {
			eachOnce(from, n, do)
		}
	}()
	for from < n {
		from++
		do(from - 1)
	}
}

// ended records the outcome of a record. After the last record of its key the lease can be settled, which the next
// round does.
func (f *feed) ended(v *payload, end relay.Verdict, unknown bool, reason string) {
	h := v.from.holding
	if end == relay.Returned {
		defer f.locals.tell(f.locals.giveBack(h.lease.Key, h.locals[v.from.record]))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h.ends[v.from.record] = end
	h.unknown = h.unknown || unknown
	h.again = h.again || unknown && end == relay.Returned && h.lease.Records[v.from.record].Op != ""
	if end == relay.Refused {
		h.reason = reason
	}
	f.held.records--
	if h.left--; h.left > 0 {
		return
	}
	f.held.remove(h)
	f.again = true
	if h.lasts.Ended() {
		return
	}
	e := h.end(f.wanted.Uncertain)
	if e.Fate == queue.Park {
		f.notePark(&h.lease.Records[e.Done])
	}
	if h.probe && e.Fate == queue.Release && h.lease.Expired == 0 && f.probes(f.s.publisher.Condition()) {
		f.setAside(e)
		return
	}
	if cap(f.ends) == 0 {
		f.ends = make([]queue.End, 0, min(len(f.held.all)+1, queue.MaxCall))
	}
	f.ends = append(f.ends, e)
}

// aside is a key whose probe failed. Its lease is kept, without its records, so that the next probe is another key:
// otherwise a few bad documents at the head of the queue would be the only probes. The key goes back when sending
// resumes, when the queue has no other key, or after asideFor: if the service answers no request of this sender, other
// processes get its keys.
type aside struct {
	end   queue.End
	since time.Time
}

const (
	asideFor  = 2 * time.Minute
	mostAside = 64
)

// setAside keeps the lease of a failed probe. Called with the lock.
func (f *feed) setAside(e queue.End) {
	e.After = 0
	f.aside = append(f.aside, aside{e, time.Now()})
	if len(f.aside) > mostAside {
		f.takeBack(1)
	}
}

// takeBack gives back the first n keys that were set aside. Called with the lock.
func (f *feed) takeBack(n int) {
	for _, a := range f.aside[:n] {
		a.end.Uncertain = max(0, a.end.Uncertain-time.Since(a.since))
		f.ends = append(f.ends, a.end)
	}
	f.aside, f.again = slices.Delete(f.aside, 0, n), f.again || n > 0
}

// restedAside returns how many keys were set aside longer than asideFor ago. Called with the lock.
func (f *feed) restedAside() (n int) {
	for n < len(f.aside) && time.Since(f.aside[n].since) > asideFor {
		n++
	}
	return n
}

// probes reports whether sending is suspended while probes test whether it can resume.
func (f *feed) probes(c publisher.Condition) bool {
	return c.State == publisher.Ready || c.State < publisher.Paused && f.isHeld(c)
}

// afterSent delays a key that is given back after its request failed.
const afterSent = time.Second

// delivered is called after a batch was reported.
func (f *feed) delivered() {
	f.mu.Lock()
	work := f.again
	f.mu.Unlock()
	if work {
		f.wake()
	}
}

// conditionChanged gives held keys back when sending is suspended, and resumes reserving when it is not. It runs on the
// publisher goroutine.
func (f *feed) conditionChanged(to publisher.Condition) {
	if to.State == publisher.Closing && to.Held() != nil || to.State != publisher.Ready && f.isHeld(to) {
		f.giveBack()
	}
	if !f.probes(to) {
		f.mu.Lock()
		f.takeBack(len(f.aside))
		f.mu.Unlock()
	}
	f.wake()
}

// cameBack records that a request did not settle an item. It runs on the publisher goroutine.
func (f *feed) cameBack(v *payload) {
	h := v.from.holding
	f.mu.Lock()
	h.sent = true
	probe := len(f.held.all) == 1
	f.mu.Unlock()
	if probe && f.isHeld(f.s.publisher.Condition()) {
		f.wake() // the next probe should be another key
	}
}

// giveBackTried gives back the keys that were probes, except those in not.
func (f *feed) giveBackTried(not []*holding) {
	f.mu.Lock()
	n := f.held.giveBack(func(h *holding) bool {
		h.probe = h.sent && !slices.Contains(not, h)
		return h.probe
	})
	f.mu.Unlock()
	if n > 0 {
		f.s.publisher.Sweep(f.s.gone)
	}
}

// giveBack returns all records to the queue that are not in a request.
func (f *feed) giveBack() {
	f.mu.Lock()
	n := f.held.giveBack(func(*holding) bool { return true })
	if f.adding != nil {
		f.adding()
	}
	f.mu.Unlock()
	if n > 0 {
		f.s.publisher.Sweep(f.s.gone)
	}
}
