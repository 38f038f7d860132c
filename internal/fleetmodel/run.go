package fleetmodel

import (
	"context"
	"errors"
	"fmt"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// run executes all steps of a program. Steps that may block have their own goroutines.
func (m *model) run() {
	m.start()
	for _, s := range m.steps {
		m.do(s)
		synctest.Wait()
		m.snapshot()
	}
	if m.early {
		m.hold("close in the middle")
	} else {
		m.settle()
	}
	m.close()
}

// within returns a context that ends after 10·n milliseconds, or never if n is even.
func within(n int) (context.Context, context.CancelFunc) {
	if n%2 == 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), time.Duration(n)*10*time.Millisecond)
}

func (m *model) do(s step) {
	name := indexName(s.index)
	all := s.n%4 == 0
	switch s.what {
	case stepFault:
		m.service.set(name, fault(1+s.n%int(faults-1)))
		m.hold("outage of one index")
	case stepHeal:
		m.service.set(name, sound)
		m.service.reach(true)
	case stepNowhere:
		if s.n%3 == 0 {
			m.service.reach(false)
			m.hold("outage of the service")
		}
	case stepPause:
		if all {
			_ = m.fleet.Pause()
		} else {
			_ = m.fleet.Pause(name)
		}
	case stepResume:
		if all {
			_ = m.fleet.Resume()
		} else {
			_ = m.fleet.Resume(name)
		}
	case stepFlush:
		m.flush(s)
	case stepDrop:
		if s.n%2 == 0 {
			m.hold("drop")
			m.jobs.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(s.n)*5*time.Millisecond)
				defer cancel()
				_ = m.fleet.Drop(ctx, name)
			})
		}
	case stepPurge:
		m.purge(name)
	case stepPurgeAll:
		if s.n%3 == 0 {
			m.purge()
		}
	case stepSlots:
		now := m.fleet.Pool().Options()
		now.Expedited, now.Shared = 1+s.n%3, 1+s.class%3
		m.set(now)
	case stepLimit:
		if !m.adapts {
			m.limit = s.n % 4
			m.slots(m.fleet.Pool().Options())
			m.fleet.Pool().SetLimit(m.limit, 0)
		}
	case stepBudget:
		now := m.fleet.Pool().Options()
		if now.BufferedActions > 0 {
			now.BufferedActions = now.FloorActions * (1 + s.n%(2*m.indexes+3))
		}
		if now.BufferedBytes > 0 {
			now.BufferedBytes = now.FloorBytes * int64(1+s.class%(2*m.indexes+3))
		}
		m.set(now)
	case stepSleep:
		time.Sleep(time.Duration(s.n*s.n/100) * time.Millisecond)
	default:
		if s.n%3 == 0 {
			time.Sleep(time.Duration(s.n) * time.Millisecond)
		}
		m.lanes[s.index*lanes+s.lane] <- func() { m.add(s) }
	}
}

// purge purges some or all indexes.
func (m *model) purge(names ...string) {
	m.mu.Lock()
	m.purges++
	m.mu.Unlock()
	m.jobs.Go(func() {
		_, _ = m.fleet.Purge(context.Background(), names...)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.purges--
		m.purged = time.Now()
	})
}

// set changes settings of the pool. Granted room stays granted.
func (m *model) set(s pool.Options) {
	m.slots(s)
	if err := m.fleet.Pool().SetOptions(s); err != nil {
		m.wrong("%v", err)
	}
	m.budget = granted{int64(s.BufferedActions), s.BufferedBytes}
	m.ceiling = granted{max(m.ceiling.actions, m.budget.actions), max(m.ceiling.bytes, m.budget.bytes)}
}

// flush flushes some or all indexes or, on a lane, the keys of this lane.
func (m *model) flush(s step) {
	switch s.n % 3 {
	case 0:
		m.jobs.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(s.n)*10*time.Millisecond)
			defer cancel()
			_ = m.fleet.Drain(ctx, func(index string) bool { return s.class > 2 || index == indexName(s.index) })
		})
	case 1:
		m.lanes[s.index*lanes+s.lane] <- func() { m.waitForAll(s, true) }
	default:
		m.lanes[s.index*lanes+s.lane] <- func() { m.waitForAll(s, false) }
	}
}

// waitForAll flushes what the lane has added, and checks that it has outcomes.
func (m *model) waitForAll(s step, keys bool) {
	sender, err := m.of(s.index)
	if err != nil {
		return
	}
	ctx, cancel := within(s.n)
	defer cancel()
	var failed *bufferedsender.FlushError
	if keys {
		m.hold("flush of keys")
		var mine []string
		for i := range s.keys + 1 {
			mine = append(mine, keyName(s.lane, i))
		}
		if err = sender.Flush(ctx, &bufferedsender.FlushOptions{Keys: mine}); err != nil {
			return
		}
	} else if err = sender.Flush(ctx, nil); err != nil && !errors.As(err, &failed) || ctx.Err() != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range 5 {
		if keys && i > s.keys {
			break
		}
		for _, r := range m.records[docKey{indexName(s.index), keyName(s.lane, i)}] {
			if r.accepted && len(r.outcomes) == 0 && len(m.errors) < 20 {
				m.errors = append(m.errors, fmt.Sprintf("version %d of %v has no outcome, and a flush (of keys: %t) has returned", r.version, r.at, keys))
			}
		}
	}
}

func keyName(lane, i int) string { return fmt.Sprintf("%d-%d", lane, i) }

// add adds some documents of a lane.
func (m *model) add(s step) {
	class := models.Class(s.class)
	served := class
	if class > models.ClassBestEffort { // unknown
		served = models.ClassExpedited
	}
	size := s.n % 100
	if s.n%50 == 0 {
		size = 2 * s.n // larger than a floor, or than a budget
	}
	var all []*record
	var actions []sendertest.Action
	m.mu.Lock()
	for i := range 1 + s.n%17 {
		m.versions++
		r := &record{at: docKey{indexName(s.index), keyName(s.lane, (s.keys+i)%5)}, version: m.versions, class: served}
		a := models.UploadAction(document(r.at.key, r.version, size))
		a.OnOutcome = func(o models.Outcome) { m.outcome(r, o) }
		all, actions = append(all, r), append(actions, a)
		m.records[r.at] = append(m.records[r.at], r)
	}
	m.mu.Unlock()
	var sender *bufferedsender.BufferedSender[hotel]
	for {
		var err error
		if sender, err = m.of(s.index); err == nil {
			break
		}
		if errors.Is(err, fleet.ErrClosed) {
			return
		}
		m.mu.Lock()
		closing := m.closing
		m.mu.Unlock()
		if closing {
			return
		}
		time.Sleep(10 * time.Millisecond) // it is being dropped
	}
	ctx, cancel := within(s.n)
	defer cancel()
	m.mu.Lock()
	m.adding[served]++
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.adding[served]--
		m.added[served] = time.Now()
	}()
	began := time.Now()
	err := sender.IndexDocuments(models.WithClass(ctx, class), actions...)
	if time.Since(began) > 0 {
		m.hold("waited for room")
	}
	accepted := len(actions)
	if err != nil {
		var refused *bufferedsender.AddError
		if !errors.As(err, &refused) {
			m.wrong("add: %v", err)
			return
		}
		accepted = refused.Accepted
		m.hold("refused")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range all[:accepted] {
		r.accepted = true
	}
}

// outcome records the outcome of an action.
func (m *model) outcome(r *record, o models.Outcome) {
	what := "completed"
	switch {
	case o.Completed():
	case o.Reason == models.ReasonPurged:
		what = "purged"
		if m.service.carries(r.at, r.version) {
			m.wrong("version %d of %v was purged, and is in flight", r.version, r.at)
		}
	case o.Reason == models.ReasonClosed:
		what = "unsent"
	default:
		what = "failed"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if what == "purged" && !m.mayPurge(r.class) {
		m.errors = append(m.errors, fmt.Sprintf("version %d of %v was purged, and no call as urgent as %v waits", r.version, r.at, r.class))
	}
	m.outcomes++
	r.outcomes, r.unknown, r.settled = append(r.outcomes, what), o.Unknown, m.outcomes
	if what != "purged" {
		m.holds[what] = true
	} else if m.whenFull == fleet.PurgeSick {
		m.holds["purged by the fleet"] = true
	} else {
		m.holds["purged by a sender"] = true
	}
}
