package fleetmodel

import (
	"context"
	"errors"
	"slices"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/models"
)

// balanced checks the counts of a sender, or of all senders.
func (m *model) balanced(whose string, s bufferedsender.Stats) {
	if s.Accepted != s.Completed+s.Failed+s.Unsent+int64(s.PendingActions) {
		m.wrong("%s: accepted differs from the sum of outcomes and pending: %+v", whose, s)
	}
}

// snapshot checks the invariants that hold whenever nothing runs.
func (m *model) snapshot() {
	f := m.fleet.Stats()
	m.balanced("the fleet", f.All)
	var kept granted
	m.mu.Lock()
	senders := make([]*bufferedsender.BufferedSender[hotel], 0, len(m.senders))
	for s := range m.senders {
		senders = append(senders, s)
	}
	m.mu.Unlock()
	for _, s := range senders {
		stats := s.Stats()
		m.balanced("a sender", stats)
		if stats.PendingActions > m.limits.MaxBufferedActions {
			m.wrong("a sender keeps %d actions, and its limits are %+v", stats.PendingActions, m.limits)
		}
		kept.actions += int64(stats.PendingActions)
		kept.bytes += stats.PendingBytes
	}
	p := f.Pool
	if kept.actions > p.GrantedActions && p.BudgetActions > 0 || kept.bytes > p.GrantedBytes && p.BudgetBytes > 0 {
		m.wrong("senders keep %+v, and %d actions and %d bytes are granted", kept, p.GrantedActions, p.GrantedBytes)
	}
	if p.BudgetActions > 0 {
		m.ceiling.actions = m.bounded("actions", p.GrantedActions, m.budget.actions, m.ceiling.actions, 1)
	}
	if p.BudgetBytes > 0 {
		m.ceiling.bytes = m.bounded("bytes", p.GrantedBytes, m.budget.bytes, m.ceiling.bytes, largest)
	}
	m.slots(m.fleet.Pool().Options())
}

// bounded checks that no more is granted than the ceiling, and returns the next ceiling: the budget, or more while a
// reduced budget is still exceeded.
func (m *model) bounded(what string, now, budget, ceiling, action int64) int64 {
	if now > ceiling+action {
		m.wrong("%d %s are granted, and the budget is %d; or %d, which were granted before", now, what, budget, ceiling)
	}
	return max(budget, min(ceiling, now))
}

// settle repairs everything and checks that all accepted actions are applied.
func (m *model) settle() {
	for i := range m.indexes {
		if f := sound; i > 0 || !m.chronic {
			m.service.set(indexName(i), f)
		} else {
			m.service.set(indexName(i), forbidden)
		}
	}
	m.service.reach(true)
	_ = m.fleet.Resume()
	synctest.Wait()
	now := m.fleet.Pool().Options()
	enough := func(budget, floor int64) bool {
		return budget == 0 || budget >= 2*floor*int64(m.indexes+1) && floor >= largest
	}
	roomy := (now.BufferedActions == 0 || now.BufferedActions >= now.FloorActions*(m.indexes+1)) && enough(now.BufferedBytes, now.FloorBytes)
	// The failing index may be the one that probes the service, again and again.
	if m.chronic && m.indexes >= 3 && roomy && m.fleet.Breaker().Status().Counts.Opened == 0 {
		m.hold("fails forever")
		m.await("with one failing index", 1)
	}
	m.service.set(indexName(0), sound)
	m.await("with all indexes sound", 0)
}

// await waits until the lanes of the indexes starting at from are idle, and their senders have nothing to send.
func (m *model) await(when string, from int) {
	synctest.Wait()
	var marks []chan struct{}
	for _, lane := range m.lanes[from*lanes:] {
		mark := make(chan struct{})
		lane <- func() { close(mark) }
		marks = append(marks, mark)
	}
	left := func() (n int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, rs := range m.records {
			for _, r := range rs {
				if len(r.outcomes) == 0 && slices.ContainsFunc(m.names(from), func(name string) bool { return name == r.at.index }) {
					n++
				}
			}
		}
		return n
	}
	pending := func() (n int) {
		for _, name := range m.names(from) {
			n += m.pending(name)
		}
		return n
	}
	// One request for each action. Dropped and refused actions need none, which leaves some time to spare.
	deadline := time.Now().Add(settled + time.Duration(left())*(slowest+10*time.Millisecond))
	idle := func() bool {
		for _, mark := range marks {
			select {
			case <-mark:
			default:
				return false
			}
		}
		return pending() == 0
	}
	for !idle() {
		if from > 0 && m.fleet.Breaker().Status().Counts.Opened > 0 {
			return // as above
		}
		if time.Now().After(deadline) {
			m.wrong("%s: %d actions are still pending, of %d; pool %+v, health %v", when, pending(), left(), m.fleet.Stats().Pool, m.fleet.Health())
			return
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		m.snapshot()
	}
}

func (m *model) names(from int) (names []string) {
	for i := from; i < m.indexes; i++ {
		names = append(names, indexName(i))
	}
	return names
}

// pending returns how many actions of an index have no outcome.
func (m *model) pending(index string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at, rs := range m.records {
		for _, r := range rs {
			if at.index == index && r.accepted && len(r.outcomes) == 0 {
				n++
			}
		}
	}
	return n
}

// close closes the fleet, waits until all calls have returned, and checks the final state.
func (m *model) close() {
	m.mu.Lock()
	m.closing = true
	m.mu.Unlock()
	in := m.closeIn
	if !m.early {
		in = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), in)
	defer cancel()
	if err := m.fleet.Close(ctx); err != nil && !m.early && len(m.errors) == 0 {
		if unreported := withoutFailures(err); unreported != nil {
			m.wrong("close: %v", unreported)
		}
	}
	for _, lane := range m.lanes {
		close(lane)
	}
	m.jobs.Wait()
	time.Sleep(time.Minute) // for handlers and abandoned requests to end
	synctest.Wait()
	m.snapshot()
	s := m.fleet.Stats()
	if s.Indexes != 0 || s.Pool.Members != 0 || s.Pool.GrantedActions != 0 || s.Pool.GrantedBytes != 0 || s.Pool.Active != 0 || s.Pool.WaitingForRoom != 0 {
		m.wrong("after Close: %+v", s)
	}
	for class, c := range s.Pool.Classes {
		if c.InUse != 0 || c.Waiting != 0 {
			m.wrong("after Close, %v: %+v", models.Class(class), c)
		}
		if c.Ended > c.Granted {
			m.wrong("%v: %+v", models.Class(class), c)
		}
	}
	m.accounts()
}

// accounts compares the outcomes with the statistics and the service.
func (m *model) accounts() {
	m.service.mu.Lock()
	defer m.service.mu.Unlock()
	if n := len(m.service.requests); n != 0 {
		m.wrong("%d requests are under way after Close", n)
	}
	hinted := m.hinted()
	var counts [4]int64 // accepted, completed, failed, unsent
	for at, rs := range m.records {
		last, may := 0, map[int]bool{}
		order := 0
		for _, r := range rs {
			switch n := len(r.outcomes); {
			case !r.accepted && n > 0:
				m.wrong("version %d of %v was not accepted, and %v", r.version, at, r.outcomes)
				continue
			case !r.accepted:
				continue
			case n != 1:
				m.wrong("version %d of %v has %d outcomes: %v", r.version, at, n, r.outcomes)
				continue
			}
			if r.settled < order {
				m.wrong("version %d of %v was settled before an older one", r.version, at)
			}
			order = r.settled
			counts[0]++
			switch r.outcomes[0] {
			case "completed":
				counts[1]++
				last, may = r.version, map[int]bool{}
			case "unsent":
				counts[3]++
			case "purged":
				counts[2]++
				if !hinted[at] {
					m.wrong("version %d of %v was purged, and is not in the hints", r.version, at)
				}
			default:
				counts[2]++
			}
			if r.outcomes[0] != "completed" && r.unknown {
				may[r.version] = true
			}
		}
		if got := m.service.applied[at]; got != last && !may[got] {
			m.wrong("%v is version %d, and the newest that was completed is %d (or one of %v)", at, got, last, may)
		}
	}
	var stats [4]int64
	for s := range m.senders {
		one := s.Stats()
		stats[0] += one.Accepted
		stats[1] += one.Completed
		stats[2] += one.Failed
		stats[3] += one.Unsent
		if one.PendingActions != 0 || one.PendingBytes != 0 || one.InFlight != 0 || one.BlockedProducers != 0 {
			m.wrong("a sender after Close: %+v", one)
		}
	}
	if counts != stats {
		m.wrong("accepted, completed, failed and unsent are %v; the senders say %v", counts, stats)
	}
}

// hinted returns all keys in the hints.
func (m *model) hinted() map[docKey]bool {
	all := map[docKey]bool{}
	for index, n := range m.hints.Stats().Keys {
		for _, key := range m.hints.Take(index, n).Keys {
			all[docKey{index, key}] = true
		}
	}
	return all
}

// withoutFailures returns the error of Close without failed actions that no earlier call has reported.
func withoutFailures(err error) error {
	var failed *fleet.Error
	if !errors.As(err, &failed) {
		return err
	}
	for _, one := range failed.Indexes {
		var closed *bufferedsender.CloseError
		if !errors.As(one.Err, &closed) || closed.Unsent > 0 || closed.Unknown > 0 || closed.Handlers != nil || closed.CallbackStuck {
			return one.Err
		}
	}
	return nil
}
